"""The `ai` dialect: what a neural network computes, on tensors of static shape, in about 30 orthogonal ops."""

from aiopt.dialects.ai.binary import AddOp, DivOp, MaximumOp, MinimumOp, MulOp, PowOp, SubOp
from aiopt.dialects.ai.constant import ConstantOp
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.movement import BroadcastToOp, ConcatOp, ReshapeOp, SliceOp, TransposeOp
from aiopt.dialects.ai.nn import BatchNormOp, ConvOp, MatMulOp, SoftmaxOp
from aiopt.dialects.ai.pool import AvgPoolOp, MaxPoolOp
from aiopt.dialects.ai.reduce import ReduceMaxOp, ReduceMeanOp, ReduceMinOp, ReduceSumOp
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
    "AvgPoolOp",
    "BatchNormOp",
    "BroadcastToOp",
    "CastOp",
    "ConcatOp",
    "ConstantOp",
    "ConvOp",
    "DivOp",
    "ErfOp",
    "ExpOp",
    "IdentityOp",
    "LogOp",
    "MatMulOp",
    "MaxPoolOp",
    "MaximumOp",
    "MinimumOp",
    "MulOp",
    "NegOp",
    "PowOp",
    "ReduceMaxOp",
    "ReduceMeanOp",
    "ReduceMinOp",
    "ReduceSumOp",
    "ReluOp",
    "ReshapeOp",
    "SigmoidOp",
    "SliceOp",
    "SoftmaxOp",
    "SqrtOp",
    "SubOp",
    "TanhOp",
    "Trait",
    "TransposeOp",
]
