"""What is read off an ONNX file without the onnx package. Oracle: the onnx package."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aiopt.frontend.onnx.signature import _declare
from aiopt.support.onnx_file import external_files, input_dims


def _model(inputs: list[onnx.ValueInfoProto], initializers: list[onnx.TensorProto], *nodes: onnx.NodeProto) -> bytes:
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([*nodes, helper.make_node("Identity", ["x"], ["y"])], "g", inputs, [output], initializers)
    return helper.make_model(graph).SerializeToString()


def _external(name: str, location: str) -> onnx.TensorProto:
    tensor = numpy_helper.from_array(np.ones(3, np.float32), name)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "12")):
        tensor.external_data.add(key=key, value=value)
    return tensor


def _input(name: str, dims: list[object] | None) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


def test_dimensions() -> None:
    weight = numpy_helper.from_array(np.ones(3, np.float32), "w")
    inputs = [_input("x", [1, "n", "?", "", None, -1, 0]), _input("s", []), _input("r", None), _input("w", [3])]
    found = input_dims(_model(inputs, [weight]))
    assert found == {"x": (1, "n", None, None, None, None, None), "s": (), "r": None}


def test_dimensions_are_those_of_the_frontend() -> None:
    """Two readers of the same file: the other one needs the onnx package."""
    data = _model([_input("x", [1, "n", "?", "", None, -1, 0]), _input("s", []), _input("r", None)], [])
    declared = [_declare(value) for value in onnx.load_model_from_string(data).graph.input]
    assert input_dims(data) == {one.name: one.dims for one in declared}


def test_external_files() -> None:
    constant = helper.make_node("Constant", [], ["c"], value=_external("c", "folder/c.bin"))
    branch = helper.make_graph([], "b", [], [_input("i", [3])], [_external("i", "inner.bin")])
    condition = helper.make_node("If", ["k"], ["z"], then_branch=branch, else_branch=branch)
    weights = [_external("a", "w.bin"), _external("b", "w.bin")]
    assert external_files(_model([_input("x", [3])], weights, constant, condition)) == {
        "w.bin",
        "folder/c.bin",
        "inner.bin",
    }
    assert external_files(_model([_input("x", [3])], [])) == set()


@pytest.mark.parametrize("data", [b"module {}", b"\x3a\x7f", b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", b"\x0b"])
def test_what_is_no_message(data: bytes) -> None:
    with pytest.raises(ValueError, match="field|number"):
        input_dims(data)


def test_every_cut_is_a_value_error_or_fine() -> None:
    data = _model([_input("x", [1, "n"])], [_external("a", "w.bin")])
    for size in range(len(data)):
        try:
            external_files(data[:size])
            input_dims(data[:size])
        except ValueError:
            continue
