"""Ensembles of decision trees of ai.onnx.ml.

Source: the operators' text in onnx.defs, opsets 1 to 5 of the domain; where it is silent ONNX Runtime.
"""

from __future__ import annotations

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx import forest
from aiopt.frontend.onnx.forest import Forest, Votes
from aiopt.frontend.onnx.forms import cast, reshape, scalar, take
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.ops.features import ml_op, transform_scores
from aiopt.frontend.onnx.ops.reduce import place_of_extreme
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, NodeAttributeError, UnsupportedError

_MODES = {f"BRANCH_{name}": getattr(forest, name) for name in ("LEQ", "LT", "GTE", "GT", "EQ", "NEQ")}
_LEAF = "LEAF"
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")


@ml_op("TreeEnsemble", since=5)
def _tree_ensemble(node: Node) -> Value:
    """x [n, features] -> [n, targets]; leaves are apart from nodes, and one says something of one target."""
    attributes, x = node.attributes, forest.as_rows(node, node.input(0))
    splits, weights = _tensor(node, "nodes_splits"), _tensor(node, "leaf_weights")
    count, leaves = len(splits), len(weights)
    yes, no = (
        _ints(node, f"nodes_{way}nodeids", count) + count * (_ints(node, f"nodes_{way}leafs", count) != 0)
        for way in ("true", "false")
    )
    own = np.arange(count, count + leaves)
    filler = np.zeros(leaves, np.int64)
    trees = Forest(
        feature=np.append(_ints(node, "nodes_featureids", count), filler),
        value=np.append(splits, filler.astype(splits.dtype)),
        mode=np.append(_tensor(node, "nodes_modes", count).astype(np.int64), filler),
        yes=np.append(yes, own),
        no=np.append(no, own),
        missing=np.append(_flags(node, count), filler),
        roots=_ints(node, "tree_roots"),
    )
    if trees.mode.size and not 0 <= trees.mode.min() <= trees.mode.max() <= forest.MEMBER:
        raise ModelError("nodes_modes has a number that is no mode")
    trees = forest.spread_members(trees, _members(attributes.get_tensor("membership_values")))
    attributes.skip("nodes_hitrates")
    targets = attributes.require("n_targets", attributes.get_int("n_targets", None))
    votes = Votes(own, _ints(node, "leaf_targetids", leaves), weights, targets)
    how = _choice(_AGGREGATES, attributes.get_int("aggregate_function", 1), "aggregate_function")
    post = _choice(_TRANSFORMS, attributes.get_int("post_transform", 0), "post_transform")
    out = _total(node, x, trees, votes, how)
    return cast(node, transform_scores(node, out, post), node.input(0).element)


@ml_op("TreeEnsembleRegressor", until=4)
def _regressor(node: Node) -> Value:
    """x [n, features] -> [n, targets] in f32."""
    attributes, x = node.attributes, forest.as_rows(node, node.input(0))
    trees, index = _old_forest(node)
    targets = attributes.require("n_targets", attributes.get_int("n_targets", None))
    how = attributes.get_string("aggregate_function", "SUM")
    if how not in _AGGREGATES:
        raise ModelError(f"aggregate_function must be one of {', '.join(_AGGREGATES)}, not '{how}'")
    out = _total(node, x, trees, _old_votes(node, "target", index, targets), how)
    if (base := _floats(node, "base_values")) is not None:
        if len(base) != targets:
            raise ModelError(f"base_values must have {targets} numbers, but has {len(base)}")
        out = node.emit(ai.AddOp, out, Value.known(base.astype(out.type.dtype)))
    return cast(node, transform_scores(node, out, attributes.get_string("post_transform", "NONE")), "f32")


@ml_op("TreeEnsembleClassifier", until=4)
def _classifier(node: Node) -> list[Value]:
    """x [n, features] -> the label of the class of the highest score [n], the scores [n, classes] in f32."""
    attributes, x = node.attributes, forest.as_rows(node, node.input(0))
    if "classlabels_strings" in attributes:
        raise UnsupportedError("labels that are strings are not compiled")
    labels = np.array(attributes.require("classlabels_int64s", attributes.get_ints("classlabels_int64s", None)))
    trees, index = _old_forest(node)
    votes = _old_votes(node, "class", index, len(labels))
    total, base = _total(node, x, trees, votes, "SUM"), _floats(node, "base_values")
    post = attributes.get_string("post_transform", "NONE")
    if len(labels) == 2 and len(set(votes.target.tolist())) == 1:
        return _one_score(node, total, votes, base, post, labels)
    if base is not None:
        if len(base) != len(labels):
            raise UnsupportedError(f"{len(base)} base_values for {len(labels)} classes are not compiled")
        total = node.emit(ai.AddOp, total, Value.known(base.astype(total.type.dtype)))
    best = place_of_extreme(node, total, ai.ReduceMaxOp, 1, False, False)
    label = node.emit(ai.GatherOp, Value.known(labels), best, axis=0)
    return [label, cast(node, transform_scores(node, total, post), "f32")]


def _one_score(
    node: Node, total: Value, votes: Votes, base: np.ndarray | None, post: str, labels: np.ndarray
) -> list[Value]:
    """Two classes, of which the trees only know the score s of one, as ONNX Runtime has it.

    If no weight is below 0, s is a probability: scores 1 - s and s, from 0.5 on the second class; else -s and s.
    """
    if votes.target[0] != 0 or post not in ("NONE", "LOGISTIC") or (base is not None and len(base) != 1):
        raise UnsupportedError("two classes with votes for one of them, and these attributes, are not compiled")
    score = take(node, total, [0, 0], [total.shape[0], 1], [1, 1])
    if base is not None:
        score = node.emit(ai.AddOp, score, Value.known(base.astype(score.type.dtype)))
    probable = bool((votes.weights >= 0).all())
    second = node.emit(ai.LessOp, scalar(score, 0.5 if probable else 0), score)
    label = node.emit(ai.SelectOp, second, *(Value.known(labels[at : at + 1]) for at in (1, 0)))
    first = node.emit(ai.SubOp, scalar(score, 1), score) if probable and post == "NONE" else node.emit(ai.NegOp, score)
    scores = transform_scores(node, node.emit(ai.ConcatOp, [first, score], axis=1), post)
    return [reshape(node, label, total.shape[:1]), cast(node, scores, "f32")]


def _total(node: Node, x: Value, trees: Forest, votes: Votes, how: str) -> Value:
    leaves = forest.find_leaves(node, x, trees)
    return forest.aggregate(node, leaves, len(trees.yes), votes, how, x.type.dtype)


def _old_forest(node: Node) -> tuple[Forest, dict[tuple[int, int], int]]:
    """Nodes and leaves in one table, named by tree and number; and where each is in it."""
    modes = node.attributes.require("nodes_modes", node.attributes.get_strings("nodes_modes"))
    count = len(modes)
    if unknown := sorted(set(modes) - {*_MODES, _LEAF}):
        raise ModelError(f"nodes_modes has '{unknown[0]}', which is no mode")
    tree, number, feature, yes, no = (
        _ints(node, f"nodes_{name}ids", count) for name in ("tree", "node", "feature", "truenode", "falsenode")
    )
    value = _floats(node, "nodes_values")
    if value is None or len(value) != count:
        raise NodeAttributeError(f"nodes_values must have {count} numbers")
    node.attributes.skip("nodes_hitrates", "nodes_hitrates_as_tensor")
    index = {key: at for at, key in enumerate(zip(tree.tolist(), number.tolist(), strict=True))}
    if len(index) != count:
        raise ModelError("two nodes of a tree have one number")
    own, leaf = np.arange(count), np.array([mode == _LEAF for mode in modes], bool)
    ways = [
        np.where(leaf, own, [index.get(key, -1) for key in zip(tree.tolist(), to.tolist(), strict=True)])
        for to in (yes, no)
    ]
    children = {child for way in ways for child in way[~leaf].tolist()}
    roots = np.array([at for at in range(count) if at not in children], np.int64)
    if len(roots) != len(set(tree.tolist())):
        raise ModelError("each tree must have one node that no other leads to")
    numbers = np.array([_MODES.get(mode, 0) for mode in modes], np.int64)
    return Forest(feature, value, numbers, *ways, missing=_flags(node, count), roots=roots), index


def _old_votes(node: Node, kind: str, index: dict[tuple[int, int], int], targets: int) -> Votes:
    weights = _floats(node, f"{kind}_weights")
    if weights is None:
        raise NodeAttributeError(f"the attribute '{kind}_weights' is missing")
    target, tree, number = (_ints(node, f"{kind}_{name}ids", len(weights)) for name in ("", "tree", "node"))
    places = [index.get(key, -1) for key in zip(tree.tolist(), number.tolist(), strict=True)]
    return Votes(np.array(places, np.int64), target, weights, targets)


def _members(values: np.ndarray | None) -> list[list[float]]:
    """Lists that end with NaN."""
    found: list[list[float]] = []
    among: list[float] = []
    for value in [] if values is None else values.tolist():
        if np.isnan(value):
            found.append(among)
            among = []
        else:
            among.append(value)
    return found


def _ints(node: Node, name: str, count: int | None = None) -> np.ndarray:
    array = np.array(node.attributes.require(name, node.attributes.get_ints(name, None)), np.int64)
    return _of_length(name, array, count)


def _tensor(node: Node, name: str, count: int | None = None) -> np.ndarray:
    return _of_length(name, node.attributes.require(name, node.attributes.get_tensor(name)).reshape(-1), count)


def _floats(node: Node, name: str) -> np.ndarray | None:
    """Of f32, or of f64 as a tensor."""
    tensor, given = node.attributes.get_tensor(f"{name}_as_tensor"), node.attributes.get_floats(name)
    if tensor is not None and tensor.size:
        return tensor.reshape(-1)
    return np.array(given, np.float32) if given else None


def _flags(node: Node, count: int) -> np.ndarray:
    name = "nodes_missing_value_tracks_true"
    given = node.attributes.get_ints(name, None) or [0] * count
    return _of_length(name, np.array(given, np.int64), count)


def _of_length(name: str, array: np.ndarray, count: int | None) -> np.ndarray:
    if count is not None and len(array) != count:
        raise NodeAttributeError(f"{name} must have {count} entries, but has {len(array)}")
    return array


def _choice(names: tuple[str, ...], number: int, what: str) -> str:
    if not 0 <= number < len(names):
        raise ModelError(f"{what} must be 0 to {len(names) - 1}, but is {number}")
    return names[number]
