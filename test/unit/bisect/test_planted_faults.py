"""aiopt-bisect finds each fault that a plug-in planted: the pass, the op, the ONNX node; and nothing where none is."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from unit.plugins import aiopt, run

FOUND = 2
GRAPH = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ai.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A net whose nodes are called like their operators, with several kernels that fuse some of them."""
    random = np.random.default_rng(0)
    shapes = {"w": (4, 3, 3, 3), "scale": (4,), "shift": (4,), "mean": (4,), "variance": (4,), "k": (1, 4, 8, 8)}
    arrays = {name: random.uniform(0.5, 1.5, shape).astype("f4") for name, shape in {**shapes, "m": (4, 5)}.items()}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"], "norm"),
        helper.make_node("Relu", ["n"], ["r"], "relu"),
        helper.make_node("Sub", ["r", "k"], ["s"], "sub"),
        helper.make_node("AveragePool", ["s"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Softmax", ["p"], ["q"], "softmax", axis=1),
        helper.make_node("Transpose", ["q"], ["t"], "transpose", perm=[0, 2, 3, 1]),
        helper.make_node("MatMul", ["t", "m"], ["a"], "matmul"),
        helper.make_node("Tanh", ["a"], ["h"], "tanh"),
        helper.make_node("ReduceMean", ["h"], ["y"], "average", axes=[1], keepdims=0),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 5])
    weights = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    path = tmp_path_factory.mktemp("model") / "net.onnx"
    graph = helper.make_graph(nodes, "net", [x], [y], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def bisect(site: Path, *words: str | Path, text: str = "") -> subprocess.CompletedProcess[str]:
    main = "import sys; from aiopt.tools.aiopt_bisect import main; sys.exit(main())"
    return run(site, "-c", main, *map(str, words), text=text)


@pytest.mark.parametrize(
    ("fault", "step", "level", "op", "node"),
    [
        ("swapped_operand", "ai-outline-kernels{views=true}", "kernels", r"ai\.sub", "sub"),
        ("wrong_axis", "convert-ai-to-linalg", "tensor", r"ai\.softmax", "softmax"),
        ("wrong_rounding", "ai-fold-batch-norm", "graph", r"ai\.conv", "conv, norm"),
        ("off_by_one", "schedule-tile-and-fuse", "tensor", r"ai\.softmax", "softmax"),
        (
            "arena_overlap",
            "ai-plan-memory",
            "loops",
            r"@avg_pool_1; it overwrites .* \(conv, norm, relu, sub\) .*",
            "pool",
        ),
    ],
)
def test_a_planted_fault_is_found(
    model: Path, tmp_path: Path, fault: str, step: str, level: str, op: str, node: str
) -> None:
    reproducer = tmp_path / "r.mlir"
    done = bisect(tmp_path, model, f"--load-python=faults.{fault}", "--reproducer", reproducer)
    assert done.returncode == FOUND, done.stderr
    first, output, culprit, nodes, last = done.stdout.splitlines()
    assert first == f"first wrong after: {step} (level {level})"
    assert output.startswith("output y: off by ")
    assert re.fullmatch(f"op: {op}(, off by .* of its largest value)?", culprit)
    assert nodes == f"ONNX node: {node}"
    assert last == f"reproducer: {reproducer}"
    _check_reproducer(tmp_path, reproducer, fault, step)


def _check_reproducer(site: Path, reproducer: Path, fault: str, step: str) -> None:
    """It holds the pass, its IR is right without the fault, and wrong with it, after the same pass."""
    assert f'pipeline: "builtin.module({step})"' in reproducer.read_text()
    run_again = aiopt(site, "--run-reproducer", str(reproducer))
    assert run_again.returncode == 0, run_again.stderr
    good = bisect(site, reproducer)
    assert good.returncode == 0, good.stdout + good.stderr
    bad = bisect(site, reproducer, f"--load-python=faults.{fault}", "--reproducer", site / "again.mlir")
    assert bad.returncode == FOUND, bad.stderr
    assert bad.stdout.startswith(f"first wrong after: {step} ")


def test_a_wrong_import_is_found_with_the_other_engine(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    fault = "--load-python=faults.wrong_import"
    done = bisect(tmp_path, model, fault, "--oracle", "onnxruntime")
    assert done.returncode == FOUND, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "first wrong after: the import (level graph)"
    assert [line for line in lines if line.startswith(("op: ai.sigmoid", "ONNX node: tanh"))] == lines[2:]
    assert bisect(tmp_path, model, fault).returncode == 0  # by the ops' own references all is as it was imported


def test_a_fault_below_the_ir_is_told_from_one_in_it(model: Path, tmp_path: Path) -> None:
    words = ["--load-python=faults.wrong_code", "--reproducer", tmp_path / "r.mlir"]
    done = bisect(tmp_path, model, *words)
    assert done.returncode == FOUND, done.stderr
    assert done.stdout.startswith("first wrong after: cpu-emit-entry or code generation (level llvm)\n")
    assert "op: not found" in done.stdout


@pytest.mark.parametrize("oracle", ["onnxruntime", "reference"])
def test_nothing_is_found_where_all_is_right(model: Path, tmp_path: Path, oracle: str) -> None:
    if oracle == "onnxruntime":
        pytest.importorskip("onnxruntime")
    done = bisect(tmp_path, model, "--oracle", oracle)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.fullmatch(r"no pass is at fault: \d+ steps, all within 0.0001\n", done.stdout)


def test_a_pass_of_ones_own_is_looked_at_too(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from aiopt.dialects.ai import SigmoidOp, TanhOp\n"
        "from aiopt.passes.base import Pass\nfrom aiopt.passes.rewrite import rewrite\n"
        "class Mine(Pass):\n    name = 'mine'\n    def run(self, unit):\n"
        "        rewrite(unit, {TanhOp: [lambda op, r: r.replace(r.create(SigmoidOp, op.input))]})\n"
    )
    words = ["-p", "ai-cse,mine,ai-dce", "--load-python=mine", "--reproducer", tmp_path / "r.mlir", "-"]
    done = bisect(tmp_path, *words, text=GRAPH)
    assert done.returncode == FOUND, done.stderr
    assert done.stdout.startswith("first wrong after: mine (level graph)\n")
    assert "op: ai.sigmoid" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--oracle", "onnxruntime"], "--oracle onnxruntime takes an ONNX model"),
        (["--tolerance", "0"], "'0' is not a number above 0"),
        (["--input", "x=nowhere.npy"], "input 'x': cannot read 'nowhere.npy'"),
        (["-p", "ai-no-such-pass"], "no pass is called 'ai-no-such-pass'"),
        (["--shape", "x=4"], "--shape is for ONNX models"),
    ],
)
def test_errors_are_one_line(tmp_path: Path, words: list[str], message: str) -> None:
    done = bisect(tmp_path, *words, "-", text=GRAPH)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
