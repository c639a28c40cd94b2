"""Which `ai` ops the array and the vector unit take."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir
from mlir.dialects import arith

from aiopt.dialects import ext
from aiopt.dialects.ai import (
    AddOp,
    CastOp,
    ConstantOp,
    MatMulIntegerOp,
    MatMulOp,
    MaximumOp,
    MulOp,
    QLinearMatMulOp,
    QuantizeLinearOp,
    ReluOp,
)
from aiopt.dialects.ext import type_of
from aiopt.passes.rewrite import constant_value, defining, has_one_use, users
from aiopt.passes.unit import Unit

PRODUCTS = (MatMulOp, MatMulIntegerOp, QLinearMatMulOp)
RELUS = (ReluOp, MaximumOp)
MATRIX = 2  # the rank of the right operand


def can_run(op: ext.Operation, unit: Unit | None = None) -> str | None:
    """None if an NPU runs this op, else why not.

    What follows a product (bias, requantization, relu) runs only with it: where its operand is that product, used
    nowhere else.
    Without `unit`, which has the values of constants, a weight that turns out not to fit int8 is let pass.
    """
    rule = _RULES.get(type(op))
    return "the NPU has no instruction for it" if rule is None else rule(op, unit)


def row_of(op: AddOp | MulOp, sums: ir.Value) -> ir.Value:
    """The other operand of a bias or a scale."""
    return op.rhs if op.lhs == sums else op.lhs


def centred(weight: np.ndarray, zero_point: np.ndarray) -> np.ndarray | None:
    """Weights [k, n] less their zero point, one or [n], as int8; None if they do not fit."""
    values = weight.astype(np.int32) - zero_point.astype(np.int32)
    fits = bool((values >= -128).all() and (values <= 127).all())
    return values.astype(np.int8) if fits else None


def _matmul(op: MatMulOp, unit: Unit | None) -> str | None:
    if op.pack is not None:
        return "its weights are packed for another target"
    if (element := type_of(op.lhs).element) != "f32":
        return f"its operands are {element}, not f32"
    if (acc := op.python_attributes()["acc"]) != "f32":
        return f"its sums are kept in {acc}, not f32"
    return _shape_reason(op)


def _shape_reason(op: ext.Operation) -> str | None:
    right = type_of(op.operation.operands[_RIGHT.get(type(op), 1)])
    if right.rank != MATRIX:
        return f"its right operand has rank {right.rank}, not {MATRIX}"
    return "it has no elements" if 0 in (right.size, type_of(op.operation.operands[0]).size) else None


def _matmul_integer(op: MatMulIntegerOp, unit: Unit | None) -> str | None:
    return _shape_reason(op) or _integer_reason(op.rhs, op.lhs_zero_point, op.rhs_zero_point, unit)


def _qlinear_matmul(op: QLinearMatMulOp, unit: Unit | None) -> str | None:
    for name in ("a_scale", "y_scale", "y_zero_point"):
        if not _is_one_constant(getattr(op, name)):
            return f"its {name} is not one constant number"
    if not _is_constant(op.b_scale):
        return "its b_scale is no constant"
    return _shape_reason(op) or _integer_reason(op.b, op.a_zero_point, op.b_zero_point, unit)


def _integer_reason(weight: ir.Value, left_zero: ir.Value, right_zero: ir.Value, unit: Unit | None) -> str | None:
    if not _is_constant(weight) or not _is_constant(right_zero):
        return "its weights are no constants"
    if not _is_one_constant(left_zero):
        return "the zero point of its left operand is not one constant number"
    values = [None if unit is None else constant_value(value, unit) for value in (weight, right_zero)]
    if values[0] is not None and values[1] is not None and centred(values[0], values[1]) is None:
        return "its weights less their zero point do not fit int8"
    return None


def biased(op: AddOp, unit: Unit | None) -> ir.Value | None:
    """The sums to which an op adds a bias [n], if it does."""
    for sums in (op.lhs, op.rhs):
        source = defining(sums)
        if isinstance(source, (MatMulOp, MatMulIntegerOp)) and can_run(source, unit) is None and has_one_use(sums):
            other = row_of(op, sums)
            row, kind = type_of(other), type_of(sums)
            is_row = row.shape[-1:] == kind.shape[-1:] and row.size == kind.shape[-1]
            if is_row and (kind.element == "f32" or _is_constant(other)):
                return sums
    return None


def _bias(op: AddOp, unit: Unit | None) -> str | None:
    return None if biased(op, unit) is not None else "it adds no bias [n] to a product that is used nowhere else"


def requantization(op: CastOp) -> tuple[MulOp, QuantizeLinearOp] | None:
    """What follows a cast of sums to f32 and makes them int8: a product with the scale, then rounding (scale 1)."""
    scaled = only_user(op.out) if type_of(op.out).element == "f32" else None
    if not isinstance(scaled, MulOp) or not isinstance(rounded := only_user(scaled.out), QuantizeLinearOp):
        return None
    factor, columns = row_of(scaled, op.out), type_of(op.out).shape[-1:]
    kind, step = type_of(factor), _small(rounded.scale)
    fits = kind.size == 1 or (kind.shape[-1:] == columns and kind.size == columns[0])
    rounds = rounded.input == scaled.out and step is not None and step.size == 1 and float(step.flat[0]) == 1.0
    if not (fits and rounds and _is_constant(factor) and _is_one_constant(rounded.zero_point)):
        return None
    return (scaled, rounded) if type_of(rounded.out).element in ("i8", "ui8") else None


def only_user(value: ir.Value) -> ir.OpView | None:
    """The op that reads a value, if that is one, and once."""
    return users(value)[0] if has_one_use(value) else None


def _cast(op: CastOp, unit: Unit | None) -> str | None:
    source = defining(op.input)
    exact = isinstance(source, MatMulIntegerOp) or (isinstance(source, AddOp) and type_of(source.out).element == "i32")
    if not exact or can_run(source, unit) is not None or not has_one_use(op.input) or requantization(op) is None:  # pyright: ignore[reportArgumentType]
        return "it begins no requantization of a product that is used nowhere else"
    return None


def _requantize(op: MulOp | QuantizeLinearOp, unit: Unit | None) -> str | None:
    before = (op.input,) if isinstance(op, QuantizeLinearOp) else (op.lhs, op.rhs)
    sources = [defining(value) for value in before]
    if isinstance(op, QuantizeLinearOp):
        sources = [defining(value) for source in sources if isinstance(source, MulOp) for value in source.operands]
    for source in sources:
        if isinstance(source, CastOp) and op in (requantization(source) or ()) and can_run(source, unit) is None:
            return None
    return "it is no part of a requantization of a product that is used nowhere else"


def _relu(op: ReluOp, unit: Unit | None) -> str | None:
    return _clamp_reason(op.input, np.zeros(()), unit)


def _maximum(op: MaximumOp, unit: Unit | None) -> str | None:
    for sums, bound in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if _is_one_constant(bound) and defining(sums) is not None and not _is_constant(sums):
            return _clamp_reason(sums, _small(bound), unit)
    return "it is no relu: neither operand is one constant number"


def _clamp_reason(sums: ir.Value, bound: np.ndarray | None, unit: Unit | None) -> str | None:
    """Why the greater of sums and a bound is no relu: the bound is what stands for 0."""
    source = defining(sums)
    if (
        not isinstance(source, (*PRODUCTS, AddOp, QuantizeLinearOp))
        or can_run(source, unit) is not None
        or not has_one_use(sums)
    ):
        return "it does not follow a product that is used nowhere else"
    zero = np.zeros(())
    if isinstance(source, (QLinearMatMulOp, QuantizeLinearOp)):
        zero = _small(source.y_zero_point if isinstance(source, QLinearMatMulOp) else source.zero_point)
    if bound is None or zero is None or float(bound.flat[0]) != float(zero.flat[0]):
        return "its bound is not what stands for 0"
    return None


def _is_constant(value: ir.Value) -> bool:
    return isinstance(defining(value), (ConstantOp, arith.ConstantOp))


def _is_one_constant(value: ir.Value) -> bool:
    return type_of(value).size == 1 and _is_constant(value)


def _small(value: ir.Value) -> np.ndarray | None:
    """The value of a constant that stands in the IR, as those of one element do."""
    op = defining(value)
    if isinstance(op, arith.ConstantOp) and isinstance(op.attributes["value"], ir.DenseElementsAttr):
        return ext.dense_array(ir.DenseElementsAttr(op.attributes["value"]), type_of(value))
    return None


_RIGHT: dict[type, int] = {QLinearMatMulOp: 3}  # which operand the right one is, if not the second
_RULES: dict[type[ext.Operation], Callable[..., str | None]] = {
    MatMulOp: _matmul,
    MatMulIntegerOp: _matmul_integer,
    QLinearMatMulOp: _qlinear_matmul,
    AddOp: _bias,
    CastOp: _cast,
    MulOp: _requantize,
    QuantizeLinearOp: _requantize,
    ReluOp: _relu,
    MaximumOp: _maximum,
}
