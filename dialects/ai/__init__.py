"""The `ai` dialect: what a neural network computes, on tensors of static shape, in about 80 orthogonal ops."""

from aiopt.dialects.ai.binary import AddOp, DivOp, MaximumOp, MinimumOp, MulOp, PowOp, RemainderOp, SubOp
from aiopt.dialects.ai.bits import BitcastOp, ShiftLeftOp, ShiftRightOp
from aiopt.dialects.ai.constant import ConstantOp
from aiopt.dialects.ai.conv import ConvOp
from aiopt.dialects.ai.conv_transpose import ConvTransposeOp
from aiopt.dialects.ai.dialect import AiDialect, Trait
from aiopt.dialects.ai.integer import ConvIntegerOp, MatMulIntegerOp, QLinearMatMulOp
from aiopt.dialects.ai.layer_norm import LayerNormOp
from aiopt.dialects.ai.logic import AndOp, EqualOp, LessEqualOp, LessOp, NotOp, OrOp, SelectOp, XorOp
from aiopt.dialects.ai.movement import BroadcastToOp, ConcatOp, InsertOp, RelayoutOp, ReshapeOp, SliceOp, TransposeOp
from aiopt.dialects.ai.nn import BatchNormOp, MatMulOp, SoftmaxOp
from aiopt.dialects.ai.padding import PadOp
from aiopt.dialects.ai.pool import AvgPoolOp, MaxPoolOp, MaxPoolPlacesOp
from aiopt.dialects.ai.quantize import DequantizeLinearOp, QuantizeLinearOp
from aiopt.dialects.ai.reduce import ReduceMaxOp, ReduceMeanOp, ReduceMinOp, ReduceProdOp, ReduceSumOp
from aiopt.dialects.ai.sampling import GatherOp, ResizeOp
from aiopt.dialects.ai.scan import CumProdOp, CumSumOp
from aiopt.dialects.ai.scatter import ScatterOp
from aiopt.dialects.ai.selection import TopIndicesOp
from aiopt.dialects.ai.trigonometry import (
    AcoshOp,
    AcosOp,
    AsinhOp,
    AsinOp,
    AtanhOp,
    AtanOp,
    CoshOp,
    CosOp,
    SinhOp,
    SinOp,
    TanOp,
)
from aiopt.dialects.ai.unary import (
    AbsOp,
    CastOp,
    CeilOp,
    ErfOp,
    Expm1Op,
    ExpOp,
    FloorOp,
    IdentityOp,
    Log1pOp,
    LogOp,
    NegOp,
    ReluOp,
    RoundOp,
    SigmoidOp,
    SqrtOp,
    TanhOp,
)

__all__ = [
    "AbsOp",
    "AcosOp",
    "AcoshOp",
    "AddOp",
    "AiDialect",
    "AndOp",
    "AsinOp",
    "AsinhOp",
    "AtanOp",
    "AtanhOp",
    "AvgPoolOp",
    "BatchNormOp",
    "BitcastOp",
    "BroadcastToOp",
    "CastOp",
    "CeilOp",
    "ConcatOp",
    "ConstantOp",
    "ConvIntegerOp",
    "ConvOp",
    "ConvTransposeOp",
    "CosOp",
    "CoshOp",
    "CumProdOp",
    "CumSumOp",
    "DequantizeLinearOp",
    "DivOp",
    "EqualOp",
    "ErfOp",
    "ExpOp",
    "Expm1Op",
    "FloorOp",
    "GatherOp",
    "IdentityOp",
    "InsertOp",
    "LayerNormOp",
    "LessEqualOp",
    "LessOp",
    "Log1pOp",
    "LogOp",
    "MatMulIntegerOp",
    "MatMulOp",
    "MaxPoolOp",
    "MaxPoolPlacesOp",
    "MaximumOp",
    "MinimumOp",
    "MulOp",
    "NegOp",
    "NotOp",
    "OrOp",
    "PadOp",
    "PowOp",
    "QLinearMatMulOp",
    "QuantizeLinearOp",
    "ReduceMaxOp",
    "ReduceMeanOp",
    "ReduceMinOp",
    "ReduceProdOp",
    "ReduceSumOp",
    "RelayoutOp",
    "ReluOp",
    "RemainderOp",
    "ReshapeOp",
    "ResizeOp",
    "RoundOp",
    "ScatterOp",
    "SelectOp",
    "ShiftLeftOp",
    "ShiftRightOp",
    "SigmoidOp",
    "SinOp",
    "SinhOp",
    "SliceOp",
    "SoftmaxOp",
    "SqrtOp",
    "SubOp",
    "TanOp",
    "TanhOp",
    "TopIndicesOp",
    "Trait",
    "TransposeOp",
    "XorOp",
]
