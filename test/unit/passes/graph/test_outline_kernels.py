"""Names, arguments and remarks of outlined kernels."""

import numpy as np
import pytest
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from unit.passes.graph.graphs import Builder, assert_same_bits, run

OUTLINE = "ai-group-kernels,ai-outline-kernels"


def kernels(unit: Unit) -> dict[str, func.FuncOp]:
    found = {op.name.value: op for op in unit.module.body.operations if isinstance(op, func.FuncOp)}
    del found["main"]
    return found


def calls(unit: Unit) -> list[func.CallOp]:
    (main,) = (op for op in unit.module.body.operations if op.name.value == "main")
    return [op for op in main.entry_block.operations if isinstance(op, func.CallOp)]


@pytest.fixture
def builder(context: ir.Context):
    builder = Builder(0, [(4, 4), (4, 4)])
    with ir.InsertionPoint(builder.block):
        yield builder


def test_long_kernels_have_short_names(builder: Builder) -> None:
    value = builder.values[0]
    for _ in range(3):
        value = builder.add(ai.ExpOp, builder.add(ai.NegOp, value))
    unit = builder.finish([value])
    pipeline.run(unit, OUTLINE)
    assert list(kernels(unit)) == ["neg_exp_neg_exp_plus2_0"]
    assert unit.remarks == [f"fused {kind} into neg_2" for kind in ("exp_3", "neg_4", "exp_5", "neg_6", "exp_7")]


def test_arguments_come_in_the_order_of_first_use_and_once(builder: Builder) -> None:
    x, y = builder.values
    weight = builder.weights(4, 4)
    value = builder.add(ai.AddOp, builder.add(ai.SubOp, builder.add(ai.MatMulOp, y, weight), x), y)
    unit = builder.finish([value])
    pipeline.run(unit, OUTLINE)
    (call,) = calls(unit)
    assert list(call.operation.operands) == [y, weight, x]


def test_kernels_that_differ_in_an_attribute_are_two(builder: Builder) -> None:
    x, y = builder.values
    results = [builder.add(ai.ReduceSumOp, value, axes=[axis]) for value, axis in ((x, 0), (y, 0), (x, 1))]
    unit = builder.finish(results)
    pipeline.run(unit, OUTLINE)
    assert len(calls(unit)) == 3
    assert list(kernels(unit)) == ["reduce_sum_0", "reduce_sum_1"]


def test_results_have_buffers_of_their_own(builder: Builder) -> None:
    x, y = builder.values
    flat = builder.add(ai.ReshapeOp, builder.add(ai.ExpOp, x), shape=[16])
    results = [x, x, builder.weights(3), flat, flat, builder.add(ai.NegOp, y)]
    unit = builder.finish(results)
    inputs = {name: np.arange(16, dtype=np.float32).reshape(4, 4) for name in ("x0", "x1")}
    expected = run(unit, inputs)
    pipeline.run(unit, OUTLINE)
    returned = list(calls(unit)[0].operation.block.operations)[-1].operands
    assert len({hash(value) for value in returned}) == len(results)
    assert all(isinstance(value.owner, func.CallOp) for value in returned)
    assert_same_bits(run(unit, inputs), expected)


def test_a_group_that_is_no_number_is_an_error(builder: Builder) -> None:
    value = builder.add(ai.NegOp, builder.values[0])
    value.owner.attributes["ai.group"] = ir.StringAttr.get("first")
    unit = builder.finish([value])
    with pytest.raises(CompileError, match=r"'ai.neg' \(at 'neg_2'\): ai.group must be a whole number"):
        pipeline.run(unit, "ai-outline-kernels")
