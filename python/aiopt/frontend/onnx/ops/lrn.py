"""Local response normalisation."""

import math

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import FLOATS, numpy_dtype


@onnx_op("LRN")
def _lrn(node: Node) -> Value:
    """x / (bias + alpha / size * sum of the squares of `size` channels around x) ^ beta.

    The mean over neighbouring channels, borders counted as zeros, is an average pool over the channels; the power is
    exp(-beta * log(...)), which is the same where the base is positive, and NaN or infinite where the division is.
    """
    x, attributes = node.input(0), node.attributes
    size = attributes.require("size", attributes.get_int("size", None))
    alpha, beta = attributes.get_float("alpha", 1e-4), attributes.get_float("beta", 0.75)
    if x.rank < 2 or size < 1:
        raise ModelError(f"size must be 1 or more and the input [N, C, ...], but are {size} and {list(x.shape)}")
    if x.element not in FLOATS:
        raise ModelError(f"the input must be of floats, not {x.element}")
    wide = cast(node, x, "f32" if numpy_dtype(x.element).itemsize < 4 else x.element)
    planes = (x.shape[0], 1, x.shape[1], math.prod(x.shape[2:]))
    pads = [(size - 1) // 2, 0, size // 2, 0]
    squares = reshape(node, node.emit(ai.MulOp, wide, wide), planes)
    means = node.emit(ai.AvgPoolOp, squares, kernel=[size, 1], pads=pads, count_include_pad=True)
    base = node.emit(ai.MulOp, reshape(node, means, x.shape), scalar(wide, alpha))
    base = node.emit(ai.AddOp, base, scalar(wide, attributes.get_float("bias", 1.0)))
    exponent = node.emit(ai.MulOp, node.emit(ai.LogOp, base), scalar(wide, -beta))
    return cast(node, node.emit(ai.MulOp, wide, node.emit(ai.ExpOp, exponent)), x.element)
