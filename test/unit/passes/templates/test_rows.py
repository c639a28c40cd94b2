"""Kernels of rows compute what the references do, special values too. Oracle: interpret; f64 where a bound is named."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes.interpret import interpret
from aiopt.support.types import numpy_dtype
from unit.passes.templates.kernels import Build, Kernel, check, run, splat, unit_of

_RNG = np.random.default_rng(0)
_SSE = "vector-bits=128 registers=16"
_AVX512 = "vector-bits=512 registers=32 fma=true cores=4"
_HOST = None


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _softmax(axis: int) -> Build:
    return lambda x: ai.SoftmaxOp(x, axis=axis).out


def _layer_norm(axis: int) -> Build:
    return lambda x, *parameters: ai.LayerNormOp(x, *parameters, axis=axis, epsilon=1e-5).out


def _fold(op: type, *axes: int, keepdims: bool = True) -> Build:
    return lambda x: op(x, axes=list(axes), keepdims=keepdims).out


def _spelled_out(x: ir.Value, scale: ir.Value) -> ir.Value:
    """A layer norm as exporters write it."""
    centred = ai.SubOp(x, ai.ReduceMeanOp(x, axes=[2], keepdims=True).out).out
    variance = ai.ReduceMeanOp(ai.MulOp(centred, centred).out, axes=[2], keepdims=True).out
    deviation = ai.SqrtOp(ai.AddOp(variance, splat(1e-5)).out).out
    return ai.MulOp(ai.DivOp(centred, deviation).out, scale).out


def _unit_rows(x: ir.Value) -> ir.Value:
    squares = ai.ReduceSumOp(ai.MulOp(x, x).out, axes=[1], keepdims=True).out
    return ai.DivOp(x, ai.MaximumOp(ai.SqrtOp(squares).out, splat(1e-12)).out).out


def _gelu(x: ir.Value) -> ir.Value:
    spread = ai.AddOp(ai.ErfOp(ai.DivOp(x, splat(2**0.5)).out).out, splat(1.0)).out
    return ai.MulOp(ai.MulOp(x, spread).out, splat(0.5)).out


def _rows(build: Build, *arrays: np.ndarray) -> Kernel:
    return Kernel("rows", build, list(arrays))


@pytest.mark.parametrize("facts", [_HOST, _SSE, _AVX512])
def test_rows_of_all_lengths(facts: str | None) -> None:
    lengths = [8, 9, 31, 32, 65, 128, 333, 1100]
    kernels = [_rows(_softmax(2), _normal(3, 5, length)) for length in lengths]
    kernels += [_rows(_layer_norm(2), _normal(3, 5, n), _normal(n), _normal(n)) for n in (8, 17, 384, 2000)]
    check(kernels, facts)


@pytest.mark.parametrize("facts", [_HOST, _SSE, _AVX512])
def test_rows_side_by_side(facts: str | None) -> None:
    kernels = [_rows(_softmax(1), _normal(3, 5, length)) for length in (8, 9, 31, 128, 300)]
    kernels += [_rows(_fold(ai.ReduceMeanOp, 1, 2), _normal(2, *shape)) for shape in ((7, 7, 130), (17, 27, 8))]
    check([*kernels, _rows(_softmax(0), _normal(77, 35))], facts)


def test_folds() -> None:
    check(
        [
            _rows(_fold(ai.ReduceMaxOp, 1), _normal(21, 100)),
            _rows(_fold(ai.ReduceMinOp, 0, 1), _normal(3, 7, 100)),
            _rows(_fold(ai.ReduceSumOp, 2, keepdims=False), _normal(2, 3, 1331)),
            _rows(_fold(ai.ReduceSumOp, 0, 1), _normal(40, 50)),
            _rows(lambda x: ai.SqrtOp(ai.ReduceMeanOp(x, axes=[1, 2], keepdims=False).out).out, abs(_normal(5, 9, 9))),
        ]
    )


def test_programs_of_several_folds() -> None:
    check(
        [
            _rows(_spelled_out, _normal(2, 9, 200), _normal(200)),
            _rows(_unit_rows, _normal(11, 96)),
            _rows(_unit_rows, np.zeros((3, 16), np.float32)),
            _rows(lambda x, y: ai.MulOp(ai.SoftmaxOp(x, axis=2).out, y).out, _normal(2, 3, 40), _normal(3, 1)),
            _rows(_gelu, _normal(5, 77)),
            _rows(_gelu, _normal(40000)),
            _rows(lambda x, y: ai.SigmoidOp(ai.AddOp(x, y).out).out, _normal(2, 3, 5, 50), _normal(3, 1, 50)),
            Kernel("structured", lambda x: ai.AddOp(x, splat(1.0)).out, [_normal(9, 50)]),
            Kernel("structured", lambda x: ai.SinOp(x).out, [_normal(9, 50)]),
            Kernel("structured", _softmax(1), [_normal(9, 5)]),
            Kernel("structured", _fold(ai.ReduceSumOp, 0, 2), [_normal(9, 5, 8)]),
            Kernel("structured", _softmax(1), [_normal(9, 50).astype(np.float64)]),
        ]
    )


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_16_bits_are_rounded_once(element: str) -> None:
    x, scale = (_normal(*shape).astype(numpy_dtype(element)) for shape in ((13, 77), (77,)))
    kernels = [
        _rows(_softmax(1), x),
        _rows(lambda x, scale: ai.LayerNormOp(x, scale, None, axis=1, epsilon=1e-5).out, x, scale),
        _rows(_fold(ai.ReduceMeanOp, 0), x),
        _rows(lambda x: ai.SigmoidOp(x).out, x),
        Kernel("structured", lambda x: ai.AddOp(ai.SigmoidOp(x).out, x).out, [x]),
    ]
    unit, inputs = unit_of(kernels)
    expected = interpret(unit.module, unit.weights, inputs)
    found = run(unit, inputs, [kernel.template for kernel in kernels], None, "off")[0]
    for name in ("y0", "y1", "y2", "y3"):
        np.testing.assert_array_equal(found[name].view(np.uint16), expected[name].view(np.uint16), err_msg=name)


def _compiled(kernel: Kernel) -> np.ndarray:
    unit, inputs = unit_of([kernel])
    return run(unit, inputs, [kernel.template], None, "off")[0]["y0"]


def test_special_values() -> None:
    x = _normal(6, 43)
    x[0] = -np.inf
    x[1, 5], x[2, 42], x[3, ::2], x[4, 1] = np.nan, np.inf, -np.inf, -1e9
    for axis, array in ((1, x), (0, np.ascontiguousarray(np.tile(x, (2, 1)).T))):
        found = _compiled(_rows(_softmax(axis), array))
        found = found if axis else found.T[:6]
        assert np.isnan(found[:3]).all()
        np.testing.assert_allclose(found[3:].sum(1), 1, rtol=1e-6)
        assert not found[3, ::2].any()
        assert found[4, 1] == 0
    largest = _compiled(_rows(_fold(ai.ReduceMaxOp, 1), x))[:, 0]
    np.testing.assert_array_equal(largest, x.max(1))


def test_softmax_is_exact_to_five_units_in_the_last_place() -> None:
    x = (_normal(40, 6625) * 8).astype(np.float32)
    powers = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))
    wanted = powers / powers.sum(1, keepdims=True)
    found = _compiled(_rows(_softmax(1), x))
    normal = wanted > np.finfo(np.float32).tiny
    assert (np.abs(found - wanted) / np.spacing(wanted.astype(np.float32)))[normal].max() <= 5
    assert np.abs(found - wanted)[~normal].max(initial=0) <= np.finfo(np.float32).tiny


def test_small_terms_of_long_sums_are_kept() -> None:
    x = np.full((1, 1 << 20), 0.1, np.float32)
    for array, axes in ((x, (1,)), (x.reshape(-1, 8), (0,))):
        found = _compiled(_rows(_fold(ai.ReduceSumOp, *axes), array))
        np.testing.assert_allclose(found, array.astype(np.float64).sum(axes, keepdims=True), rtol=3e-7)


def test_division_by_one_value_of_a_row_is_exact_to_two_units_in_the_last_place() -> None:
    """Whatever its size: the reciprocal of a denormal would be infinite."""
    x = np.array([[s] * 16 for s in (1e-42, 3e-39, 1e-20, 7.0, 1e25, 3e38, np.inf, 0.0)], np.float32)
    build = lambda x: ai.DivOp(x, ai.ReduceMaxOp(x, axes=[1], keepdims=True).out).out  # noqa: E731
    found = _compiled(_rows(build, x))
    np.testing.assert_allclose(found[:6], 1, rtol=2.4e-7)
    assert np.isnan(found[6:]).all()
