"""Steps of upstream's that follow each other run as one; what goes wrong is the same, and says where."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import pytest
from mlir import ir

from aiopt.passes import pipeline, pipeline_text
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from aiopt.support.errors import AioptError, CompileError, OptionError, SpecError

LOOPS = """
module attributes {ai.level = "loops"} {
  func.func @main(%x: memref<8xf32> {ai.name = "x"}) { return }
  func.func private @kernel(%x: memref<8xf32>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %v = memref.load %x[%i] : memref<8xf32>
      memref.store %v, %x[%i] : memref<8xf32>
    }
    return
  }
}
"""
FUNCTIONS = """
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<4xf32> {ai.name = "x"}) -> (tensor<4xf32> {ai.name = "y"}) {
    %0 = "ai.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "ai.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
"""
TENSOR = """
module {
  func.func @f(%t: tensor<8xf32>) -> tensor<8xf32> {
    %r = "unknown.op"(%t) : (tensor<8xf32>) -> tensor<8xf32>
    return %r : tensor<8xf32>
  }
}
"""


class Log:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def before(self, steps: Sequence[str], unit: Unit) -> None:
        self.steps.append(steps[0])

    def end(self, unit: Unit) -> None:
        self.steps.append("end")


def _run(text: str, passes: str, observed: bool) -> str:
    context = new_context()
    context.allow_unregistered_dialects = True
    unit = Unit(ir.Module.parse(text, context))
    with pipeline.observed(Log()) if observed else contextlib.nullcontext():
        pipeline.run(unit, passes)
    return str(unit.module)


@pytest.mark.parametrize(
    ("text", "passes", "kind", "message"),
    [
        (LOOPS, "canonicalize,convert-scf-to-cf,cse", SpecError, "after convert-scf-to-cf: level loops does not allow"),
        (TENSOR, "canonicalize,one-shot-bufferize,cse", CompileError, "one-shot-bufferize: "),
        (TENSOR, "cse,test", AioptError, "no pass is called 'test'"),
    ],
)
@pytest.mark.parametrize("observed", [False, True])
def test_the_pass_at_fault_is_named(
    text: str, passes: str, kind: type[AioptError], message: str, observed: bool
) -> None:
    with pytest.raises(kind) as caught:
        _run(text, passes, observed)
    assert str(caught.value).startswith(message)


def test_observed_or_not_the_result_is_the_same() -> None:
    passes = "canonicalize,cse,ai-expand-math,func.func(convert-linalg-to-loops),canonicalize"
    assert _run(LOOPS, passes, observed=False) == _run(LOOPS, passes, observed=True)


def test_an_observer_sees_each_step() -> None:
    log = Log()
    with pipeline.observed(log):
        pipeline.run(Unit(ir.Module.parse(LOOPS, new_context())), "canonicalize,cse,ai-expand-math")
    assert log.steps == ["canonicalize", "cse", "ai-expand-math", "end"]


def test_named_pipelines_expand_at_any_depth() -> None:
    nest = pipeline_text.parse("builtin.module(cse,builtin.module(ai-graph-pipeline))")
    assert str(pipeline_text.expand(nest.items)[1]).startswith("builtin.module(ai-canonicalize,ai-fold-constants,")


@pytest.mark.parametrize("text", ["builtin.module(cse)", "builtin.module(func.func(ai-group-kernels{max-ops=4},cse))"])
def test_pipelines_print_as_they_were_read(text: str) -> None:
    assert str(pipeline_text.parse(text)) == text


def test_what_a_pass_of_ours_raises_inside_a_nest_comes_through() -> None:
    with pytest.raises(OptionError, match="option 'max-ops' must be 1 or more"):
        _run(FUNCTIONS, "func.func(cse,ai-group-kernels{max-ops=0})", observed=False)


def test_remarks_are_told_with_the_name_of_their_pass() -> None:
    told: list[str] = []
    unit = Unit(ir.Module.parse(FUNCTIONS, new_context()), on_remark=lambda name, text: told.append(f"{name}: {text}"))
    pipeline.run(unit, "func.func(ai-group-kernels)")
    assert told == ["ai-group-kernels: fused ai.exp into ai.neg"]
