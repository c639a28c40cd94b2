"""What is recorded of a run: values with their operands and nodes, calls with their results, at every level alike."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from aiopt.bisect.calls import read_plan
from aiopt.bisect.execute import Kernels, run_calls, run_on_numpy
from aiopt.bisect.search import LOWER
from aiopt.passes import pipeline
from aiopt.passes.io import new_context, read_unit
from aiopt.passes.pipeline_text import MODULE, Nest, expand, parse
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from aiopt.targets import find_target

# One kernel that is called twice, with a view between the calls.
KERNELS = b"""
module attributes {ai.level = "kernels", ai.net = "twice"} {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}) {
    %0 = call @neg_exp(%x) {ai.nodes = ["N0", "E0"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = "ai.reshape"(%0) {shape = array<i64: 2, 3>} : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("View")
    %2 = call @neg_exp(%1) {ai.nodes = ["N1", "E1"]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    return %2 : tensor<2x3xf32>
  }
  func.func private @neg_exp(%x: tensor<2x3xf32>) -> tensor<2x3xf32> attributes {ai.kernel, ai.ops = ["ai.neg", "ai.exp"]} {
    %0 = "ai.neg"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("N0")
    %1 = "ai.exp"(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("E0")
    return %1 : tensor<2x3xf32>
  }
}
"""  # noqa: E501
X = np.float32([[1, -2, 0.5], [0, 3, -1]])


def unit() -> Unit:
    return read_unit(KERNELS, new_context())


def test_values_have_their_operands_and_the_nodes_of_their_call() -> None:
    run = run_on_numpy(unit(), {"x": X})
    assert [(value.op, value.nodes) for value in run.values] == [
        ("ai.neg", ("N0",)),
        ("ai.exp", ("E0",)),
        ("ai.reshape", ("View",)),
        ("ai.neg", ("N1",)),
        ("ai.exp", ("E1",)),
    ]
    assert [value.sources for value in run.values] == [(), (0,), (1,), (2,), (3,)]
    assert [[value.nodes for value in results] for results in run.calls] == [[("N0", "E0")], [("N1", "E1")]]
    np.testing.assert_array_equal(run.outputs["y"], np.exp(-np.exp(-X)))


def lowered() -> Iterator[tuple[str, Unit]]:
    """The unit after each pass, as long as @main is a list of calls."""
    work = unit()
    target = find_target("cpu")
    for stage in target.stages()[1:]:
        for step in expand(parse(stage.pipeline).items):
            pipeline.run(work, Nest(MODULE, (step,)))
            yield str(step), work


def test_every_step_computes_the_same() -> None:
    expected = run_on_numpy(unit(), {"x": X})
    seen = []
    for step, work in lowered():
        plan = read_plan(work.module, work.weights) if work.level in LOWER else None
        if plan is None:
            continue
        run = run_calls(plan, Kernels(work.module), [1, 1], {"x": X})
        np.testing.assert_allclose(run.outputs["y"], expected.outputs["y"], rtol=1e-6, err_msg=step)
        assert [value.nodes for value in run.values] == [("N0", "E0"), ("N1", "E1")], step
        seen.append(step.partition("{")[0])
    assert {"convert-ai-to-linalg", "schedule-tile-and-fuse", "ai-plan-memory", "cpu-outline-tasks"} <= set(seen)


def test_what_nobody_wrote_is_nan() -> None:
    work = unit()
    pipeline.run(work, "ai-select-route{templates=false},convert-ai-to-linalg")
    for op in list(work.module.body.operations):
        if op.name.value == "neg_exp":
            for member in reversed(list(op.entry_block.operations)[:-1]):
                member.operation.erase()
    plan = read_plan(work.module, work.weights)
    assert plan is not None
    run = run_calls(plan, Kernels(work.module), [1, 1], {"x": X})
    assert np.isnan(run.outputs["y"]).all()


def test_a_function_that_is_not_there_is_an_error() -> None:
    work = unit()
    pipeline.run(work, "ai-select-route{templates=false},convert-ai-to-linalg")
    with pytest.raises(CompileError, match="the function @nothing is not there"):
        Kernels(work.module).call("nothing", [])
