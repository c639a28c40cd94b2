"""Which ops become one kernel: the cases the rules name, and what must hold of any graph."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiopt.passes.graph.grouping import Kind, Node, group

ROW, FULL = (4, 1), (4, 8)


def elementwise(*operands: int, shape=FULL, is_output: bool = False) -> Node:
    return Node(Kind.ELEMENTWISE, shape, operands, is_output=is_output)


def root(*operands: int, shape=FULL) -> Node:
    return Node(Kind.ROOT, shape, operands)


def mean(operand: int | None = None, shape=ROW, reduced=FULL, kept: int = 1) -> Node:
    operands = () if operand is None else (operand,)
    return Node(Kind.ROW_REDUCTION, shape, operands, reduced=reduced, kept=kept)


def view(operand: int) -> Node:
    return Node(Kind.APART, FULL, (operand,))


def templated(node: Node) -> Node:
    return replace(node, on_registers=True)


LAYER_NORM = [mean(), elementwise(0), elementwise(1), mean(2), elementwise(3, shape=ROW), elementwise(1, 4)]

CASES = {
    "epilogue": ([root(), elementwise(0), elementwise(1)], [0, 0, 0]),
    "epilogue with a diamond": ([root(), elementwise(0), elementwise(0, 1)], [0, 0, 0]),
    "epilogue of another shape": ([root(shape=ROW), elementwise(0)], [0, 1]),
    "an intermediate that is an output": ([elementwise(is_output=True), elementwise(0)], [0, 1]),
    "an intermediate with a user outside": ([root(), elementwise(0), root(0), elementwise(1, 2)], [0, 1, 2, 2]),
    "two roots meet: the first takes the addition": ([root(), root(), elementwise(0, 1)], [1, 0, 1]),
    "a root takes no producers": ([elementwise(), root(0)], [0, 1]),
    "a side branch stays out of an epilogue": ([root(), elementwise(), elementwise(0, 1)], [1, 0, 1]),
    "what templates do not compute stays out of a root they are for": (
        [templated(root()), templated(elementwise(0)), elementwise(1), templated(elementwise(2))],
        [0, 0, 1, 1],
    ),
    "a root without a template takes what templates compute": ([root(), templated(elementwise(0))], [0, 0]),
    "chain": ([elementwise(), elementwise(0), elementwise(1)], [0, 0, 0]),
    "chain broken by a broadcast": ([elementwise(shape=ROW), elementwise(0)], [0, 1]),
    "producers of a reduction": ([elementwise(), mean(0)], [0, 0]),
    "a view is in no kernel": ([root(), view(0), elementwise(1)], [0, None, 1]),
    "a diamond with a view in it": ([elementwise(), view(0), elementwise(0, 1)], [0, None, 1]),
    "a diamond with a root in it": ([elementwise(), root(0), elementwise(0, 1)], [0, 1, 1]),
    "layer norm": (LAYER_NORM, [0] * 6),
    "layer norm with a producer and a consumer": (
        [elementwise(), mean(0), elementwise(0, 1), elementwise(2), mean(3), elementwise(2, 4), elementwise(5)],
        [0] * 7,
    ),
    "two layer norms": ([*LAYER_NORM, mean(5), elementwise(5, 6)], [0] * 8),
    "reductions of other rows": ([mean(), mean(0, shape=(1,), reduced=(4, 1), kept=0)], [0, 1]),
    "dropped axes do not broadcast over their row": ([mean(shape=(8,), reduced=(8, 8)), elementwise(0)], [0, 1]),
    "dropped axes with their like": ([mean(shape=(4,)), elementwise(0, shape=(4,))], [0, 0]),
    "a reduction before a root": ([mean(), root(0)], [0, 1]),
    "nothing": ([], []),
}


@pytest.mark.parametrize("case", CASES)
def test_groups(case: str) -> None:
    nodes, expected = CASES[case]
    assert group(nodes, max_ops=32) == expected


@pytest.mark.parametrize(("max_ops", "expected"), [(1, [0, 1, 2, 3]), (2, [0, 0, 1, 1]), (3, [0, 0, 0, 1])])
def test_max_ops_bounds_a_group(max_ops: int, expected: list[int]) -> None:
    assert group([root(), elementwise(0), elementwise(1), elementwise(2)], max_ops) == expected


def test_a_diamond_larger_than_max_ops_stays_apart() -> None:
    wide = [elementwise(), *[elementwise(0) for _ in range(40)], elementwise(*range(1, 41))]
    assert group(wide, max_ops=8)[0] == 0
    assert group(wide, max_ops=42) == [0] * 42


@st.composite
def graphs(draw) -> list[Node]:
    nodes: list[Node] = []
    for index in range(draw(st.integers(0, 30))):
        reads = draw(st.lists(st.integers(max(0, index - 5), index - 1), max_size=3)) if index else []
        kind = draw(st.sampled_from([Kind.ELEMENTWISE] * 5 + list(Kind)))
        is_output = draw(st.integers(0, 9)) == 0
        if kind is Kind.ROW_REDUCTION:
            reads = [read for read in reads if nodes[read].shape == FULL][:1]
            nodes.append(Node(kind, ROW, tuple(reads), FULL, 1, is_output))
        else:
            full = any(nodes[read].shape == FULL for read in reads)
            shape = FULL if full else draw(st.sampled_from([FULL, ROW]))
            nodes.append(Node(kind, shape, tuple(reads), is_output=is_output))
    return nodes


@given(graphs(), st.integers(1, 12))
def test_groups_have_one_result_and_no_cycles(nodes: list[Node], max_ops: int) -> None:
    groups = group(nodes, max_ops)
    assert [number is None for number in groups] == [node.kind is Kind.APART for node in nodes]
    members: dict[int, list[int]] = {}
    for index, number in enumerate(groups):
        if number is not None:
            members.setdefault(number, []).append(index)
    assert sorted(members) == list(range(len(members)))
    results = [inside[-1] for _, inside in sorted(members.items())]
    assert results == sorted(results), "numbered in the order of their results"
    for inside in members.values():
        assert len(inside) <= max_ops
        roots = [index for index in inside if nodes[index].kind is Kind.ROOT]
        assert len(roots) <= 1
        assert not roots or roots[0] == inside[0]
        for index in inside[:-1]:
            users = [user for user, node in enumerate(nodes) if index in node.operands]
            assert users, "only the result may be without users"
            assert not nodes[index].is_output
            assert set(users) <= set(inside)
