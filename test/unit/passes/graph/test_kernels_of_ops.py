"""Which kernels the pipeline makes of ops that select, gather, sample and normalise."""

from collections.abc import Callable

import numpy as np
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.base import functions
from aiopt.passes.io import new_context
from unit.passes.graph.graphs import Builder, run


def _kernels(shapes: list[tuple[int, ...]], build: Callable[[Builder], ir.Value]) -> list[list[str]]:
    """The ops of each kernel; the numbers are checked on the way."""
    with new_context(), ir.Location.unknown():
        builder = Builder(0, shapes)
        with ir.InsertionPoint(builder.block):
            value = build(builder)
        unit = builder.finish([value])
        random = np.random.default_rng(0)
        inputs = {f"x{i}": random.standard_normal(shape).astype(np.float32) for i, shape in enumerate(shapes)}
        expected = run(unit, inputs)["y0"]
        pipeline.run(unit, "ai-kernels-pipeline")
        np.testing.assert_array_equal(run(unit, inputs)["y0"], expected)
        kernels = [function for function in functions(unit.module) if "ai.kernel" in function.attributes]
        return [[name.value.removeprefix("ai.") for name in kernel.attributes["ai.ops"]] for kernel in kernels]


def test_comparisons_and_select_are_elementwise() -> None:
    def build(builder: Builder) -> ir.Value:
        x, y = builder.values
        flags = builder.add(ai.NotOp, builder.add(ai.LessOp, x, y))
        return builder.add(ai.ReluOp, builder.add(ai.SelectOp, flags, x, builder.add(ai.NegOp, y)))

    (ops,) = _kernels([(2, 6), (2, 6)], build)
    assert sorted(ops) == ["less", "neg", "not", "relu", "select"]


def test_layer_norm_and_gather_take_an_epilogue() -> None:
    def build(builder: Builder) -> ir.Value:
        x, y = builder.values
        rows = builder.add(ai.GatherOp, builder.weights(9, 6), builder.add(ai.CastOp, x, to="i64"))
        total = builder.add(ai.AddOp, rows, y)
        norm = builder.add(ai.LayerNormOp, total, builder.weights(6), builder.weights(6))
        return builder.add(ai.MulOp, norm, y)

    assert _kernels([(4,), (4, 6)], build) == [["cast"], ["gather", "add"], ["layer_norm", "mul"]]


def test_resize_takes_an_epilogue() -> None:
    def build(builder: Builder) -> ir.Value:
        x, y = builder.values
        return builder.add(ai.AddOp, builder.add(ai.ResizeOp, builder.add(ai.NegOp, x), shape=[1, 2, 6, 8]), y)

    assert _kernels([(1, 2, 3, 4), (1, 2, 6, 8)], build) == [["neg"], ["resize", "add"]]
