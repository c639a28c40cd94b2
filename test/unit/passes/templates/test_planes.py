"""Depthwise convolutions with channels first. Oracle: interpret; what covers a row was counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes.templates.planes import Cover, cover_row
from unit.passes.templates.kernels import Build, Kernel, check

_RNG = np.random.default_rng(0)
_SSE = "vector-bits=128 registers=16"
_AVX512 = "vector-bits=512 registers=32 fma=true cores=4"
_MANY_CORES = "vector-bits=256 registers=16 fma=true cores=16"


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _conv(
    image: tuple[int, ...],
    kernel: tuple[int, int],
    pads: tuple[int, ...] = (1, 1, 1, 1),
    strides: tuple[int, int] = (1, 1),
    dilations: tuple[int, int] = (1, 1),
    epilogue: Build = lambda y: y,
    sides: tuple[np.ndarray, ...] = (),
    template: str = "planes",
    filters: int | None = None,
) -> Kernel:
    def build(x: ir.Value, *rest: ir.Value) -> ir.Value:
        others, weights = rest[: len(sides)], rest[len(sides) :]
        window = {"strides": list(strides), "pads": list(pads), "dilations": list(dilations), "group": image[1]}
        return epilogue(ai.ConvOp(x, *weights, **window).out, *others)

    count = filters or image[1]
    return Kernel(template, build, [_normal(*image), *sides], [_normal(count, 1, *kernel), _normal(count)])


def _random_conv() -> Kernel:
    """Any geometry that the template covers, of small images."""
    while True:
        size, kernel, dilations = _RNG.integers(1, 40, 2), _RNG.integers(1, 8, 2), _RNG.integers(1, 4, 2)
        strides, pads = (int(_RNG.integers(1, 4)), int(_RNG.integers(1, 3))), _RNG.integers(0, 9, 4)
        if all(size + pads[:2] + pads[2:] >= (kernel - 1) * dilations + 1):
            break
    image = (int(_RNG.integers(1, 3)), int(_RNG.integers(2, 9)), *map(int, size))
    numbers = [tuple(map(int, values)) for values in (kernel, pads, strides, dilations)]
    return _conv(image, *numbers)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("facts", [None, _SSE, _AVX512, _MANY_CORES])
def test_random_geometries(facts: str | None) -> None:
    check([_random_conv() for _ in range(10)], facts)


@pytest.mark.parametrize("facts", [None, _MANY_CORES])
def test_convolutions_of_networks(facts: str | None) -> None:
    side = _normal(1, 6, 28, 28)
    check(
        [
            _conv((1, 16, 56, 56), (3, 3)),
            _conv((1, 6, 112, 112), (3, 3), strides=(2, 2)),
            _conv((1, 24, 14, 14), (5, 5), (2, 2, 2, 2)),
            _conv((1, 100, 7, 7), (7, 7), (3, 3, 3, 3)),
            _conv((1, 12, 28, 28), (5, 5), (1, 1, 2, 2), (2, 2)),
            _conv((2, 6, 28, 28), (3, 3), epilogue=lambda y, s: ai.ReluOp(ai.AddOp(y, s).out).out, sides=(side,)),
            _conv((1, 6, 9, 9), (3, 3), (0,) * 4, epilogue=lambda y: ai.MulOp(y, ai.SigmoidOp(y).out).out),
        ],
        facts,
    )


def test_padding_is_no_number() -> None:
    """What lies beside a row is not multiplied with a zero: it is not read."""
    kernel = _conv((1, 3, 9, 19), (3, 3))
    kernel.inputs[0][0, :, 4, 0] = np.nan
    kernel.inputs[0][0, 1, :, -1] = np.inf
    check([kernel])


def test_others_are_structured() -> None:
    """Pixels three apart, 64 taps, two filters for a channel."""
    check(
        [
            _conv((1, 3, 9, 30), (3, 3), strides=(1, 3), template="structured"),
            _conv((1, 3, 20, 20), (8, 8), template="structured"),
            _conv((1, 3, 9, 9), (3, 3), template="structured", filters=6),
        ]
    )


@pytest.mark.parametrize(
    ("positions", "size", "cover"),
    [
        ([3, 4, 5, 6], 20, Cover((3,), (0, 1, 2, 3))),
        ([-1, 0, 1, 2], 20, Cover((0,), (None, 0, 1, 2))),
        ([17, 18, 19, 20], 20, Cover((16,), (1, 2, 3, None))),
        ([-1, 0, 1, 2], 2, Cover((0,), (None, 0, 1, None))),
        ([2, 4, 6, 8], 20, Cover((2, 5), (0, 2, 5, 7))),
        ([-1, 1, 3, 5], 20, Cover((1, 2), (None, 0, 2, 7))),
        ([15, 17, 19, 21], 20, Cover((15, 16), (0, 2, 7, None))),
        ([-5, -4, -3, -2], 20, None),
        ([20, 21], 20, None),
    ],
)
def test_what_covers_a_row(positions: list[int], size: int, cover: Cover | None) -> None:
    assert cover_row(positions, size, 4) == cover
