"""What the lowering takes: matrix products with what follows them, one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType
from aiopt.targets.npu.isa import Element

_ELEMENTS = {np.dtype(np.int8): Element.I8, np.dtype(np.uint8): Element.U8, np.dtype(np.float32): Element.F32}


@dataclass(frozen=True)
class Requantize:
    """Sums to int8 or uint8: sat(rint(f32(sum) * scale) + zero_point)."""

    scale: np.ndarray  # f32, of shape [] or [n]
    zero_point: int
    element: Element  # I8 or U8


@dataclass(frozen=True)
class MatMul:
    """y[m, n] = relu(x[m, k] @ weight[k, n] + bias[n]), f32; or integers, requantized before relu.

    int8 weights take int8 or uint8 inputs, bias is int32; relu is then the greater of y and its zero point.
    """

    weight: np.ndarray
    bias: np.ndarray | None = None
    requantize: Requantize | None = None
    relu: bool = False

    @property
    def k(self) -> int:
        return self.weight.shape[0]

    @property
    def n(self) -> int:
        return self.weight.shape[1]

    @property
    def is_float(self) -> bool:
        return self.weight.dtype == np.float32

    @property
    def result(self) -> Element:
        """The element type of y."""
        return self.requantize.element if self.requantize else Element.F32


def check(layer: MatMul, x: TensorType) -> None:
    """Raise UnsupportedError unless the layer can take this input."""
    where = f"matmul {list(x.shape)} x {list(layer.weight.shape)}"
    if x.rank != 2 or layer.weight.ndim != 2 or min(x.size, layer.weight.size) == 0:
        raise UnsupportedError(f"{where}: both must have rank 2, and none may be empty")
    if layer.weight.dtype not in (np.int8, np.float32):
        raise UnsupportedError(f"{where}: weights must be int8 or float32, not {layer.weight.dtype}")
    if layer.k != x.shape[1]:
        raise UnsupportedError(f"{where}: the input has {x.shape[1]} columns, the weights {layer.k} rows")
    if layer.is_float != (element_of(x.dtype) == Element.F32):
        raise UnsupportedError(f"{where}: {layer.weight.dtype} weights do not go with an input of {x.dtype}")
    if layer.is_float == (layer.requantize is not None):
        raise UnsupportedError(f"{where}: integer sums must be requantized, f32 must not")
    wide = np.dtype(np.float32 if layer.is_float else np.int32)
    if layer.bias is not None and (layer.bias.dtype != wide or layer.bias.shape != (layer.n,)):
        raise UnsupportedError(f"{where}: the bias must be {wide} [{layer.n}]")
    if layer.requantize is not None and layer.requantize.scale.shape not in ((), (layer.n,)):
        raise UnsupportedError(f"{where}: there must be one scale, or one for each of {layer.n} columns")


def element_of(dtype: np.dtype) -> Element:
    """int8 -> I8. Raises UnsupportedError for a type the array does not take."""
    if dtype not in _ELEMENTS:
        raise UnsupportedError(f"the array takes int8, uint8 and float32, not {dtype}")
    return _ELEMENTS[dtype]


def qlinear_matmul(
    weight: np.ndarray,
    scales: tuple[np.ndarray, np.ndarray, np.ndarray],
    zero_points: tuple[int, int, int],
    result: np.dtype,
    relu: bool = False,
) -> MatMul:
    """The layer of an ONNX QLinearMatMul-10 with constant weight [k, n].

    `scales` and `zero_points` are those of input, weight and result, f32; the scale of the weight may be [n]. The
    scale of the sums is f32(f32(input * weight) / result). The zero point of the input is taken out of the sums by a
    bias: sum((x - z) * w) = sum(x * w) - z * sum(w). Raises UnsupportedError if weight - zero point does not fit int8.
    """
    centred = weight.astype(np.int32) - zero_points[1]
    if centred.min() < -128 or centred.max() > 127:
        raise UnsupportedError(f"weights minus their zero point {zero_points[1]} do not fit int8")
    x_scale, weight_scale, y_scale = (np.asarray(scale, np.float32) for scale in scales)
    bias = (-zero_points[0] * centred.sum(axis=0)).astype(np.int32) if zero_points[0] else None
    scale = np.asarray(x_scale * weight_scale / y_scale, np.float32)
    return MatMul(centred.astype(np.int8), bias, Requantize(scale, zero_points[2], element_of(result)), relu)
