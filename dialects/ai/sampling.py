"""Operations that read elements at computed positions: gather and resize."""

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects.ai.checks import check_at_least, check_axis, check_length
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.numerics import quiet
from aiopt.dialects.constraints import AnyTensor, IndexTensor, NumericTensor
from aiopt.dialects.ext import Operand, Result
from aiopt.support.types import TensorType

COORDINATES = (
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "tf_half_pixel_for_nn",
    "align_corners",
    "asymmetric",
)
ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
MODES = ("nearest", "linear")


class GatherOp(AiDialect.Operation, name="gather"):
    """Take the slices of input along `axis` that `indices` names.

    An index below 0 counts from the end. One out of range takes the nearest slice there is, so that no index reads
    outside the input.

    Shapes: out is input's shape with `axis` replaced by indices' shape. Types: any; indices i32 or i64.
    Errors: axis out of range (it counts from the front); indices into a dimension of size 0.
    Source: ONNX Gather-13 (where an index out of range is an error).
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[AnyTensor]
    indices: Operand[IndexTensor]
    axis: ir.IntegerAttr
    out: Result[AnyTensor]

    @classmethod
    def defaults(cls, *_: TensorType, **__: object) -> dict[str, Any]:
        return {"axis": 0}

    @staticmethod
    def infer(input: TensorType, indices: TensorType, *, axis: int) -> TensorType:
        check_axis(axis, input.rank)
        if indices.size and not input.shape[axis]:
            raise ValueError(f"axis {axis} has no element to take")
        return input.with_shape(*input.shape[:axis], *indices.shape, *input.shape[axis + 1 :])

    @staticmethod
    def reference(input: np.ndarray, indices: np.ndarray, *, axis: int) -> np.ndarray:
        size = input.shape[axis]
        return np.take(input, np.where(indices < 0, indices + size, indices), axis, mode="clip" if size else "raise")


class ResizeOp(AiDialect.Operation, name="resize"):
    """Sample input on a grid of another size, each dimension by itself.

    The position o of out stands for a position x of input, computed in f32 from the dimension's scale s (by the two
    sizes where it is their ratio, else as f32):
      half_pixel: (o + 0.5) / s - 0.5. half_pixel_symmetric: the same, shifted so that the centres fall together.
      pytorch_half_pixel: as half_pixel, but 0 where out has one element. tf_half_pixel_for_nn: (o + 0.5) / s.
      align_corners: o * (size - 1) / (out size - 1), 0 where out has one element. asymmetric: o / s.
    nearest takes the element at x rounded by `rounding`; linear goes straight from the element before x to the one
    after it (in f32; f64 for f64). Positions outside take the nearest element.

    Shapes: input -> `shape`; scales has one number per dimension (default out size / size). Types: numbers.
    Errors: lengths that differ; sizes below 1; scales not above 0; names that are none of the above.
    Source: ONNX Resize-19, modes nearest and linear, without antialias (scales or sizes, axes and
    keep_aspect_ratio_policy are the importer's work).
    """

    traits = frozenset({Trait.MOVEMENT})
    input: Operand[NumericTensor]
    shape: ir.DenseI64ArrayAttr
    scales: ir.DenseF64ArrayAttr
    mode: ir.StringAttr
    coordinates: ir.StringAttr
    rounding: ir.StringAttr
    out: Result[NumericTensor]

    @classmethod
    def defaults(cls, input: TensorType, *, shape: list[int], **_: object) -> dict[str, Any]:
        scales = [want / have if have else 1.0 for want, have in zip(shape, input.shape, strict=False)]
        names = {"mode": "nearest", "coordinates": "half_pixel", "rounding": "round_prefer_floor"}
        return {**names, "scales": scales}

    @staticmethod
    def infer(
        input: TensorType, *, shape: list[int], scales: list[float], mode: str, coordinates: str, rounding: str
    ) -> TensorType:
        check_length("shape", shape, input.rank)
        check_length("scales", scales, input.rank)
        check_at_least("shape", shape, 0)
        if any((have == 0) != (want == 0) for have, want in zip(input.shape, shape, strict=True)):
            raise ValueError(f"a dimension of 0 stays 0, and no other becomes 0: {list(input.shape)} to {list(shape)}")
        if not all(scale > 0 for scale in scales):
            raise ValueError(f"scales must be above 0, but are {list(scales)}")
        given = (("mode", mode, MODES), ("coordinates", coordinates, COORDINATES), ("rounding", rounding, ROUNDING))
        for name, value, known in given:
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, but is '{value}'")
        return input.with_shape(*shape)

    @staticmethod
    @quiet
    def reference(
        input: np.ndarray, *, shape: list[int], scales: list[float], mode: str, coordinates: str, rounding: str
    ) -> np.ndarray:
        wide = np.float64 if input.dtype == np.float64 else np.float32
        out = input if mode == "nearest" else input.astype(wide)
        for axis in resized_axes(input.shape, shape, scales):
            x = positions(input.shape[axis], shape[axis], scales[axis], coordinates)
            last = input.shape[axis] - 1
            if mode == "nearest":
                out = np.take(out, np.clip(ROUND[rounding](x), 0, last).astype(np.int64), axis)
                continue
            x = np.clip(x, 0, last)
            below = np.floor(x).astype(np.int64)
            part = (x - below).astype(wide).reshape(-1, *[1] * (input.ndim - 1 - axis))
            above = np.minimum(below + 1, last)
            out = np.take(out, below, axis) * (1 - part) + np.take(out, above, axis) * part
        return np.ascontiguousarray(out.astype(input.dtype))

    @staticmethod
    def flops(input: TensorType, *, shape: list[int], scales: list[float], mode: str, **_: object) -> int:
        taps = 2 ** len(resized_axes(input.shape, shape, scales))
        return 0 if mode == "nearest" else 2 * taps * input.with_shape(*shape).size


def resized_axes(have: Any, want: Any, scales: Any) -> list[int]:
    """The dimensions in which positions change."""
    return [axis for axis, scale in enumerate(scales) if have[axis] and (have[axis] != want[axis] or scale != 1)]


def positions(size: int, out_size: int, scale: float, coordinates: str) -> np.ndarray:
    """Where the positions 0 .. out_size - 1 lie in the input, f32."""
    factor, offset, divisor = transform(size, out_size, scale, coordinates)
    shift, subtract = offset
    at = np.arange(out_size, dtype=np.float32)
    return (at + np.float32(shift)) * np.float32(factor) / np.float32(divisor) - np.float32(subtract)


def transform(size: int, out_size: int, scale: float, coordinates: str) -> tuple[float, tuple[float, float], float]:
    """(factor, (shift, subtract), divisor) with x = (o + shift) * factor / divisor - subtract."""
    is_ratio = scale == out_size / size
    factor, divisor = (float(size), float(out_size)) if is_ratio else (1.0, scale)
    if coordinates == "align_corners":
        return (float(size - 1), (0.0, 0.0), float(max(out_size - 1, 1)))
    if coordinates == "pytorch_half_pixel" and out_size == 1:
        return (0.0, (0.0, 0.0), 1.0)
    if coordinates == "asymmetric":
        return (factor, (0.0, 0.0), divisor)
    if coordinates == "tf_half_pixel_for_nn":
        return (factor, (0.5, 0.0), divisor)
    if coordinates == "half_pixel_symmetric":
        centre = 0.0 if is_ratio else size / 2 * (1 - out_size / (scale * size))
        return (factor, (0.5, 0.5 - centre), divisor)
    return (factor, (0.5, 0.5), divisor)


ROUND = {
    "round_prefer_floor": lambda x: np.ceil(x - np.float32(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + np.float32(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}
