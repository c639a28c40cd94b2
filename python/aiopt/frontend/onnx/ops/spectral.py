"""Fourier transforms as products with constant matrices, windows and mel weights."""

from __future__ import annotations

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.builder import full, known
from aiopt.frontend.onnx.forms import cast, normal_axis, reshape, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import Handler, onnx_op
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import LOW_FLOATS, numpy_dtype

_LONGEST = 8192  # a matrix of this size takes half a gigabyte


@onnx_op("DFT", since=17, until=19)
def _dft_by_attribute(node: Node) -> Value:
    return _dft(node, node.attributes.get_int("axis", 1))


@onnx_op("DFT", since=20)
def _dft_by_input(node: Node) -> Value:
    return _dft(node, -2 if node.optional(2) is None else _number(node, 2, "axis"))


def _dft(node: Node, given: int) -> Value:
    """Of real numbers [..., 1] or complex ones [..., 2] along an axis."""
    x, attributes = node.input(0), node.attributes
    inverse, onesided = attributes.get_bool("inverse", False), attributes.get_bool("onesided", False)
    axis = normal_axis(given, x.rank)
    if x.rank < 2 or axis == x.rank - 1 or x.shape[-1] not in (1, 2):
        raise ModelError(f"axis {given} of an input of shape {list(x.shape)} is none of real or complex numbers")
    have = x.shape[axis]
    default = 2 * (have - 1) if inverse and onesided else have
    length = default if node.optional(1) is None else _number(node, 1, "dft_length")
    rows = min(have, length // 2 + 1 if inverse and onesided else length)
    matrix = _inverse_of_half(length, rows) if inverse and onesided else _transform(length, rows, inverse)
    if onesided and not inverse:
        matrix = matrix[:, :, : length // 2 + 1]
    order = [at for at in range(x.rank - 1) if at != axis] + [axis, x.rank - 1]
    moved = transpose(node, x, order)
    part = take(node, moved, [0] * x.rank, [*moved.shape[:-2], rows, moved.shape[-1]], [1] * x.rank)
    out = _transformed(node, part, matrix[:, : x.shape[-1]])
    return transpose(node, out, [order.index(at) for at in range(x.rank)])


def _number(node: Node, index: int, role: str) -> int:
    numbers = node.known_ints(index, role)
    if len(numbers) != 1:
        raise ModelError(f"input {index} ({role}) must be one number, but is {numbers}")
    return numbers[0]


def _angles(length: int, rows: int, columns: int) -> np.ndarray:
    """2 pi row column / length, reduced so that no digits are lost. Errors: UnsupportedError if it is too long."""
    if length < 1:
        raise ModelError(f"a transform of length {length} does not exist")
    if length > _LONGEST:
        raise UnsupportedError(f"a transform of length {length} is not supported: {_LONGEST} is the longest")
    return np.outer(np.arange(rows), np.arange(columns)) % length * (2 * np.pi / length)


def _transform(length: int, rows: int, inverse: bool) -> np.ndarray:
    """f64 [rows, 2, length, 2]: from the parts of an input to those of a result."""
    angles = _angles(length, rows, length)
    cos, sin = np.cos(angles), np.sin(angles) * (1 if inverse else -1)
    pairs = [[cos, sin], [-sin, cos]]
    matrix = np.array(pairs).transpose(2, 0, 3, 1)
    return matrix / length if inverse else matrix


def _inverse_of_half(length: int, rows: int) -> np.ndarray:
    """f64 [rows, 2, length, 1]: from the first half of a spectrum to real numbers."""
    angles = _angles(length, rows, length)
    weights = np.full((rows, 1), 2.0)  # a frequency stands for its mirror image too
    weights[0] = 1
    if length % 2 == 0 and rows > length // 2:
        weights[length // 2] = 1
    return np.array([[np.cos(angles) * weights, -np.sin(angles) * weights]]).transpose(2, 1, 3, 0) / length


def _transformed(node: Node, x: Value, matrix: np.ndarray) -> Value:
    """x [..., rows, parts] by a matrix [rows, parts, columns, parts of the result]."""
    wide = "f32" if x.element in LOW_FLOATS else x.element
    rows, parts, columns, made = matrix.shape
    flat = np.ascontiguousarray(matrix.reshape(rows * parts, columns * made).astype(numpy_dtype(wide)))
    lines = reshape(node, cast(node, x, wide), (x.type.size // (rows * parts), rows * parts))
    product = node.emit(ai.MatMulOp, lines, known(flat, f"{node.outputs[0]}.transform"))
    return cast(node, reshape(node, product, (*x.shape[:-2], columns, made)), x.element)


@onnx_op("STFT", since=17)
def _stft(node: Node) -> Value:
    """Transforms of overlapping frames [B, frames, frequencies, 2] of a signal [B, L, 1 or 2]."""
    signal, window = node.input(0), node.optional(2)
    step = _number(node, 1, "frame_step")
    if signal.rank != 3 or signal.shape[2] not in (1, 2) or step < 1:
        raise ModelError(f"the signal must be [batch, length, 1 or 2], not {list(signal.shape)}, the step above 0")
    length = signal.shape[1] if window is None else window.type.size
    length = length if node.optional(3) is None else _number(node, 3, "frame_length")
    if window is not None and window.shape != (length,):
        raise ModelError(f"the window must have the frames' length {length}, but has shape {list(window.shape)}")
    if not 0 < length <= signal.shape[1]:
        raise ModelError(f"frames of {length} do not fit a signal of {signal.shape[1]}")
    count = (signal.shape[1] - length) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(length)
    frames = node.emit(ai.GatherOp, signal, known(places), axis=1)
    if window is not None:
        frames = node.emit(ai.MulOp, frames, reshape(node, cast(node, window, signal.element), (length, 1)))
    columns = length // 2 + 1 if node.attributes.get_bool("onesided", True) else length
    return _transformed(node, frames, _transform(length, length, False)[:, : signal.shape[2], :columns])


def _window(weights: tuple[float, ...]) -> Handler:
    """sum of (-1)^i weights[i] cos(2 pi i n / N)."""

    def handler(node: Node) -> Value:
        size, element = _number(node, 0, "size"), _output_element(node)
        period = size if node.attributes.get_bool("periodic", True) else size - 1
        if size < 0:
            raise ModelError(f"the size {size} is negative")
        full((size,), np.zeros((), np.float64))  # refuses what is too large to be a constant
        turns = np.arange(size) * (2 * np.pi / max(period, 1))
        total = sum((-1) ** at * weight * np.cos(at * turns) for at, weight in enumerate(weights))
        return known(np.asarray(total, numpy_dtype(element)), node.outputs[0])

    return handler


def _output_element(node: Node) -> str:
    return element_type(node.attributes.get_int("output_datatype", 1), "the result")


onnx_op("HannWindow", since=17)(_window((0.5, 0.5)))
onnx_op("HammingWindow", since=17)(_window((25 / 46, 21 / 46)))
onnx_op("BlackmanWindow", since=17)(_window((0.42, 0.5, 0.08)))


@onnx_op("MelWeightMatrix", since=17)
def _mel_weight_matrix(node: Node) -> Value:
    """[frequencies, bins]: triangles whose corners are evenly spaced on the mel scale."""
    bins, length, rate = (_number(node, index, role) for index, role in enumerate(("bins", "dft_length", "rate")))
    edges = np.array([float(node.known(index, "edge").reshape(())) for index in (3, 4)])
    element = _output_element(node)
    if bins < 0 or length < 0 or rate < 1:
        raise ModelError(f"no weights have {bins} bins for a transform of {length} at {rate} samples per second")
    frequencies = length // 2 + 1
    full((frequencies, bins), np.zeros((), np.float64))
    low, high = 2595 * np.log10(1 + edges / 700)
    mels = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    corners = ((length + 1) * (700 * (10 ** (mels / 2595) - 1)) // rate).astype(int)
    if corners.size and (corners.min() < 0 or corners[1:].max() >= frequencies + 1):
        raise ModelError(f"edges of {edges.tolist()} Hz are outside of what {rate} samples per second have")
    weights = np.zeros((frequencies, bins))
    for column, (start, centre, end) in enumerate(zip(corners, corners[1:], corners[2:], strict=False)):
        if centre == start:
            weights[centre, column] = 1
        else:
            rise = np.arange(start, centre + 1)
            weights[rise, column] = (rise - start) / (centre - start)
        if end > centre:
            fall = np.arange(centre, end)
            weights[fall, column] = (end - fall) / (end - centre)
    return known(weights.astype(numpy_dtype(element)), node.outputs[0])
