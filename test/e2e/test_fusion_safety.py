"""Random graphs, through each graph pass and compiled. Oracle: the numpy references, op by op, before any pass."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from mlir import ir

from aiopt.dialects.ai import AddOp, SubOp
from aiopt.passes import io
from aiopt.passes.graph import canonicalize, fold_batch_norm, simplify_arithmetic
from aiopt.passes.rewrite import Rewriter
from e2e.fusion_safety import GRAPHS, check_compiled, check_passes, reproducer
from e2e.random_graphs import Node, RandomGraph
from e2e.random_steps import random_graph

BATCH = 20  # graphs of one test
COMPILED = 60  # of those test/bench/fusion_safety.py compiles


@pytest.fixture(scope="module")
def context() -> Iterator[ir.Context]:
    with io.borrowed_context() as context:
        yield context


@pytest.mark.parametrize("first", range(0, GRAPHS, BATCH))
def test_each_pass_leaves_what_is_computed(first: int, context: ir.Context) -> None:
    for seed in range(first, first + BATCH):
        found = reproducer(random_graph(seed), lambda graph: check_passes(graph, context))
        assert not found, found


@pytest.mark.parametrize("first", range(0, COMPILED, BATCH))
def test_compiled_nets_compute_the_same(first: int) -> None:
    for seed in range(first, first + BATCH):
        check = partial(check_compiled, fusion="max" if seed % 2 else "auto")
        found = reproducer(random_graph(seed), check)
        assert not found, found


def test_graphs_are_those_of_their_seed(context: ir.Context) -> None:
    texts = {str(random_graph(seed).build(context).module) for seed in (5, 6, 5, 6)}
    assert len(texts) == 2


def test_graphs_have_what_goes_wrong_elsewhere() -> None:
    """Operands of non-commutative ops in both orders, values used twice, scalars, empty tensors, several outputs."""
    graphs = [random_graph(seed) for seed in range(GRAPHS)]
    nodes = [node for graph in graphs for node in graph.entries if isinstance(node, Node)]
    assert len({node.op for node in nodes}) > 35
    assert sum(len(set(graph.outputs)) > 1 for graph in graphs) > GRAPHS // 3
    shapes = [kind.shape for graph in graphs for kind in graph.kinds]
    assert sum(shape == () for shape in shapes) > 30
    assert sum(0 in shape for shape in shapes) > 30
    pairs = [tuple(node.reads()) for node in nodes if node.op is SubOp]
    assert min(sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)) > 20
    assert sum(any(_uses(graph, i) > 1 for i in range(len(graph.entries))) for graph in graphs) > GRAPHS // 2


def _uses(graph: RandomGraph, index: int) -> int:
    return sum(index in node.reads() for node in graph.entries if isinstance(node, Node))


def test_a_wrong_fold_is_found(monkeypatch: pytest.MonkeyPatch, context: ir.Context) -> None:
    """c - conv(x) taken for conv(x) - c."""
    monkeypatch.setattr(fold_batch_norm, "_fold_sub", _fold_sub_both_ways)
    found = _first_found(context, "ai-fold-batch-norm")
    assert found
    assert "ai.conv" in found
    assert "ai.sub" in found


def _fold_sub_both_ways(op: SubOp, rewriter: Rewriter) -> bool:
    fold = fold_batch_norm._fold_binary  # pyright: ignore[reportPrivateUsage]
    return fold(op, lambda c: (c * 0 + 1, -c), rewriter, commutes=True)


def test_a_wrong_simplification_is_found(monkeypatch: pytest.MonkeyPatch, context: ir.Context) -> None:
    """x + 0.0 taken for x, which it is not at -0.0: wrong by a sign alone."""
    is_zero = simplify_arithmetic._is_zero  # pyright: ignore[reportPrivateUsage]
    drop = simplify_arithmetic._drop_operand((0, 1), (1, 0), neutral=is_zero)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(canonicalize, "_PATTERNS", {AddOp: (drop,)})
    found = _first_found(context, "ai-canonicalize")
    assert found
    assert found.count('"ai.') < 5, "the graph is narrowed to what is wrong"


def _first_found(context: ir.Context, text: str) -> str:
    reports = (reproducer(random_graph(seed), lambda g: check_passes(g, context, [text])) for seed in range(GRAPHS))
    return next(filter(None, reports), "")
