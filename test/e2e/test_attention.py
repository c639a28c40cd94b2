"""Attention from ONNX to numbers: exporters' chains and ONNX Runtime's operators. Oracle: ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

import aiopt

_RNG = np.random.default_rng(17)
_TOLERANCE = 1e-5  # of the largest output
_MOVES = {"ai.transpose", "ai.slice", "ai.pad", "ai.identity", "ai.relayout", "ai.softmax"}


class _Graph:
    """A model under construction: nodes, constants, inputs."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.inputs: dict[str, np.ndarray] = {}

    def input(self, name: str, array: np.ndarray) -> str:
        self.inputs[name] = array
        return name

    def constant(self, value: object, dtype: type = np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.array(value, dtype), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op: str, *operands: str, results: int = 1, domain: str = "", **attributes: object) -> str:
        names = [f"v{len(self.nodes)}_{i}" for i in range(results)]
        self.nodes.append(helper.make_node(op, list(operands), names, domain=domain, **attributes))
        return names[0]

    def linear(self, x: str, depth: int, width: int) -> str:
        weight = self.constant(_RNG.standard_normal((depth, width)) * depth**-0.5)
        return self.node("Add", self.node("MatMul", x, weight), self.constant(_RNG.standard_normal(width)))

    def heads(self, x: str, count: int, size: int, order: list[int]) -> str:
        return self.node("Transpose", self.node("Reshape", x, self.constant([0, 0, count, size], np.int64)), perm=order)

    def merged(self, x: str, width: int) -> str:
        turned = self.node("Transpose", x, perm=[0, 2, 1, 3])
        return self.node("Reshape", turned, self.constant([0, 0, width], np.int64))

    def model(self, output: str) -> onnx.ModelProto:
        kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.bool_): TensorProto.BOOL}
        inputs = [helper.make_tensor_value_info(n, kinds[a.dtype], a.shape) for n, a in self.inputs.items()]
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "attention", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _encoder(tokens: int, heads: int, size: int) -> tuple[_Graph, str]:
    """BERT's: three projections, scores over sqrt(size) and a mask that is added."""
    graph, width = _Graph(), heads * size
    x = graph.input("x", _normal(2, tokens, width))
    mask = np.where(np.arange(tokens) < max(1, tokens * 3 // 4), 0, np.finfo(np.float32).min)
    mask = graph.input("mask", np.broadcast_to(mask.astype(np.float32), (2, 1, 1, tokens)).copy())
    q, k, v = (graph.linear(x, width, width) for _ in range(3))
    q, v = (graph.heads(each, heads, size, [0, 2, 1, 3]) for each in (q, v))
    scores = graph.node("MatMul", q, graph.heads(k, heads, size, [0, 2, 3, 1]))
    scores = graph.node("Add", graph.node("Div", scores, graph.constant(size**0.5)), mask)
    weights = graph.node("Softmax", scores, axis=-1)
    return graph, graph.linear(graph.merged(graph.node("MatMul", weights, v), width), width, width)


def _decoder(tokens: int, heads: int, size: int) -> tuple[_Graph, str]:
    """GPT-2's: one projection that is split, a causal mask that selects."""
    graph, width = _Graph(), heads * size
    qkv = graph.linear(graph.input("x", _normal(1, tokens, width)), width, 3 * width)
    q = graph.node("Split", qkv, graph.constant([width] * 3, np.int64), results=3, axis=2)
    k, v = (q[:-1] + str(i) for i in (1, 2))
    q, v = (graph.heads(each, heads, size, [0, 2, 1, 3]) for each in (q, v))
    scores = graph.node("MatMul", q, graph.heads(k, heads, size, [0, 2, 3, 1]))
    scores = graph.node("Mul", scores, graph.constant(size**-0.5))
    seen = graph.constant(np.tril(np.ones((1, 1, tokens, tokens))), np.bool_)
    scores = graph.node("Where", seen, scores, graph.constant(-np.inf))
    weights = graph.node("Softmax", scores, axis=-1)
    return graph, graph.merged(graph.node("MatMul", weights, v), width)


def _cross(queries: int, keys: int, heads: int, size: int) -> tuple[_Graph, str]:
    graph, width = _Graph(), heads * size
    x, y = graph.input("x", _normal(1, queries, width)), graph.input("y", _normal(1, keys, width))
    q, k, v = (graph.linear(each, width, width) for each in (x, y, y))
    q, v = (graph.heads(each, heads, size, [0, 2, 1, 3]) for each in (q, v))
    scores = graph.node("MatMul", q, graph.heads(k, heads, size, [0, 2, 3, 1]))
    return graph, graph.merged(graph.node("MatMul", graph.node("Softmax", scores, axis=-1), v), width)


def _multi_head(queries: int, keys: int, heads: int, size: int) -> tuple[_Graph, str]:
    graph, width = _Graph(), heads * size
    q, k, v = (graph.input(name, _normal(2, n, width)) for name, n in (("q", queries), ("k", keys), ("v", keys)))
    return graph, graph.node("MultiHeadAttention", q, k, v, domain="com.microsoft", num_heads=heads)


def _joined(tokens: int, heads: int, size: int) -> tuple[_Graph, str]:
    graph, width = _Graph(), heads * size
    x = graph.input("x", _normal(1, tokens, width))
    weight, bias = graph.constant(_normal(width, 3 * width)), graph.constant(_normal(3 * width))
    attributes = {"num_heads": heads, "unidirectional": 1}
    return graph, graph.node("Attention", x, weight, bias, domain="com.microsoft", **attributes)


_CASES: dict[str, Callable[[], tuple[_Graph, str]]] = {
    "encoder": lambda: _encoder(24, 3, 20),
    "encoder of one token": lambda: _encoder(1, 2, 8),
    "encoder, ragged": lambda: _encoder(37, 2, 13),
    "decoder": lambda: _decoder(21, 4, 16),
    "cross": lambda: _cross(5, 43, 2, 24),
    "cross of one query": lambda: _cross(1, 70, 3, 8),
    "MultiHeadAttention": lambda: _multi_head(9, 30, 2, 16),
    "Attention": lambda: _joined(18, 2, 32),
}


@pytest.mark.parametrize("name", _CASES)
def test_numbers(name: str) -> None:
    graph, output = _CASES[name]()
    width = next(iter(graph.inputs.values())).shape[-1]
    model = graph.model(graph.linear(output, width, 5))
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, graph.inputs)
    net = aiopt.compile(model, threads=2)
    (found,) = net.run(graph.inputs).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=_TOLERANCE * np.abs(expected).max())
    kernels = net.report()["kernels"]
    assert any(entry["ops"].count("ai.matmul") == 2 and "ai.softmax" in entry["ops"] for entry in kernels)
    assert not [entry["ops"] for entry in kernels if set(entry["ops"]) <= _MOVES]


def test_half_of_the_bits() -> None:
    """Mixed precision rounds what products read; the tolerance is bf16's."""
    graph, output = _encoder(24, 3, 20)
    model = graph.model(output)
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, graph.inputs)
    (found,) = aiopt.compile(model, amp="bf16").run(graph.inputs).values()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-2 * np.abs(expected).max())
    assert np.abs(found - expected).max() > 0
