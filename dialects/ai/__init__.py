"""The `ai` dialect: what a neural network computes, on tensors of static shape, in about 50 orthogonal ops."""

from aiopt.dialects.ai.binary import AddOp, DivOp, MaximumOp, MinimumOp, MulOp, PowOp, SubOp
from aiopt.dialects.ai.constant import ConstantOp
from aiopt.dialects.ai.conv import ConvOp
from aiopt.dialects.ai.conv_transpose import ConvTransposeOp
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.integer import ConvIntegerOp, MatMulIntegerOp, QLinearMatMulOp
from aiopt.dialects.ai.layer_norm import LayerNormOp
from aiopt.dialects.ai.logic import AndOp, EqualOp, LessEqualOp, LessOp, NotOp, OrOp, SelectOp, XorOp
from aiopt.dialects.ai.movement import BroadcastToOp, ConcatOp, RelayoutOp, ReshapeOp, SliceOp, TransposeOp
from aiopt.dialects.ai.nn import BatchNormOp, MatMulOp, SoftmaxOp
from aiopt.dialects.ai.pool import AvgPoolOp, MaxPoolOp
from aiopt.dialects.ai.quantize import DequantizeLinearOp, QuantizeLinearOp
from aiopt.dialects.ai.reduce import ReduceMaxOp, ReduceMeanOp, ReduceMinOp, ReduceSumOp
from aiopt.dialects.ai.sampling import GatherOp, ResizeOp
from aiopt.dialects.ai.unary import (
    AbsOp,
    CastOp,
    ErfOp,
    ExpOp,
    IdentityOp,
    LogOp,
    NegOp,
    ReluOp,
    SigmoidOp,
    SqrtOp,
    TanhOp,
)

__all__ = [
    "AbsOp",
    "AddOp",
    "AiDialect",
    "AndOp",
    "AvgPoolOp",
    "BatchNormOp",
    "BroadcastToOp",
    "CastOp",
    "ConcatOp",
    "ConstantOp",
    "ConvIntegerOp",
    "ConvOp",
    "ConvTransposeOp",
    "DequantizeLinearOp",
    "DivOp",
    "EqualOp",
    "ErfOp",
    "ExpOp",
    "GatherOp",
    "IdentityOp",
    "LayerNormOp",
    "LessEqualOp",
    "LessOp",
    "LogOp",
    "MatMulIntegerOp",
    "MatMulOp",
    "MaxPoolOp",
    "MaximumOp",
    "MinimumOp",
    "MulOp",
    "NegOp",
    "NotOp",
    "OrOp",
    "PowOp",
    "QLinearMatMulOp",
    "QuantizeLinearOp",
    "ReduceMaxOp",
    "ReduceMeanOp",
    "ReduceMinOp",
    "ReduceSumOp",
    "RelayoutOp",
    "ReluOp",
    "ReshapeOp",
    "ResizeOp",
    "SelectOp",
    "SigmoidOp",
    "SliceOp",
    "SoftmaxOp",
    "SqrtOp",
    "SubOp",
    "TanhOp",
    "Trait",
    "TransposeOp",
    "XorOp",
]
