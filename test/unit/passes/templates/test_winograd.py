"""Convolutions by Winograd's algorithm. Oracles: interpret, on the ops before packing; a direct convolution in f64."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ai import numerics, winograd
from aiopt.dialects.ai.packing import pack_filters
from aiopt.support.types import TensorType
from unit.passes.templates.kernels import Build, Kernel, check, run, unit_of

_RNG = np.random.default_rng(3)
_SSE = "vector-bits=128 registers=16"
_AVX512 = "vector-bits=512 registers=32 fma=true cores=4"
_SMALL_CACHE = "vector-bits=256 registers=16 fma=true l2-bytes=65536"  # chunks one after another
_FACTS = [None, _SSE, _AVX512, _SMALL_CACHE]


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _conv(
    image: tuple[int, int, int, int],
    filters: int,
    pads: tuple[int, int, int, int] = (1, 1, 1, 1),
    bias: bool = True,
    epilogue: Build = lambda y: y,
    sides: tuple[tuple[int, ...], ...] = (),
) -> Kernel:
    def build(x: ir.Value, *rest: ir.Value) -> ir.Value:
        others, weights = rest[: len(sides)], rest[len(sides) :]
        return epilogue(ai.ConvOp(x, *weights, layout="channels_last", pads=list(pads)).out, *others)

    weights = [_normal(filters, image[3], 3, 3), *([_normal(filters)] if bias else [])]
    return Kernel("winograd", build, [_normal(*image), *(_normal(*side) for side in sides)], weights)


def _random_conv() -> Kernel:
    """Any image, channels and pads: ragged tiles, vectors and blocks, padding wider than a tile."""
    while True:
        height, width = (int(v) for v in _RNG.integers(1, 24, 2))
        top, left, bottom, right = (int(v) for v in _RNG.integers(0, 6, 4))
        if height + top + bottom >= 3 and width + left + right >= 3:
            break
    image = (int(_RNG.integers(1, 3)), height, width, int(_RNG.integers(1, 50)))
    return _conv(image, int(_RNG.integers(1, 60)), (top, left, bottom, right), bool(_RNG.integers(2)))


@pytest.mark.parametrize("size", ["2", "4"])
@pytest.mark.parametrize("facts", _FACTS)
def test_random_convolutions(size: str, facts: str | None) -> None:
    check([_random_conv() for _ in range(6)], facts, size)


def _residual(y: ir.Value, other: ir.Value) -> ir.Value:
    return ai.ReluOp(ai.AddOp(other, y).out).out


def _scaled(y: ir.Value, scale: ir.Value) -> ir.Value:
    return ai.MulOp(ai.SigmoidOp(y).out, scale).out


@pytest.mark.parametrize("size", ["2", "4"])
def test_epilogues(size: str) -> None:
    image = (2, 9, 11, 20)
    check(
        [
            _conv(image, 19, epilogue=lambda y: ai.ReluOp(y).out),
            _conv(image, 19, epilogue=_residual, sides=((2, 9, 11, 19),)),
            _conv(image, 32, epilogue=_scaled, sides=((32,),), bias=False),
            _conv(image, 19, epilogue=_scaled, sides=((2, 1, 1, 19),)),
            _conv(image, 19, epilogue=_scaled, sides=((2, 9, 11, 1),)),
        ],
        winograd=size,
    )


def test_auto_takes_what_pays() -> None:
    """By cost: wide images of many channels go by tiles; others stay as they are."""
    stay = [_conv((1, 3, 3, 64), 64), _conv((1, 40, 40, 3), 16)]
    for kernel in stay:
        kernel.template = "conv"
    check([_conv((1, 28, 28, 64), 64), *stay], winograd="auto")


@pytest.mark.parametrize(("size", "bound"), [(2, 2e-6), (4, 1e-5)])
def test_error_of_a_layer(size: int, bound: float) -> None:
    """The error that README states, relative to the largest result, in the arithmetic of the kernel."""
    image, weight = _normal(64, 256, size + 2, size + 2), _normal(16, 256, 3, 3)
    matrices = winograd.matrices(size)
    before, after = matrices.input.astype(np.float32), matrices.output.astype(np.float32)
    np.testing.assert_array_equal(before, matrices.input)
    np.testing.assert_array_equal(after, matrices.output)
    transformed = winograd.transform_filters(weight, size)
    tiles = before @ image @ before.T
    products = np.zeros((64, 16, size + 2, size + 2), np.float32)
    for channel in range(256):
        products += tiles[:, None, channel] * transformed[None, :, channel]
    got = after @ products @ after.T
    window = {"strides": [1, 1], "dilations": [1, 1], "group": 1}
    want = numerics.convolve(image.astype(np.float64), weight.astype(np.float64), **window)
    assert np.abs(got - want).max() < bound * np.abs(want).max()


@pytest.mark.parametrize("size", winograd.SIZES)
def test_transformed_weights_mean_the_same(size: int) -> None:
    x, weight = _normal(1, 5, 6, 7), _normal(11, 7, 3, 3)
    plain = {"strides": [1, 1], "pads": [1, 0, 1, 2], "dilations": [1, 1], "group": 1, "acc": "f32"}
    packed = pack_filters(winograd.transform_filters(weight, size), 1, 8)
    attributes = {**plain, "layout": "channels_last", "pack": 8, "filters": 11, "winograd": size}
    want = ai.ConvOp.reference(x, weight, None, **plain, layout="channels_last")
    got = ai.ConvOp.reference(x, packed, None, **attributes)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    kinds = TensorType.of(x), TensorType.of(packed), None
    assert ai.ConvOp.infer(*kinds, **attributes).shape == want.shape
    assert ai.ConvOp.flops(*kinds, **attributes) == ai.ConvOp.flops(
        kinds[0], TensorType.of(weight), None, **plain, layout="channels_last"
    )
    for change, message in (
        ({"winograd": 3}, "winograd is 2 or 4, for a packed weight of one group"),
        ({"winograd": 6 - size}, "the kernel of a weight for winograd"),
        ({"strides": [2, 1]}, "winograd takes strides and dilations of 1"),
    ):
        with pytest.raises(ValueError, match=message):
            ai.ConvOp.infer(*kinds, **{**attributes, **change})


def test_what_is_not_finite_stays_in_its_tile() -> None:
    """Unlike in a direct convolution, it reaches all pixels of the tiles that see it, and no others."""
    kernel = _conv((1, 12, 12, 8), 8, bias=False)
    kernel.inputs[0][0, 2, 2, 1] = np.nan
    got = run(*unit_of([kernel]), ["winograd"], None, "4")[0]["y0"]
    assert np.isnan(got[0, :4, :4]).all()
    assert np.isfinite(got[0, 4:]).all()
    assert np.isfinite(got[0, :, 4:]).all()
