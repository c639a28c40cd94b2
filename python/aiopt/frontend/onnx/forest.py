"""Decision trees as tables of nodes, through which all rows go down all trees at once, a step at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar, steps
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import gather_rows
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError

LEQ, LT, GTE, GT, EQ, NEQ, MEMBER = range(7)  # how a node compares a feature with its value


@dataclass(frozen=True)
class Forest:
    """A column per property of a node, leaves among them; `yes` and `no` of a leaf are the leaf itself.

    missing: 1 where a NaN goes the way of yes. roots: a node of each tree.
    """

    feature: np.ndarray
    value: np.ndarray
    mode: np.ndarray
    yes: np.ndarray
    no: np.ndarray
    missing: np.ndarray
    roots: np.ndarray

    def depth(self) -> int:
        """How many steps there are to the farthest leaf. Errors: ModelError if they never end, or leave the table."""
        at, count = np.unique(self.roots), len(self.yes)
        for depth in range(count + 1):
            if at.size and not 0 <= at.min() <= at.max() < count:
                raise ModelError("a tree names a node that is not there")
            inner = at[(self.yes[at] != at) | (self.no[at] != at)]
            if not inner.size:
                return depth
            at = np.unique([self.yes[inner], self.no[inner]])
        raise ModelError("the nodes of a tree form a circle")


def find_leaves(node: Node, x: Value, forest: Forest) -> Value:
    """The leaf [n, trees] (i64) that each row of x [n, features] comes to in each tree.

    Errors: ModelError if there is no such feature, or the tables are no trees.
    """
    depth, (rows, features) = forest.depth(), x.shape
    inner = forest.yes != np.arange(len(forest.yes))
    if inner.any() and not 0 <= forest.feature[inner].min() <= forest.feature[inner].max() < features:
        raise ModelError(f"a node compares a feature that is not there: the input has {features}")
    at = Value.known(np.broadcast_to(forest.roots, (rows, len(forest.roots))).copy())
    first = node.emit(ai.MulOp, steps(rows, 0, 2), Value.known(np.array(features)))

    def of(column: np.ndarray) -> Value:
        return node.emit(ai.GatherOp, Value.known(column), at, axis=0)

    for _ in range(depth):
        feature = gather_rows(node, x, 2, node.emit(ai.AddOp, of(np.where(inner, forest.feature, 0)), first))
        chosen = _compared(node, feature, of(forest.value.astype(x.type.dtype)), of, forest.mode, inner)
        if forest.missing.any():
            lost = node.emit(ai.NotOp, node.emit(ai.EqualOp, feature, feature))
            chosen = node.emit(ai.OrOp, chosen, node.emit(ai.AndOp, lost, of(forest.missing.astype(bool))))
        at = node.emit(ai.SelectOp, chosen, of(forest.yes), of(forest.no))
    return at


def _compared(
    node: Node, x: Value, value: Value, of: Callable[[np.ndarray], Value], mode: np.ndarray, inner: np.ndarray
) -> Value:
    """Whether x goes the way of yes; of: the entries of a column for the nodes that are compared."""
    modes = sorted(set(mode[inner].tolist()))
    found = {way: _COMPARISONS[way](node, x, value) for way in modes}
    chosen = found[modes[0]]
    for way in modes[1:]:
        chosen = node.emit(ai.SelectOp, of(mode == way), found[way], chosen)
    return chosen


def _not_equal(node: Node, x: Value, value: Value) -> Value:
    return node.emit(ai.NotOp, node.emit(ai.EqualOp, x, value))


_COMPARISONS = {
    LEQ: lambda node, x, value: node.emit(ai.LessEqualOp, x, value),
    LT: lambda node, x, value: node.emit(ai.LessOp, x, value),
    GTE: lambda node, x, value: node.emit(ai.LessEqualOp, value, x),
    GT: lambda node, x, value: node.emit(ai.LessOp, value, x),
    EQ: lambda node, x, value: node.emit(ai.EqualOp, x, value),
    NEQ: _not_equal,
}


@dataclass(frozen=True)
class Votes:
    """What leaves say: `weights` [votes], of the node `at` [votes], for the target [votes] of `count`."""

    at: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    count: int


def aggregate(node: Node, leaves: Value, nodes: int, votes: Votes, how: str, dtype: np.dtype) -> Value:
    """The sum, average, min or max of the votes for each target: [n, targets]; 0 where there are none.

    The average is over all trees. Errors: ModelError for a target or node that is not there.
    """
    for name, found, most in (("target", votes.target, votes.count), ("node", votes.at, nodes)):
        if found.size and not 0 <= found.min() <= found.max() < most:
            raise ModelError(f"a vote is for a {name} that is not there")
    none = {"MIN": np.inf, "MAX": -np.inf}.get(how, 0)
    table = np.full((nodes, votes.count), none, dtype)
    fold = {"MIN": np.minimum, "MAX": np.maximum}.get(how, np.add)
    fold.at(table, (votes.at, votes.target), votes.weights.astype(dtype))
    said = node.emit(ai.GatherOp, Value.known(table), leaves, axis=0)
    if how in ("MIN", "MAX"):
        op = ai.ReduceMinOp if how == "MIN" else ai.ReduceMaxOp
        out = node.emit(op, said, axes=[1], keepdims=False)
        return node.emit(ai.SelectOp, node.emit(ai.EqualOp, out, scalar(out, none)), scalar(out, 0), out)
    out = node.emit(ai.ReduceSumOp, said, axes=[1], keepdims=False)
    return node.emit(ai.DivOp, out, scalar(out, leaves.shape[1])) if how == "AVERAGE" else out


def spread_members(forest: Forest, members: Sequence[Sequence[float]]) -> Forest:
    """Each node of mode MEMBER as a chain of nodes that compare with one of its members each.

    members: of those nodes in their order. Errors: ModelError if they are not as many.
    """
    nodes = np.flatnonzero(forest.mode == MEMBER)
    if len(nodes) != len(members):
        raise ModelError(f"there are {len(nodes)} nodes that test for members, but {len(members)} lists of them")
    columns = [list(column) for column in (forest.feature, forest.value, forest.mode, forest.yes, forest.no)]
    feature, value, mode, yes, no = columns
    missing = list(forest.missing)
    for node, among in zip(nodes.tolist(), members, strict=True):
        at, otherwise = node, no[node]
        for place, member in enumerate(among or [np.nan]):
            if place:
                no[at] = len(no)
                at = len(no)
                for column in (feature, value, mode, yes, no, missing):
                    column.append(column[node])
            value[at], mode[at], no[at] = member, EQ, otherwise
    arrays = [np.array(column) for column in (feature, value, mode, yes, no, missing)]
    return Forest(*arrays, roots=forest.roots)


def as_rows(node: Node, x: Value) -> Value:
    """[n, features] in f32 or f64; a vector is a row. Errors: ModelError for other ranks."""
    if x.rank not in (1, 2):
        raise ModelError(f"the input must be [n, features], but has shape {list(x.shape)}")
    x = reshape(node, x, (1, *x.shape)) if x.rank == 1 else x
    return x if x.element == "f64" else cast(node, x, "f32")
