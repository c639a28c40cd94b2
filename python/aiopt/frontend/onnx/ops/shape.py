"""Constants, shapes as data, and changes of shape."""

import math
from collections.abc import Sequence

import numpy as np

from aiopt.frontend.onnx.builder import full, known
from aiopt.frontend.onnx.forms import normal_axes, normal_axis, reshape
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedAttributeError
from aiopt.support.types import is_float


@onnx_op("Constant")
def _constant(node: Node) -> Value:
    attributes = node.attributes
    for name in ("value_string", "value_strings", "sparse_value"):
        if name in attributes:
            raise UnsupportedAttributeError(f"attribute '{name}': aiopt has no strings and no sparse tensors")
    found = [
        attributes.get_tensor("value"),
        _array(attributes.get_float("value_float", None), np.float32),
        _array(attributes.get_floats("value_floats"), np.float32),
        _array(attributes.get_int("value_int", None), np.int64),
        _array(attributes.get_ints("value_ints", None), np.int64),
    ]
    given = [array for array in found if array is not None]
    if len(given) != 1:
        raise ModelError(f"exactly one value must be given, but there are {len(given)}")
    return known(given[0], node.outputs[0])


def _array(value: object, dtype: type[np.generic]) -> np.ndarray | None:
    return None if value is None else np.array(value, dtype)


@onnx_op("ConstantOfShape", since=9)
def _constant_of_shape(node: Node) -> Value:
    shape, value = node.known_ints(0, "shape"), node.attributes.get_tensor("value")
    if min(shape, default=0) < 0:
        raise ModelError(f"the shape {shape} has negative sizes")
    if value is None:
        value = np.zeros(1, np.float32)
    if value.size != 1:
        raise ModelError(f"attribute 'value' must have one element, but has shape {list(value.shape)}")
    return full(shape, value.reshape(()), node.outputs[0])


@onnx_op("Range", since=11, until=26)
def _range(node: Node) -> Value:
    """start + i * delta for i below ceil((limit - start) / delta)."""
    return _range_of(node)


@onnx_op("Range", since=27)
def _range_stashed(node: Node) -> Value:
    """stash_type is the type in which f16 and bfloat16 ranges are computed."""
    stash = node.attributes.get_int("stash_type", 1)
    if stash != 1:
        raise UnsupportedAttributeError(f"stash_type={stash} is not supported, only 1 (f32)")
    return _range_of(node)


def _range_of(node: Node) -> Value:
    """f16 and bf16 are computed in f32 and rounded once."""
    bounds = [node.known(index, role) for index, role in enumerate(("start", "limit", "delta"))]
    kind = bounds[0].dtype
    if any(bound.size != 1 or bound.dtype != kind for bound in bounds):
        raise ModelError("start, limit and delta must be scalars of one type")
    start, limit, delta = (bound.reshape(())[()] for bound in bounds)
    if delta == 0 or not all(np.isfinite(bound) for bound in (start, limit, delta)):
        raise ModelError(f"no range goes from {start} to {limit} by {delta}")
    if kind.kind in "iu":
        count = max(-((int(start) - int(limit)) // int(delta)), 0)
    else:
        count = max(int(np.ceil((float(limit) - float(start)) / float(delta))), 0)
    wide = np.promote_types(kind, np.float32) if is_float(kind) else kind
    full((count,), np.zeros((), wide))  # refuses what is too large to be a constant
    values = wide.type(start) + np.arange(count).astype(wide) * wide.type(delta)
    return known(values.astype(kind), node.outputs[0])


@onnx_op("Size")
def _size(node: Node) -> Value:
    return known(np.array(node.input(0).type.size, np.int64), node.outputs[0])


@onnx_op("Shape", until=14)
def _shape(node: Node) -> Value:
    return known(np.array(node.input(0).shape, np.int64), node.outputs[0])


@onnx_op("Shape", since=15)
def _shape_part(node: Node) -> Value:
    """Dimensions start to end, both counted and clamped as Python slices are."""
    start, end = node.attributes.get_int("start", 0), node.attributes.get_int("end", None)
    return known(np.array(node.input(0).shape[start:end], np.int64), node.outputs[0])


@onnx_op("Reshape")
def _reshape(node: Node) -> Value:
    """0 copies the input's size (unless allowzero), one -1 is what is left."""
    x, shape = node.input(0), node.known_ints(1, "shape")
    allow_zero = node.opset >= 14 and node.attributes.get_bool("allowzero", False)
    if not allow_zero:
        if any(size == 0 and axis >= x.rank for axis, size in enumerate(shape)):
            raise ModelError(f"the shape {shape} copies a dimension that the input {list(x.shape)} does not have")
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(shape)]
    else:
        sizes = list(shape)
    return reshape(node, x, _infer_size(x, sizes))


def _infer_size(x: Value, sizes: Sequence[int]) -> list[int]:
    """Replace one -1. Errors: ModelError if the sizes cannot hold the elements of x."""
    rest = math.prod(size for size in sizes if size != -1)
    unknown = [axis for axis, size in enumerate(sizes) if size == -1]
    sizes = list(sizes)
    if len(unknown) == 1 and rest > 0 and x.type.size % rest == 0:
        sizes[unknown[0]] = x.type.size // rest
    if min(sizes, default=0) < 0 or math.prod(sizes) != x.type.size:
        raise ModelError(f"a tensor of shape {list(x.shape)} cannot be reshaped to {sizes}")
    return sizes


@onnx_op("Flatten")
def _flatten(node: Node) -> Value:
    x, given = node.input(0), node.attributes.get_int("axis", 1)
    axis = given if given == x.rank else normal_axis(given, x.rank)
    return reshape(node, x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@onnx_op("Squeeze", until=12)
def _squeeze_by_attribute(node: Node) -> Value:
    return _squeeze(node, node.attributes.get_ints("axes", None))


@onnx_op("Squeeze", since=13)
def _squeeze_by_input(node: Node) -> Value:
    return _squeeze(node, node.optional_ints(1, "axes"))


def _squeeze(node: Node, given: Sequence[int] | None) -> Value:
    x = node.input(0)
    ones = [axis for axis, size in enumerate(x.shape) if size == 1]
    axes = ones if given is None else normal_axes(given, x.rank)
    if not set(axes) <= set(ones):
        raise ModelError(f"axes {list(given or [])} of shape {list(x.shape)} are not all of size 1")
    return reshape(node, x, [size for axis, size in enumerate(x.shape) if axis not in axes])


@onnx_op("Unsqueeze", until=12)
def _unsqueeze_by_attribute(node: Node) -> Value:
    return _unsqueeze(node, node.attributes.require("axes", node.attributes.get_ints("axes", None)))


@onnx_op("Unsqueeze", since=13)
def _unsqueeze_by_input(node: Node) -> Value:
    return _unsqueeze(node, node.known_ints(1, "axes"))


def _unsqueeze(node: Node, given: Sequence[int]) -> Value:
    x = node.input(0)
    shape = list(x.shape)
    for axis in normal_axes(given, x.rank + len(given)):
        shape.insert(axis, 1)
    return reshape(node, x, shape)
