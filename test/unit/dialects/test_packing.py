"""Layouts and packed weights mean what the plain op means. Oracle: the same op without the attributes."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ai import packing
from aiopt.dialects.ext import type_of
from aiopt.support.types import TensorType

_random = np.random.default_rng(7)
WINDOW = {"strides": [2, 1], "pads": [1, 0, 1, 2], "dilations": [1, 2]}


@pytest.mark.parametrize(("shape", "group"), [((20, 6, 3, 3), 1), ((20, 3, 3, 3), 2), ((12, 1, 3, 3), 12)])
@pytest.mark.parametrize("pack", [8, 16])
def test_packed_conv_in_channels_last(shape: tuple[int, ...], group: int, pack: int) -> None:
    weight = _random.standard_normal(shape).astype(np.float32)
    x = _random.standard_normal((2, shape[1] * group, 9, 10)).astype(np.float32)
    plain = {**WINDOW, "group": group, "acc": "f32"}
    expected = ai.ConvOp.reference(x, weight, None, **plain)
    last = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    packed = packing.pack_filters(weight, group, pack)
    attributes = {**plain, "layout": "channels_last", "pack": pack, "filters": shape[0]}
    got = ai.ConvOp.reference(last, packed, None, **attributes)
    np.testing.assert_array_equal(np.moveaxis(got, -1, 1), expected)
    inferred = ai.ConvOp.infer(TensorType.of(last), TensorType.of(packed), None, **attributes)
    assert inferred.shape == got.shape
    assert packing.packed_filters(TensorType.of(weight), group, pack) == TensorType.of(packed)
    flops = ai.ConvOp.flops(TensorType.of(last), TensorType.of(packed), None, **attributes)
    assert flops == ai.ConvOp.flops(TensorType.of(x), TensorType.of(weight), None, **plain)


def test_packed_matmul() -> None:
    lhs = _random.standard_normal((2, 5, 7)).astype(np.float32)
    rhs = _random.standard_normal((2, 7, 20)).astype(np.float32)
    packed = packing.pack_columns(rhs, 16)
    assert packed.shape == (2, 2, 7, 16)
    got = ai.MatMulOp.reference(lhs, packed, acc="f32", pack=16, columns=20)
    np.testing.assert_array_equal(got, ai.MatMulOp.reference(lhs, rhs, acc="f32"))
    kinds = TensorType.of(lhs), TensorType.of(packed)
    assert ai.MatMulOp.infer(*kinds, acc="f32", pack=16, columns=20).shape == got.shape


def test_pools_in_channels_last() -> None:
    x = _random.standard_normal((1, 3, 8, 9)).astype(np.float32)
    last = np.moveaxis(x, 1, -1)
    window = {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 1, 0, 0]}
    most = {**window, "dilations": [1, 1]}
    got = ai.MaxPoolOp.reference(last, layout="channels_last", **most)
    np.testing.assert_array_equal(np.moveaxis(got, -1, 1), ai.MaxPoolOp.reference(x, **most))
    mean = {**window, "count_include_pad": False}
    got = ai.AvgPoolOp.reference(last, layout="channels_last", **mean)
    np.testing.assert_array_equal(np.moveaxis(got, -1, 1), ai.AvgPoolOp.reference(x, **mean))


def test_batch_norm_in_channels_last() -> None:
    x = _random.standard_normal((2, 3, 4, 5)).astype(np.float32)
    parameters = [_random.uniform(0.5, 1.5, 3).astype(np.float32) for _ in range(4)]
    got = ai.BatchNormOp.reference(np.moveaxis(x, 1, -1), *parameters, epsilon=1e-5, layout="channels_last")
    np.testing.assert_array_equal(np.moveaxis(got, -1, 1), ai.BatchNormOp.reference(x, *parameters, epsilon=1e-5))
    kinds = [TensorType.of(array) for array in (x, *parameters)]
    with pytest.raises(ValueError, match=r"scale must have the shape \[5\], but has \[3\]"):
        ai.BatchNormOp.infer(*kinds, epsilon=1e-5, layout="channels_last")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"pack": 8}, "the attributes pack and columns come together"),
        ({"pack": 8, "columns": 4}, "the packed rhs must be tensor<1x7x8xf32>, but is tensor<3x7x4xf32>"),
        ({"pack": 0, "columns": 4}, "pack must be 1 or more"),
    ],
)
def test_wrong_packing_is_refused(attributes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ai.MatMulOp.infer(TensorType((2, 7), "f32"), TensorType((3, 7, 4), "f32"), acc="f32", **attributes)
    with pytest.raises(ValueError, match="layout must be 'channels_last' or absent, but is 'nhwc'"):
        packing.channels_first(TensorType((1, 2, 3), "f32"), "nhwc")


def test_optional_attributes_are_absent_by_default(context: ir.Context) -> None:
    with context, ir.Location.unknown():
        module = ir.Module.parse(
            """func.func @f(%a: tensor<1x2x4xf32>, %w: tensor<5x2x1xf32>) -> tensor<1x5x4xf32> {
              %0 = "ai.conv"(%a, %w) {acc = f32, dilations = array<i64: 1>, group = 1 : i64,
                operandSegmentSizes = array<i32: 1, 1, 0>, pads = array<i64: 0, 0>, strides = array<i64: 1>}
                : (tensor<1x2x4xf32>, tensor<5x2x1xf32>) -> tensor<1x5x4xf32>
              return %0 : tensor<1x5x4xf32>
            }"""
        )
        conv = module.body.operations[0].entry_block.operations[0]
        assert conv.layout is None
        assert "layout" not in conv.python_attributes()
        with ir.InsertionPoint(conv):
            last = ai.ConvOp(*module.body.operations[0].entry_block.arguments, layout=None, pack=None)
        assert type_of(last.out).shape == (1, 5, 4)
        assert "layout" not in last.operation.attributes
