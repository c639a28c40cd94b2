"""ai-assign-layout on whole graphs. Oracle: the references before the pass, in which a layout changes no bit but for
the order of sums in a convolution."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlir import ir

from aiopt.dialects import ai, ext
from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.rewrite import PARTITION, TARGET
from aiopt.passes.unit import Unit
from unit.passes.graph.graphs import Builder, random_inputs, random_unit, run

Build = Callable[[Builder, ir.Value], "ir.Value | list[ir.Value]"]
LAST = "ai-assign-target,ai-assign-layout{layout=channels_last},ai-canonicalize"


def _conv(builder: Builder, x: ir.Value, filters: int, size: int = 1, group: int = 1) -> ir.Value:
    shape = ext.type_of(x).shape
    spatial = len(shape) - 2
    weight = builder.constant(builder.random.normal(size=(filters, shape[1] // group, *[size] * spatial)))
    return builder.add(ai.ConvOp, x, weight, None, pads=[size // 2] * (2 * spatial), group=group)


def _graph(build: Build, *shapes: tuple[int, ...]) -> Unit:
    builder = Builder(0, list(shapes))
    with ir.InsertionPoint(builder.block):
        results = build(builder, *builder.values)  # pyright: ignore[reportCallIssue]
    return builder.finish(results if isinstance(results, list) else [results])


def _inputs(*shapes: tuple[int, ...]) -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    return {f"x{i}": random.normal(size=shape).astype(np.float32) for i, shape in enumerate(shapes)}


def _moves(unit: Unit) -> dict[str, int]:
    """How many ops move elements from place to place."""
    names = Counter(op.operation.name.removeprefix("ai.") for op in ext.operations(unit.module))
    return {name: names[name] for name in ("relayout", "transpose") if names[name]}


def _assert_close(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, want in expected.items():
        scale = np.abs(want[np.isfinite(want)]).max(initial=1e-30)
        np.testing.assert_allclose(actual[name], want, rtol=0, atol=2e-6 * scale, err_msg=name)


def _shuffled(builder: Builder, x: ir.Value) -> ir.Value:
    """The channel shuffle of ShuffleNet."""
    x = _conv(builder, x, 12, group=1)
    split = builder.add(ai.ReshapeOp, x, shape=[1, 3, 4, 5, 6])
    turned = builder.add(ai.TransposeOp, split, permutation=[0, 2, 1, 3, 4])
    return _pooled(builder, _conv(builder, builder.add(ai.ReshapeOp, turned, shape=[1, 12, 5, 6]), 4, 3))


def _pooled(builder: Builder, x: ir.Value) -> ir.Value:
    return builder.add(ai.ReduceMeanOp, x, axes=[2, 3], keepdims=True)


def _dense_block(builder: Builder, x: ir.Value) -> ir.Value:
    for _ in range(3):
        channels = ext.type_of(x).shape[1]
        scaled = builder.add(ai.MulOp, x, builder.weights(1, channels, 1, 1))
        shifted = builder.add(ai.AddOp, scaled, builder.weights(channels, 1, 1))
        x = builder.add(ai.ConcatOp, [x, _conv(builder, builder.add(ai.ReluOp, shifted), 4, 3)], axis=1)
    return _pooled(builder, x)


def _squeeze_and_excite(builder: Builder, x: ir.Value) -> ir.Value:
    x = _conv(builder, x, 8, 3)
    gate = builder.add(ai.SigmoidOp, _conv(builder, builder.add(ai.ReluOp, _conv(builder, _pooled(builder, x), 2)), 8))
    return _pooled(builder, _conv(builder, builder.add(ai.MulOp, x, gate), 4))


def _flattened(builder: Builder, x: ir.Value) -> ir.Value:
    """VGG: the rows of the matrix move, not the activation."""
    x = builder.add(ai.ReshapeOp, _conv(builder, x, 8, 3), shape=[1, 8 * 5 * 6])
    return builder.add(ai.MatMulOp, x, builder.constant(builder.random.normal(size=(8 * 5 * 6, 7))))


def _sequence(builder: Builder, x: ir.Value) -> ir.Value:
    """A text recogniser: [N, C, 1, W] read as W steps of C features."""
    x = builder.add(ai.ReduceMaxOp, _conv(builder, x, 8), axes=[2], keepdims=True)
    steps = builder.add(ai.ReshapeOp, x, shape=[1, 8, 6])
    return builder.add(ai.SoftmaxOp, builder.add(ai.TransposeOp, steps, permutation=[0, 2, 1]), axis=2)


def _sampled(builder: Builder, x: ir.Value) -> ir.Value:
    x = builder.add(ai.ResizeOp, _conv(builder, x, 4), shape=[1, 4, 10, 9], mode="linear")
    wide = builder.add(ai.BroadcastToOp, builder.weights(4, 1, 1), shape=[1, 4, 10, 9])
    cut = builder.add(
        ai.SliceOp, builder.add(ai.SubOp, x, wide), starts=[0, 1, 9, 0], sizes=[1, 3, 5, 9], steps=[1, 1, -2, 1]
    )
    return _pooled(builder, builder.add(ai.SoftmaxOp, _conv(builder, cut, 2), axis=1))


def _from_channels_last(builder: Builder, x: ir.Value) -> ir.Value:
    """An export from a framework that keeps channels last: transposes around each convolution."""
    for _ in range(2):
        first = builder.add(ai.TransposeOp, x, permutation=[0, 3, 1, 2])
        x = builder.add(ai.TransposeOp, _conv(builder, first, 4, 3), permutation=[0, 2, 3, 1])
        x = builder.add(ai.AddOp, builder.add(ai.ReluOp, x), builder.weights(4))
    return x


def _response_normalised(builder: Builder, x: ir.Value) -> ir.Value:
    """A local response normalisation as the importer writes it: a pool over neighbouring channels."""
    x = _conv(builder, x, 8, 3)
    squares = builder.add(ai.ReshapeOp, builder.add(ai.MulOp, x, x), shape=[1, 1, 8, 30])
    means = builder.add(ai.AvgPoolOp, squares, kernel=[4, 1], pads=[1, 0, 2, 0], count_include_pad=True)
    base = builder.add(ai.AddOp, builder.add(ai.ReshapeOp, means, shape=[1, 8, 5, 6]), builder.weights(1))
    return _pooled(builder, _conv(builder, builder.add(ai.DivOp, x, base), 4, 3))


def _reduced(builder: Builder, x: ir.Value) -> list[ir.Value]:
    x = _conv(builder, x, 4)
    kinds = [([1], False), ([2], False), ([0], False), ([2, 3], False), ([1, 2], False), ([0, 3], True), ([], False)]
    return [builder.add(ai.ReduceSumOp, x, axes=axes, keepdims=keep) for axes, keep in kinds]


def _mixed_ranks(builder: Builder, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
    return _pooled(builder, builder.add(ai.MulOp, builder.add(ai.AddOp, _conv(builder, x, 4), y), z))


IMAGE = (1, 3, 5, 6)
GRAPHS: dict[str, tuple[Build, list[tuple[int, ...]], dict[str, int]]] = {
    "dense_block": (_dense_block, [IMAGE], {"relayout": 1}),
    "squeeze_and_excite": (_squeeze_and_excite, [IMAGE], {"relayout": 1}),
    "flattened": (_flattened, [IMAGE], {"relayout": 1}),
    "sequence": (_sequence, [IMAGE], {"relayout": 1}),
    "sampled": (_sampled, [IMAGE], {"relayout": 1}),
    "response_normalised": (_response_normalised, [IMAGE], {"relayout": 1}),
    "channel_shuffle": (_shuffled, [IMAGE], {"relayout": 1, "transpose": 1}),
    "from_channels_last": (_from_channels_last, [(1, 5, 6, 3)], {}),
    "one_channel": (lambda b, x: _pooled(b, _conv(b, x, 4, 3)), [(1, 1, 5, 6)], {}),
    "unit_pixels": (lambda b, x: _conv(b, x, 4), [(2, 3, 1, 1)], {}),
    "sequence_of_channels": (lambda b, x: _conv(b, x, 4, 3), [(2, 3, 9)], {"relayout": 2}),
    "volume": (lambda b, x: _conv(b, x, 4, 3), [(1, 3, 4, 5, 6)], {"relayout": 2}),
    "lower_rank_of_one": (_mixed_ranks, [IMAGE, (6,), (4, 1, 1)], {"relayout": 1}),
    "lower_rank_of_many": (_mixed_ranks, [IMAGE, (5, 6), (4, 5, 6)], {"relayout": 2}),
    "returned_twice": (lambda b, x: [v := _conv(b, x, 4), b.add(ai.ReluOp, v)], [IMAGE], {"relayout": 2}),
    "reduced": (_reduced, [IMAGE], {"relayout": 2}),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_forced_channels_last(name: str) -> None:
    build, shapes, moves = GRAPHS[name]
    with new_context(), ir.Location.unknown():
        unit = _graph(build, *shapes)
        inputs = _inputs(*shapes)
        expected = run(unit, inputs)
        pipeline.run(unit, LAST)
        for op in ext.operations(unit.module):
            if isinstance(op, ai.ConvOp):
                assert op.layout.value == "channels_last"
            if isinstance(op, ext.Operation) and ai.Trait.CONSTANT not in op.traits:
                assert TARGET in op.operation.attributes
                assert PARTITION in op.operation.attributes
        assert _moves(unit) == moves
        _assert_close(run(unit, inputs), expected)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), layout=st.sampled_from(["auto", "channels_last"]))
def test_random_graphs_compute_the_same(seed: int, layout: str) -> None:
    with new_context(), ir.Location.unknown():
        unit, inputs = random_unit(seed), random_inputs(seed)
        expected = run(unit, inputs)
        pipeline.run(unit, f"ai-assign-target,ai-assign-layout{{layout={layout}}}")
        _assert_close(run(unit, inputs), expected)


def test_auto_takes_a_large_network_and_leaves_a_small_one() -> None:
    with new_context(), ir.Location.unknown():
        for size, taken in ((4, False), (96, True)):
            unit = _graph(lambda b, x: _pooled(b, _conv(b, _conv(b, x, 4, 3), 4, 3)), (1, 3, size, size))
            pipeline.run(unit, "ai-assign-layout")
            found = [op.layout is not None for op in ext.operations(unit.module) if isinstance(op, ai.ConvOp)]
            assert found == [taken, taken]


@pytest.mark.parametrize(("size", "spatial"), [(1, (64, 64)), (1, (4096,)), (3, (64, 64))])
def test_auto_moves_nothing_for_a_lone_pointwise_convolution(size: int, spatial: tuple[int, ...]) -> None:
    """Its vectors can be of pixels; those of a larger window are of filters."""
    with new_context(), ir.Location.unknown():
        unit = _graph(lambda b, x: _conv(b, x, 64, size), (1, 64, *spatial))
        pipeline.run(unit, "ai-assign-layout")
        assert _moves(unit) == ({} if size == 1 else {"relayout": 2})


def test_auto_moves_less_before_a_pointwise_convolution_than_after_it() -> None:
    """Between layouts either goes; it stands where the smaller of its input and result is moved."""
    with new_context(), ir.Location.unknown():
        for filters, taken in ((8, False), (512, True)):
            unit = _graph(lambda b, x, n=filters: _conv(b, _conv(b, x, n), 64, 3), (1, 64, 64, 64))
            pipeline.run(unit, "ai-assign-layout")
            found = [op.layout is not None for op in ext.operations(unit.module) if isinstance(op, ai.ConvOp)]
            assert found == [taken, True]


def test_a_matrix_without_values_keeps_its_rows() -> None:
    """Text without its weights: the activation moves instead."""
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [IMAGE, (8 * 5 * 6, 7)])
        with ir.InsertionPoint(builder.block):
            flat = builder.add(ai.ReshapeOp, _conv(builder, builder.values[0], 8, 3), shape=[1, 8 * 5 * 6])
            unit_result = builder.add(ai.MatMulOp, flat, builder.values[1])
        unit = builder.finish([unit_result])
        pipeline.run(unit, LAST)
        assert _moves(unit) == {"relayout": 2}
