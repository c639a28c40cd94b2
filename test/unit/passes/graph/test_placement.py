"""Targets and partitions on abstract graphs, with two invented targets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.passes.graph import grouping
from aiopt.passes.graph.grouping import Kind, Node
from aiopt.passes.graph.placement import choose_targets, partition

OPS = ["conv", "relu", "sort", "conv"]
RUNS = {"host": {"conv", "relu", "sort"}, "array": {"conv", "relu"}}


@st.composite
def graphs(draw):
    """(target of each node, what each reads)"""
    count = draw(st.integers(1, 12))
    targets = draw(st.lists(st.sampled_from(["host", "array", "third"]), min_size=count, max_size=count))
    operands = [sorted(draw(st.sets(st.integers(0, i - 1), max_size=3))) if i else [] for i in range(count)]
    return targets, operands


def _reaches(operands: list[list[int]]) -> list[set[int]]:
    """For each node all it is computed from."""
    before: list[set[int]] = []
    for read in operands:
        before.append(set(read).union(*(before[operand] for operand in read)))
    return before


def _is_acyclic(part_of: list[int], operands: list[list[int]]) -> bool:
    edges = {(part_of[o], part_of[i]) for i, read in enumerate(operands) for o in read if part_of[o] != part_of[i]}
    left = set(part_of)
    while ready := {part for part in left if not any(head == part and tail in left for tail, head in edges)}:
        left -= ready
    return not left


def test_the_first_target_that_can_takes_an_op():
    refusal = {name: lambda i, known=known: None if OPS[i] in known else f"no {OPS[i]}" for name, known in RUNS.items()}

    def targets(*order: str) -> list[str | None]:
        return [choice.target for choice in choose_targets(4, order, refusal)]

    assert targets("array", "host") == ["array", "array", "host", "array"]
    assert targets("host") == ["host"] * 4
    assert targets("array") == ["array", "array", None, "array"]
    assert choose_targets(4, ["array", "host"], refusal)[2].refusals == {"array": "no sort"}
    assert choose_targets(4, ["host", "array"], refusal)[0].refusals == {}


def test_a_path_that_leaves_and_comes_back_cuts_a_partition():
    assert partition(["array", "host", "array"], [[], [0], [1]]) == [0, 1, 2]
    assert partition(["array", "host", "array"], [[], [0], [0, 1]]) == [0, 1, 2]
    assert partition(["array", "host", "array"], [[], [0], [0]]) == [0, 1, 0]


def test_what_does_not_depend_on_each_other_is_together():
    assert partition(["host"] * 3, [[], [], []]) == [0, 0, 0]
    assert partition(["array", "host", "array"], [[], [], [1]]) == [1, 0, 1]


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_partitions_are_convex_ordered_and_maximal(graph):
    targets, operands = graph
    parts = partition(targets, operands)
    assert set(parts) == set(range(max(parts) + 1))
    assert all(parts[o] <= parts[i] for i, read in enumerate(operands) for o in read)
    assert all(
        targets[a] == targets[b] for a, b in itertools.combinations(range(len(parts)), 2) if parts[a] == parts[b]
    )
    before = _reaches(operands)
    for node in range(len(parts)):
        outside = {parts[b] for b in before[node]} & {parts[a] for a in range(len(parts)) if node in before[a]}
        assert outside <= {parts[node]}, "a path leaves a partition through this node and comes back"
    for low, high in itertools.combinations(sorted(set(parts)), 2):
        if targets[parts.index(low)] == targets[parts.index(high)]:
            merged = [low if part == high else part for part in parts]
            assert not _is_acyclic(merged, operands), "these two could have been one"


@pytest.mark.parametrize(("second", "groups"), [(0, [0, 0]), (1, [0, 1])])
def test_a_kernel_lies_in_one_partition(second, groups):
    nodes = [Node(Kind.ROOT, (4,)), Node(Kind.ELEMENTWISE, (4,), (0,), is_output=True, partition=second)]
    assert grouping.group(nodes, max_ops=8) == groups
