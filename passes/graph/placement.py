"""Where ops run, decided on an abstract graph (no mlir here): a target for each, then partitions of one target.

A partition is handed to its target as a whole, so it must be convex: no path may leave it and come back, or two
partitions would wait for each other. The partitions found are maximal: no two of one target could be one.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Graph = Sequence[Sequence[int]]  # for each node the earlier nodes it reads


Refusal = Callable[[int], str | None]  # why a target does not run a node; None if it does


@dataclass(frozen=True)
class Choice:
    """The target of a node (None: none runs it), and why those before it in the order do not run it."""

    target: str | None
    refusals: Mapping[str, str]


def choose_targets(count: int, order: Sequence[str], refusal: Mapping[str, Refusal]) -> list[Choice]:
    """For each of `count` nodes the first target of `order` that runs it."""
    return [_choose(node, order, refusal) for node in range(count)]


def _choose(node: int, order: Sequence[str], refusal: Mapping[str, Refusal]) -> Choice:
    refusals: dict[str, str] = {}
    for target in order:
        if (why := refusal[target](node)) is None:
            return Choice(target, refusals)
        refusals[target] = why
    return Choice(None, refusals)


def partition(targets: Sequence[str], operands: Graph) -> list[int]:
    """A partition number for each node; a partition's operands lie in partitions of lower or the same number.

    First by levels: a node's level rises where its target differs from that of what it reads, so that the nodes of
    one level and target are convex. Then partitions merge as long as no path runs between them through a third.
    """
    part_of = _levels(targets, operands)
    while pair := _mergeable(part_of, targets, _edges(part_of, operands)):
        low, high = pair
        part_of = [low if part == high else part for part in part_of]
    return _numbered(part_of, operands)


def _levels(targets: Sequence[str], operands: Graph) -> list[int]:
    """A number for each pair of level and target."""
    levels: list[int] = []
    for index, read in enumerate(operands):
        levels.append(max((levels[o] + (targets[o] != targets[index]) for o in read), default=0))
    numbers: dict[tuple[int, str], int] = {}
    for pair in sorted(zip(levels, targets, strict=True)):
        numbers.setdefault(pair, len(numbers))
    return [numbers[pair] for pair in zip(levels, targets, strict=True)]


def _mergeable(part_of: Sequence[int], targets: Sequence[str], edges: Mapping[int, set[int]]) -> tuple[int, int] | None:
    """Two partitions of one target that together are convex."""
    target_of = dict(zip(part_of, targets, strict=True))
    for low, high in itertools.combinations(sorted(edges), 2):
        same = target_of[low] == target_of[high]
        if same and not _detour(low, high, edges) and not _detour(high, low, edges):
            return low, high
    return None


def _edges(part_of: Sequence[int], operands: Graph) -> dict[int, set[int]]:
    """For each partition the others that read it."""
    edges: dict[int, set[int]] = {part: set() for part in part_of}
    for index, read in enumerate(operands):
        for operand in read:
            if part_of[operand] != part_of[index]:
                edges[part_of[operand]].add(part_of[index])
    return edges


def _detour(source: int, sink: int, edges: Mapping[int, set[int]]) -> bool:
    """True if a path leads from source to sink through a third partition."""
    seen: set[int] = set()
    work = [part for part in edges[source] if part != sink]
    while work:
        part = work.pop()
        if part == sink:
            return True
        if part not in seen:
            seen.add(part)
            work += edges[part]
    return False


def _numbered(part_of: Sequence[int], operands: Graph) -> list[int]:
    """Numbers in an order in which every partition comes after those it reads; ties by the first node."""
    edges = _edges(part_of, operands)
    waiting = {part: sum(part in users for users in edges.values()) for part in edges}
    numbers: dict[int, int] = {}
    while len(numbers) < len(edges):
        ready = next(part for part in dict.fromkeys(part_of) if part not in numbers and not waiting[part])
        numbers[ready] = len(numbers)
        for user in edges[ready]:
            waiting[user] -= 1
    return [numbers[part] for part in part_of]
