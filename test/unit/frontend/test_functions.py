"""Functions: of the model, and bodies that ONNX gives operators. Oracles: ONNX Runtime, or as a test says."""

from typing import Any

import numpy as np
import onnx
import pytest
from ml_dtypes import bfloat16
from onnx import AttributeProto, TensorProto, helper

from aiopt.dialects.ext import describe, operations
from aiopt.passes.interpret import interpret
from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import equal, f32, i64, imported, node_model, onnxruntime_run, run

OPSETS = [helper.make_opsetid("", 18), helper.make_opsetid("my", 1)]
X = f32(2, 3)
node = helper.make_node


def function(name: str, inputs: list[str], outputs: list[str], nodes: list[onnx.NodeProto], **given: Any) -> Any:
    return helper.make_function("my", name, inputs, outputs, nodes, OPSETS, **given)


def model(call: onnx.NodeProto, *functions: onnx.FunctionProto) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, X.shape)]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in call.output if name]
    graph = helper.make_graph([call], "g", inputs, outputs)
    return helper.make_model(graph, functions=list(functions), opset_imports=OPSETS, ir_version=10)


def referring(op_type: str, inputs: list[str], outputs: list[str], **references: str) -> onnx.NodeProto:
    """A node whose attributes are those of the function it stands in."""
    made = node(op_type, inputs, outputs)
    for name, reference in references.items():
        made.attribute.append(AttributeProto(name=name, ref_attr_name=reference, type=AttributeProto.FLOAT))
    return made


LEAKY = function("Leaky", ["a"], ["b"], [referring("LeakyRelu", ["a"], ["b"], alpha="slope")], attributes=["slope"])
DEFAULT = function(
    "Default",
    ["a"],
    ["b"],
    [referring("LeakyRelu", ["a"], ["b"], alpha="slope")],
    attribute_protos=[helper.make_attribute("slope", 0.25)],
)
TWICE = function(
    "Twice",
    ["x"],
    ["y", "z"],
    [
        node("Leaky", ["x"], ["t"], domain="my", slope=0.5),  # t and x are other tensors than outside
        node("Leaky", ["t"], ["y"], domain="my", slope=2.0),
        node("Neg", ["t"], ["z"]),
    ],
)
CLIPPED = function("Clipped", ["a", "low"], ["b"], [node("Clip", ["a", "low"], ["b"])])


@pytest.mark.parametrize(
    ("call", "functions"),
    [
        (node("Leaky", ["x"], ["y"], domain="my", slope=0.1), [LEAKY]),
        (node("Default", ["x"], ["y"], domain="my"), [DEFAULT]),
        (node("Leaky", ["x"], ["y"], domain="my"), [LEAKY]),
        (node("Default", ["x"], ["y"], domain="my", slope=3.0), [DEFAULT]),
        (node("Twice", ["x"], ["y", "t"], domain="my"), [TWICE, LEAKY]),
    ],
    ids=["attribute", "default", "left out", "given", "nested"],
)
def test_functions_of_the_model(call: onnx.NodeProto, functions: list[onnx.FunctionProto]) -> None:
    made = model(call, *functions)
    module, weights = imported(made)
    equal(interpret(module, weights, {"x": X}), onnxruntime_run(made, {"x": X}))


def test_an_absent_input_is_absent_inside() -> None:
    module, weights = imported(model(node("Clipped", ["x"], ["y"], domain="my"), CLIPPED))
    equal(interpret(module, weights, {"x": X}), {"y": X})


def test_an_output_that_a_call_leaves_out() -> None:
    module, weights = imported(model(node("Twice", ["x"], ["", "z"], domain="my"), TWICE, LEAKY))
    equal(interpret(module, weights, {"x": X}), {"z": -np.where(X < 0, X / 2, X)})


def test_a_function_of_the_model_goes_before_an_operator() -> None:
    relu = helper.make_function("", "Relu", ["a"], ["b"], [node("Neg", ["a"], ["b"])], OPSETS)
    module, weights = imported(model(node("Relu", ["x"], ["y"]), relu))
    equal(interpret(module, weights, {"x": X}), {"y": -X})


def test_ops_of_a_function_carry_the_name_of_the_call() -> None:
    module, _ = imported(model(node("Twice", ["x"], ["y"], domain="my", name="call"), TWICE, LEAKY))
    places = {describe(op.location) for op in operations(module) if op.operation.name.startswith("ai.")}
    assert places == {"'call'"}


@pytest.mark.parametrize(
    ("call", "functions", "kind", "text"),
    [
        (node("Leaky", ["x", "x"], ["y"], domain="my"), [LEAKY], ModelError, "has 2 inputs, but the function has 1"),
        (node("Leaky", ["x"], ["y", "z"], domain="my"), [LEAKY], ModelError, "has 2 outputs, but the function has 1"),
        (node("Leaky", ["x"], ["y"], domain="my"), [LEAKY, LEAKY], ModelError, "two functions .* are called 'Leaky'"),
        (
            node("Round2", ["x"], ["y"], domain="my"),
            [function("Round2", ["a"], ["b"], [node("Round2", ["a"], ["b"], domain="my")])],
            ModelError,
            "the function Round2 .* calls itself",
        ),
        (
            node("Deep", ["x"], ["y"], domain="my", name="call"),
            [function("Deep", ["a"], ["b"], [node("NonZero", ["a"], ["b"])])],
            UnsupportedError,
            r"NonZero \(opset 18\) at node 'call'",
        ),
        (
            node("Bad", ["x"], ["y"], domain="my", name="call"),
            [function("Bad", ["a"], ["b"], [node("And", ["a", "a"], ["b"], name="inner")])],
            ModelError,
            r"node 'call' \(my.Bad, opset 1\): node 'inner' \(And, opset 18; x: 2x3xf32\): input 0 \('x'\)",
        ),
    ],
)
def test_calls_that_are_wrong(call: Any, functions: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        imported(model(call, *functions))


def test_types_inside_a_body_of_onnx_are_its_own_business() -> None:
    """SoftmaxCrossEntropyLoss-13 takes bf16, the operators it is made of do not. Oracle: itself in f32."""
    x, labels = f32(3, 5).astype(bfloat16), i64(1, 0, 4)
    narrow, wide = ({"x": given, "labels": labels} for given in (x, x.astype(np.float32)))
    have, want = (run(node_model("SoftmaxCrossEntropyLoss", given, 13, outputs=2), given) for given in (narrow, wide))
    for name, array in want.items():
        assert have[name].dtype == bfloat16
        np.testing.assert_allclose(have[name].astype(np.float32), array, rtol=0.02)
    with pytest.raises(ModelError, match="has elements of type bf16; the operator takes"):
        imported(node_model("NegativeLogLikelihoodLoss", narrow, 13))
