"""Transposed convolutions as matrix products and convolutions. Oracle: the reference of conv_transpose."""

from typing import Any

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai, ext
from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from unit.passes.graph.graphs import Builder, run


def _expanded(shape: tuple[int, ...], kernel: tuple[int, ...], passes: str, then: list[Any] = (), **attributes: Any):
    """The ops that are left, having checked that the numbers are the same."""
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [shape])
        filters = kernel[1] * attributes.get("group", 1)
        with ir.InsertionPoint(builder.block):
            weight = builder.constant(builder.random.normal(size=kernel))
            value = builder.add(ai.ConvTransposeOp, builder.values[0], weight, builder.weights(filters), **attributes)
            for cls in then:
                others = (
                    []
                    if issubclass(cls, (ai.ReluOp, ai.TanhOp))
                    else [builder.weights(filters, *[1] * (len(shape) - 2))]
                )
                value = builder.add(cls, value, *others)
        unit = builder.finish([value])
        inputs = {"x0": builder.random.normal(size=shape).astype(np.float32)}
        expected = run(unit, inputs)["y0"]
        pipeline.run(unit, passes)
        got = run(unit, inputs)["y0"]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        found = [op for op in ext.operations(unit.module) if isinstance(op, ext.Operation)]
        return [op.OPERATION_NAME.removeprefix("ai.") for op in found if not isinstance(op, ai.ConstantOp)]


_PRODUCT = ["transpose", "reshape", "matmul", "add", "reshape", "transpose"]


@pytest.mark.parametrize(
    ("shape", "kernel"), [((2, 4, 5), (4, 3, 3)), ((2, 6, 5, 7), (6, 4, 2, 3)), ((2, 2, 3, 2, 2), (2, 3, 2, 4, 3))]
)
def test_rows_of_taps_that_fill_a_vector_become_a_product(shape: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    ops = _expanded(shape, kernel, "ai-expand-conv-transpose,ai-fold-constants,ai-dce", strides=list(kernel[2:]))
    assert ops == _PRODUCT


@pytest.mark.parametrize(
    ("shape", "kernel"), [((2, 4, 5), (4, 2, 3)), ((1, 6, 5, 7), (6, 1, 2, 3)), ((1, 2, 3, 2, 2), (2, 2, 2, 1, 3))]
)
def test_windows_that_tile_become_a_convolution(shape: tuple[int, ...], kernel: tuple[int, ...]) -> None:
    ops = _expanded(shape, kernel, "ai-expand-conv-transpose,ai-fold-constants,ai-dce", strides=list(kernel[2:]))
    assert ops == ["conv", "reshape", "transpose", "reshape"]


def test_what_follows_goes_with_it() -> None:
    then = [ai.AddOp, ai.MulOp, ai.ReluOp, ai.TanhOp]
    ops = _expanded((1, 6, 5, 7), (6, 3, 2, 2), "ai-graph-pipeline", then[:3], strides=[2, 2])
    assert ops == ["conv", "reshape", "transpose", "relu", "reshape"]
    ops = _expanded((1, 6, 5, 7), (6, 4, 2, 2), "ai-graph-pipeline", then, strides=[2, 2])
    assert ops == [*_PRODUCT[:-2], "relu", "tanh", *_PRODUCT[-2:]]


def test_between_convolutions_no_transpose_is_left() -> None:
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [(1, 16, 40, 40)])
        with ir.InsertionPoint(builder.block):

            def conv(x: ir.Value) -> ir.Value:
                weight = builder.constant(builder.random.normal(size=(16, 16, 3, 3)))
                return builder.add(ai.ConvOp, x, weight, pads=[1, 1, 1, 1])

            turned = builder.constant(builder.random.normal(size=(16, 16, 2, 2)))
            value = builder.add(ai.ConvTransposeOp, conv(builder.values[0]), turned, strides=[2, 2])
            value = conv(builder.add(ai.ReluOp, value))
        unit = builder.finish([value])
        inputs = {"x0": builder.random.normal(size=(1, 16, 40, 40)).astype(np.float32)}
        expected = run(unit, inputs)["y0"]
        pipeline.run(unit, "ai-graph-pipeline,ai-assign-target,ai-assign-layout,ai-fold-constants,ai-dce")
        np.testing.assert_allclose(run(unit, inputs)["y0"], expected, rtol=0, atol=1e-5 * np.abs(expected).max())
        found = [op for op in ext.operations(unit.module) if isinstance(op, ext.Operation)]
        names = [op.OPERATION_NAME.removeprefix("ai.") for op in found if not isinstance(op, ai.ConstantOp)]
        assert names == ["relayout", "conv", "reshape", "matmul", "relu", "reshape", "conv", "relayout"]


@pytest.mark.parametrize(
    "attributes",
    [{"strides": [1, 2]}, {"strides": [2, 2], "pads": [1, 0, 0, 0]}, {"strides": [2, 2], "output_pads": [1, 0]},
     {"strides": [2, 2], "dilations": [1, 2]}, {"strides": [2, 2], "group": 2}],
)  # fmt: skip
def test_others_stay_and_take_scales_of_channels(attributes: dict[str, Any]) -> None:
    passes = "ai-fold-batch-norm,ai-expand-conv-transpose"
    assert _expanded((1, 6, 5, 7), (6, 4, 2, 2), passes, [ai.MulOp, ai.AddOp], **attributes) == ["conv_transpose"]
