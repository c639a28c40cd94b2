"""Weights that ONNX Runtime keeps in 4 or 8 bits with a scale per block (domain com.microsoft), as constants of floats.

Source: ONNX Runtime's docs/ContribOperators.md.
"""

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.builder import full, known
from aiopt.frontend.onnx.forms import reshape
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import microsoft_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError


@microsoft_op("MatMulNBits")
def _matmul_nbits(node: Node) -> Value:
    """A times the transpose of B [N, K], whose rows are blocks of (number - zero point) * scale.

    Inputs: A, B, scales, zero_points, g_idx (the block of each column), bias.
    """
    node.attributes.skip("accuracy_level", "weight_prepacked")  # how precise the sums may be, and a hint for a GPU
    x, bias = node.input(0), node.optional(5)
    depth, columns = (node.attributes.require(key, node.attributes.get_int(key, None)) for key in "KN")
    if x.rank < 1 or x.shape[-1] != depth:
        raise ModelError(f"the last dimension of A must be K = {depth}, but A has shape {list(x.shape)}")
    weight = _dequantized(node, (columns, depth)).astype(x.type.dtype)
    matrix = known(np.ascontiguousarray(weight.T), node.proto.input[1])
    rows = reshape(node, x, (1, depth)) if x.rank == 1 else x
    out = reshape(node, node.emit(ai.MatMulOp, rows, matrix), (*x.shape[:-1], columns))
    return out if bias is None else node.emit(ai.AddOp, out, bias)


def _dequantized(node: Node, shape: tuple[int, int]) -> np.ndarray:
    """Inputs 1 to 4 as f32 of this shape."""
    rows, depth = shape
    bits, block = node.attributes.get_int("bits", 4), node.attributes.get_int("block_size", 32)
    if bits not in (2, 4, 8):
        raise UnsupportedError(f"weights of {bits} bits are not supported, only of 2, 4 and 8")
    if block < 8 // bits or block % (8 // bits):
        raise ModelError(f"block_size must be a multiple of {8 // bits}, but is {block}")
    full(shape, np.zeros((), np.float32))  # refuses what is too large to be a constant
    blocks = -(-depth // block)
    numbers = unpack(_of_size(node, 1, "B", rows * blocks * block * bits // 8).reshape(rows, -1), bits)
    scales = _of_size(node, 2, "scales", rows * blocks).reshape(rows, blocks).astype(np.float32)
    zeros = _zero_points(node, rows, blocks, bits)
    block_of = _block_of_column(node, depth, block, blocks)
    return (numbers[:, :depth].astype(np.float32) - zeros[:, block_of]) * scales[:, block_of]


def _zero_points(node: Node, rows: int, blocks: int, bits: int) -> np.ndarray:
    """f32 [rows, blocks]: packed as the weights are, floats, or the middle of the range where there are none."""
    if node.optional(3) is None:
        return np.full((rows, blocks), 1 << (bits - 1), np.float32)
    if node.input(3).element != "ui8":
        return _of_size(node, 3, "zero_points", rows * blocks).reshape(rows, blocks).astype(np.float32)
    packed = -(-blocks * bits // 8)
    return unpack(_of_size(node, 3, "zero_points", rows * packed).reshape(rows, -1), bits)[:, :blocks].astype(
        np.float32
    )


def _block_of_column(node: Node, depth: int, block: int, blocks: int) -> np.ndarray:
    if node.optional(4) is None:
        return np.arange(depth) // block
    indices = node.known(4, "g_idx").reshape(-1)[:depth].astype(np.int64)
    if len(indices) != depth or (depth and not (indices.min() >= 0 and indices.max() < blocks)):
        raise ModelError(f"g_idx must name one of the {blocks} blocks for each of the {depth} columns")
    return indices


def _of_size(node: Node, index: int, role: str, size: int) -> np.ndarray:
    array = node.known(index, role)
    if array.size != size:
        raise ModelError(f"input {index} ({role}) must have {size} elements, but has shape {list(array.shape)}")
    return array


def unpack(array: np.ndarray, bits: int) -> np.ndarray:
    """Unsigned numbers from bytes, the lowest bits first, along the last axis."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    parts = (array[..., None].astype(np.uint8) >> shifts) & np.uint8((1 << bits) - 1)
    return parts.reshape(*array.shape[:-1], array.shape[-1] * (8 // bits))
