"""Folding batch norms. Oracle: the references of the ops before folding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlir import ir

from aiopt.dialects import ai, ext
from aiopt.dialects.ai.packing import CHANNELS_LAST, pack_filters
from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from unit.passes.graph.graphs import Builder, run


def op_names(unit: Unit) -> list[str]:
    found = [op for op in ext.operations(unit.module) if isinstance(op, ext.Operation)]
    return [op.OPERATION_NAME for op in found if not isinstance(op, ai.ConstantOp)]


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    group=st.sampled_from([1, 2, 4]),
    spatial=st.integers(1, 3),
    has_bias=st.booleans(),
    after=st.lists(st.sampled_from([ai.MulOp, ai.AddOp, ai.SubOp, ai.DivOp, ai.BatchNormOp]), min_size=1, max_size=4),
)
def test_what_follows_a_conv_goes_into_it(seed: int, group: int, spatial: int, has_bias: bool, after: list) -> None:
    with new_context(), ir.Location.unknown():
        builder = Builder(seed, [(2, 4, *[5] * spatial)])
        with ir.InsertionPoint(builder.block):
            weight = builder.constant(builder.random.normal(size=(8, 4 // group, *[3] * spatial)))
            bias = builder.weights(8) if has_bias else None
            value = builder.add(ai.ConvOp, builder.values[0], weight, bias, group=group)
            for cls in after:
                if cls is ai.BatchNormOp:
                    value = builder.add(cls, value, *[builder.weights(8) for _ in range(4)], epsilon=1e-3)
                else:
                    value = builder.add(cls, value, builder.weights(8, *[1] * spatial))
        unit = builder.finish([value])
        inputs = {"x0": builder.random.normal(size=(2, 4, *[5] * spatial)).astype(np.float32)}
        expected = run(unit, inputs)["y0"]
        pipeline.run(unit, "ai-fold-batch-norm")
        assert op_names(unit) == ["ai.conv"]
        np.testing.assert_allclose(run(unit, inputs)["y0"], expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("broken", [np.inf, np.nan, 3e38])
def test_a_weight_that_would_not_be_finite_stays(broken: float) -> None:
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [(1, 1, 2, 2)])
        with ir.InsertionPoint(builder.block):
            weight = builder.constant(np.full((1, 1, 1, 1), 4.0))
            conv = builder.add(ai.ConvOp, builder.values[0], weight, None)
            scaled = builder.add(ai.MulOp, conv, builder.constant(np.full((1,), broken)))
        unit = builder.finish([scaled])
        pipeline.run(unit, "ai-fold-batch-norm")
        assert op_names(unit) == ["ai.conv", "ai.mul"]


def test_a_negative_variance_stays_to_give_its_nan() -> None:
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [(1, 2, 3)])
        with ir.InsertionPoint(builder.block):
            ones = builder.constant(np.ones(2))
            norm = builder.add(ai.BatchNormOp, builder.values[0], ones, ones, ones, builder.constant(np.full(2, -1.0)))
        unit = builder.finish([norm])
        pipeline.run(unit, "ai-fold-batch-norm")
        assert op_names(unit) == ["ai.batch_norm"]


def test_a_shared_weight_is_scaled_for_one_conv_only() -> None:
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [(1, 2, 4, 4)])
        with ir.InsertionPoint(builder.block):
            weight = builder.constant(builder.random.normal(size=(2, 2, 3, 3)))
            plain = builder.add(ai.ConvOp, builder.values[0], weight, None)
            scaled = builder.add(
                ai.MulOp, builder.add(ai.ConvOp, plain, weight, None, pads=[1] * 4), builder.weights(1)
            )
        unit = builder.finish([plain, scaled])
        inputs = {"x0": builder.random.normal(size=(1, 2, 4, 4)).astype(np.float32)}
        expected = run(unit, inputs)
        pipeline.run(unit, "ai-fold-batch-norm")
        assert op_names(unit) == ["ai.conv", "ai.conv"]
        actual = run(unit, inputs)
        for name, want in expected.items():
            np.testing.assert_allclose(actual[name], want, rtol=1e-5, atol=1e-5)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    filters=st.sampled_from([4, 6, 8]),
    pack=st.sampled_from([None, 4]),
    after=st.lists(st.sampled_from([ai.MulOp, ai.AddOp, ai.SubOp, ai.DivOp, ai.BatchNormOp]), min_size=1, max_size=4),
)
def test_channels_are_last_and_weights_packed(seed: int, filters: int, pack: int | None, after: list) -> None:
    with new_context(), ir.Location.unknown():
        builder = Builder(seed, [(2, 5, 5, 3)])
        with ir.InsertionPoint(builder.block):
            weight = builder.random.normal(size=(filters, 3, 3, 3))
            packing = {} if pack is None else {"pack": pack, "filters": filters}
            weight = builder.constant(weight if pack is None else pack_filters(weight, 1, pack))
            window = {"strides": [1, 1], "dilations": [1, 1], "pads": [0] * 4}
            value = builder.add(ai.ConvOp, builder.values[0], weight, None, layout=CHANNELS_LAST, **window, **packing)
            for cls in after:
                if cls is ai.BatchNormOp:
                    parameters = [builder.weights(filters) for _ in range(4)]
                    value = builder.add(cls, value, *parameters, epsilon=1e-3, layout=CHANNELS_LAST)
                else:
                    value = builder.add(cls, value, builder.weights(filters))
        unit = builder.finish([value])
        inputs = {"x0": builder.random.normal(size=(2, 5, 5, 3)).astype(np.float32)}
        expected = run(unit, inputs)["y0"]
        pipeline.run(unit, "ai-fold-batch-norm")
        assert op_names(unit) == ["ai.conv"]
        np.testing.assert_allclose(run(unit, inputs)["y0"], expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("layout", [None, CHANNELS_LAST])
@pytest.mark.parametrize("cls", [ai.MulOp, ai.BatchNormOp])
def test_what_follows_along_another_dimension_than_the_channels_stays(layout: str | None, cls: type) -> None:
    other = None if layout else CHANNELS_LAST
    with new_context(), ir.Location.unknown():
        builder = Builder(0, [(1, 4, 4, 4)])
        with ir.InsertionPoint(builder.block):
            weight = builder.constant(builder.random.normal(size=(4, 4, 1, 1)))
            value = builder.add(ai.ConvOp, builder.values[0], weight, None, layout=layout)
            if cls is ai.BatchNormOp:
                parameters = [builder.weights(4) for _ in range(4)]
                value = builder.add(cls, value, *parameters, epsilon=1e-3, layout=other)
            else:
                value = builder.add(cls, value, builder.weights(*([4, 1, 1] if layout else [4])))
        unit = builder.finish([value])
        inputs = {"x0": builder.random.normal(size=(1, 4, 4, 4)).astype(np.float32)}
        expected = run(unit, inputs)["y0"]
        pipeline.run(unit, "ai-fold-batch-norm")
        assert op_names(unit)[0] == "ai.conv"
        assert len(op_names(unit)) > 1
        np.testing.assert_allclose(run(unit, inputs)["y0"], expected, rtol=0, atol=1e-5 * np.abs(expected).max())
