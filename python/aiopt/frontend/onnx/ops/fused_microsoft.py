"""Fused activations, convolutions and products of ONNX Runtime (domain com.microsoft).

Source: ONNX Runtime's docs/ContribOperators.md.
"""

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import affine, find_activation, gelu, swish, tanh_gelu
from aiopt.frontend.onnx.forms import matrix_product, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.ops.nn import convolution, gemm
from aiopt.frontend.onnx.registry import microsoft_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


@microsoft_op("Gelu")
def _gelu(node: Node) -> Value:
    return gelu(node, node.input(0))


@microsoft_op("BiasGelu")
def _bias_gelu(node: Node) -> Value:
    return gelu(node, _with_bias(node, node.input(1)))


@microsoft_op("FastGelu")
def _fast_gelu(node: Node) -> Value:
    return tanh_gelu(node, _with_bias(node, node.optional(1)))


def _with_bias(node: Node, bias: Value | None) -> Value:
    """The bias has one number per element of the last dimension."""
    x = node.input(0)
    if bias is None:
        return x
    if bias.shape != x.shape[-1:]:
        raise ModelError(f"the bias must have the shape {list(x.shape[-1:])}, but has {list(bias.shape)}")
    return node.emit(ai.AddOp, x, bias)


@microsoft_op("QuickGelu")
def _quick_gelu(node: Node) -> Value:
    return swish(node, node.input(0), node.attributes.get_float("alpha", 1.702))


@microsoft_op("FusedConv")
def _fused_conv(node: Node) -> Value:
    """activation(conv(X, W, B) + Z)."""
    out, addend = convolution(node), node.optional(3)
    if addend is not None:
        if addend.shape != out.shape:
            raise ModelError(f"Z must have the result's shape {list(out.shape)}, but has {list(addend.shape)}")
        out = node.emit(ai.AddOp, out, addend)
    name = node.attributes.get_string("activation", "")
    return _activate(node, out, name, node.attributes.get_floats("activation_params") or []) if name else out


@microsoft_op("FusedGemm")
def _fused_gemm(node: Node) -> Value:
    out, name = gemm(node), node.attributes.get_string("activation", "")
    numbers = [node.attributes.get_float(f"activation_{key}", None) for key in ("alpha", "beta")]
    return _activate(node, out, name, [number for number in numbers if number is not None]) if name else out


def _activate(node: Node, x: Value, name: str, given: list[float]) -> Value:
    activation = find_activation(name)
    count = len(activation.defaults)
    return activation.apply(node, x, *given[:count], *activation.defaults[len(given) : count])


@microsoft_op("FusedMatMul")
def _fused_matmul(node: Node) -> Value:
    """alpha * A' * B'. transBatch moves the first dimension behind the other leading ones, before trans swaps two."""
    lhs, rhs = (_matrices(node, index, letter) for index, letter in enumerate("AB"))
    out = matrix_product(node, lhs, rhs, lambda a, b: node.emit(ai.MatMulOp, a, b))
    return affine(node, out, node.attributes.get_float("alpha", 1.0), 0)


def _matrices(node: Node, index: int, letter: str) -> Value:
    x = node.input(index)
    batched = node.attributes.get_bool(f"transBatch{letter}", False)
    swapped = node.attributes.get_bool(f"trans{letter}", False)
    axes = list(range(x.rank))
    if batched and x.rank > 2:
        axes = [*axes[1:-1], 0, axes[-1]]
    if swapped and x.rank > 1:
        axes = [*axes[:-2], axes[-1], axes[-2]]
    return transpose(node, x, axes)
