"""quantize_linear, dequantize_linear and the integer contractions. Oracle: numpy, written from the text of ONNX."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiopt.dialects import ai
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.oracle import run_ai
from unit.dialects.strategies import integers

NARROW = ("int8", "uint8", "int16", "uint16")
_SMALLEST, _LARGEST = float(np.finfo(np.float32).smallest_subnormal), float(np.finfo(np.float32).max)
ANY_FLOAT = st.floats(width=32)
SCALE = st.floats(_SMALLEST, _LARGEST, width=32)
SIZES = st.integers(1, 4)


def _quantized(x: float, scale: np.float32, zero_point: int, low: int, high: int) -> int:
    """saturate(round(x / scale) + zero_point), in Python's integers of any size; NaN goes to the lowest."""
    with np.errstate(all="ignore"):
        quotient = float(np.float32(x) / scale)
    if np.isnan(quotient):
        return low
    if np.isinf(quotient):
        return high if quotient > 0 else low
    return min(max(round(quotient) + zero_point, low), high)  # Python rounds halves to even


@given(st.data(), st.sampled_from(NARROW))
def test_quantize(data: st.DataObject, dtype: str) -> None:
    x = data.draw(hnp.arrays("float32", hnp.array_shapes(max_dims=3, max_side=4), elements=ANY_FLOAT))
    shape = data.draw(st.sampled_from([(), (1,), x.shape[-1:], (*x.shape[:-1], 1)]))
    scale = data.draw(hnp.arrays("float32", shape, elements=SCALE))
    zero_point = data.draw(integers(shape, dtype))
    out = run_ai(ai.QuantizeLinearOp, x, scale, zero_point)
    limits = np.iinfo(dtype)
    each = zip(x.flat, np.broadcast_to(scale, x.shape).flat, np.broadcast_to(zero_point, x.shape).flat, strict=True)
    want = [_quantized(float(a), s, int(z), int(limits.min), int(limits.max)) for a, s, z in each]
    assert out.dtype == dtype
    assert out.reshape(-1).tolist() == want


@pytest.mark.parametrize("scale", [0.0, -0.0, -2.0, np.inf, np.nan])
def test_scales_that_make_no_sense(scale: float) -> None:
    x = np.float32([0, 1, -1, np.inf, np.nan])
    out = run_ai(ai.QuantizeLinearOp, x, np.array(scale, np.float32), np.array(5, np.uint8))
    assert out.tolist() == [_quantized(float(a), np.float32(scale), 5, 0, 255) for a in x]


@given(st.data(), st.sampled_from([*NARROW, "int32"]), st.sampled_from(["float32", "float16"]))
def test_dequantize(data: st.DataObject, dtype: str, to: str) -> None:
    x = data.draw(integers(hnp.array_shapes(max_dims=3, max_side=4), dtype))
    shape = data.draw(st.sampled_from([(), x.shape[-1:], (*x.shape[:-1], 1)]))
    scale = data.draw(hnp.arrays(to, shape, elements=st.floats(0, 100, width=16)))
    zero_point = data.draw(integers(shape, dtype))
    with np.errstate(all="ignore"):
        (out,) = ai.DequantizeLinearOp.compute([x, scale, zero_point])
        steps = (x.astype(np.int64) - zero_point.astype(np.int64)).astype(np.int32)
        want = (steps.astype(np.float32) * scale.astype(np.float32)).astype(to)
    np.testing.assert_array_equal(out, want, strict=True)


def test_a_quantized_value_is_what_it_was_before() -> None:
    x = np.arange(256).astype(np.uint8)
    scale, zero_point = np.array(0.37, np.float32), np.array(77, np.uint8)
    real = run_ai(ai.DequantizeLinearOp, x, scale, zero_point)
    np.testing.assert_array_equal(run_ai(ai.QuantizeLinearOp, real, scale, zero_point), x)


@given(st.data(), st.sampled_from(["int8", "uint8"]), st.sampled_from(["int8", "uint8"]))
def test_matmul(data: st.DataObject, left: str, right: str) -> None:
    m, k, n, batch = (data.draw(SIZES) for _ in range(4))
    lhs, rhs = data.draw(integers((batch, m, k), left)), data.draw(integers((k, n), right))
    lhs_zero = data.draw(integers(data.draw(st.sampled_from([(), (m, 1), (batch, m, 1)])), left))
    rhs_zero = data.draw(integers(data.draw(st.sampled_from([(), (n,), (1, n)])), right))
    out = run_ai(ai.MatMulIntegerOp, lhs, rhs, lhs_zero, rhs_zero)
    wide = [array.astype(np.int64) for array in (lhs, lhs_zero, rhs, rhs_zero)]
    np.testing.assert_array_equal(out, (wide[0] - wide[1]) @ (wide[2] - wide[3]))


def test_sums_wrap_in_32_bits() -> None:
    size = 40_000
    lhs, rhs, zero = np.full((1, size), 255, np.uint8), np.full((size, 1), 255, np.uint8), np.array(0, np.uint8)
    (total,) = run_ai(ai.MatMulIntegerOp, lhs, rhs, zero, zero).reshape(-1)
    assert int(total) == size * 255 * 255 - 2**32


@given(st.data(), st.sampled_from(["int8", "uint8"]))
def test_qlinear_matmul(data: st.DataObject, dtype: str) -> None:
    m, k, n = (data.draw(SIZES) for _ in range(3))
    a, b = data.draw(integers((m, k), dtype)), data.draw(integers((k, n), "int8"))
    a_zero, b_zero, y_zero = (data.draw(integers((), kind)) for kind in (dtype, "int8", dtype))
    scales = [data.draw(hnp.arrays("float32", shape, elements=SCALE)) for shape in ((m, 1), (n,), ())]
    out = run_ai(ai.QLinearMatMulOp, a, scales[0], a_zero, b, scales[1], b_zero, scales[2], y_zero)
    sums = (a.astype(np.int64) - int(a_zero)) @ (b.astype(np.int64) - int(b_zero))
    limits = np.iinfo(dtype)
    for i, j in np.ndindex(m, n):
        with np.errstate(all="ignore"):
            factor = np.float32(scales[0][i, 0] * scales[1][j]) / scales[2]
            product = float(np.float32(sums[i, j]) * factor)
        want = _quantized(product, np.float32(1), int(y_zero), int(limits.min), int(limits.max))
        assert int(out[i, j]) == want


@given(st.data())
def test_convolution_around_which_the_zero_point_stands(data: st.DataObject) -> None:
    """As the convolution of integers of 64 bits with a border of the zero point."""
    channels, filters, size, kernel = (data.draw(SIZES) for _ in range(4))
    pads = [data.draw(st.integers(0, 2)) for _ in range(2)]
    size = max(size, kernel)
    x, w = data.draw(integers((1, channels, size), "uint8")), data.draw(integers((filters, channels, kernel), "int8"))
    x_zero = data.draw(integers((), "uint8"))
    w_zero = data.draw(integers(data.draw(st.sampled_from([(), (filters,)])), "int8"))
    out = run_ai(ai.ConvIntegerOp, x, w, x_zero, w_zero, pads=pads)
    padded = np.pad(x, [(0, 0), (0, 0), tuple(pads)], constant_values=x_zero).astype(np.int64) - int(x_zero)
    taps = w.astype(np.int64) - np.broadcast_to(w_zero, (filters,)).astype(np.int64)[:, None, None]
    for at in range(out.shape[2]):
        window = padded[0, :, at : at + kernel]
        assert out[0, :, at].tolist() == [int((window * taps[f]).sum()) for f in range(filters)]


def _kind(element: str, *shape: int) -> TensorType:
    return TensorType(shape, element)


@pytest.mark.parametrize(
    ("op", "operands", "message"),
    [
        (ai.QuantizeLinearOp, [_kind("f32", 3), _kind("f16"), _kind("i8")], "one element type"),
        (ai.QuantizeLinearOp, [_kind("f32", 3), _kind("f32", 1, 3), _kind("i8")], r"scale of shape \[1, 3\]"),
        (ai.DequantizeLinearOp, [_kind("i8", 3), _kind("f32"), _kind("i8", 2)], r"zero_point of shape \[2\]"),
        (ai.MatMulIntegerOp, [_kind("i8", 3), _kind("i8", 3, 2), _kind("i8"), _kind("i8")], "rank 2 or more"),
        (ai.ConvIntegerOp, [*[_kind("i8", 1, 2, 5)] * 2, _kind("i8", 1), _kind("i8")], "input_zero_point must be a"),
    ],
)
def test_errors(op: type, operands: list[TensorType], message: str) -> None:
    with pytest.raises(IRError, match=message):
        op.infer_types(*operands, **op.defaults(*operands))
