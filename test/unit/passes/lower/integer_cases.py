"""Cases of test_lowering.py on integers that stand for real numbers; their results are the same bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from mlir import ir

from aiopt.dialects import ai
from unit.passes.lower.modules import Build

_random = np.random.default_rng(1)
_SCALE = np.float32(0.3)
# Ties, the ends of each type and beyond, where a conversion to integers has no result.
_ODD = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38, 3e9, -3e9, 0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, -0.0] * 3)


def _integers(dtype: type, *shape: int) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.asarray(_random.integers(limits.min, limits.max + 1, shape)).astype(dtype)


def _normal(*shape: int) -> np.ndarray:
    return _random.normal(0, 50, shape).astype(np.float32)


def _scales(*shape: int) -> np.ndarray:
    return np.asarray(_random.uniform(0.01, 0.3, shape)).astype(np.float32)


def _quantize(*operands: ir.Value) -> ir.Value:
    return ai.QuantizeLinearOp(*operands).out


def _dequantize(*operands: ir.Value) -> ir.Value:
    return ai.DequantizeLinearOp(*operands).out


def _multiply(*operands: ir.Value) -> ir.Value:
    return ai.MatMulIntegerOp(*operands).out


def _qlinear(*operands: ir.Value) -> ir.Value:
    return ai.QLinearMatMulOp(*operands).out


def _images(x: tuple[int, ...], w: tuple[int, ...], zero_point: tuple[int, ...]) -> list[np.ndarray]:
    return [_integers(np.uint8, *x), _integers(np.int8, *w), _integers(np.uint8), _integers(np.int8, *zero_point)]


def _conv(**attributes: Any) -> Build:
    return lambda *operands: ai.ConvIntegerOp(*operands, **attributes).out


def _requantized(x: ir.Value, w: ir.Value, xz: ir.Value, wz: ir.Value, bias: ir.Value, *scales: ir.Value) -> ir.Value:
    """What becomes of QLinearConv."""
    sums = ai.AddOp(ai.ConvIntegerOp(x, w, xz, wz, pads=[1, 1, 1, 1]).out, bias).out
    factor, one, zero_point = scales
    return ai.QuantizeLinearOp(ai.MulOp(ai.CastOp(sums, to="f32").out, factor).out, one, zero_point).out


CASES: dict[str, tuple[Build, list[np.ndarray]]] = {
    **{
        f"quantize_{np.dtype(dtype).name}": (_quantize, [_ODD, np.asarray(np.float32(1)), np.asarray(dtype(3))])
        for dtype in (np.int8, np.uint8, np.int16, np.uint16)
    },
    "quantize_channels": (_quantize, [_normal(2, 5, 7), _scales(5, 1), _integers(np.uint8, 5, 1)]),
    "quantize_f16": (_quantize, [_normal(40).astype("f2"), np.float16([0.1]), np.int16([-9])]),
    "quantize_by_0": (_quantize, [np.float32([1, -1, 0, np.inf]), np.float32([0]), np.int8([1])]),
    "dequantize": (_dequantize, [_integers(np.uint8, 3, 40), np.asarray(_SCALE), np.asarray(np.uint8(128))]),
    "dequantize_i32": (_dequantize, [_integers(np.int32, 3, 40), _scales(40), _integers(np.int32, 40)]),
    "dequantize_f16": (_dequantize, [_integers(np.int16, 3, 40), _scales(3, 1).astype("f2"), _integers(np.int16, 1)]),
    "requantize": (
        lambda x, s, z, t, y: _quantize(_dequantize(x, s, z), t, y),
        [*[_integers(np.uint8, 300), np.asarray(_SCALE), np.asarray(np.uint8(4))], _scales(1), np.int8([1])],
    ),
    "multiply": (
        _multiply,
        [_integers(np.uint8, 40, 33), _integers(np.int8, 33, 50), np.asarray(np.uint8(200)), np.asarray(np.int8(-100))],
    ),
    "multiply_by_row_and_column": (
        _multiply,
        [
            *[_integers(np.uint8, 2, 1, 5, 9), _integers(np.uint8, 3, 9, 7)],
            *[_integers(np.uint8, 2, 1, 5, 1), _integers(np.uint8, 3, 1, 7)],
        ],
    ),
    "multiply_one": (_multiply, [_integers(np.int8, *shape) for shape in ((1, 9), (9, 1), (1, 1), (1, 1))]),
    "multiply_nothing": (_multiply, [_integers(np.int8, *shape) for shape in ((4, 0), (0, 5), (), ())]),
    "multiply_wraps": (
        lambda x, y, z: ai.MulOp(ai.MatMulIntegerOp(x, y, z, z).out, _multiply(x, y, z, z)).out,
        [np.full((1, 300), 255, np.uint8), np.full((300, 2), 255, np.uint8), np.asarray(np.uint8(0))],
    ),
    "qlinear": (
        _qlinear,
        [
            *[_integers(np.uint8, 3, 20, 33), _scales(), _integers(np.uint8), _integers(np.int8, 33, 40)],
            *[_scales(40), _integers(np.int8, 40), np.asarray(np.float32(3)), np.asarray(np.uint8(77))],
        ],
    ),
    "qlinear_rows": (
        _qlinear,
        [
            *[_integers(np.int8, 5, 33), _scales(5, 1), _integers(np.int8, 5, 1), _integers(np.uint8, 33, 6)],
            *[_scales(), _integers(np.uint8), _scales(5, 1), _integers(np.int8, 5, 1)],
        ],
    ),
    "convolve": (_conv(pads=[1, 0, 2, 1], strides=[2, 1]), _images((2, 4, 9, 12), (6, 4, 3, 3), ())),
    "convolve_channels": (_conv(dilations=[1, 2]), _images((1, 4, 9, 12), (6, 4, 3, 3), (6,))),
    "convolve_depthwise": (_conv(pads=[1, 1, 1, 1], group=4), _images((1, 4, 9, 12), (4, 1, 3, 3), (4,))),
    "convolve_grouped": (_conv(pads=[1, 1, 1, 1], group=2), _images((1, 4, 9, 12), (6, 2, 3, 3), (6,))),
    "convolve_1d": (_conv(pads=[2, 2]), _images((1, 3, 9), (2, 3, 3), ())),
    "convolve_3d": (_conv(), _images((1, 2, 4, 5, 6), (3, 2, 2, 2, 2), ())),
    "convolve_requantized": (
        _requantized,
        [
            *_images((1, 4, 9, 12), (6, 4, 3, 3), ()),
            *[_integers(np.int16, 6, 1, 1).astype(np.int32), _scales(6, 1, 1) / 100],
            *[np.asarray(np.float32(1)), np.asarray(np.uint8(100))],
        ],
    ),
}
