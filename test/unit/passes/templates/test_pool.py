"""Pooling by its template computes what the references do. Oracle: interpret."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from unit.passes.templates.kernels import Build, Kernel, check

_RNG = np.random.default_rng(0)
_SSE = "vector-bits=128 registers=16"
_AVX512 = "vector-bits=512 registers=32 fma=true cores=4"


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _pool(
    image: np.ndarray,
    kernel: tuple[int, int],
    mean: bool,
    *,
    epilogue: Build = lambda y: y,
    sides: tuple[np.ndarray, ...] = (),
    **window: Any,
) -> Kernel:
    """Pooling of an image [n, h, w, c]."""

    def build(x: ir.Value, *others: ir.Value) -> ir.Value:
        cls = ai.AvgPoolOp if mean else ai.MaxPoolOp
        return epilogue(cls(x, kernel=list(kernel), layout="channels_last", **window).out, *others)

    return Kernel("pool", build, [image, *sides])


def _random_pool() -> Kernel:
    """Any legal geometry of small images, with channels that fill no vector."""
    while True:
        draw = _RNG.integers
        size, kernel, strides, dilations = draw(1, 22, 2), draw(1, 8, 2), draw(1, 4, 2), draw(1, 4, 2)
        extents = (kernel - 1) * dilations + 1
        pads = np.array([draw(0, extent) for extent in (*extents, *extents)])
        if all(size + pads[:2] + pads[2:] >= extents):
            break
    mean = bool(draw(2))
    window: dict[str, Any] = {"strides": strides, "pads": pads, "dilations": dilations}
    window = {key: [int(v) for v in value] for key, value in window.items()}
    if mean:
        window["count_include_pad"] = bool(draw(2))
    image = _normal(int(draw(1, 3)), int(size[0]), int(size[1]), int(draw(1, 150)))
    return _pool(image, (int(kernel[0]), int(kernel[1])), mean, **window)


@pytest.mark.parametrize("facts", [None, _SSE, _AVX512])
def test_random_pooling(facts: str | None) -> None:
    check([_random_pool() for _ in range(12)], facts)


@pytest.mark.parametrize("facts", [None, "vector-bits=256 registers=16 cores=4"])
def test_pooling_of_networks(facts: str | None) -> None:
    """Stems, ShuffleNet's means, SPPF, all of an image, windows of many taps: in loops."""
    check(
        [
            _pool(_normal(1, 30, 30, 64), (3, 3), False, strides=[2, 2], pads=[1, 1, 1, 1]),
            _pool(_normal(1, 13, 13, 96), (3, 3), False, strides=[2, 2]),
            _pool(_normal(1, 14, 14, 40), (3, 3), True, strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=True),
            _pool(_normal(1, 10, 10, 24), (5, 5), False, pads=[2, 2, 2, 2]),
            _pool(_normal(1, 7, 7, 200), (7, 7), True),
            _pool(_normal(2, 12, 50, 20), (12, 50), True),
            _pool(_normal(1, 5, 60, 3), (2, 17), False, strides=[1, 3], pads=[0, 9, 1, 9]),
            _pool(_normal(1, 5, 60, 3), (2, 17), True, strides=[1, 3], pads=[0, 9, 1, 9]),
        ],
        facts,
    )


def test_epilogues_and_low_types() -> None:
    relu: Build = lambda y: ai.ReluOp(y).out  # noqa: E731
    residual: Build = lambda y, other: ai.SigmoidOp(ai.AddOp(y, other).out).out  # noqa: E731
    check(
        [
            _pool(_normal(1, 9, 9, 20), (3, 3), False, epilogue=relu, strides=[2, 2]),
            _pool(_normal(2, 9, 9, 20), (2, 2), True, epilogue=residual, sides=(_normal(2, 8, 8, 20),)),
            _pool(_normal(1, 9, 9, 20).astype(ml_dtypes.bfloat16), (3, 3), False, strides=[2, 2]),
        ]
    )


def test_what_is_not_finite() -> None:
    """NaN comes through, from all places of a window; infinities are numbers; padding takes no part."""
    image = _normal(1, 8, 8, 20)
    image[0, ::3, 1, ::2], image[0, 5, ::4, 1::2], image[0, 7, 7] = np.nan, -np.inf, np.inf
    check([_pool(image, (3, 3), False, pads=[1, 1, 1, 1]), _pool(image, (3, 3), True, pads=[1, 1, 1, 1])])


@pytest.mark.parametrize("mean", [False, True])
def test_windows_of_padding_alone(mean: bool) -> None:
    """-inf, and 0 / 0: with a dilation a window may step over the image."""
    image = _normal(1, 1, 1, 9)
    check([_pool(image, (2, 2), mean, dilations=[3, 3], pads=[2, 2, 1, 1])])


def test_other_types_and_layouts_go_the_structured_way() -> None:
    def kernel(array: np.ndarray, **window: Any) -> Kernel:
        spatial = array.ndim - 2
        return Kernel("structured", lambda x: ai.MaxPoolOp(x, kernel=[2] * spatial, **window).out, [array])

    whole = _RNG.integers(-9, 9, (1, 5, 5, 8), dtype=np.int8)
    check([kernel(_normal(1, 5, 6, 7)), kernel(_normal(1, 5, 6, 7, 3), layout="channels_last")])
    check([kernel(whole, layout="channels_last")])
