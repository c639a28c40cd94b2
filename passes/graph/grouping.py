"""Which ops become one kernel, decided on an abstract graph (no mlir here).

A group is grown from an op to the op through which everything it computes must pass (its immediate post-dominator),
taking all that lies between. So every member but the last has all its users inside: a group has one result, and no
path can leave it and come back, which makes any set of such groups free of cycles.
Source: Chen et al., TVM, OSDI 2018 (FuseOps); Cooper, Harvey, Kennedy, A Simple, Fast Dominance Algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

OUTSIDE = -1  # the post-dominator of a node that nothing inside the graph collects


class Kind(Enum):
    """What a node's kernel may look like."""

    ELEMENTWISE = auto()  # may be anywhere in a group
    ROW_REDUCTION = auto()  # folds trailing axes: its group works row by row
    ROOT = auto()  # only first in its group: contraction, pooling, normalisation, movement, other reductions
    TURN = auto()  # transpose: first in its group, or last in that of a matmul, which stores in another order
    APART = auto()  # never in a group: views


@dataclass(frozen=True)
class Node:
    """An op: its kind, the shape of its result, and the nodes it reads."""

    kind: Kind
    shape: tuple[int, ...]
    operands: tuple[int, ...] = ()  # indexes of earlier nodes; inputs and constants are left out
    reduced: tuple[int, ...] = ()  # ROW_REDUCTION: the shape of what it reduces
    kept: int = 0  # ROW_REDUCTION: how many leading axes it leaves
    is_output: bool = False  # read from outside the graph
    partition: int = 0  # a group lies in one partition
    on_registers: bool = False  # ROOT: templates make its loops; else: templates can compute it on registers
    may_turn: bool = False  # ROOT: a TURN may end its group


@dataclass
class _Graph:
    nodes: Sequence[Node]
    users: list[list[int]]
    post_dominator: list[int]
    max_ops: int
    group_of: list[int]  # node -> its group; a group is named by its result, its last node
    members: dict[int, set[int]]  # group -> nodes


def group(nodes: Sequence[Node], max_ops: int) -> list[int | None]:
    """A group number for each node, None for those apart. Groups are numbered in the order of their results.

    Roots take their epilogues first, then rows grow around reductions, then what is elementwise joins up.
    """
    users = _users(nodes)
    alone = {index: {index} for index in range(len(nodes))}
    graph = _Graph(nodes, users, _post_dominators(nodes, users, max_ops), max_ops, list(alone), alone)
    for kinds in ((Kind.ROOT, Kind.TURN), (Kind.ROW_REDUCTION,), (Kind.ELEMENTWISE,)):
        for index, node in enumerate(nodes):
            if node.kind in kinds and graph.group_of[index] == index:
                _grow(graph, index)
    return _numbers(graph)


def _grow(graph: _Graph, result: int) -> None:
    """Extend a group to the post-dominator of its result, and that one's, as long as it is a legal kernel."""
    while (sink := graph.post_dominator[result]) != OUTSIDE:
        between = _between(graph, result, sink)
        if between is None:
            return
        groups = {graph.group_of[node] for node in between}
        union = set().union(*(graph.members[number] for number in groups))
        if len(union) > graph.max_ops or not _is_kernel(graph.nodes, union):
            return
        for number in groups:
            del graph.members[number]
        result = max(union)
        graph.members[result] = union
        for node in union:
            graph.group_of[node] = result


def _between(graph: _Graph, source: int, sink: int) -> set[int] | None:
    """The nodes on paths from source to its post-dominator, both included; None if they are more than max_ops."""
    found, work = {source, sink}, [source]
    while work:
        for user in graph.users[work.pop()]:
            if user not in found:
                found.add(user)
                work.append(user)
                if len(found) > graph.max_ops:
                    return None
    return found


def _is_kernel(nodes: Sequence[Node], members: set[int]) -> bool:
    """True if code generation makes one nest of these nodes."""
    kinds = {kind: [i for i in members if nodes[i].kind is kind] for kind in Kind}
    if kinds[Kind.APART] or len({nodes[i].partition for i in members}) > 1:
        return False
    if roots := kinds[Kind.ROOT] + kinds[Kind.TURN]:
        last = max(members)
        if nodes[roots[0]].may_turn and nodes[last].kind is Kind.TURN and len(nodes[last].operands) == 1:
            members, roots = members - {last}, [root for root in roots if root != last]
        return len(roots) == 1 and not kinds[Kind.ROW_REDUCTION] and _is_epilogue(nodes, members)
    if kinds[Kind.ROW_REDUCTION]:
        return _is_rows(nodes, members, kinds[Kind.ROW_REDUCTION])
    return len({nodes[i].shape for i in members}) == 1


def _is_epilogue(nodes: Sequence[Node], members: set[int]) -> bool:
    """The root comes first, all others compute from it, element by element in its result's shape.

    What templates cannot compute on registers does not join a root they are for, which would lose its template.
    """
    root, *others = sorted(members)
    if nodes[root].on_registers and not all(nodes[i].on_registers for i in others):
        return False
    follow = all(any(operand in members for operand in nodes[i].operands) for i in others)
    return (
        nodes[root].kind in (Kind.ROOT, Kind.TURN)
        and follow
        and all(nodes[i].shape == nodes[root].shape for i in others)
    )


def _is_rows(nodes: Sequence[Node], members: set[int], reductions: list[int]) -> bool:
    """All work on rows of one shape: reductions fold whole rows, and what flows on is a row or one value per row.

    full: the shape before reduction; single: full with the reduced axes kept as 1, which broadcasts back over its
    own row. A result with the axes dropped is one value per row too, but numpy would spread it over other axes, so it
    may meet its like only.
    """
    full, kept = nodes[reductions[0]].reduced, nodes[reductions[0]].kept
    if any((nodes[i].reduced, nodes[i].kept) != (full, kept) for i in reductions):
        return False
    single = full[:kept] + (1,) * (len(full) - kept)
    for index in members:
        node = nodes[index]
        if node.kind is Kind.ROW_REDUCTION:
            fits = all(nodes[operand].shape == full for operand in node.operands if operand in members)
        else:
            inner = [nodes[operand].shape for operand in node.operands if operand in members]
            fits = node.shape in (full, single, full[:kept]) and all(
                shape == node.shape or (shape == single and node.shape == full) for shape in inner
            )
        if not fits:
            return False
    return True


def _users(nodes: Sequence[Node]) -> list[list[int]]:
    users: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        for operand in dict.fromkeys(node.operands):
            assert operand < index, "operands come before their users"
            users[operand].append(index)
    return users


def _post_dominators(nodes: Sequence[Node], users: list[list[int]], limit: int) -> list[int]:
    """For each node the first node that all paths from it to the outside pass; OUTSIDE where there is none.

    One that is more than `limit` steps away in the tree could not be in a group with it, and is reported as OUTSIDE,
    which keeps this linear.
    """
    result = [OUTSIDE] * len(nodes)
    for index in reversed(range(len(nodes))):
        if nodes[index].is_output or not users[index]:
            continue
        common = users[index][0]
        for user in users[index][1:]:
            common = _meet(common, user, result, limit)
        result[index] = common
    return result


def _meet(a: int, b: int, parent: list[int], limit: int) -> int:
    """The nearest common ancestor in the post-dominator tree, where parents have higher numbers than children."""
    for _ in range(2 * limit):
        if a == b or OUTSIDE in (a, b):
            break
        if a < b:
            a = parent[a]
        else:
            b = parent[b]
    return a if a == b else OUTSIDE


def _numbers(graph: _Graph) -> list[int | None]:
    numbers: dict[int, int] = {}
    result: list[int | None] = [None] * len(graph.nodes)
    for last in sorted(graph.members):
        if graph.nodes[last].kind is not Kind.APART:
            numbers[last] = len(numbers)
    for index, number in enumerate(graph.group_of):
        result[index] = numbers.get(number)
    return result
