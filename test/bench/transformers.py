"""Transformers as PyTorch's export writes those of the package transformers, with random weights.

Sources: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019 (GPT-2); Devlin et al., "BERT",
2019.
"""

from __future__ import annotations

import math

import numpy as np

from bench.graph_builder import GraphBuilder

VOCABULARY, _TYPES, _POSITIONS = 30522, 2, 512  # of BERT
_LOWEST = float(np.finfo(np.float32).min)


def gpt2_block(tokens: int = 64, width: int = 768, heads: int = 12) -> bytes:
    """One block: input `hidden_states`, output `output`, both [1, tokens, width]. Causal; gelu by tanh."""
    graph = GraphBuilder(seed=5)
    x = graph.input("hidden_states", (1, tokens, width))
    y = _layer_norm(graph, x, width, 1e-5)
    y = _addmm(graph, y, tokens, width, 3 * width)
    q, k, v = graph.nodes("Split", y, graph.constant([width] * 3, np.int64), results=3, axis=2)
    q, v = (_split_heads(graph, value, tokens, width, heads, [0, 2, 1, 3]) for value in (q, v))
    k = _split_heads(graph, k, tokens, width, heads, [0, 2, 3, 1])
    scores = graph.node("Div", graph.node("MatMul", q, k), graph.constant(math.sqrt(width // heads)))
    causal = graph.constant(np.tril(np.ones((1, 1, tokens, tokens))), np.bool_)
    scores = graph.node("Where", causal, scores, graph.constant(_LOWEST))
    y = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), v)
    y = _merge_heads(graph, y, tokens, width)
    x = graph.node("Add", _addmm(graph, y, tokens, width, width), x)
    y = _layer_norm(graph, x, width, 1e-5)
    y = _gelu_tanh(graph, _addmm(graph, y, tokens, width, 4 * width))
    y = graph.node("Add", x, _addmm(graph, y, tokens, 4 * width, width))
    return graph.model("gpt2_block", {"output": (y, (1, tokens, width))})


def bert(tokens: int = 128, layers: int = 12, width: int = 768, heads: int = 12, vocabulary: int = VOCABULARY) -> bytes:
    """BERT: inputs `input_ids`, `attention_mask`, `token_type_ids`, i64 [1, tokens]; outputs `last_hidden_state`
    [1, tokens, width] and `pooler_output` [1, width]. Gelu by erf; the mask is added to the scores."""
    graph = GraphBuilder(seed=7)
    ids, mask, types = (graph.input(name, (1, tokens), "i64") for name in bert_inputs(tokens))
    mask = graph.node("Unsqueeze", mask, graph.constant([1], np.int64))
    mask = graph.node("Cast", graph.node("Unsqueeze", mask, graph.constant([2], np.int64)), to=1)
    mask = graph.node("Mul", graph.node("Sub", graph.constant(1.0), mask), graph.constant(_LOWEST))
    x = graph.node("Gather", graph.normal((vocabulary, width), 1.0, "word_embeddings"), ids)
    x = graph.node("Add", x, graph.node("Gather", graph.normal((_TYPES, width), 0.5, "type_embeddings"), types))
    places = graph.constant(np.arange(tokens)[None], np.int64)
    x = graph.node(
        "Add", x, graph.node("Gather", graph.normal((_POSITIONS, width), 0.5, "position_embeddings"), places)
    )
    x = _layer_norm(graph, x, width, 1e-12)
    for _ in range(layers):
        x = _bert_layer(graph, x, mask, tokens, width, heads)
    first = graph.node("Gather", x, graph.constant(0, np.int64), axis=1)
    weight, bias = graph.normal((width, width), width**-0.5), graph.normal((width,), 0.1, "bias")
    pooled = graph.node("Tanh", graph.node("Gemm", first, weight, bias, alpha=1.0, beta=1.0, transB=1))
    shapes = {"last_hidden_state": (x, (1, tokens, width)), "pooler_output": (pooled, (1, width))}
    return graph.model("bert", shapes)


def gpt2_input(tokens: int = 64, width: int = 768) -> dict[str, np.ndarray]:
    """Hidden states of N(0, 1)."""
    states = np.random.default_rng(6).standard_normal((1, tokens, width), np.float32)
    return {"hidden_states": states}


def bert_inputs(tokens: int = 128, vocabulary: int = VOCABULARY) -> dict[str, np.ndarray]:
    """Two sentences of random tokens, the last quarter padding."""
    ids = np.random.default_rng(8).integers(0, vocabulary, (1, tokens))
    place = np.arange(tokens)[None]
    mask, types = place < tokens * 3 // 4, place >= tokens // 2
    return {"input_ids": ids, "attention_mask": mask.astype(np.int64), "token_type_ids": types.astype(np.int64)}


def _bert_layer(graph: GraphBuilder, x: str, mask: str, tokens: int, width: int, heads: int) -> str:
    q = _linear(graph, x, width, width)
    k, v = (_split_heads(graph, _linear(graph, x, width, width), tokens, width, heads, order) for order in _ORDERS)
    q = _split_heads(graph, q, tokens, width, heads, _ORDERS[1])
    scores = graph.node("Div", graph.node("MatMul", q, k), graph.constant(math.sqrt(width // heads)))
    scores = graph.node("Softmax", graph.node("Add", scores, mask), axis=-1)
    y = _merge_heads(graph, graph.node("MatMul", scores, v), tokens, width)
    x = _layer_norm(graph, graph.node("Add", _linear(graph, y, width, width), x), width, 1e-12)
    y = _linear(graph, _gelu_erf(graph, _linear(graph, x, width, 4 * width)), 4 * width, width)
    return _layer_norm(graph, graph.node("Add", y, x), width, 1e-12)


_ORDERS = ([0, 2, 3, 1], [0, 2, 1, 3])  # of keys, which are transposed, and of queries and values


def _layer_norm(graph: GraphBuilder, x: str, width: int, epsilon: float) -> str:
    scale, bias = graph.around_one(width), graph.normal((width,), 0.1, "bias")
    return graph.node("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)


def _linear(graph: GraphBuilder, x: str, depth: int, width: int) -> str:
    """nn.Linear on three dimensions: a product and the bias on its left."""
    weight, bias = graph.normal((depth, width), depth**-0.5), graph.normal((width,), 0.1, "bias")
    return graph.node("Add", bias, graph.node("MatMul", x, weight))


def _addmm(graph: GraphBuilder, x: str, tokens: int, depth: int, width: int) -> str:
    """GPT-2's Conv1D: a Gemm between views."""
    weight, bias = graph.normal((depth, width), depth**-0.5), graph.normal((width,), 0.1, "bias")
    y = graph.node("Gemm", graph.reshape(x, -1, depth), weight, bias, alpha=1.0, beta=1.0)
    return graph.reshape(y, 1, tokens, width)


def _split_heads(graph: GraphBuilder, x: str, tokens: int, width: int, heads: int, order: list[int]) -> str:
    return graph.node("Transpose", graph.reshape(x, 1, tokens, heads, width // heads), perm=order)


def _merge_heads(graph: GraphBuilder, x: str, tokens: int, width: int) -> str:
    return graph.reshape(graph.node("Transpose", x, perm=[0, 2, 1, 3]), 1, tokens, width)


def _gelu_tanh(graph: GraphBuilder, x: str) -> str:
    half = graph.node("Mul", x, graph.constant(0.5))
    cube = graph.node("Mul", graph.node("Pow", x, graph.constant(3.0)), graph.constant(0.044715))
    inner = graph.node("Mul", graph.node("Add", x, cube), graph.constant(math.sqrt(2 / math.pi)))
    return graph.node("Mul", half, graph.node("Add", graph.node("Tanh", inner), graph.constant(1.0)))


def _gelu_erf(graph: GraphBuilder, x: str) -> str:
    erf = graph.node("Erf", graph.node("Div", x, graph.constant(math.sqrt(2))))
    y = graph.node("Mul", x, graph.node("Add", erf, graph.constant(1.0)))
    return graph.node("Mul", y, graph.constant(0.5))
