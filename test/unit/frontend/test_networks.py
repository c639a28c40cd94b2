"""The two networks, imported and run by the numpy references. Oracle: ONNX Runtime, optimisations off."""

from mlir import ir

from aiopt.dialects.ext import operations
from aiopt.frontend.onnx import import_model
from aiopt.passes.interpret import interpret
from aiopt.support.compare import run_onnxruntime
from e2e.models import RECOGNISER_SHAPE, compare, recogniser, recogniser_input, resnet50_input, resnet50_random
from unit.frontend.single_node import imported


def test_recogniser() -> None:
    module, weights = import_model(recogniser(), ir.Context(), {"x": RECOGNISER_SHAPE})
    inputs = recogniser_input()
    compare(interpret(module, weights, inputs), run_onnxruntime(recogniser(), inputs))
    names = {op.operation.name for op in operations(module)}
    assert "ai.cast" not in names  # casts stand in shape arithmetic alone, which folds


def test_resnet50_with_random_weights() -> None:
    module, weights = imported(resnet50_random())
    inputs = resnet50_input()
    compare(interpret(module, weights, inputs), run_onnxruntime(resnet50_random(), inputs))
