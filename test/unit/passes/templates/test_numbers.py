"""Kernels of every template compute what the references do. Oracle: interpret, on the ops before packing."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from unit.passes.templates.kernels import Build, Kernel, check, splat

_RNG = np.random.default_rng(0)
_SSE = "vector-bits=128 registers=16"
_SMALL_L2 = "vector-bits=256 registers=16 fma=true l2-bytes=8192"  # weights come from memory
_AVX512 = "vector-bits=512 registers=32 fma=true cores=4"


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _conv(
    image: tuple[int, int, int, int],
    filters: int,
    kernel: tuple[int, int],
    *,
    strides: tuple[int, int] = (1, 1),
    pads: tuple[int, int, int, int] = (0, 0, 0, 0),
    dilations: tuple[int, int] = (1, 1),
    group: int = 1,
    template: str = "conv",
    bias: bool = True,
    epilogue: Build = lambda y: y,
    sides: tuple[np.ndarray, ...] = (),
) -> Kernel:
    """A convolution of an image [n, h, w, c]; the epilogue gets its result and the sides, which are inputs."""

    def build(x: ir.Value, *rest: ir.Value) -> ir.Value:
        others, weight = rest[: len(sides)], rest[len(sides) :]
        window = {"strides": list(strides), "pads": list(pads), "dilations": list(dilations), "group": group}
        return epilogue(ai.ConvOp(x, *weight, layout="channels_last", **window).out, *others)

    weights = [_normal(filters, image[3] // group, *kernel), *([_normal(filters)] if bias else [])]
    return Kernel(template, build, [_normal(*image), *sides], weights)


def _random_conv(template: str) -> Kernel:
    """Any legal geometry of small images, with channels that fill no vector."""
    while True:
        draw = _RNG.integers
        group = 1 if template == "conv" else int(draw(2, 20)) if template == "depthwise" else int(draw(2, 4))
        depth = 1 if template == "depthwise" else int(draw(1, 20))
        filters = group if template == "depthwise" else group * int(draw(1, 36))
        size, kernel = draw(1, 20, 2), draw(1, 8, 2)
        strides, dilations, pads = draw(1, 4, 2), draw(1, 4, 2), draw(0, 5, 4)
        extents = (kernel - 1) * dilations + 1
        if all(size + pads[:2] + pads[2:] >= extents) and (template == "depthwise" or depth * filters // group > 1):
            break
    image = (int(draw(1, 3)), int(size[0]), int(size[1]), group * depth)
    numbers = {"strides": strides, "pads": pads, "dilations": dilations}
    lists = {key: tuple(int(v) for v in value) for key, value in numbers.items()}
    name = "conv" if template == "grouped" else template
    kernel_size = (int(kernel[0]), int(kernel[1]))
    if (
        name == "conv"
        and group == 1
        and kernel_size == (1, 1)
        and set(lists["strides"]) == {1}
        and not any(lists["pads"])
    ):
        return _random_conv(template)  # a matrix product
    return _conv(image, filters, kernel_size, group=group, template=name, bias=bool(draw(2)), **lists)


@pytest.mark.parametrize("facts", [None, _SSE, _AVX512])
@pytest.mark.parametrize("template", ["conv", "grouped", "depthwise"])
def test_random_convolutions(template: str, facts: str | None) -> None:
    check([_random_conv(template) for _ in range(8)], facts)


@pytest.mark.parametrize("facts", [None, _SMALL_L2])
def test_convolutions_of_networks(facts: str | None) -> None:
    same = {"pads": (1, 1, 1, 1)}
    check(
        [
            _conv((1, 30, 30, 3), 24, (7, 7), strides=(2, 2), pads=(3, 3, 3, 3)),
            _conv((2, 14, 14, 24), 40, (3, 3), **same),
            _conv((1, 7, 7, 32), 64, (3, 3), **same),
            _conv((1, 9, 40, 17), 1, (3, 3), **same),
            _conv((1, 12, 12, 8), 16, (1, 1), strides=(2, 2)),
            _conv((1, 8, 16, 8), 16, (1, 3), pads=(0, 1, 0, 1)),
            _conv((1, 2, 3, 5), 3, (3, 3), **same),
            _conv((3, 5, 7, 24), 130, (1, 1), template="matmul"),
            _conv((1, 1, 1, 30), 10, (1, 1), template="matmul", bias=False),
            _conv((1, 14, 14, 40), 40, (5, 5), pads=(2, 2, 2, 2), group=40, template="depthwise"),
            _conv((1, 14, 14, 240), 240, (5, 5), pads=(2, 2, 2, 2), group=240, template="depthwise"),
            _conv((1, 6, 6, 12), 24, (3, 3), group=12, **same),
            _conv((1, 6, 5, 16), 100, (1, 1), strides=(2, 2)),
        ],
        facts,
    )


def _matmul(lhs: tuple[int, ...], rhs: tuple[int, ...], constant: bool = True) -> Kernel:
    arrays = _normal(*lhs), _normal(*rhs)
    inputs, weights = ([arrays[0]], [arrays[1]]) if constant else (list(arrays), [])
    return Kernel("matmul", lambda a, b: ai.MatMulOp(a, b).out, inputs, weights)


@pytest.mark.parametrize("facts", [None, _SSE, _AVX512, "vector-bits=256 registers=16 fma=true l2-bytes=16384"])
def test_matmuls(facts: str | None) -> None:
    check(
        [
            _matmul((50, 70), (70, 37)),
            _matmul((1, 33), (33, 100)),
            _matmul((7, 1), (1, 8)),
            _matmul((3, 5), (5, 1)),
            _matmul((2, 3, 20, 17), (17, 40)),
            _matmul((2, 3, 20, 17), (3, 17, 40), constant=False),
            _matmul((1, 20, 17), (4, 17, 13), constant=False),
            _matmul((4, 20, 17), (4, 17, 13)),
            _matmul((20, 300), (300, 29), constant=False),
            _matmul((65, 300), (300, 128)),
        ],
        facts,
    )


def test_random_matmuls() -> None:
    def sizes() -> list[int]:
        return [int(v) for v in _RNG.integers(1, 70, 3)]

    check([_matmul((m, k), (k, n), bool(_RNG.integers(2))) for m, k, n in (sizes() for _ in range(12))])


def _gelu(y: ir.Value, bias: ir.Value) -> ir.Value:
    x = ai.AddOp(y, bias).out
    half = ai.MulOp(x, splat(0.5)).out
    return ai.MulOp(half, ai.AddOp(ai.ErfOp(ai.MulOp(x, splat(0.70710678)).out).out, splat(1.0)).out).out


def _residual(y: ir.Value, other: ir.Value) -> ir.Value:
    return ai.ReluOp(ai.AddOp(other, y).out).out


def _scaled(y: ir.Value, scale: ir.Value) -> ir.Value:
    return ai.MulOp(ai.SigmoidOp(y).out, scale).out


def test_epilogues() -> None:
    """Vectors, scalars, rows, whole tensors and constants; a value used twice; ragged columns and rows."""
    image = (2, 5, 7, 9)

    def conv(
        epilogue: Build, *sides: tuple[int, ...], pads: int = 1, kernel: int = 3, template: str = "conv"
    ) -> Kernel:
        arrays = tuple(_normal(*side) for side in sides)
        return _conv(image, 19, (kernel, kernel), pads=(pads,) * 4, epilogue=epilogue, sides=arrays, template=template)

    def product(epilogue: Build, side: tuple[int, ...]) -> Kernel:
        arrays = [_normal(2, 11, 13), _normal(*side)]
        return Kernel("matmul", lambda a, s, b: epilogue(ai.MatMulOp(a, b).out, s), arrays, [_normal(13, 21)])

    check(
        [
            conv(_residual, (2, 5, 7, 19)),
            conv(_gelu, (19,)),
            conv(_scaled, (2, 1, 1, 19)),
            conv(_scaled, (2, 5, 7, 1)),
            conv(_scaled, ()),
            conv(_residual, (2, 5, 7, 19), pads=0, kernel=1, template="matmul"),
            conv(_scaled, (2, 5, 7, 1), pads=0, kernel=1, template="matmul"),
            conv(_scaled, (2, 1, 1, 19), pads=0, kernel=1),  # its rows cannot be taken as one axis
            product(_gelu, (21,)),
            product(_residual, (2, 11, 21)),
            product(_residual, (11, 21)),
            product(_scaled, (2, 1, 1)),
            product(_scaled, (11, 1)),
        ]
    )


def _pointwise(
    image: tuple[int, ...],
    filters: int,
    *sides: tuple[int, ...],
    epilogue: Build = lambda y: y,
    template: str = "matmul",
    bias: bool = True,
    known: bool = True,
) -> Kernel:
    """A pointwise convolution of images [n, c, *spatial]; its weight and bias may be inputs, too."""
    weights = [
        _normal(filters, image[1], *[1] * (len(image) - 2)),
        *([_normal(filters)] if bias else []),
    ]
    others = [_normal(*side) for side in sides]

    def build(x: ir.Value, *rest: ir.Value) -> ir.Value:
        return epilogue(ai.ConvOp(x, *rest[len(others) :]).out, *rest[: len(others)])

    inputs = [_normal(*image), *others]
    return Kernel(template, build, inputs, weights) if known else Kernel(template, build, inputs + weights)


@pytest.mark.parametrize("facts", [None, _SSE, _AVX512, "vector-bits=256 registers=16 fma=true l2-bytes=16384"])
def test_pointwise_channels_first(facts: str | None) -> None:
    """Vectors of pixels: as they fit, a few, one, of several images; sums in several parts."""
    check(
        [
            _pointwise((1, 24, 8, 8), 40),
            _pointwise((2, 300, 7, 7), 30),
            _pointwise((3, 17, 5, 11), 19, bias=False),
            _pointwise((1, 9, 1, 1), 12),
            _pointwise((1, 1, 3, 40), 1),
            _pointwise((2, 12, 50), 7),
            _pointwise((1, 5, 3, 4, 5), 6),
            _pointwise((2, 20, 6, 9), 15, known=False),
        ],
        facts,
    )


def test_pointwise_in_groups() -> None:
    """Pixels in longer rows than the image's: one row, several, as they are; what the epilogue reads goes with them."""

    def conv(image: tuple[int, int, int, int], filters: int, *side: int, bias: bool = True) -> Kernel:
        sides = (_normal(*side),) if side else ()
        epilogue: Build = _residual if side else lambda y: y
        return _conv(image, filters, (1, 1), group=3, bias=bias, epilogue=epilogue, sides=sides)

    check(
        [
            conv((2, 7, 7, 15), 60),
            conv((1, 14, 14, 12), 66, bias=False),
            conv((2, 8, 6, 12), 30, 2, 8, 6, 30),
            conv((1, 5, 5, 12), 30, 30),
            conv((2, 5, 7, 12), 30, 2, 1, 1, 30),
            conv((1, 5, 7, 12), 30, 1, 1, 7, 1),  # its pixels cannot be taken as one axis
            conv((1, 1, 9, 12), 30),
            conv((1, 3, 40, 12), 30),
        ]
    )


def test_epilogues_channels_first() -> None:
    """Values per filter, per pixel and per element, scalars and constants; ragged pixels and filters."""
    image = (2, 11, 5, 7)
    check(
        [
            _pointwise(image, 19, (2, 19, 5, 7), epilogue=_residual),
            _pointwise(image, 19, (19, 1, 1), epilogue=_gelu),
            _pointwise(image, 19, (2, 19, 1, 1), epilogue=_scaled),
            _pointwise(image, 19, (2, 1, 5, 7), epilogue=_scaled),
            _pointwise(image, 19, (5, 7), epilogue=_scaled),
            _pointwise(image, 19, (), epilogue=_scaled),
            # Its pixels cannot be taken as one axis.
            _pointwise(image, 19, (2, 1, 5, 1), epilogue=_scaled, template="structured"),
        ]
    )


def test_nonfinite_pixels_stay_where_they_are() -> None:
    """Lanes that are no pixels and pixels of the next image take no part."""
    kernel = _pointwise((2, 4, 3, 3), 8, epilogue=lambda y: ai.ReluOp(y).out)
    kernel.inputs[0][0, 3, 2, 2] = np.nan
    kernel.inputs[0][1, 0, 0, 0] = np.inf
    check([kernel])


def test_nonfinite_and_padding() -> None:
    """Zeros around the image take no part, whatever is next to them in memory; NaN and infinity come through."""
    kernel = _conv((1, 6, 9, 4), 8, (3, 3), pads=(1, 1, 1, 1), epilogue=lambda y: ai.ReluOp(y).out)
    kernel.inputs[0][0, 0, 8, 1] = np.nan
    kernel.inputs[0][0, 5, 0, 2] = np.inf
    check([kernel])


def test_same_weight_in_two_kernels_with_one_function() -> None:
    """Calls of one kernel with several weights are packed each for itself; equal ones are stored once."""
    first, second = _matmul((9, 12), (12, 20)), _matmul((9, 12), (12, 20))
    third = Kernel("matmul", first.build, [_normal(9, 12)], first.weights)
    check([first, second, third])
