"""aiopt inside a program that has its own context and IR: test/embedding/program.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlir import ir

from aiopt.dialects.registry import load_dialects
from aiopt.passes import pipeline
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from e2e.commands import command
from unit.plugins import EMBEDDING, SHOP, aiopt, install, run

FUNCTIONS = "\n".join(
    f'func.func @f{number}(%x: tensor<4xf32>) -> tensor<4xf32> {{\n  %0 = "ai.relu"(%x) : (tensor<4xf32>) -> '
    "tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"
    for number in range(4)
)


def test_a_program_runs_our_passes_and_its_own_on_its_own_module(tmp_path: Path) -> None:
    done = run(tmp_path, str(EMBEDDING / "program.py"))
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.split("\n\n", 1)
    assert [before.count(name) for name in ('"ai.identity"', '"ai.add"', "linalg.exp", "mine")] == [1, 2, 1, 0]
    # ai-canonicalize, ai-cse, the program's own, and upstream's.
    assert [after.count(name) for name in ('"ai.identity"', '"ai.add"', "linalg.exp", "linalg.generic")] == [0, 1, 0, 2]
    assert '"ai.add"(%1, %1) {mine.double}' in after


def test_a_context_with_threads_is_refused_where_it_would_hang() -> None:
    context = ir.Context()
    load_dialects(context)
    if context.get_num_threads() < 2:
        pytest.skip("this machine has no threads to refuse")
    unit = Unit(ir.Module.parse(FUNCTIONS, context))
    with pytest.raises(OptionError, match=r"ai-group-kernels .*call context.enable_multithreading\(False\)"):
        pipeline.run(unit, "func.func(ai-group-kernels)")
    context.enable_multithreading(False)
    pipeline.run(unit, "func.func(ai-group-kernels)")
    assert str(unit.module).count("ai.group") == 4


def test_stock_mlir_opt_loads_the_dialect_of_a_plug_in(tmp_path: Path) -> None:
    install(tmp_path, SHOP)
    (tmp_path / "shop.irdl").write_text(aiopt(tmp_path, "--emit-irdl=shop").stdout)
    text = 'func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = "shop.NAME"(%x) : (tensor<4xf32>) -> '
    text += "tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n"
    for name, code in (("swish", 0), ("swash", 1)):
        (tmp_path / "x.mlir").write_text(text.replace("NAME", name))
        done = command("mlir-opt", f"--irdl-file={tmp_path / 'shop.irdl'}", tmp_path / "x.mlir")
        assert done.returncode == code, done.stderr
