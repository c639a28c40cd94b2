"""Every lowering rule, compiled and run. Oracle: the ops' numpy references, themselves tested in test/unit/dialects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from mlir import ir
from mlir.dialects import arith

import aiopt
from aiopt.dialects import ai, ext
from aiopt.dialects.ai.padding import PAD_MODES
from aiopt.dialects.ai.sampling import COORDINATES, ROUNDING
from aiopt.dialects.ai.scatter import REDUCTIONS
from aiopt.passes.interpret import interpret
from aiopt.passes.io import new_context
from aiopt.support.types import TensorType
from aiopt.support.weights import WeightStore
from unit.passes.lower import integer_cases
from unit.passes.lower.modules import Build, module_of

_random = np.random.default_rng(0)


def _normal(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype(np.float32)


def _splat(value: float) -> ir.Value:
    kind = ext.to_ir(TensorType((), "f32"))
    attribute = ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(ir.F32Type.get(), value))
    return arith.ConstantOp(kind, attribute).result


def _half_way() -> np.ndarray:
    """Doubles around the points half-way between two f16, where rounding twice goes wrong, and the extremes."""
    halves = (np.arange(0x0001, 0x7BFF, 97, dtype=np.uint16).view(np.float16)).astype(np.float64)
    middle = halves + np.spacing(halves.astype(np.float16)).astype(np.float64) / 2
    around = np.concatenate([middle * (1 + offset) for offset in (-1e-9, 0, 1e-9, -1e-15, 1e-15)])
    return np.concatenate([around, -around, [0.0, -0.0, np.inf, -np.inf, np.nan, 65519.999999, 65520, 1e300, 1e-300]])


def _conv(strides: list[int], pads: list[int], dilations: list[int], group: int) -> Build:
    attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
    return lambda *operands: ai.ReluOp(ai.ConvOp(*operands, **attributes).out).out


def _layer_norm(x: ir.Value, scale: ir.Value, bias: ir.Value) -> ir.Value:
    centred = ai.SubOp(x, ai.ReduceMeanOp(x, axes=[2], keepdims=True).out).out
    square = ai.PowOp(centred, _splat(2.0)).out
    variance = ai.ReduceMeanOp(square, axes=[2], keepdims=True).out
    deviation = ai.SqrtOp(ai.AddOp(variance, _splat(1e-5)).out).out
    return ai.AddOp(ai.MulOp(ai.DivOp(centred, deviation).out, scale).out, bias).out


def _slice(**attributes: list[int]) -> Build:
    return lambda x: ai.SliceOp(x, **attributes).out


_PADDED = {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 1, 2, 0], "dilations": [1, 2]}


def _places(x: ir.Value) -> ir.Value:
    return ai.MaxPoolPlacesOp(x, **_PADDED).out


def _with_ends(element: type) -> np.ndarray:
    """Ties, windows of nothing but the lowest number, and NaN where there is one."""
    x = np.random.default_rng(3).integers(-2, 2, (2, 3, 9, 8)).astype(element)
    if np.issubdtype(element, np.integer):
        x[:, 0] = np.iinfo(element).min
        return x
    x[:, 0] = -np.inf
    x[:, 1, ::3, ::4] = np.nan
    return x


def _average(pads: list[int], include: bool) -> Build:
    return lambda x: ai.AvgPoolOp(x, kernel=[3, 2], strides=[2, 1], pads=pads, count_include_pad=include).out


CASES: dict[str, tuple[Build, list[np.ndarray]]] = {
    "matmul": (lambda a, b: ai.MatMulOp(a, b).out, [_normal(1, 40, 12), _normal(12, 300)]),
    "matmul_batched": (lambda a, b: ai.MatMulOp(a, b).out, [_normal(2, 3, 7, 5), _normal(3, 5, 11)]),
    "matmul_epilogue": (
        lambda a, b, c: ai.SigmoidOp(ai.AddOp(ai.MatMulOp(a, b).out, c).out).out,
        [_normal(40, 12), _normal(12, 96), _normal(96)],
    ),
    "matmul_f64": (lambda a, b: ai.MatMulOp(a, b).out, [_normal(4, 6).astype("f8"), _normal(6, 5).astype("f8")]),
    "conv": (_conv([1, 1], [1, 1, 1, 1], [1, 1], 1), [_normal(1, 16, 30, 34), _normal(24, 16, 3, 3), _normal(24)]),
    "conv_no_bias": (_conv([1, 1], [0, 0, 0, 0], [1, 1], 1), [_normal(2, 5, 6, 7), _normal(3, 5, 1, 1)]),
    "conv_strided": (_conv([2, 1], [0, 1, 1, 0], [1, 1], 1), [_normal(2, 6, 12, 14), _normal(5, 6, 3, 2), _normal(5)]),
    "conv_dilated": (_conv([1, 1], [2, 2, 2, 2], [2, 2], 1), [_normal(1, 6, 12, 14), _normal(5, 6, 3, 3), _normal(5)]),
    "conv_depthwise": (
        _conv([2, 1], [2, 2, 2, 2], [1, 1], 24),
        [_normal(1, 24, 12, 14), _normal(24, 1, 5, 5), _normal(24)],
    ),
    "conv_grouped": (_conv([1, 1], [1, 1, 1, 1], [1, 1], 3), [_normal(1, 6, 12, 14), _normal(9, 2, 3, 3), _normal(9)]),
    "conv_1d": (_conv([1], [1, 1], [1], 1), [_normal(1, 6, 12), _normal(9, 6, 3), _normal(9)]),
    "conv_3d": (_conv([1] * 3, [1] * 6, [1] * 3, 1), [_normal(1, 3, 5, 6, 7), _normal(4, 3, 3, 3, 3), _normal(4)]),
    "max_pool": (
        lambda x: ai.MaxPoolOp(x, kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], dilations=[1, 1]).out,
        [_normal(1, 6, 12, 14)],
    ),
    **{f"max_pool_places_{kind.__name__}": (_places, [_with_ends(kind)]) for kind in (np.float32, np.float16, np.int8)},
    "avg_pool": (_average([0, 0, 0, 0], False), [_normal(1, 6, 12, 14)]),
    "avg_pool_padded": (_average([1, 1, 1, 1], False), [_normal(1, 6, 12, 14)]),
    "avg_pool_padded_counted": (_average([1, 1, 1, 1], True), [_normal(1, 6, 12, 14)]),
    "layer_norm": (_layer_norm, [_normal(1, 40, 120), _normal(120), _normal(120)]),
    "batch_norm": (
        lambda *v: ai.BatchNormOp(*v, epsilon=1e-5).out,
        [_normal(1, 3, 4, 5), _normal(3), _normal(3), _normal(3), abs(_normal(3))],
    ),
    "softmax_last": (lambda x: ai.SoftmaxOp(x, axis=3).out, [_normal(1, 8, 40, 40)]),
    "softmax_channels": (lambda x: ai.SoftmaxOp(x, axis=1).out, [_normal(2, 30, 5, 7)]),
    "softmax_long": (lambda x: ai.SoftmaxOp(x, axis=1).out, [_normal(3, 40000)]),
    "softmax_vector": (lambda x: ai.SoftmaxOp(x, axis=0).out, [_normal(30)]),
    "mean_spatial": (lambda x: ai.ReduceMeanOp(x, axes=[2, 3], keepdims=True).out, [_normal(1, 64, 12, 14)]),
    "sum_all": (lambda x: ai.ReduceSumOp(x, axes=[0, 1], keepdims=False).out, [_normal(3, 5)]),
    "max_first": (lambda x: ai.ReduceMaxOp(x, axes=[0], keepdims=False).out, [_normal(3, 5)]),
    "min_kept": (lambda x: ai.ReduceMinOp(x, axes=[0, 1], keepdims=True).out, [_normal(3, 5)]),
    "max_int": (lambda x: ai.ReduceMaxOp(x, axes=[1], keepdims=True).out, [np.array([[3, -7], [-5, -6]])]),
    "sum_of_product": (
        lambda x, y: ai.ReduceSumOp(ai.MulOp(x, y).out, axes=[1], keepdims=False).out,
        [_normal(3, 50), _normal(3, 1)],
    ),
    "relayout": (lambda x: ai.RelayoutOp(x, to="channels_last").out, [_normal(1, 20, 9, 12)]),
    "transpose": (lambda x: ai.TransposeOp(x, permutation=[2, 0, 3, 1, 4]).out, [_normal(1, 40, 3, 8, 15)]),
    "transpose_add": (
        lambda x, y: ai.AddOp(ai.TransposeOp(x, permutation=[1, 0]).out, y).out,
        [_normal(40, 3), _normal(3, 40)],
    ),
    "slice": (_slice(starts=[1, 0], sizes=[3, 5], steps=[2, 1]), [_normal(8, 5)]),
    "slice_backwards": (_slice(starts=[7, 0], sizes=[3, 5], steps=[-2, 1]), [_normal(8, 5)]),
    "concat": (lambda *v: ai.ConcatOp(list(v), axis=1).out, [_normal(2, 3, 4), _normal(2, 5, 4), _normal(2, 1, 4)]),
    "reshape": (lambda x: ai.ReshapeOp(x, shape=[6, 4]).out, [_normal(2, 3, 4)]),
    "broadcast_to": (lambda x: ai.BroadcastToOp(x, shape=[4, 3, 5]).out, [_normal(3, 1)]),
    "scalars": (lambda x, y: ai.AddOp(x, y).out, [_normal(), _normal()]),
    "broadcast": (lambda x, y: ai.DivOp(x, y).out, [_normal(1, 3, 4, 5), _normal(3, 1, 1)]),
    "pow": (lambda x, y: ai.PowOp(x, y).out, [abs(_normal(3, 4)), _normal(4)]),
    "unary": (lambda x: ai.TanhOp(ai.ErfOp(ai.NegOp(ai.ExpOp(x).out).out).out).out, [_normal(3, 4)]),
    "log_abs": (lambda x: ai.LogOp(ai.AbsOp(x).out).out, [_normal(3, 4)]),
    "integers": (lambda x, y: ai.MinimumOp(ai.SubOp(x, y).out, y).out, [np.arange(6), np.arange(6) - 9]),
    "unsigned": (lambda x, y: ai.DivOp(ai.MaximumOp(x, y).out, y).out, [np.uint8([200, 7, 255]), np.uint8([3, 9, 2])]),
    "cast_f64_f16": (lambda x: ai.CastOp(x, to="f16").out, [_half_way()]),
    "cast_int": (lambda x: ai.CastOp(x, to="i64").out, [_normal(3, 4) * 100]),
    "cast_bool": (lambda x: ai.CastOp(ai.CastOp(x, to="i1").out, to="f32").out, [np.float32([0, 1, -0.0, np.nan])]),
    "nonfinite": (lambda x, y: ai.MaximumOp(x, y).out, [np.float32([np.nan, 1, -np.inf]), np.float32([0, np.nan, 1])]),
    "relu_nan": (lambda x: ai.ReluOp(x).out, [np.float32([np.nan, -1, np.inf])]),
    "empty": (lambda x, y: ai.AddOp(x, y).out, [_normal(0, 4), _normal(4)]),
    "identity": (lambda x: x, [_normal(3, 4)]),
}
EXACT = {"cast_f64_f16", "cast_int", "cast_bool", "nonfinite", "relu_nan", "transpose", "slice", "concat", "identity"}
EXACT |= {"rounded", "rounded_f16", "bits_signed", "bits_unsigned", "bitcast", "bitcast_f16", "bitcast_bool"}
EXACT |= {"remainder", "remainder_signed", "remainder_unsigned"}


def _transposed(**attributes: Any) -> Build:
    return lambda *operands: ai.ReluOp(ai.ConvTransposeOp(*operands, **attributes).out).out


def _resize(shape: list[int], **attributes: Any) -> Build:
    return lambda x: ai.NegOp(ai.ResizeOp(x, shape=shape, **attributes).out).out


def _truth(a: ir.Value, b: ir.Value) -> ir.Value:
    return ai.XorOp(ai.AndOp(a, ai.NotOp(b).out).out, ai.OrOp(a, b).out).out


def _compare(a: ir.Value, b: ir.Value) -> ir.Value:
    low = ai.SelectOp(ai.LessOp(a, b).out, a, b).out
    return ai.SelectOp(ai.EqualOp(a, b).out, ai.NegOp(a).out, ai.SelectOp(ai.LessEqualOp(b, a).out, low, b).out).out


def _trigonometry(x: ir.Value) -> ir.Value:
    """x lies between -1 and 1."""
    parts = [op(x).out for op in (ai.SinOp, ai.CosOp, ai.TanOp, ai.AsinOp, ai.AcosOp, ai.AtanOp)]
    parts += [op(x).out for op in (ai.SinhOp, ai.CoshOp, ai.AsinhOp, ai.AtanhOp, ai.Expm1Op, ai.Log1pOp)]
    parts.append(ai.AcoshOp(ai.CoshOp(x).out).out)
    return ai.ConcatOp([ai.ConcatOp(parts[:7], axis=0).out, ai.ConcatOp(parts[7:], axis=0).out], axis=0).out


def _inserted(x: ir.Value) -> ir.Value:
    first = ai.InsertOp(ai.NegOp(x).out, None, axis=1, start=12, size=24).out
    return ai.InsertOp(ai.ExpOp(x).out, first, axis=1, start=0, size=24).out


def _inserted_beside(x: ir.Value) -> ir.Value:
    first = ai.InsertOp(ai.NegOp(x).out, None, axis=1, start=0, size=22).out
    part = ai.SliceOp(first, starts=[0, 2], sizes=[3, 10]).out
    return ai.InsertOp(
        ai.SubOp(ai.SliceOp(x, starts=[0, 0], sizes=[3, 10]).out, part).out, first, axis=1, start=12, size=22
    ).out


def _rounded(x: ir.Value) -> ir.Value:
    return ai.ConcatOp([op(x).out for op in (ai.FloorOp, ai.CeilOp, ai.RoundOp)], axis=0).out


def _bits(x: ir.Value, y: ir.Value) -> ir.Value:
    parts = [op(x, y).out for op in (ai.ShiftLeftOp, ai.ShiftRightOp, ai.AndOp, ai.OrOp, ai.XorOp)]
    return ai.ConcatOp([*parts, ai.NotOp(x).out], axis=0).out


def _remainder(x: ir.Value, y: ir.Value) -> ir.Value:
    return ai.RemainderOp(x, y).out


_NUMBERS = np.array([-128, -127, -7, -1, 0, 1, 7, 9, 127])
_SIGNED = [side.astype(np.int8) for side in np.meshgrid(_NUMBERS, _NUMBERS)]
_UNSIGNED = [side.astype(np.uint8) for side in np.meshgrid(_NUMBERS, _NUMBERS)]
_REALS = np.float32([-np.inf, -7.5, -2, -0.0, 0.0, 0.5, 3, 1e30, np.inf, np.nan])
_HALVES = np.float32([-2.5, -1.5, -0.5, -0.2, -0.0, 0.5, 1.5, 2.5, 8388609, -1e30, np.inf, -np.inf, np.nan])
_CUBE = _normal(3, 4, 5)
_FLAGS = np.array([[True, False, True], [False, False, True]])
_ODD = np.float32([[np.nan, 1, -np.inf], [0.0, -0.0, 2]])
_TIES = np.float32([[[1, 1, np.nan], [2, -0.0, 1]], [[0, np.nan, 1], [-np.inf, 0, 2]], [[1, 5, np.inf], [2, 0, 3]]])
_AT = np.array([[0, -1, 3], [-8, 7, 2]])

CASES.update(
    {
        "avg_pool_dilated": (
            lambda x: ai.AvgPoolOp(x, kernel=[3, 2], strides=[1, 2], pads=[2, 1, 3, 2], dilations=[2, 3]).out,
            [_normal(1, 6, 12, 14)],
        ),
        "inserted": (_inserted, [_normal(3, 12)]),
        "inserted_beside": (_inserted_beside, [_normal(3, 12)]),
        "trigonometry": (_trigonometry, [np.linspace(-0.95, 0.95, 77, dtype=np.float32)]),
        "trigonometry_f64": (_trigonometry, [np.linspace(-0.95, 0.95, 7)]),
        "rounded": (_rounded, [_HALVES]),
        "rounded_f16": (_rounded, [_HALVES[:8].astype(np.float16)]),
        "bits_signed": (_bits, _SIGNED),
        "bits_unsigned": (_bits, _UNSIGNED),
        "remainder_signed": (_remainder, _SIGNED),
        "remainder_unsigned": (_remainder, _UNSIGNED),
        "remainder": (_remainder, np.meshgrid(_REALS, _REALS)),
        "bitcast": (lambda x: ai.BitcastOp(x, to="i32").out, [_REALS]),
        "bitcast_f16": (lambda x: ai.BitcastOp(x, to="ui16").out, [_HALVES[:8].astype(np.float16)]),
        "bitcast_bool": (lambda x: ai.BitcastOp(x, to="ui8").out, [_FLAGS]),
        "product": (lambda x: ai.ReduceProdOp(x, axes=[1], keepdims=True).out, [_normal(3, 50)]),
        "product_int": (
            lambda x: ai.ReduceProdOp(x, axes=[0], keepdims=False).out,
            [np.int16([[3, -7], [-5, 90]] * 9)],
        ),
        **{
            f"{name}_{axis}_{x.dtype}": (lambda v, op=op, axis=axis: op(ai.NegOp(v).out, axis=axis).out, [x])
            for name, op in (("cumsum", ai.CumSumOp), ("cumprod", ai.CumProdOp))
            for axis in (0, 1, 2)
            for x in (_normal(3, 40, 5), np.arange(60, dtype=np.int32).reshape(3, 4, 5))
        },
        "cumsum_f16": (lambda v: ai.CumSumOp(v, axis=0).out, [_normal(40).astype(np.float16)]),
        **{
            f"top_indices_{x.dtype}_{axis}_{largest}": (
                lambda v, axis=axis, largest=largest: ai.TopIndicesOp(v, axis=axis, count=3, largest=largest).out,
                [x],
            )
            for x in (_TIES, _TIES.astype(bfloat16), np.int32(_CUBE[..., :3] * 3), np.uint8(_CUBE[..., :3] * 50 + 128))
            for axis in (0, 2)
            for largest in (True, False)
        },
        "top_indices_all": (lambda v: ai.TopIndicesOp(ai.NegOp(v).out, axis=0, count=40).out, [_normal(40)]),
        **{
            f"pad_{mode}": (
                lambda x, m=mode: ai.NegOp(ai.PadOp(x, low=[0, 7, 1], high=[0, 2, 9], mode=m).out).out,
                [_CUBE],
            )
            for mode in PAD_MODES
        },
        "pad_one": (lambda x: ai.PadOp(x, low=[2, 0], high=[1, 3], mode="reflect").out, [_normal(1, 3)]),
        "pad_value": (lambda x, v: ai.PadOp(x, v, low=[2, 0], high=[1, 3]).out, [_normal(4, 3), _normal()]),
        "pad_nothing": (lambda x: ai.PadOp(x, low=[2, 0], high=[1, 3]).out, [_normal(0, 3)]),
        **{
            f"scatter_{how}": (
                lambda x, i, u, how=how: ai.NegOp(ai.ScatterOp(x, i, u, reduction=how).out).out,
                [_normal(5, 3, 2), np.int64([4, -5, 4, 0, 5, -6, 2**62]), _normal(7, 3, 2)],
            )
            for how in REDUCTIONS
        },
        "scatter_bf16": (
            lambda x, i, u: ai.ScatterOp(x, i, u, reduction="add").out,
            [_normal(9).astype(bfloat16), np.int32([1, 1, 1]), _normal(3).astype(bfloat16)],
        ),
        "scatter_bool": (lambda x, i, u: ai.ScatterOp(x, i, u).out, [_FLAGS, np.int64([1]), _FLAGS[:1]]),
        "scatter_nothing": (lambda x, i, u: ai.ScatterOp(x, i, u).out, [_normal(4), np.int64([]), _normal(0)]),
        "compare": (_compare, [_ODD, np.float32([[1, np.nan, -np.inf], [-0.0, 1, 2]])]),
        "compare_signed": (_compare, [np.int64([-5, 3, 3]), np.int64([4, 3, -1])]),
        "compare_unsigned": (lambda a, b: ai.LessOp(a, b).out, [np.uint8([200, 3, 3]), np.uint8([4, 200, 3])]),
        "compare_bool": (lambda a, b: ai.EqualOp(a, b).out, [_FLAGS, _FLAGS[:1]]),
        "truth": (_truth, [_FLAGS, _FLAGS[::-1].copy()]),
        "select": (lambda c, a, b: ai.SelectOp(c, a, b).out, [_FLAGS, _normal(3), _normal(4, 1, 1)]),
        "layer_norm_whole": (
            lambda *v: ai.AddOp(ai.LayerNormOp(*v).out, v[0]).out,
            [_normal(3, 40, 120) + 3, _normal(120), _normal(120)],
        ),
        "layer_norm_two_axes": (
            lambda *v: ai.LayerNormOp(*v, axis=1, epsilon=0.1).out,
            [_normal(3, 4, 120), _normal(4, 120)],
        ),
        "layer_norm_f16": (
            lambda *v: ai.CastOp(ai.LayerNormOp(*v).out, to="f32").out,
            [(_normal(3, 120) * 300).astype("f2"), np.ones(120, "f2"), np.zeros(120, "f2")],
        ),
        "gather_rows": (lambda x, i: ai.NegOp(ai.GatherOp(x, i).out).out, [_normal(8, 30), _AT]),
        "gather_axis": (lambda x, i: ai.GatherOp(x, i, axis=1).out, [_normal(2, 8, 3), _AT.astype(np.int32)]),
        "gather_outside": (lambda x, i: ai.GatherOp(x, i).out, [_normal(3, 2), np.int64([2**62, -(2**62), 3, -4])]),
        "gather_scalar": (lambda x, i: ai.GatherOp(x, i).out, [np.arange(5), np.array(3)]),
        "resize_repeat": (_resize([1, 3, 8, 15], coordinates="asymmetric", rounding="floor"), [_normal(1, 3, 4, 5)]),
        **{
            f"resize_{mode}_{where}_{rounding}": (
                _resize([1, 3, 7, 13], mode=mode, coordinates=where, rounding=rounding),
                [_normal(1, 3, 5, 30)],
            )
            for mode, where, rounding in (
                *(("nearest", where, "round_prefer_floor") for where in COORDINATES),
                *(("linear", where, "floor") for where in COORDINATES),
                *(("nearest", "half_pixel", rounding) for rounding in ROUNDING[1:]),
            )
        },
        "resize_one": (
            _resize([1, 1, 3, 1], mode="linear", coordinates="pytorch_half_pixel"),
            [_normal(1, 1, 2, 4).astype("f8")],
        ),
        "resize_int": (_resize([9], scales=[1.5]), [np.arange(6)]),
        "conv_transpose": (
            _transposed(strides=[2, 2]),
            [_normal(1, 6, 5, 7), _normal(6, 4, 2, 2), _normal(4)],
        ),
        "conv_transpose_overlapping": (
            _transposed(strides=[2, 3], pads=[1, 0, 0, 2], output_pads=[1, 0], dilations=[1, 2]),
            [_normal(2, 4, 5, 6), _normal(4, 3, 3, 3)],
        ),
        "conv_transpose_grouped": (
            _transposed(strides=[2, 1], pads=[1, 1, 1, 1], group=2),
            [_normal(1, 6, 5, 7), _normal(6, 4, 3, 3), _normal(8)],
        ),
        "conv_transpose_cut": (_transposed(strides=[3], pads=[4, 3]), [_normal(1, 2, 6), _normal(2, 3, 2)]),
        "conv_transpose_3d": (_transposed(strides=[2, 1, 2]), [_normal(1, 2, 3, 2, 2), _normal(2, 3, 2, 2, 3)]),
    }
)
CASES.update(integer_cases.CASES)
EXACT.update(integer_cases.CASES)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_compiled_equals_reference(name: str, threads: int) -> None:
    build, arrays = CASES[name]
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    with new_context(), ir.Location.unknown():
        module = module_of(build, arrays)
        expected = interpret(module, WeightStore(), inputs)["y"]
        got = aiopt.compile(module, threads=threads).run(inputs)["y"]
    assert got.dtype == expected.dtype
    largest = float(np.abs(expected[np.isfinite(expected)], dtype=np.float64).max(initial=1))  # sums may cancel
    rtol, atol = (0, 0) if name in EXACT else (1e-5, 1e-6 * largest)
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_need_no_compiler_runtime(dtype: type) -> None:
    """A missing symbol such as __truncdfhf2 would show when the object is loaded."""
    unary = [ai.ExpOp, ai.LogOp, ai.SqrtOp, ai.TanhOp, ai.ErfOp, ai.SigmoidOp, ai.ReluOp, ai.NegOp, ai.AbsOp]
    binary = [ai.AddOp, ai.SubOp, ai.MulOp, ai.DivOp, ai.PowOp, ai.MaximumOp, ai.MinimumOp]

    def build(x: ir.Value) -> ir.Value:
        parts = [op(x).out for op in unary] + [op(x, x).out for op in binary]
        parts += [ai.CastOp(ai.CastOp(x, to=kind).out, to=type_name).out for kind in ("f16", "f32", "f64", "i32")]
        parts += [ai.SoftmaxOp(x, axis=1).out, ai.MatMulOp(x, x).out]
        total = parts[0]
        for part in parts[1:]:
            total = ai.AddOp(total, part).out
        mean = ai.ReduceMeanOp(total, axes=[1], keepdims=True).out
        return ai.DivOp(total, mean).out

    x = (np.abs(_normal(5, 5)) + 0.5).astype(dtype)
    type_name = TensorType.of(x).element
    with new_context(), ir.Location.unknown():
        module = module_of(build, [x])
        expected = interpret(module, WeightStore(), {"x0": x})["y"]
        got = aiopt.compile(module).run({"x0": x})["y"]
    np.testing.assert_allclose(got, expected, rtol=2e-2 if dtype is np.float16 else 1e-12)


def test_cases_cover_every_op() -> None:
    used: set[str] = {"ai.constant"}
    with new_context(), ir.Location.unknown():
        for build, arrays in CASES.values():
            used.update(op.operation.name for op in ext.operations(module_of(build, arrays)))
    missing = {op.OPERATION_NAME for op in ai.AiDialect.operations.values()} - used
    assert missing <= {"ai.identity"}, "the graph pipeline removes identity; outlining puts it back for `identity`"
