"""Handlers: discovery, clashes, and that none claims an opset whose operator it was not read against."""

import onnx.defs
import pytest

from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets, find, onnx_op, op_types

NEEDED = """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh Attention AveragePool BatchNormalization
    BitCast BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor BlackmanWindow Cast CastLike Ceil Celu
    CenterCropPad Clip Col2Im Compress Concat Constant ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh
    CumProd CumSum DFT DeformConv DepthToSpace DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal
    Erf Exp Expand EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool
    GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization HammingWindow HannWindow
    HardSigmoid HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization
    LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool
    MaxUnpool Mean MeanVarianceNormalization MelWeightMatrix Min Mish Mod Mul Neg Not OneHot Or PRelu Pad Pow
    QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2
    ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu
    Reshape Resize ReverseSequence RoiAlign RotaryEmbedding Round STFT Scatter ScatterElements ScatterND Selu Shape
    Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum
    SwiGLU Swish Tan Tanh TensorScatter ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample Where Xor
"""


UNWRITTEN = ["SimplifiedLayerNormalization"]  # ONNX Runtime writes it into ONNX's own domain


def test_all_needed_operators_are_there() -> None:
    assert op_types() == sorted([*NEEDED.split(), *UNWRITTEN])


@pytest.mark.parametrize("op_type", NEEDED.split())
def test_an_operator_is_covered_from_its_first_opset_on(op_type: str) -> None:
    """... to the newest, or to the last before it was taken out."""
    history = [s for s in onnx.defs.get_all_schemas_with_history() if s.name == op_type and not s.domain]
    first = max(min(s.since_version for s in history), OLDEST_OPSET)
    newest = max(history, key=lambda schema: schema.since_version)
    last = newest.since_version - 1 if newest.deprecated else NEWEST_OPSET
    assert covered_opsets(op_type) == list(range(first, last + 1))


def test_unknown_operator_or_opset() -> None:
    assert find("NonZero", 13) is None
    assert find("Relu", NEWEST_OPSET + 1) is None
    assert covered_opsets("NonZero") == []


def test_two_handlers_for_one_opset_are_an_error() -> None:
    assert find("Softmax", 13) is not None
    with pytest.raises(TypeError, match="two handlers cover Softmax"):
        onnx_op("Softmax", since=12, until=12)(lambda node: node.input(0))
