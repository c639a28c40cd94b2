"""Operators that choose elements: the largest ones, those a mask names."""

from collections.abc import Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import broadcast_to, normal_axis, reshape, steps
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import flat_places, gather_rows
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


@onnx_op("TopK", until=9)
def _top_k_by_attribute(node: Node) -> Sequence[Value]:
    return _top_k_of(node, node.attributes.require("k", node.attributes.get_int("k", None)))


@onnx_op("TopK", since=10)
def _top_k(node: Node) -> Sequence[Value]:
    """sorted=0 allows any order: here it is that of sorted=1."""
    counts = node.known_ints(1, "K")
    if len(counts) != 1:
        raise ModelError(f"K must be one number, but is {counts}")
    node.attributes.get_bool("sorted", True)
    return _top_k_of(node, counts[0], node.attributes.get_bool("largest", True))


def _top_k_of(node: Node, count: int, largest: bool = True) -> Sequence[Value]:
    x = node.input(0)
    axis = normal_axis(node.attributes.get_int("axis", -1), x.rank)
    if not 0 <= count <= x.shape[axis]:
        raise ModelError(f"K must be 0 to {x.shape[axis]}, the size of axis {axis}, but is {count}")
    indices = node.emit(ai.TopIndicesOp, x, axis=axis, count=count, largest=largest)
    places = [indices if at == axis else steps(size, at, x.rank) for at, size in enumerate(indices.shape)]
    flat = broadcast_to(node, flat_places(node, x.shape, places), indices.shape)
    return [gather_rows(node, x, x.rank, flat), indices]


@onnx_op("Compress", since=9)
def _compress(node: Node) -> Value:
    """The slices along `axis`, or the elements without one, for which the condition holds."""
    x, condition = node.input(0), node.known(1, "condition")
    axis = node.attributes.get_int("axis", None)
    x = reshape(node, x, (x.type.size,)) if axis is None else x
    at = 0 if axis is None else normal_axis(axis, x.rank)
    if condition.ndim != 1 or condition.size > x.shape[at]:
        raise ModelError(f"the condition must be a list of {x.shape[at]} or fewer, but is {list(condition.shape)}")
    return node.emit(ai.GatherOp, x, Value.known(np.flatnonzero(condition)), axis=at)
