"""Contractions."""

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import matrix_product, scalar, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.frontend.onnx.windows import read_window
from aiopt.support.errors import ModelError


@onnx_op("Conv")
def convolution(node: Node) -> Value:
    """X, W and perhaps B convolved by the node's attributes."""
    x, weight, bias = node.input(0), node.input(1), node.optional(2)
    if weight.rank != x.rank:
        raise ModelError(f"input {list(x.shape)} and weight {list(weight.shape)} must have one rank")
    window = read_window(node, x.shape[2:], kernel=weight.shape[2:])
    return node.emit(
        ai.ConvOp,
        x,
        weight,
        bias,
        strides=window.strides,
        pads=window.pads,
        dilations=window.dilations,
        group=node.attributes.get_int("group", 1),
    )


@onnx_op("MatMul")
def _matmul(node: Node) -> Value:
    return matrix_product(node, node.input(0), node.input(1), lambda lhs, rhs: node.emit(ai.MatMulOp, lhs, rhs))


@onnx_op("Gemm")
def gemm(node: Node) -> Value:
    """alpha * A' * B' + beta * C; C broadcasts to the product, not the other way round."""
    lhs, rhs, addend = node.input(0), node.input(1), node.optional(2)
    alpha, beta = node.attributes.get_float("alpha", 1.0), node.attributes.get_float("beta", 1.0)
    transposes = node.attributes.get_bool("transA", False), node.attributes.get_bool("transB", False)
    if (lhs.rank, rhs.rank) != (2, 2):
        raise ModelError(f"A and B must be matrices, but have ranks {lhs.rank} and {rhs.rank}")
    lhs, rhs = (transpose(node, x, (1, 0)) if swap else x for x, swap in zip((lhs, rhs), transposes, strict=True))
    out = node.emit(ai.MatMulOp, lhs, rhs)
    if alpha != 1:
        out = node.emit(ai.MulOp, out, scalar(out, alpha))
    if addend is None:
        return out
    if beta != 1:
        addend = node.emit(ai.MulOp, addend, scalar(addend, beta))
    total = node.emit(ai.AddOp, out, addend)
    if total.shape != out.shape:
        raise ModelError(f"C of shape {list(addend.shape)} does not broadcast to the product's {list(out.shape)}")
    return total
