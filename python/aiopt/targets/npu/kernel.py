"""Kernels as matrix products: which `ai` ops the array and the vector unit take, and what a kernel of them asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ext
from aiopt.dialects.ai import AddOp, ConstantOp, MatMulOp, ReluOp
from aiopt.dialects.ext import describe, type_of
from aiopt.passes.rewrite import defining, has_one_use, users
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError

MATRIX = 2  # the rank of the right operand


@dataclass(frozen=True)
class Requantize:
    """Sums to int8 or uint8: sat(rint(f32(sum) * scale) + zero_point)."""

    scale: np.ndarray  # f32, of shape [] or [n]
    zero_point: int


@dataclass(frozen=True)
class Product:
    """y[m, n] = relu(x[m, k] @ right[k, n] + bias[n]), f32; or integers, requantized before relu.

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


def can_run(op: ext.Operation) -> str | None:
    """None if an NPU runs this op of a graph, else why not.

    What follows a product (bias, relu) runs only with it: where its operand is that product, used nowhere else.
    """
    rule = _RULES.get(type(op))
    return "the NPU has no instruction for it" if rule is None else rule(op)


def read_kernel(kernel: func.FuncOp, unit: Unit) -> list[Product]:
    """The products of a kernel, each behind those it needs. Raises UnsupportedError that names the op that is none."""
    products: list[tuple[int, Product]] = []
    order = list(kernel.entry_block.operations)
    for op in order:
        if isinstance(op, (ConstantOp, arith.ConstantOp, func.ReturnOp)):
            continue
        reason = can_run(op) if isinstance(op, ext.Operation) else "it is no ai op"
        if reason:
            where = f"kernel @{kernel.name.value}: {op.operation.name} (at {describe(op.location)})"
            raise UnsupportedError(f"{where} does not run on an NPU: {reason}")
        if isinstance(op, MatMulOp):
            product = _with_what_follows(op)
            products.append((order.index(product.result.owner), product))
    return [product for _, product in sorted(products, key=lambda entry: entry[0])]


def _with_what_follows(op: MatMulOp) -> Product:
    result, bias = op.operation.results[0], None
    if isinstance(follower := _only_user(result), AddOp) and can_run(follower) is None:
        bias = _row_of(follower, result)
        result = follower.operation.results[0]
    relu = isinstance(follower := _only_user(result), ReluOp)
    if relu:
        result = follower.operation.results[0]
    return Product(op.lhs, op.rhs, bias, None, relu, result, op.location)


def _only_user(value: ir.Value) -> ir.OpView | None:
    return users(value)[0] if has_one_use(value) else None


def _matmul(op: MatMulOp) -> str | None:
    left, right = type_of(op.lhs), type_of(op.rhs)
    if op.pack is not None:
        return "its weights are packed for another target"
    if left.element != "f32":
        return f"its operands are {left.element}, not f32"
    if right.rank != MATRIX:
        return f"its right operand has rank {right.rank}, not {MATRIX}"
    return "it has no elements" if min(left.size, right.size) == 0 else None


def _bias(op: AddOp) -> str | None:
    for sums in (op.lhs, op.rhs):
        if isinstance(defining(sums), MatMulOp) and can_run(defining(sums)) is None and has_one_use(sums):
            row, kind = type_of(_row_of(op, sums)), type_of(sums)
            if row.shape[-1:] == kind.shape[-1:] and row.size == kind.shape[-1]:
                return None
    return "it adds no bias [n] to a product that is used nowhere else"


def _row_of(op: AddOp, sums: ir.Value) -> ir.Value:
    return op.rhs if op.lhs == sums else op.lhs


def _relu(op: ReluOp) -> str | None:
    source = defining(op.input)
    if isinstance(source, (MatMulOp, AddOp)) and can_run(source) is None and has_one_use(op.input):
        return None
    return "it does not follow a product that is used nowhere else"


_RULES: dict[type[ext.Operation], Callable[..., str | None]] = {MatMulOp: _matmul, AddOp: _bias, ReluOp: _relu}
