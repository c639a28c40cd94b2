"""Pooling over windows and over all spatial dimensions."""

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.frontend.onnx.windows import read_window, require_floor
from aiopt.support.errors import ModelError, UnsupportedAttributeError


@onnx_op("MaxPool")
def _max_pool(node: Node) -> Value:
    """Without Indices, to which alone storage_order matters."""
    node.attributes.skip("storage_order")
    x = _spatial_input(node)
    window = read_window(node, x.shape[2:])
    require_floor(window, x.shape[2:], node.attributes.get_bool("ceil_mode", False))
    return node.emit(
        ai.MaxPoolOp, x, kernel=window.kernel, strides=window.strides, pads=window.pads, dilations=window.dilations
    )


@onnx_op("AveragePool")
def _average_pool(node: Node) -> Value:
    return average_pool(node, _spatial_input(node))


def average_pool(node: Node, x: Value) -> Value:
    """The means of the windows that the node's attributes describe, of x [N, C, *spatial]."""
    window = read_window(node, x.shape[2:])
    require_floor(window, x.shape[2:], node.attributes.get_bool("ceil_mode", False))
    if any(dilation != 1 for dilation in window.dilations):
        raise UnsupportedAttributeError(f"dilations {window.dilations} of an average are not supported, only 1")
    counted = node.attributes.get_bool("count_include_pad", False)
    return node.emit(
        ai.AvgPoolOp, x, kernel=window.kernel, strides=window.strides, pads=window.pads, count_include_pad=counted
    )


@onnx_op("GlobalAveragePool")
def _global_average_pool(node: Node) -> Value:
    return _over_space(node, ai.ReduceMeanOp)


@onnx_op("GlobalMaxPool")
def _global_max_pool(node: Node) -> Value:
    return _over_space(node, ai.ReduceMaxOp)


def _over_space(node: Node, op: type[Operation]) -> Value:
    x = _spatial_input(node)
    return node.emit(op, x, axes=list(range(2, x.rank)), keepdims=True)


def _spatial_input(node: Node) -> Value:
    x = node.input(0)
    if x.rank < 3:
        raise ModelError(f"the input must have the shape [N, C, spatial...], but has {list(x.shape)}")
    return x
