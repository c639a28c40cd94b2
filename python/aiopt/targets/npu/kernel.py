"""Kernels as matrix products: what a kernel asks of the array and the vector unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ext
from aiopt.dialects.ai import AddOp, CastOp, ConstantOp, MatMulIntegerOp, QLinearMatMulOp
from aiopt.dialects.ext import describe, type_of
from aiopt.passes.rewrite import constant_value
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError
from aiopt.targets.npu.rules import PRODUCTS, RELUS, biased, can_run, centred, only_user, requantization, row_of


@dataclass(frozen=True)
class Requantize:
    """Sums to int8 or uint8: sat(rint(f32(sum) * scale) + zero_point)."""

    scale: np.ndarray  # f32, of shape [] or [n]
    zero_point: int


@dataclass(frozen=True)
class Product:
    """y[m, n] = relu(x[m, k] @ right[k, n] + bias[n]), f32; or int32, which may be requantized before relu.

    Leading dimensions of x and y are rows. int8 operands on the right take int8 or uint8 on the left, the bias is int32
    then, and relu is the greater of y and its zero point. Arrays are what was computed when the kernel was read.
    """

    left: ir.Value
    right: ir.Value | np.ndarray
    bias: ir.Value | np.ndarray | None
    requantize: Requantize | None
    relu: bool
    result: ir.Value
    location: ir.Location

    @property
    def shape(self) -> tuple[int, int, int]:
        """m, n and k."""
        k, n = self.right.shape if isinstance(self.right, np.ndarray) else type_of(self.right).shape
        return type_of(self.left).size // k, n, k


def read_kernel(kernel: func.FuncOp, unit: Unit) -> list[Product]:
    """The products of a kernel, each behind those it needs. Raises UnsupportedError that names the op that is none."""
    products: list[tuple[int, Product]] = []
    order = list(kernel.entry_block.operations)
    for op in order:
        if isinstance(op, (ConstantOp, arith.ConstantOp, func.ReturnOp)):
            continue
        reason = can_run(op, unit) if isinstance(op, ext.Operation) else "it is no ai op"
        if reason:
            where = f"kernel @{kernel.name.value}: {op.operation.name} (at {describe(op.location)})"
            raise UnsupportedError(f"{where} does not run on an NPU: {reason}")
        if isinstance(op, PRODUCTS):
            product = _read_product(op, unit)
            products.append((order.index(product.result.owner), product))
    return [product for _, product in sorted(products, key=lambda entry: entry[0])]


def _read_product(op: ext.Operation, unit: Unit) -> Product:
    right, bias, requantize = op.operation.operands[1], None, None
    if isinstance(op, QLinearMatMulOp):
        right = _weights(op.b, op.b_zero_point, unit)
        bias = _correction(right, _value(op.a_zero_point, unit))
        scales = (_value(scale, unit) for scale in (op.a_scale, op.b_scale, op.y_scale))
        requantize = Requantize(_factor(*scales), int(_value(op.y_zero_point, unit).flat[0]))
    elif isinstance(op, MatMulIntegerOp):
        right = _weights(op.rhs, op.rhs_zero_point, unit)
        bias = _correction(right, _value(op.lhs_zero_point, unit))
    result = op.operation.results[0]
    follower = only_user(result)
    if isinstance(follower, AddOp) and biased(follower, unit) == result:
        added = row_of(follower, result)
        bias = added if bias is None else bias + _value(added, unit).reshape(-1)
        result = follower.out
        follower = only_user(result)
    if isinstance(follower, CastOp) and can_run(follower, unit) is None and (after := requantization(follower)):
        factor, zero = _value(row_of(after[0], follower.out), unit), _value(after[1].zero_point, unit)
        requantize = Requantize(_one_or_row(factor), int(zero.flat[0]))
        result = after[1].out
        follower = only_user(result)
    relu = isinstance(follower, RELUS) and can_run(follower, unit) is None
    if relu:
        result = follower.operation.results[0]  # pyright: ignore[reportOptionalMemberAccess]
    return Product(op.operation.operands[0], right, bias, requantize, relu, result, op.location)


def _value(value: ir.Value, unit: Unit) -> np.ndarray:
    array = constant_value(value, unit)
    assert array is not None, "can_run asks for constants"
    return array


def _weights(value: ir.Value, zero_point: ir.Value, unit: Unit) -> np.ndarray:
    weights = centred(_value(value, unit), _value(zero_point, unit))
    assert weights is not None, "can_run asks for weights that fit"
    return weights


def _correction(right: np.ndarray, zero_point: np.ndarray) -> np.ndarray | None:
    """What the left operand's zero point adds to the sums: sum((x - z) * w) = sum(x * w) - z * sum(w)."""
    zero = int(zero_point.flat[0])
    return (-zero * right.sum(axis=0, dtype=np.int64)).astype(np.int32) if zero else None


def _factor(a_scale: np.ndarray, b_scale: np.ndarray, y_scale: np.ndarray) -> np.ndarray:
    """f32(f32(a * b) / y), of shape [] or [n]."""
    return _one_or_row(np.asarray(a_scale.reshape(-1) * b_scale.reshape(-1) / y_scale.reshape(-1), np.float32))


def _one_or_row(array: np.ndarray) -> np.ndarray:
    """One number as [], else [n]."""
    return array.reshape(() if array.size == 1 else -1)
