"""Kernels of several convolutions or matrix products, in bands of rows. Oracle: the ops' numpy references, op by op."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from unit.passes.templates.kernels import Kernel, check, choices, unit_of

RNG = np.random.default_rng(0)
FACTS = "vector-bits=256 registers=16 cores=2 fma=true"


def _random(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def _grouped(l2_bytes: int) -> str:
    options = f"fusion=max vector-bits=256 registers=16 cores=2 l2-bytes={l2_bytes}"
    return f"ai-place-parts,ai-group-kernels{{{options}}},ai-outline-kernels"


def _check(kernel: Kernel, rows: int, winograd: str = "off") -> None:
    """Bands of so many rows, in two tasks."""

    def set_rows(unit: Unit) -> None:
        (function,) = [op for op in unit.module.body.operations if "ai.stages" in op.attributes]
        with unit.module.context:
            text = f'{{name = "bands", rows = {rows} : i64, tasks = 2 : i64}}'
            function.attributes["ai.template"] = ir.Attribute.parse(text)

    check([kernel], f"{FACTS} l2-bytes=1048576", winograd, _grouped(1 << 20), set_rows)


def _conv(x: ir.Value, w: ir.Value, stride: int = 1, pad: int = 0, **more) -> ir.Value:
    window = {"strides": [stride] * 2, "pads": [pad] * 4}
    return ai.ConvOp(x, w, layout="channels_last", **window, **more).out


def _bottleneck(x: ir.Value, *weights: ir.Value) -> ir.Value:
    narrow = ai.ReluOp(_conv(x, weights[0])).out
    wide = _conv(ai.ReluOp(_conv(narrow, weights[1], pad=1)).out, weights[2])
    return ai.ReluOp(ai.AddOp(wide, x).out).out


def _projected(x: ir.Value, *weights: ir.Value) -> ir.Value:
    narrow = ai.ReluOp(_conv(x, weights[0])).out
    wide = _conv(ai.ReluOp(_conv(narrow, weights[1], 2, 1)).out, weights[2])
    return ai.ReluOp(ai.AddOp(wide, _conv(x, weights[3], 2)).out).out


def _two(x: ir.Value, *weights: ir.Value) -> ir.Value:
    return _conv(ai.ReluOp(_conv(x, weights[0], 2, 2)).out, weights[1], 2, 1)


def _separable(x: ir.Value, *weights: ir.Value) -> ir.Value:
    group = weights[0].type.shape[0]
    return ai.ReluOp(_conv(ai.ReluOp(_conv(x, weights[0], pad=1, group=group)).out, weights[1])).out


BLOCK = [_random(8, 20, 1, 1), _random(8, 8, 3, 3), _random(20, 8, 1, 1)]


@pytest.mark.parametrize(
    ("shape", "rows"),
    [((2, 12, 9, 20), 1), ((2, 12, 9, 20), 4), ((1, 7, 7, 20), 1), ((1, 7, 7, 20), 7), ((1, 16, 5, 20), 8)],
)
def test_a_bottleneck_is_one_kernel(shape: tuple[int, ...], rows: int) -> None:
    _check(Kernel("bands", _bottleneck, [_random(*shape)], BLOCK), rows)


def test_winograd_inside_a_band() -> None:
    _check(Kernel("bands", _bottleneck, [_random(1, 16, 16, 20)], BLOCK), 8, winograd="2")


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_a_projection_is_a_stage_too(rows: int) -> None:
    weights = [*BLOCK, _random(20, 20, 1, 1)]
    _check(Kernel("bands", _projected, [_random(2, 12, 12, 20)], weights), rows)


@pytest.mark.parametrize(("size", "rows"), [(13, 2), (15, 1), (16, 2), (16, 4)])
def test_strides_and_borders_of_both_stages(size: int, rows: int) -> None:
    weights = [_random(12, 5, 5, 5), _random(9, 12, 3, 3)]
    _check(Kernel("bands", _two, [_random(1, size, size, 5)], weights), rows)


@pytest.mark.parametrize("rows", [2, 5])
def test_depthwise_and_pointwise(rows: int) -> None:
    weights = [_random(24, 1, 3, 3), _random(10, 24, 1, 1)]
    _check(Kernel("bands", _separable, [_random(1, 10, 11, 24)], weights), rows)


@pytest.mark.parametrize(
    ("shape", "rows"), [((24, 20), 2), ((24, 20), 12), ((2, 3, 4, 20), 6), ((3, 5, 20), 5), ((1, 8, 20), 8)]
)
def test_layers_of_a_perceptron_are_one_kernel(shape: tuple[int, ...], rows: int) -> None:
    def perceptron(x: ir.Value, *weights: ir.Value) -> ir.Value:
        wide = ai.AddOp(ai.MatMulOp(x, weights[0]).out, weights[1]).out
        narrow = ai.MatMulOp(ai.TanhOp(wide).out, weights[2]).out
        return ai.AddOp(ai.AddOp(narrow, weights[3]).out, x).out

    weights = [_random(20, 36), _random(36), _random(36, 20), _random(20)]
    _check(Kernel("bands", perceptron, [_random(*shape)], weights), rows)


def test_products_of_what_is_not_known_or_not_one_matrix_are_no_stages() -> None:
    def products(x: ir.Value, y: ir.Value, *weights: ir.Value) -> ir.Value:
        return ai.MatMulOp(ai.MatMulOp(ai.MatMulOp(x, y).out, weights[0]).out, weights[1]).out

    unit, _ = unit_of([Kernel("", products, [_random(3, 8, 20), _random(20, 12)], [_random(12, 9), _random(3, 9, 5)])])
    pipeline.run(unit, _grouped(1 << 20))
    assert sum("did not fuse" in remark for remark in unit.remarks) == 2


def test_a_part_and_a_turned_image_are_read_where_they_are() -> None:
    def stem(x: ir.Value, w: ir.Value) -> ir.Value:
        return _conv(ai.RelayoutOp(x, to="channels_last").out, w, 2, 1)

    def part(x: ir.Value, w: ir.Value) -> ir.Value:
        piece = ai.SliceOp(x, starts=[0, 0, 0, 5], sizes=[2, 6, 7, 12]).out
        return _conv(piece, w, pad=w.type.shape[2] // 2)

    x = _random(2, 6, 7, 20)
    kernels = [Kernel("conv", stem, [_random(2, 3, 12, 13)], [_random(11, 3, 3, 3)])]
    kernels += [
        Kernel("matmul", part, [x], [_random(9, 12, 1, 1)]),
        Kernel("conv", part, [x], [_random(9, 12, 3, 3)]),
    ]
    check(kernels, f"{FACTS} l2-bytes=1048576", grouped=_grouped(1 << 20))


def test_producers_write_into_their_part() -> None:
    def block(x: ir.Value, *weights: ir.Value) -> ir.Value:
        one, two = ai.ReluOp(_conv(x, weights[0])).out, _conv(x, weights[1], pad=1)
        inner = ai.ConcatOp([one, x_plus := ai.ReluOp(two).out], axis=3).out
        three = _conv(ai.ReluOp(inner).out, weights[2], pad=1)
        return ai.ConcatOp([inner, three], axis=3).out if x_plus else inner

    unit, inputs = unit_of(
        [Kernel("", block, [_random(2, 6, 7, 12)], [_random(9, 12, 1, 1), _random(16, 12, 3, 3), _random(5, 25, 3, 3)])]
    )
    pipeline.run(unit, _grouped(1 << 20))
    calls = [line for line in str(unit.module).splitlines() if " call @" in line]
    assert not any("concat" in line for line in calls)
    assert sum("insert" in line for line in calls) == 3
    assert inputs


def test_two_winograd_tiles_do_not_reach_beyond_a_band() -> None:
    unit, _ = unit_of([Kernel("", _bottleneck, [_random(1, 14, 14, 20)], BLOCK)])
    pipeline.run(unit, f"{_grouped(16000)},ai-select-route{{{FACTS} l2-bytes=16000 winograd=4}}")
    (kernel,) = [op for op in unit.module.body.operations if "ai.stages" in op.attributes]
    rows, names = (
        kernel.attributes["ai.template"]["rows"].value,
        [s["name"].value for s in kernel.attributes["ai.stages"]],
    )
    assert names[1] == ("winograd" if rows % 4 == 0 or rows == 14 else "conv")


def test_what_does_not_fit_the_cache_is_not_fused() -> None:
    unit, _ = unit_of([Kernel("", _bottleneck, [_random(1, 7, 64, 20)], BLOCK)])
    pipeline.run(unit, f"{_grouped(1000)},ai-select-route{{{FACTS}}}")
    assert choices(unit) == ["matmul", "winograd", "matmul"]
    assert any("exceed the cache of 1000" in remark for remark in unit.remarks)


def test_what_others_read_is_not_between_two_stages() -> None:
    def block(x: ir.Value, *weights: ir.Value) -> ir.Value:
        narrow = _conv(x, weights[0])
        return ai.AddOp(ai.ExpOp(narrow).out, _conv(narrow, weights[1], pad=1)).out

    unit, _ = unit_of([Kernel("", block, [_random(1, 8, 8, 20)], BLOCK[:2])])
    pipeline.run(unit, _grouped(1 << 20))
    assert any("1 other ops read what is between them" in remark for remark in unit.remarks)


def test_bands_that_do_not_divide_the_rows_are_refused() -> None:
    unit, _ = unit_of([Kernel("", _bottleneck, [_random(1, 12, 12, 20)], BLOCK)])
    pipeline.run(unit, f"{_grouped(1 << 20)},ai-select-route{{{FACTS}}},ai-pack-weights")
    (kernel,) = [op for op in unit.module.body.operations if "ai.stages" in op.attributes]
    with unit.module.context:
        kernel.attributes["ai.template"] = ir.Attribute.parse('{name = "bands", rows = 5 : i64, tasks = 1 : i64}')
    with pytest.raises(CompileError, match="cannot be computed in bands of 5 rows"):
        pipeline.run(unit, "convert-ai-to-linalg")
