"""The rewriting driver and the questions patterns ask."""

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai, ext
from aiopt.passes import rewrite
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32"]
TEXT = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ai.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32> loc("Neg_0")
  %1 = "ai.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("Neg_1")
  %2 = "ai.mul"(%1, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("Mul_2")
  return %2 : tensor<4xf32>
}
"""


@pytest.fixture
def unit():
    with new_context(), ir.Location.unknown():
        yield Unit(ir.Module.parse(TEXT))


def ops_of(unit: Unit) -> list[str]:
    return [op.operation.name for op in ext.operations(unit.module) if isinstance(op, ext.Operation)]


def first(unit: Unit, cls: type[ext.Operation]) -> ext.Operation:
    return next(op for op in ext.operations(unit.module) if isinstance(op, cls))


def constant(unit: Unit, array: np.ndarray, hint: str = "w") -> ir.Value:
    return rewrite.make_constant(unit, array, hint, ir.Location.unknown(), ir.InsertionPoint(first(unit, ai.NegOp)))


@pytest.mark.parametrize("dtype", [*DTYPES, "float64"])
@pytest.mark.parametrize("values", [[1, 1, 1, 1], [0, 1, 1, 0]], ids=["equal", "different"])
def test_constants_come_back_as_they_went(unit: Unit, dtype: str, values: list[int]) -> None:
    array = np.array(values, dtype).reshape(2, 2)
    value = constant(unit, array)
    unit.module.operation.verify()
    back = rewrite.constant_value(value, unit)
    assert back is not None
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    assert (rewrite.splat_value(value, unit) is not None) == (len(set(values)) == 1)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (np.full(16, 2.0, np.float32), "arith.constant"),  # 64 bytes
        (np.full(17, 2.0, np.float32), "ai.constant"),
        (np.array([0.0, -0.0], np.float32), "ai.constant"),  # equal as numbers, not as bits
        (np.full(3, np.nan, np.float32), "arith.constant"),
        (np.full((), -np.inf, np.float16), "arith.constant"),
        (np.zeros((0, 3), np.float32), "ai.constant"),
    ],
)
def test_small_equal_constants_stand_in_the_ir(unit: Unit, array: np.ndarray, name: str) -> None:
    value = constant(unit, array)
    assert value.owner.name == name
    np.testing.assert_array_equal(rewrite.constant_value(value, unit), array)


def test_a_constant_without_known_value_has_none(unit: Unit) -> None:
    at = ir.InsertionPoint(first(unit, ai.NegOp))
    value = ai.ConstantOp(key="gone", results=[ext.TensorType((2,), "f32")], ip=at).out
    assert rewrite.constant_value(value, unit) is None
    assert rewrite.splat_value(value, unit) is None


def test_an_argument_is_no_constant(unit: Unit) -> None:
    assert rewrite.constant_value(first(unit, ai.NegOp).operation.operands[0], unit) is None


def test_uses(unit: Unit) -> None:
    negations = [op for op in ext.operations(unit.module) if isinstance(op, ai.NegOp)]
    once, twice = (op.operation.results[0] for op in negations)
    never = constant(unit, np.ones(2, np.float32))
    assert [rewrite.has_one_use(value) for value in (once, twice, never)] == [True, False, False]
    assert [rewrite.is_used(value) for value in (once, twice, never)] == [True, True, False]
    assert [type(op) for op in rewrite.users(twice)] == [ai.MulOp, ai.MulOp]


def test_rewrite_replaces_and_erases_what_is_left(unit: Unit) -> None:
    def _cancel(op: ai.NegOp, rewriter: rewrite.Rewriter) -> bool:
        inner = rewrite.defining(op.input)
        return isinstance(inner, ai.NegOp) and rewriter.replace(inner.input)

    assert rewrite.rewrite(unit, {ai.NegOp: [_cancel]})
    assert ops_of(unit) == ["ai.mul"]
    assert not rewrite.rewrite(unit, {ai.NegOp: [_cancel]})


def test_new_ops_carry_the_names_of_the_old(unit: Unit) -> None:
    def _fuse(op: ai.MulOp, rewriter: rewrite.Rewriter) -> bool:
        inner = rewrite.defining(op.lhs)
        assert inner is not None
        return rewriter.replace(rewriter.create(ai.AbsOp, op.lhs, merged=[inner, inner]))

    rewrite.rewrite(unit, {ai.MulOp: [_fuse]})
    assert ext.node_names(first(unit, ai.AbsOp).location) == ["Neg_1", "Mul_2"]


def test_patterns_that_undo_each_other_are_a_bug(unit: Unit) -> None:
    def _again(op: ai.MulOp, rewriter: rewrite.Rewriter) -> bool:
        return rewriter.replace(rewriter.create(ai.MulOp, op.lhs, op.rhs))

    with pytest.raises(AssertionError, match="still rewrite"):
        rewrite.rewrite(unit, {ai.MulOp: [_again]})


def test_errors_in_patterns_are_not_lost(unit: Unit) -> None:
    def _fail(op: ai.MulOp, rewriter: rewrite.Rewriter) -> bool:
        raise ValueError("from the pattern")

    with pytest.raises(ValueError, match="from the pattern"):
        rewrite.rewrite(unit, {ai.MulOp: [_fail]})


def test_dead_chains_go_at_once(unit: Unit) -> None:
    first(unit, ai.MulOp).operation.results[0].replace_all_uses_with(first(unit, ai.NegOp).operation.operands[0])
    assert rewrite.erase_dead(unit.module) == 3
    assert ops_of(unit) == []


def test_fused_location_names_each_node_once(unit: Unit) -> None:
    a, b, unknown = ir.Location.name("a"), ir.Location.name("b"), ir.Location.unknown()
    assert ext.node_names(rewrite.fused_location([rewrite.fused_location([a, b]), unknown, b, a])) == ["a", "b"]
    assert rewrite.fused_location([unknown]) == unknown
    assert rewrite.fused_location([a, unknown]) == a
