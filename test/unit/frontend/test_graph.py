"""Whole graphs: names, constants, locations, and graphs that are broken or unsupported."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aiopt.dialects.ext import describe, operations
from aiopt.passes.interpret import interpret
from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import f32, i64, imported

X = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])


def graph(
    *nodes: onnx.NodeProto,
    outputs: tuple[str, ...] = ("y",),
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 13,
) -> onnx.ModelProto:
    initializers = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    made = helper.make_graph(list(nodes), "g", [X], [onnx.ValueInfoProto(name=name) for name in outputs], initializers)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)])


node = helper.make_node


def lines(model: onnx.ModelProto) -> list[tuple[str, str]]:
    """(op name, location) of each op in @main."""
    module, _ = imported(model)
    found = [op for op in operations(module) if op.operation.name != "func.func"]
    return [(op.operation.name, describe(op.location)) for op in found]


def test_node_names_are_locations() -> None:
    model = graph(node("Relu", ["x"], ["a"], name="Relu_0"), node("Abs", ["a"], ["b"]), node("Neg", ["b"], ["y"]))
    assert lines(model)[:3] == [("ai.relu", "'Relu_0'"), ("ai.abs", "'Abs:b'"), ("ai.neg", "'Neg:y'")]


def test_all_ops_of_one_node_carry_its_name() -> None:
    model = graph(node("LeakyRelu", ["x"], ["y"], name="leaky"))
    assert {place for name, place in lines(model) if name != "func.return"} == {"'leaky'"}


def test_module_says_what_it_is() -> None:
    module, _ = imported(graph(node("Relu", ["x"], ["y"])))
    attributes = module.operation.attributes
    assert (attributes["ai.level"].value, attributes["ai.net"].value) == ("graph", "g")
    text = str(module)
    assert 'tensor<2x3xf32> {ai.name = "x"}' in text
    assert '-> (tensor<2x3xf32> {ai.name = "y"})' in text


def test_constants_are_small_and_equal_or_in_the_store() -> None:
    constants = {
        "equal": np.full((4, 1, 1), 0.5, np.float32),
        "large": np.full((4, 2, 3), 0.5, np.float32),
        "mixed": f32(3),
        "zeros": np.array([0.0, -0.0, 0.0], np.float32),
    }
    names = ["x", *constants]
    module, weights = imported(graph(node("Sum", names, ["y"]), constants=constants | {"unused": f32(9)}))
    assert set(weights) == {"large", "mixed", "zeros"}
    assert "arith.constant dense<5.000000e-01> : tensor<4x1x1xf32>" in str(module)


@pytest.mark.parametrize("value", [np.nan, -0.0, np.inf])
def test_constants_keep_their_bits(value: float) -> None:
    for dtype in (np.float16, np.float32, np.float64):
        constant = np.full(2, value, dtype)
        module, weights = imported(graph(node("Identity", ["c"], ["y"]), constants={"c": constant}))
        (have,) = interpret(module, weights, {"x": f32(2, 3)}).values()
        assert have.tobytes() == constant.tobytes()


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_integer_constants(dtype: type) -> None:
    top = True if dtype is np.bool_ else np.iinfo(dtype).max
    for constant in (np.full(2, top, dtype), np.array([0, top, 1], dtype)):
        module, weights = imported(graph(node("Identity", ["c"], ["y"]), constants={"c": constant}))
        (have,) = interpret(module, weights, {"x": f32(2, 3)}).values()
        np.testing.assert_array_equal(have, constant)
        assert have.dtype == constant.dtype


def test_an_input_that_is_an_initializer_is_a_constant() -> None:
    model = graph(node("Add", ["x", "w"], ["y"]), constants={"w": f32(3)})
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]))
    module, weights = imported(model)
    assert len(module.body.operations[0].regions[0].blocks[0].arguments) == 1
    assert list(weights) == ["w"]


def test_shape_arithmetic_folds_away() -> None:
    model = graph(
        node("Shape", ["x"], ["shape"]),
        node("Slice", ["shape", "zero", "one"], ["batch"]),
        node("Gather", ["shape", "last"], ["width"]),
        node("Unsqueeze", ["width", "zero"], ["width1"]),
        node("Cast", ["width1"], ["wide"], to=TensorProto.FLOAT),
        node("Mul", ["wide", "half"], ["part"]),
        node("Cast", ["part"], ["part1"], to=TensorProto.INT64),
        node("Concat", ["batch", "part1", "rest"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
        constants={
            "zero": i64(0),
            "one": i64(1),
            "last": np.array(-1),
            "half": np.array(0.5, np.float32),
            "rest": i64(-1),
        },
    )
    assert [name for name, _ in lines(model)] == ["ai.reshape", "func.return"]


def test_outputs_may_be_inputs_constants_and_one_value_twice() -> None:
    model = graph(
        node("Relu", ["x"], ["y"]),
        node("Identity", ["y"], ["z"]),
        outputs=("y", "z", "c", "x"),
        constants={"c": f32(3)},
    )
    module, weights = imported(model)
    x = f32(2, 3)
    have = interpret(module, weights, {"x": x})
    assert list(have) == ["y", "z", "c", "x"]
    np.testing.assert_array_equal(have["z"], have["y"])
    np.testing.assert_array_equal(have["x"], x)


def _broken(*nodes: onnx.NodeProto, outputs: tuple[str, ...] = ("y",)) -> str:
    with pytest.raises(ModelError) as caught:
        imported(graph(*nodes, outputs=outputs))
    return str(caught.value)


def test_names_that_are_not_defined() -> None:
    text = _broken(node("Relu", ["nowhere"], ["y"], name="r"))
    assert text == "node 'r' (Relu, opset 13): 'nowhere' is neither an input, an initializer nor the output of a node"
    assert _broken(node("Relu", ["x"], ["a"])).startswith("output 'y' of the model: 'y' is neither")


def test_cycles_and_disorder() -> None:
    text = _broken(node("Relu", ["b"], ["a"], name="first"), node("Relu", ["a"], ["b"]), node("Abs", ["b"], ["y"]))
    assert "node 'first' (Relu, opset 13): 'b' is used before the node that makes it: the graph has a cycle" in text
    assert "is used before" in _broken(node("Abs", ["a"], ["y"]), node("Relu", ["x"], ["a"]))
    assert "is used before" in _broken(node("Abs", ["y"], ["y"]))


def test_names_defined_twice() -> None:
    assert "the name 'y' is defined twice" in _broken(node("Abs", ["x"], ["y"]), node("Neg", ["x"], ["y"]))
    assert "the name 'x' is defined twice" in _broken(node("Abs", ["x"], ["x"]), node("Neg", ["x"], ["y"]))
    assert "two outputs of the model have one name" in _broken(node("Abs", ["x"], ["y"]), outputs=("y", "y"))


def test_declared_output_type_must_hold() -> None:
    model = graph(node("Abs", ["x"], ["y"]))
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.INT64, None))
    with pytest.raises(ModelError, match="output 'y' is declared with elements of type i64, but has f32"):
        imported(model)


def test_broken_initializers_name_the_tensor() -> None:
    model = graph(node("Add", ["x", "w"], ["y"]), constants={"w": f32(3)})
    for dims in ([4], [-3], [1 << 62]):
        model.graph.initializer[0].dims[:] = dims
        with pytest.raises(ModelError, match="the values of initializer 'w' do not fit its type and shape"):
            imported(model)
    model.graph.initializer[0].CopyFrom(helper.make_tensor("w", TensorProto.STRING, [1], ["a"]))
    with pytest.raises(UnsupportedError, match="initializer 'w' has elements of type STRING"):
        imported(model)
    model.graph.initializer.append(model.graph.initializer[0])
    with pytest.raises(ModelError, match="two initializers are called 'w'"):
        imported(model)


def test_all_missing_operators_are_listed_in_one_line() -> None:
    model = graph(
        node("NonZero", ["x"], ["a"], name="nonzero_1"),
        node("NonZero", ["a"], ["b"], name="nonzero_2"),
        node("Gelu", ["b"], ["c"], name="g", domain="com.microsoft"),
        node("HardSwish", ["c"], ["y"], name="late"),
    )
    with pytest.raises(UnsupportedError) as caught:
        imported(model)
    assert str(caught.value) == (
        "the model uses operators aiopt does not have: NonZero (opset 13) at node 'nonzero_1' and 1 more; "
        "Gelu (domain 'com.microsoft', opset not given) at node 'g'; "
        "HardSwish (opset 13; it came with opset 14) at node 'late'"
    )


def test_an_attribute_given_twice() -> None:
    twice = node("LeakyRelu", ["x"], ["y"], alpha=0.5)
    twice.attribute.append(twice.attribute[0])
    assert "attribute 'alpha' is given twice" in _broken(twice)


def test_sparse_initializers_are_refused() -> None:
    model = graph(node("Relu", ["x"], ["y"]))
    model.graph.sparse_initializer.add().values.name = "s"
    with pytest.raises(UnsupportedError, match="initializer 's' is sparse"):
        imported(model)
