"""Inputs: symbolic sizes, given shapes, types."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from aiopt.support.errors import InputError, ModelError, UnsupportedError
from unit.frontend.single_node import imported

Dims = list[int | str | None] | None


def model(inputs: dict[str, Dims], element: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Each input goes through an Identity of its own."""
    graph = helper.make_graph(
        [helper.make_node("Identity", [name], [f"{name}_out"]) for name in inputs],
        "inputs",
        [helper.make_tensor_value_info(name, element, dims) for name, dims in inputs.items()],
        [onnx.ValueInfoProto(name=f"{name}_out") for name in inputs],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def shapes_of(inputs: dict[str, Dims], **given: Any) -> list[str]:
    module, _ = imported(model(inputs), given)
    (main,) = module.body.operations
    return [str(argument.type) for argument in main.regions[0].blocks[0].arguments]


def test_fixed_shapes_need_nothing() -> None:
    assert shapes_of({"x": [2, 3], "s": []}) == ["tensor<2x3xf32>", "tensor<f32>"]


def test_given_shapes_fill_symbolic_and_unknown_sizes() -> None:
    assert shapes_of({"x": ["batch", 3, None, "?", 0, ""]}, x=(2, 3, 4, 5, 6, 7)) == ["tensor<2x3x4x5x6x7xf32>"]
    assert shapes_of({"x": None}, x=[2]) == ["tensor<2xf32>"]
    assert shapes_of({"x": [2, 3]}, x=(2, 3)) == ["tensor<2x3xf32>"]


def test_a_name_given_once_holds_for_all_inputs() -> None:
    assert shapes_of({"x": ["n", 3], "y": ["n", "n"]}, x=(4, 3)) == ["tensor<4x3xf32>", "tensor<4x4xf32>"]


def test_anonymous_sizes_need_not_agree() -> None:
    assert shapes_of({"x": ["?", "?"], "y": [None]}, x=(4, 3), y=(5,)) == ["tensor<4x3xf32>", "tensor<5xf32>"]
    assert shapes_of({"x": [-1, 3, "?", "?"], "y": [-1, 0, ""]}, x=(2, 3, 4, 5), y=(6, 7, 8)) == [
        "tensor<2x3x4x5xf32>",
        "tensor<6x7x8xf32>",
    ]


@pytest.mark.parametrize(
    ("inputs", "given", "text"),
    [
        (
            {"x": ["n", 3, None, "w"]},
            {},
            r"the size of input x: f32\[n, 3, \?, w\] is not fixed: give its shape, for example "
            r'shapes=\{"x": \(1, 3, 1, 1\)\} or --shape x=1x3x1x1',
        ),
        ({"x": None}, {}, r"input x: f32\[unknown rank\] is not fixed"),
        ({"x": [2]}, {"y": (2,)}, r"'y', which is no input of the model \(its inputs are x: f32\[2\]\)"),
        ({"x": ["n", 3]}, {"x": (2,)}, r"shape \(2,\) given for input 'x' has 1 dimensions, but the model has 2"),
        ({"x": ["n", 3]}, {"x": (2, 4)}, "has 4 as dimension 1, but the model fixes it to 3"),
        ({"x": ["n"]}, {"x": (-1,)}, "must be a tuple of whole numbers, not"),
        ({"x": ["n"]}, {"x": (True,)}, "must be a tuple of whole numbers"),
        ({"x": ["n"]}, {"x": (2.0,)}, "must be a tuple of whole numbers"),
        ({"x": ["n"]}, {"x": 5}, "must be a tuple of whole numbers, not 5"),
        (
            {"x": ["n"], "y": ["n"]},
            {"x": (2,), "y": (3,)},
            r"'n' must have one size.* 2 \(input 'x'\) and 3 \(input 'y'\)",
        ),
        ({"x": ["n", "n"]}, {"x": (2, 3)}, "'n' must have one size"),
    ],
)
def test_errors_say_what_the_model_has(inputs: dict[str, Dims], given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        shapes_of(inputs, **given)


def test_a_given_dimension_may_be_0() -> None:
    assert shapes_of({"x": ["n", 3]}, x=(0, 3)) == ["tensor<0x3xf32>"]


def test_a_given_tuple_of_numpy_integers_is_fine() -> None:
    assert shapes_of({"x": ["n", 3]}, x=np.array([2, 3])) == ["tensor<2x3xf32>"]


def test_only_tensors_of_known_types() -> None:
    with pytest.raises(UnsupportedError, match="input 'x' has elements of type STRING"):
        imported(model({"x": [2]}, TensorProto.STRING))
    with pytest.raises(UnsupportedError, match="input 'x' has elements of type FLOAT8E5M2"):
        imported(model({"x": [2]}, TensorProto.FLOAT8E5M2))
    with pytest.raises(ModelError, match="input 'x' has element type 0"):
        imported(model({"x": [2]}, TensorProto.UNDEFINED))
    sequence = model({"x": [2]})
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(1, [2]))
    sequence.graph.input[0].type.CopyFrom(kind)
    with pytest.raises(UnsupportedError, match="input 'x' is of sequence_type; only tensors can be inputs"):
        imported(sequence)


def test_a_name_twice_is_refused() -> None:
    twice = model({"x": [2]})
    twice.graph.input.append(twice.graph.input[0])
    with pytest.raises(ModelError, match="two inputs are called 'x'"):
        imported(twice)
