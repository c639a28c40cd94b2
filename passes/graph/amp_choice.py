"""Which ops of a graph compute in a low precision type, decided on an abstract graph (no mlir here).

Contractions do, sensitive ops do not, all others follow their inputs: low if all of them are, since the widest wins.
Movements whose users all want low values move low ones, so that half as many bytes are moved.
Source: the categories are those of Micikevicius et al., Mixed Precision Training, ICLR 2018, and of the lists of
PyTorch's and TensorFlow's automatic mixed precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto


class Kind(Enum):
    """What precision means to a node."""

    CONTRACTION = auto()  # low where it may be
    SENSITIVE = auto()  # high
    FOLLOWER = auto()  # as its inputs
    MOVEMENT = auto()  # as its input; or low if all that is done with it is
    APART = auto()  # neither reads nor gives a number of the type in question


@dataclass(frozen=True)
class Node:
    """An op: its kind, the nodes whose values of the high type it reads, and whether all may be low.

    operands: indexes of earlier nodes; INPUT for a high value from elsewhere. Constants, which adapt, are left out.
    may_be_low: false where a value does not fit the low type, or where the user denies it.
    """

    kind: Kind
    operands: tuple[int, ...] = ()
    may_be_low: bool = True
    is_output: bool = False  # read from outside the graph, where it is high


INPUT = -1


def choose_low(nodes: Sequence[Node]) -> list[bool]:
    """For each node whether it computes in the low type."""
    low: list[bool] = []
    for node in nodes:
        low.append(node.may_be_low and _wants_low(node, low))
    users: list[list[int]] = [[] for _ in nodes]
    for index, node in enumerate(nodes):
        for operand in node.operands:
            if operand != INPUT:
                users[operand].append(index)
    for index in reversed(range(len(nodes))):
        node = nodes[index]
        if node.kind is Kind.MOVEMENT and node.may_be_low and not node.is_output and users[index]:
            low[index] = low[index] or all(low[user] for user in users[index])
    return low


def _wants_low(node: Node, low: Sequence[bool]) -> bool:
    if node.kind is Kind.CONTRACTION:
        return True
    if node.kind in (Kind.FOLLOWER, Kind.MOVEMENT):
        return bool(node.operands) and all(operand != INPUT and low[operand] for operand in node.operands)
    return False
