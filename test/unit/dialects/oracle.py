"""Independent implementations the numpy references are held against: one ONNX node, run by other people's code."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

from aiopt.dialects.ext import Operation
from aiopt.support.types import TensorType

OPSET = 18


def run_ai(op: type[Operation], *operands: Any, **attributes: Any) -> np.ndarray:
    """The numpy reference of an op with one result; holds its type against what `infer` says on the way."""
    types = [
        [TensorType.of(a) for a in o] if isinstance(o, list) else o if o is None else TensorType.of(o) for o in operands
    ]
    attributes = {**op.defaults(*types, **attributes), **attributes}
    (expected,) = op.infer_types(*types, **attributes)
    result = np.asarray(op.reference(*operands, **attributes))
    assert TensorType.of(result) == expected
    assert isinstance(op.flops(*types, **attributes), int)
    return result


def onnxruntime_node(
    op_type: str, operands: Sequence[np.ndarray | None], opset: int = OPSET, **attributes: Any
) -> np.ndarray:
    """Run one node with ONNX Runtime, optimisations off; an operand that is None is absent."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    model = _model(op_type, operands, opset, attributes)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, _feed(operands))[0])


def onnx_reference_node(
    op_type: str, operands: Sequence[np.ndarray | None], opset: int = OPSET, **attributes: Any
) -> np.ndarray:
    """Run one node with onnx.reference (for the types ONNX Runtime has no kernel for)."""
    result: Any = ReferenceEvaluator(_model(op_type, operands, opset, attributes)).run(None, _feed(operands))
    return np.asarray(result[0])


def _feed(operands: Sequence[np.ndarray | None]) -> dict[str, np.ndarray]:
    return {f"x{i}": array for i, array in enumerate(operands) if array is not None}


def _model(
    op_type: str, operands: Sequence[np.ndarray | None], opset: int, attributes: dict[str, Any]
) -> onnx.ModelProto:
    names = ["" if array is None else f"x{i}" for i, array in enumerate(operands)]
    node = helper.make_node(op_type, names, ["y"], **attributes)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in _feed(operands).items()
    ]
    output = helper.make_empty_tensor_value_info("y")
    graph = helper.make_graph([node], "one_node", inputs, [output])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
