"""Which ops of a graph compute in a low precision type, decided on an abstract graph (no mlir here).

Contractions read low values where that is worth it and give their sums, which are high; sensitive ops are high; all
others follow their inputs: low if all of them are, since the widest wins. So values are rounded where a contraction
reads them, and nowhere else. Movements whose users all want low values move low ones: half as many bytes.
Source: the categories are those of Micikevicius et al., Mixed Precision Training, ICLR 2018, and of the lists of
PyTorch's and TensorFlow's automatic mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What precision means to a node."""

    CONTRACTION = auto()  # reads low values where it may; what it gives is high
    ALLOWED = auto()  # low where it may be
    SENSITIVE = auto()  # high
    FOLLOWER = auto()  # as its inputs
    MOVEMENT = auto()  # as its input; or low if all that is done with it is
    APART = auto()  # neither reads nor gives a number of the type in question


@dataclass(frozen=True)
class Node:
    """An op: its kind, the nodes whose values of the high type it reads, and whether all may be low.

    operands: indexes of earlier nodes; INPUT for a high value from elsewhere. Constants, which adapt, are left out.
    may_be_low: false where a value does not fit the low type, where the user denies it or where nothing is gained.
    is_free: a movement that cannot round what it loads; it is low only where what it reads is rounded as it is made,
    because all else that reads it wants it low too.
    """

    kind: Kind
    operands: tuple[int, ...] = ()
    may_be_low: bool = True
    is_output: bool = False  # read from outside the graph, where it is high
    is_free: bool = False


INPUT = -1


def choose_low(nodes: Sequence[Node]) -> list[bool]:
    """For each node whether it reads low values and, unless it is a contraction, gives them."""
    low: list[bool] = []
    for node in nodes:
        low.append(node.may_be_low and _wants_low(node, nodes, low))
    users: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        for operand in node.operands:
            if operand != INPUT:
                users[operand].append(index)
    for index in reversed(range(len(nodes))):
        node = nodes[index]
        if node.kind is Kind.MOVEMENT and node.may_be_low and not node.is_output and users[index]:
            fits = not node.is_free or all(_is_made_low(nodes, users, low, o, index) for o in node.operands)
            low[index] = low[index] or (fits and all(low[user] for user in users[index]))
    return low


def _wants_low(node: Node, nodes: Sequence[Node], low: Sequence[bool]) -> bool:
    if node.kind in (Kind.CONTRACTION, Kind.ALLOWED):
        return True
    if node.kind in (Kind.FOLLOWER, Kind.MOVEMENT):
        return bool(node.operands) and all(
            operand != INPUT and low[operand] and nodes[operand].kind is not Kind.CONTRACTION
            for operand in node.operands
        )
    return False


def _is_made_low(
    nodes: Sequence[Node], users: Sequence[Sequence[int]], low: Sequence[bool], operand: int, reader: int
) -> bool:
    """True if a value is rounded where it is made once `reader` wants it low."""
    if operand == INPUT or nodes[operand].is_output:
        return False
    return all(low[user] or user == reader for user in users[operand])
