"""Dialects, passes and targets of other packages: found by entry points or by name, and clashes of names."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.plugins import SHOP, aiopt, install, run

GRAPH = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ai.sigmoid"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("S")
  %1 = "ai.mul"(%x, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("M")
  return %1 : tensor<4xf32>
}
"""
IMPORTS = """
from aiopt.dialects.ai import AiDialect
from aiopt.dialects.constraints import FloatTensor
from aiopt.dialects.ext import Dialect, Result
from aiopt.passes.base import Pass
"""
COMPILE = f"""
import numpy as np, aiopt
x = np.float32([-2, -1, 0, 3])
net = aiopt.compile({GRAPH.encode()!r}, target="shop")
assert [entry["ops"] for entry in net.report()["kernels"]] == [["shop.swish"]], net.report()["kernels"]
np.testing.assert_allclose(net(x)[0], x / (1 + np.exp(-x)), rtol=1e-6)
"""


def test_entry_points_add_a_pass_and_an_op(tmp_path: Path) -> None:
    install(tmp_path, SHOP)
    done = aiopt(tmp_path, "-p", "shop-fuse-swish,ai-kernels-pipeline", text=GRAPH)
    assert done.returncode == 0, done.stderr
    assert '"shop.swish"' in done.stdout
    assert "func.func private @swish_0" in done.stdout
    assert "shop-fuse-swish" in aiopt(tmp_path, "--list-passes").stdout
    assert "irdl.operation @swish" in aiopt(tmp_path, "--emit-irdl", "shop").stdout


def test_entry_points_add_a_target_that_nets_are_compiled_for(tmp_path: Path) -> None:
    install(tmp_path, SHOP)
    done = run(tmp_path, "-c", COMPILE)
    assert done.returncode == 0, done.stderr


def test_without_the_package_nothing_is_known(tmp_path: Path) -> None:
    done = aiopt(tmp_path, "-p", "shop-fuse-swish", text=GRAPH)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: no pass is called 'shop-fuse-swish'")
    assert "there is no target 'shop' (there are: cpu, npu)" in run(tmp_path, "-c", COMPILE).stderr


def test_a_module_is_loaded_by_name(tmp_path: Path) -> None:
    done = aiopt(tmp_path, "--load-python=aiopt_shop", "-p", "shop-fuse-swish", text=GRAPH)
    assert done.returncode == 0, done.stderr
    assert '"shop.swish"(%arg0)' in done.stdout
    again = aiopt(tmp_path, "--load-python=aiopt_shop", text=done.stdout)
    assert again.stdout == done.stdout
    assert aiopt(tmp_path, "--load-python=aiopt_shop", "--shop-fuse-swish", text=GRAPH).stdout == done.stdout


@pytest.mark.parametrize(
    ("file", "source", "message"),
    [
        (
            "__init__.py",
            "class Mine(Pass):\n    name = 'ai-cse'\n    def run(self, unit): pass",
            "two passes are called ai-cse: aiopt.passes.graph.cse.CommonSubexpressionElimination and clash.Mine",
        ),
        (
            "__init__.py",
            "class Mine(Pass):\n    name = 'canonicalize'\n    def run(self, unit): pass",
            "two passes are called canonicalize: upstream's and clash.Mine",
        ),
        (
            "ai.py",
            "class OtherDialect(Dialect, name='ai'): pass",
            "two dialects are called ai: aiopt.dialects.ai.dialect.AiDialect and clash.ai.OtherDialect",
        ),
        (
            "__init__.py",
            "class OtherOp(AiDialect.Operation, name='relu'):\n    out: Result[FloatTensor]",
            "cannot be loaded: TypeError: two classes define ai.relu: "
            "<class 'aiopt.dialects.ai.unary.ReluOp'> and <class 'clash.OtherOp'>",
        ),
        (
            "__init__.py",
            "from aiopt.targets.cpu.target import CpuTarget\nTARGET = CpuTarget()",
            "two targets are called cpu: aiopt.targets.cpu.target and clash",
        ),
        ("__init__.py", "import nothing_of_this_name", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
    ],
)
@pytest.mark.parametrize("by_name", [False, True])
def test_a_clash_names_both(tmp_path: Path, file: str, source: str, message: str, by_name: bool) -> None:
    (tmp_path / "clash").mkdir()
    (tmp_path / "clash" / "__init__.py").touch()
    (tmp_path / "clash" / file).write_text(IMPORTS + source)
    if not by_name:
        install(tmp_path, dict.fromkeys(SHOP, "clash = clash"), "clash")
    words = ["--load-python=clash"] if by_name else []
    done = aiopt(tmp_path, *words, "-p", "ai-dce", "--emit=llvm", text=GRAPH)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_entry_point_names_a_module(tmp_path: Path) -> None:
    install(tmp_path, {"aiopt.passes": "shop = aiopt_shop.passes:FuseSwish"})
    assert aiopt(tmp_path, "-p", "ai-dce", text=GRAPH).stderr == (
        "error: the entry point 'shop' of aiopt.passes must name a module, as 'aiopt_shop.passes', "
        "not 'aiopt_shop.passes:FuseSwish' [AI0404]\n"
    )


def test_an_unknown_module_is_an_error(tmp_path: Path) -> None:
    assert aiopt(tmp_path, "--load-python=nowhere.at_all", text=GRAPH).stderr == (
        "error: --load-python=nowhere.at_all cannot be loaded: ModuleNotFoundError: "
        "No module named 'nowhere' [AI0404]\n"
    )
