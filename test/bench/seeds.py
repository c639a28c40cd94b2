"""Small valid models of many kinds, from which the fuzzer starts."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

_NODE_CASES = 400  # of the onnx package's; of their kinds the smallest ones
_LARGEST = 2000  # bytes


def seeds() -> list[bytes]:
    """Models as bytes: our own, which have what single nodes lack, and node cases of the onnx package."""
    own = [_convolution(), _branches(), _loop(), _scan(), _function(), _staged(), _quantised(), _nested(6)]
    return [model.SerializeToString() for model in own] + _node_cases()


def _node_cases() -> list[bytes]:
    """The smallest case of each operator first, then the next ones."""
    found: list[tuple[int, str, bytes]] = []
    counts: dict[str, int] = {}
    with warnings.catch_warnings(action="ignore"):  # onnx overflows on purpose while it makes its cases
        cases = collect_testcases("")
    for case in cases:
        operator, data = case.model.graph.node[0].op_type, case.model.SerializeToString()
        if len(data) <= _LARGEST:
            counts[operator] = counts.get(operator, 0) + 1
            found.append((counts[operator], case.name, data))
    return [data for _, _, data in sorted(found)[:_NODE_CASES]]


def _value(name: str, shape: Sequence[int | str] | None, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _constant(name: str, *shape: int) -> onnx.TensorProto:
    values = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    return numpy_helper.from_array(values, name)


def _ints(name: str, *values: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def _model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    constants: Sequence[onnx.TensorProto] = (),
    functions: Sequence[onnx.FunctionProto] = (),
) -> onnx.ModelProto:
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("local", 1)]
    graph = helper.make_graph(list(nodes), "g", list(inputs), list(outputs), list(constants))
    return helper.make_model(graph, functions=list(functions), opset_imports=opsets, ir_version=9)


def _convolution() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], "pool"),
        helper.make_node("Reshape", ["p", "shape"], ["f"], "flat"),
        helper.make_node("Gemm", ["f", "m"], ["g"], "gemm", transB=1),
        helper.make_node("Softmax", ["g"], ["y"], "softmax", axis=-1),
    ]
    constants = [_constant("w", 4, 3, 3, 3), _constant("b", 4), _ints("shape", 1, -1), _constant("m", 5, 4)]
    return _model(nodes, [_value("x", [1, 3, 8, 8])], [_value("y", [1, 5])], constants)


def _branches() -> onnx.ModelProto:
    def branch(operator: str) -> onnx.GraphProto:
        node = helper.make_node(operator, ["x", "k"], ["z"], operator.lower())
        return helper.make_graph([node], operator, [], [_value("z", [2, 3])])

    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], "sum", keepdims=0),
        helper.make_node("Greater", ["s", "k"], ["more"], "more"),
        helper.make_node("If", ["more"], ["y"], "if", then_branch=branch("Add"), else_branch=branch("Mul")),
    ]
    return _model(nodes, [_value("x", [2, 3])], [_value("y", [2, 3])], [numpy_helper.from_array(np.float32(1), "k")])


def _loop() -> onnx.ModelProto:
    body = helper.make_graph(
        [
            helper.make_node("Add", ["v", "x"], ["w"], "step"),
            helper.make_node("Identity", ["go"], ["on"], "on"),
            helper.make_node("Identity", ["w"], ["seen"], "seen"),
        ],
        "body",
        [_value("i", [], TensorProto.INT64), _value("go", [], TensorProto.BOOL), _value("v", [2])],
        [_value("on", [], TensorProto.BOOL), _value("w", [2]), _value("seen", [2])],
    )
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["y", "all"], "loop", body=body)]
    return _model(nodes, [_value("x", [2])], [_value("y", [2]), _value("all", [3, 2])], [_ints("n", 3)])


def _scan() -> onnx.ModelProto:
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "e"], ["t"], "add"), helper.make_node("Identity", ["t"], ["o"], "out")],
        "body",
        [_value("s", [2]), _value("e", [2])],
        [_value("t", [2]), _value("o", [2])],
    )
    nodes = [helper.make_node("Scan", ["x", "xs"], ["y", "ys"], "scan", body=body, num_scan_inputs=1)]
    return _model(nodes, [_value("x", [2]), _value("xs", [3, 2])], [_value("y", [2]), _value("ys", [3, 2])])


def _function() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Mul", ["a", "a"], ["q"], "square"),
        helper.make_node("LeakyRelu", ["q"], ["r"], "leaky"),
    ]
    nodes[1].attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    function = helper.make_function("local", "Square", ["a"], ["r"], nodes, [helper.make_opsetid("", 18)], ["slope"])
    calls = [
        helper.make_node("Square", ["x"], ["h"], "first", domain="local", slope=0.5),
        helper.make_node("Square", ["h"], ["y"], "second", domain="local", slope=0.25),
    ]
    return _model(calls, [_value("x", [2, 3])], [_value("y", [2, 3])], functions=[function])


def _staged() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], "relu"),
        helper.make_node("NonZero", ["r"], ["n"], "nonzero"),
        helper.make_node("Cast", ["n"], ["f"], "cast", to=TensorProto.FLOAT),
        helper.make_node("ReduceSum", ["f"], ["y"], "sum"),
    ]
    return _model(nodes, [_value("x", [2, 3])], [_value("y", None)])


def _quantised() -> onnx.ModelProto:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"], "quantize"),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["i"], "product"),
        helper.make_node("Cast", ["i"], ["y"], "cast", to=TensorProto.FLOAT),
    ]
    constants = [
        numpy_helper.from_array(np.float32(0.1), "s"),
        numpy_helper.from_array(np.uint8(3), "z"),
        numpy_helper.from_array(np.arange(12, dtype=np.uint8).reshape(3, 4), "w"),
    ]
    return _model(nodes, [_value("x", [2, 3])], [_value("y", [2, 4])], constants)


def _nested(depth: int) -> onnx.ModelProto:
    """Branches in branches."""
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["z"], "relu")], "leaf", [], [_value("z", [2])])
    for level in range(depth):
        node = helper.make_node("If", ["true"], ["z"], f"if_{level}", then_branch=graph, else_branch=graph)
        graph = helper.make_graph([node], f"level_{level}", [], [_value("z", [2])])
    return _model(graph.node, [_value("x", [2])], [_value("z", [2])], [numpy_helper.from_array(np.array(True), "true")])
