"""Resize: scales or sizes of some or all dimensions become the sizes and scales of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ai.sampling import COORDINATES, positions
from aiopt.frontend.onnx.forms import normal_axis, scalar
from aiopt.frontend.onnx.interpolation import Taps, cubic, interpolated, linear, nearest, resample
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedTypeError
from aiopt.support.types import FLOATS

_MODES = ("nearest", "linear")
_POLICIES = {"stretch": None, "not_larger": min, "not_smaller": max}


@onnx_op("Upsample", until=8)
def _upsample_by_attribute(node: Node) -> Value:
    scales = node.attributes.require("scales", node.attributes.get_floats("scales"))
    return _upsample(node, [float(np.float32(scale)) for scale in scales])


@onnx_op("Upsample", since=9, until=9)
def _upsample_by_input(node: Node) -> Value:
    return _upsample(node, _check_scales(node, 1, node.input(0).rank))


def _upsample(node: Node, scales: Sequence[float]) -> Value:
    """Positions are o / scale, rounded down for nearest."""
    x, mode = node.input(0), node.attributes.get_string("mode", "nearest")
    if len(scales) != x.rank or min(scales, default=1) < 1:
        raise ModelError(f"scales must be {x.rank} numbers of 1 or more, but are {list(scales)}")
    return _emit(node, x, _scaled(x.shape, scales), scales, mode, "asymmetric", "floor")


@onnx_op("Resize", since=10, until=10)
def _resize_by_scales(node: Node) -> Value:
    """Positions are o / scale; nearest rounds down where the dimension grows, up where it shrinks (as ONNX Runtime
    does: the operator's text does not say)."""
    x, mode = node.input(0), node.attributes.get_string("mode", "nearest")
    scales = _check_scales(node, 1, x.rank)
    if mode != "nearest":
        return _emit(node, x, _scaled(x.shape, scales), scales, mode, "asymmetric", "floor")
    for rounding, chosen in (("floor", [max(scale, 1) for scale in scales]), ("ceil", [min(s, 1) for s in scales])):
        x = _emit(node, x, _scaled(x.shape, chosen), chosen, mode, "asymmetric", rounding)
    return x


@onnx_op("Resize", since=11, until=12)
def _resize_with_roi(node: Node) -> Value:
    """The inputs roi and scales must be there, but roi means nothing without tf_crop_and_resize."""
    return _resize_of(node, list(range(node.input(0).rank)))


@onnx_op("Resize", since=13, until=17)
def _resize_optional(node: Node) -> Value:
    return _resize_of(node, list(range(node.input(0).rank)))


@onnx_op("Resize", since=18)
def _resize_axes(node: Node) -> Value:
    """scales and sizes may speak of some axes only, sizes may keep the aspect ratio."""
    rank = node.input(0).rank
    axes = [normal_axis(axis, rank) for axis in node.attributes.get_ints("axes", list(range(rank)))]
    if len(set(axes)) != len(axes):
        raise ModelError(f"axes {axes} name one axis twice")
    policy = node.attributes.get_string("keep_aspect_ratio_policy", "stretch")
    if policy not in _POLICIES:
        raise ModelError(f"keep_aspect_ratio_policy must be one of {', '.join(_POLICIES)}, not '{policy}'")
    return _resize_of(node, axes, policy, node.attributes.get_bool("antialias", False))


def _resize_of(node: Node, axes: Sequence[int], policy: str = "stretch", antialias: bool = False) -> Value:
    x, attributes = node.input(0), node.attributes
    mode = attributes.get_string("mode", "nearest")
    coordinates = attributes.get_string("coordinate_transformation_mode", "half_pixel")
    if mode not in (*_MODES, "cubic"):
        raise ModelError(f"mode must be nearest, linear or cubic, not '{mode}'")
    roi = _regions(node, axes) if coordinates == "tf_crop_and_resize" else {}
    shape, scales = _sizes(node, axes, policy, roi)
    antialias = antialias and min(scales, default=1) < 1 and mode != "nearest"
    rounding = attributes.get_string("nearest_mode", "round_prefer_floor")
    # Taps outside the tensor take its border in mode linear, which is what leaving them out gives there.
    exclude_outside = attributes.get_bool("exclude_outside", False)
    coefficient = attributes.get_float("cubic_coeff_a", -0.75)
    extrapolation = attributes.get_float("extrapolation_value", 0.0)
    if antialias or roi or mode == "cubic":
        style = _Style(mode, coordinates, rounding, antialias, exclude_outside, coefficient, extrapolation)
        return _resample(node, x, shape, scales, style, roi)
    return _emit(node, x, shape, scales, mode, coordinates, rounding)


def _sizes(
    node: Node, axes: Sequence[int], policy: str, roi: Mapping[int, tuple[float, float]]
) -> tuple[list[int], list[float]]:
    """The shape of the result and the scale of each dimension."""
    x = node.input(0)
    shape, scales = list(x.shape), [1.0] * x.rank
    given, sizes = _given(node, 2), _given(node, 3)
    if (given is None) == (sizes is None):
        raise ModelError("exactly one of scales and sizes must be given")
    if sizes is None:
        for axis, scale in zip(axes, _check_scales(node, 2, len(axes)), strict=True):
            scales[axis] = scale
        shape = _scaled(x.shape, [scale * _extent(roi.get(axis)) for axis, scale in enumerate(scales)])
        if min(shape, default=0) < 0:
            raise ModelError("a region of roi ends before it starts: give sizes, not scales")
    else:
        wanted = node.known_ints(3, "sizes")
        if len(wanted) != len(axes) or any(
            want < min(x.shape[axis], 1) for axis, want in zip(axes, wanted, strict=True)
        ):
            raise ModelError(f"sizes must be {len(axes)} numbers of 1 or more, but are {wanted}")
        ratios = [want / x.shape[axis] if x.shape[axis] else 1.0 for axis, want in zip(axes, wanted, strict=True)]
        if (choose := _POLICIES[policy]) is not None and ratios:
            ratios = [choose(ratios)] * len(axes)
            wanted = [int(np.floor(ratios[0] * x.shape[axis] + 0.5)) for axis in axes]
        for axis, want, ratio in zip(axes, wanted, ratios, strict=True):
            shape[axis], scales[axis] = want, ratio
    return shape, scales


@dataclass(frozen=True)
class _Style:
    """The attributes of a Resize that say how it samples."""

    mode: str
    coordinates: str
    rounding: str
    antialias: bool
    exclude_outside: bool
    cubic_coefficient: float
    extrapolation: float

    def taps(self, x: np.ndarray, size: int, scale: float) -> Taps:
        """What results at positions x of a dimension of `size` elements take."""
        if self.mode == "nearest":
            return nearest(x, size, self.rounding)
        kernel, reach = (linear, 1) if self.mode == "linear" else (cubic(self.cubic_coefficient), 2)
        shrink = min(scale, 1.0) if self.antialias else 1.0
        return interpolated(x, size, kernel, reach, shrink=shrink, exclude_outside=self.exclude_outside)


def _regions(node: Node, axes: Sequence[int]) -> dict[int, tuple[float, float]]:
    """Start and end of each axis in the input roi, as parts of its length."""
    roi = node.known(1, "roi").reshape(-1)
    if roi.size != 2 * len(axes):
        raise ModelError(f"roi must be {2 * len(axes)} numbers, but is {roi.tolist()}")
    return {axis: (float(roi[at]), float(roi[at + len(axes)])) for at, axis in enumerate(axes)}


def _extent(region: tuple[float, float] | None) -> float:
    return 1.0 if region is None else region[1] - region[0]


def _cropped(size: int, count: int, region: tuple[float, float]) -> np.ndarray:
    """Positions from the start of a region to its end; its middle for one result."""
    start, end = (edge * (size - 1) for edge in region)
    return np.array([(start + end) / 2]) if count == 1 else start + np.arange(count) * (end - start) / (count - 1)


def _resample(
    node: Node,
    x: Value,
    shape: Sequence[int],
    scales: Sequence[float],
    style: _Style,
    roi: Mapping[int, tuple[float, float]],
) -> Value:
    """One dimension after the other, by known weights: the weights of several dimensions are products of those."""
    if not roi and style.coordinates not in COORDINATES:
        raise ModelError(f"coordinate_transformation_mode is '{style.coordinates}', which ONNX does not have")
    if style.mode != "nearest" and x.element not in FLOATS:
        raise UnsupportedTypeError("cubic or antialiased sampling and cropping are for floats only")
    out, inside = x, np.array(True)
    for axis, (size, count, scale) in enumerate(zip(x.shape, shape, scales, strict=True)):
        region = roi.get(axis)
        if not x.type.size or (size == count and scale == 1 and region in (None, (0.0, 1.0))):
            continue
        at = positions(size, count, scale, style.coordinates) if region is None else _cropped(size, count, region)
        out = resample(node, out, axis, style.taps(at, size, scale))
        if region is not None:
            inside = inside & ((at >= 0) & (at <= size - 1)).reshape(-1, *[1] * (x.rank - 1 - axis))
    if inside.all():
        return out
    return node.emit(ai.SelectOp, Value.known(inside), out, scalar(out, style.extrapolation))


def _emit(
    node: Node, x: Value, shape: Sequence[int], scales: Sequence[float], mode: str, coordinates: str, rounding: str
) -> Value:
    if mode not in _MODES:
        raise ModelError(f"mode must be {' or '.join(_MODES)}, not '{mode}'")
    if tuple(shape) == x.shape and all(scale == 1 for scale in scales):
        return x
    names = {"mode": mode, "coordinates": coordinates, "rounding": rounding}
    return node.emit(ai.ResizeOp, x, shape=list(shape), scales=list(scales), **names)


def _given(node: Node, index: int) -> Value | None:
    """An input that counts as absent where it is empty."""
    value = node.optional(index)
    return None if value is None or value.type.size == 0 else value


def _check_scales(node: Node, index: int, count: int) -> list[float]:
    scales = node.known(index, "scales")
    if scales.shape != (count,) or scales.dtype != np.float32 or not (scales > 0).all():
        raise ModelError(f"scales must be {count} numbers above 0, but are {scales.tolist()}")
    return [float(scale) for scale in scales]


def _scaled(shape: Sequence[int], scales: Sequence[float]) -> list[int]:
    """floor(size * scale), in f32 as the scales are."""
    return [int(np.float32(size) * np.float32(scale)) for size, scale in zip(shape, scales, strict=True)]
