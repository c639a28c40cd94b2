"""Nodes that ONNX does not allow, and outputs that are not as the model declares them. Source: onnx.defs."""

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, helper

from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets, op_types
from aiopt.frontend.onnx.schema import check_node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from unit.frontend.single_node import f32, i64, imported, node_model, run

INTEGERS = np.ones((2, 3), np.int32)


@pytest.mark.parametrize("op_type", ["HardSigmoid", "HardSwish", "Reciprocal", "LeakyRelu", "Dropout", "Sqrt", "Exp"])
def test_operators_on_floats_take_no_integers(op_type: str) -> None:
    with pytest.raises(
        ModelError, match=rf"'the_node' \({op_type}.*input 0 \('x'\) has elements of type i32; the operator"
    ):
        run(node_model(op_type, {"x": INTEGERS}, 14), {"x": INTEGERS})


@pytest.mark.parametrize(
    ("op_type", "opset", "given", "text"),
    [
        ("Relu", 18, {"bogus": 3}, "attribute 'bogus' is none of the operator in this opset \\(it has: none\\)"),
        ("Conv", 18, {"bogus": 3}, "attribute 'bogus' is none of"),
        ("ReduceSum", 18, {"axes": [0]}, "attribute 'axes' is none of .* \\(it has: keepdims, noop_with_empty_axes\\)"),
        ("Mish", 18, {"bogus": 3}, "attribute 'bogus' is none of"),  # a function of ONNX
    ],
)
def test_attributes_are_those_of_the_operator(op_type: str, opset: int, given: dict[str, object], text: str) -> None:
    with pytest.raises(ModelError, match=text):
        imported(node_model(op_type, {"x": f32(2, 3)}, opset, **given))


@pytest.mark.parametrize(
    ("op_type", "inputs", "text"),
    [
        ("Clip", {"x": np.array([True])}, r"input 0 \('x'\) has elements of type i1"),
        (
            "Clip",
            {"x": f32(2), "low": i64(1).reshape(())},
            r"input 1 \('low'\) has elements of type i64, but must .*: f32",
        ),
        (
            "Neg",
            {"x": np.zeros(2, np.uint8)},
            "has elements of type ui8; the operator takes bfloat16, double, float, float16, int16",
        ),
        ("Max", {"x": f32(2), "y": f32(2), "z": i64(1, 2)}, r"input 2 \('z'\) has elements of type i64, but must have"),
        ("MatMul", {"x": f32(2, 2), "y": f32(2, 2), "z": f32(2, 2)}, "has 3 inputs, but the operator has at most 2"),
        ("MatMul", {"x": f32(2, 2)}, "input 1 is missing"),
        ("Concat", {}, "input 0 is missing"),
    ],
)
def test_inputs_are_those_of_the_operator(op_type: str, inputs: dict[str, np.ndarray], text: str) -> None:
    with pytest.raises(ModelError, match=text):
        run(node_model(op_type, inputs, 13, axis=0) if op_type == "Concat" else node_model(op_type, inputs, 13), inputs)


def test_outputs_are_those_of_the_operator() -> None:
    with pytest.raises(ModelError, match="it has 2 outputs, but the operator has at most 1"):
        imported(node_model("Relu", {"x": f32(2)}, 13, outputs=2))


def test_types_may_differ_where_the_operator_says_so() -> None:
    inputs = {"x": f32(3), "y": i64(1, 2, 3)}
    run(node_model("Pow", inputs, 13), inputs)


def test_absent_inputs_at_the_end_do_not_count() -> None:
    node = helper.make_node("MatMul", ["x", "y", ""], ["z"])
    check_node(node, 13, [Value.known(f32(2, 2)), Value.known(f32(2, 2)), None])


def test_every_operator_has_a_schema() -> None:
    # SimplifiedLayerNormalization is ONNX Runtime's, which writes it into ONNX's own domain.
    for op_type in set(op_types()) - {"SimplifiedLayerNormalization"}:
        for opset in covered_opsets(op_type):
            assert OLDEST_OPSET <= opset <= NEWEST_OPSET
            assert defs.get_schema(op_type, opset, "").name == op_type


def declared(
    dims: Sequence[int | str | None] | None, inputs: Sequence[int | str] = (2, 3), code: int = TensorProto.FLOAT
) -> onnx.ModelProto:
    """Relu of x, whose output is declared with these dimensions."""
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, inputs)]
    outputs = [helper.make_tensor_value_info("y", code, dims)]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", values, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


@pytest.mark.parametrize("dims", [[2, 4], [2], [2, 3, 1], [], [None, 1]])
def test_an_output_declared_with_another_shape(dims: Sequence[int | None]) -> None:
    with pytest.raises(ModelError, match=r"output 'y' is declared with shape \[.*\], but has \[2, 3\]"):
        imported(declared(dims))


@pytest.mark.parametrize("dims", [[2, 3], None, [None, 3], ["n", "?"], [0, 3], [-1, 3]])
def test_an_output_declared_with_its_shape_or_an_open_one(dims: Sequence[int | str | None] | None) -> None:
    imported(declared(dims))


def test_sizes_of_an_output_are_those_of_the_example_where_inputs_are_open() -> None:
    imported(declared([2, 3], ["n", 3]), {"x": (5, 3)})
    with pytest.raises(ModelError, match=r"declared with shape \[2\], but has \[5, 3\]"):
        imported(declared([2], ["n", 3]), {"x": (5, 3)})
