"""What the quantised operators are made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import broadcast_to, cast, normal_axis, reshape, scalar, take
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import numpy_dtype


def zero(element: str) -> Value:
    """A zero point where none is given."""
    return Value.known(np.zeros((), numpy_dtype(element)))


def one_value(node: Node, index: int, role: str) -> Value:
    """An input that must be a scalar, which exporters also write as a list of one."""
    value = node.input(index)
    if value.type.size != 1 or value.rank > 1:
        raise ModelError(f"input {index} ({role}) must be a scalar, but has shape {list(value.shape)}")
    return reshape(node, value, ())


def one_or_zero(node: Node, index: int, role: str, element: str) -> Value:
    """As `one_value`, and zero where the input is absent."""
    return zero(element) if node.optional(index) is None else one_value(node, index, role)


def collapsed(node: Node, value: Value) -> Value:
    """A scalar where a parameter is known to be the same everywhere."""
    if value.type.size == 1:
        return reshape(node, value, ())
    if value.array is not None and value.type.size and bool((value.array == value.array.flat[0]).all()):
        return Value.known(value.array.reshape(-1)[0].reshape(()))
    return value


def requantize(node: Node, sums: Value, factor: Value, zero_point: Value) -> Value:
    """saturate(round(f32(sums) * factor) + zero_point)."""
    product = node.emit(ai.MulOp, cast(node, sums, "f32"), factor)
    return node.emit(ai.QuantizeLinearOp, product, scalar(product, 1), zero_point)


class Granularity:
    """How scale and zero point belong to the elements of a tensor: one for all, one per index of an axis, or blocks.

    Source: ONNX QuantizeLinear-21. Errors: ModelError if the shapes do not fit.
    """

    def __init__(self, shape: Sequence[int], scale: Value, axis: int, block: int) -> None:
        self.shape, self.axis, self.block = tuple(shape), axis, block
        self.is_whole = scale.type.size == 1 and scale.rank <= 1 and not block
        if self.is_whole:
            return
        self.axis = normal_axis(axis, len(self.shape))
        if not block:
            self._require(scale, (self.shape[self.axis],))
            return
        if block < 0:
            raise ModelError(f"block_size must be 0 or more, but is {block}")
        blocks = math.ceil(self.shape[self.axis] / block)
        self._require(scale, (*self.shape[: self.axis], blocks, *self.shape[self.axis + 1 :]))
        self.blocks, self.is_ragged = blocks, bool(self.shape[self.axis] % block)

    def _require(self, scale: Value, shape: tuple[int, ...]) -> None:
        if scale.shape != shape:
            raise ModelError(f"the scale of {list(self.shape)} must have the shape {list(shape)}, not {scale.shape}")

    def split(self, node: Node, x: Value) -> Value:
        """The tensor, its blocks, if all are full, in a dimension of their own."""
        return reshape(node, x, self._in_blocks(self.block)) if self.block and not self.is_ragged else x

    def spread(self, node: Node, parameter: Value) -> Value:
        """Scale or zero point in a shape that broadcasts to that of `split`."""
        if self.is_whole or parameter.rank == 0:
            return reshape(node, parameter, ())
        if not self.block:
            parameter = collapsed(node, parameter)
            ones = [1] * (len(self.shape) - 1 - self.axis)
            return reshape(node, parameter, (parameter.shape[0], *ones)) if parameter.rank else parameter
        single = reshape(node, parameter, self._in_blocks(1))
        if not self.is_ragged:
            return single
        whole = list(self.shape)
        whole[self.axis] = self.blocks * self.block
        repeated = reshape(node, broadcast_to(node, single, self._in_blocks(self.block)), whole)
        return take(node, repeated, [0] * len(whole), self.shape, [1] * len(whole))

    def _in_blocks(self, size: int) -> tuple[int, ...]:
        return (*self.shape[: self.axis], self.blocks, size, *self.shape[self.axis + 1 :])
