"""Resampling one dimension by known weights: a gather of the elements that each result takes, times their weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ai.sampling import ROUND
from aiopt.frontend.onnx.forms import cast, reshape
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value

Kernel = Callable[[np.ndarray], np.ndarray]  # weight by distance


@dataclass(frozen=True)
class Taps:
    """places and weights, both [results, taps]: result o is the sum over t of weights[o, t] * x[places[o, t]]."""

    places: np.ndarray
    weights: np.ndarray


def nearest(x: np.ndarray, size: int, rounding: str) -> Taps:
    """The element nearest to each position, of a dimension of `size` elements."""
    places = np.clip(ROUND[rounding](x), 0, size - 1).astype(np.int64).reshape(-1, 1)
    return Taps(places, np.ones(places.shape))


def interpolated(
    x: np.ndarray, size: int, kernel: Kernel, reach: float, *, shrink: float = 1.0, exclude_outside: bool = False
) -> Taps:
    """Weights by the distance to each position x.

    reach: from which distance on the kernel is 0. shrink: the kernel is stretched by 1 / shrink, and its weights then
    add up to 1. What lies outside takes the border's element, or is left out and the other weights add up to 1.
    """
    x = x.astype(np.float64)
    half = math.ceil(reach / shrink)
    places = np.floor(x).astype(np.int64)[:, None] + np.arange(1 - half, half + 1)
    weights = kernel(np.abs(places - x[:, None]) * shrink)
    if exclude_outside:
        weights = np.where((places < 0) | (places >= size), 0, weights)
    if exclude_outside or shrink != 1:
        total = weights.sum(1, keepdims=True)
        weights = weights / np.where(total == 0, 1, total)
    return Taps(np.clip(places, 0, size - 1), weights)


def linear(distance: np.ndarray) -> np.ndarray:
    return np.maximum(1 - distance, 0)


def cubic(a: float) -> Kernel:
    """Source: R. Keys, Cubic convolution interpolation for digital image processing (1981), equation 4."""

    def kernel(d: np.ndarray) -> np.ndarray:
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return np.where(d <= 1, near, np.where(d < 2, far, 0))

    return kernel


def resample(node: Node, x: Value, axis: int, taps: Taps) -> Value:
    """x with a dimension resampled; f16 and bf16 in f32. One tap of weight 1 takes elements of any type."""
    count, width = taps.places.shape
    gathered = node.emit(ai.GatherOp, x, Value.known(taps.places.reshape(-1)), axis=axis)
    if width == 1 and (taps.weights == 1).all():
        return gathered
    wide = cast(node, gathered, "f64" if x.element == "f64" else "f32")
    wide = reshape(node, wide, (*x.shape[:axis], count, width, *x.shape[axis + 1 :]))
    weights = taps.weights.astype(wide.type.dtype).reshape(count, width, *[1] * (x.rank - axis - 1))
    weighted = node.emit(ai.MulOp, wide, Value.known(weights))
    return cast(node, node.emit(ai.ReduceSumOp, weighted, axes=[axis + 1], keepdims=False), x.element)
