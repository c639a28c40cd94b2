"""Ensembles of trees. Oracle: ONNX Runtime, unless a test names another."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import numpy_helper

from aiopt.support.errors import ModelError, NodeAttributeError, UnsupportedError
from unit.frontend.random_trees import grow, rows
from unit.frontend.single_node import equal, imported, node_model, onnxruntime_run, reference_run, run

ML = "ai.onnx.ml"
F = 4
ANY = [[0], [1], [3], [0, 1, 2, 3], [4, 5, 0]]


def _model(op_type: str, x: np.ndarray, opset: int = 3, outputs: int = 1, **attributes: Any) -> onnx.ModelProto:
    return node_model(op_type, {"x": x}, 17, domain=ML, domain_opset=opset, outputs=outputs, **attributes)


def _check(op_type: str, x: np.ndarray, opset: int = 3, outputs: int = 1, **attributes: Any) -> None:
    model = _model(op_type, x, opset, outputs, **attributes)
    equal(run(model, {"x": x}), onnxruntime_run(model, {"x": x}), 2e-6)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 99),
    st.sampled_from(["SUM", "AVERAGE", "MIN", "MAX"]),
    st.sampled_from([1, 3]),
    st.sampled_from(ANY),
    st.booleans(),
    st.sampled_from(["NONE", "LOGISTIC", "SOFTMAX"]),
)
def test_regressor(seed: int, how: str, targets: int, modes: list[int], missing: bool, post: str) -> None:
    trees = grow(seed, 5, 4, F, modes)
    attributes = {**trees.attributes(missing), **trees.votes("target", targets, each=targets)}
    base = {} if targets == 1 else {"base_values": [0.5, -1.0, 2.0]}
    post = "NONE" if targets == 1 else post  # ONNX Runtime leaves one target as it is: see test_features.py
    more = {"n_targets": targets, "aggregate_function": how, "post_transform": post}
    _check("TreeEnsembleRegressor", rows(seed, 9, F, missing), 3 if seed % 2 else 1, **attributes, **more, **base)


def test_targets_without_a_vote() -> None:
    trees = grow(3, 4, 3, F, [0])
    for how in ("SUM", "MIN", "MAX"):
        attributes = {**trees.attributes(False), **trees.votes("target", 3)}
        _check("TreeEnsembleRegressor", rows(0, 9, F, False), n_targets=3, aggregate_function=how, **attributes)


def test_regressor_of_other_types() -> None:
    trees = grow(1, 5, 4, F, [0])
    votes = trees.votes("target", 1)
    for dtype in (np.int64, np.int32):  # ONNX Runtime gets them as f32
        x = (rows(0, 9, F, False) * 2).astype(dtype)
        have = run(_model("TreeEnsembleRegressor", x, n_targets=1, **trees.attributes(False), **votes), {"x": x})
        wide = x.astype(np.float32)
        model = _model("TreeEnsembleRegressor", wide, n_targets=1, **trees.attributes(False), **votes)
        equal(have, onnxruntime_run(model, {"x": wide}), 2e-6)
    weights = numpy_helper.from_array(np.array(votes.pop("target_weights"), np.float64))
    x = rows(0, 9, F, False).astype(np.float64)
    attributes = {**trees.attributes(False, double=True), **votes, "target_weights_as_tensor": weights}
    _check("TreeEnsembleRegressor", x, n_targets=1, **attributes)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 99), st.sampled_from(["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"]), st.booleans())
def test_classifier(seed: int, post: str, based: bool) -> None:
    trees = grow(seed, 5, 4, F, [0])
    attributes = {**trees.attributes(False), **trees.votes("class", 3, each=3), "post_transform": post}
    base = {"base_values": [0.5, -1.0, 2.0]} if based else {}
    _check("TreeEnsembleClassifier", rows(seed, 9, F, False), 1, 2, classlabels_int64s=[7, 3, 9], **attributes, **base)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 99), st.sampled_from(["NONE", "LOGISTIC"]), st.booleans(), st.booleans())
def test_classifier_of_one_score(seed: int, post: str, positive: bool, based: bool) -> None:
    trees = grow(seed, 3, 4, F, [0])
    votes = trees.votes("class", 1, positive=positive)
    attributes = {**trees.attributes(False), **votes, "post_transform": post}
    base = {"base_values": [0.3]} if based else {}
    _check("TreeEnsembleClassifier", rows(seed, 9, F, False), 3, 2, classlabels_int64s=[7, 3], **attributes, **base)


def test_classifier_of_two_scores() -> None:
    """By hand, from the text: the label is that of the top class. (ONNX Runtime gives 0 or 1, whatever the labels.)"""
    trees = grow(5, 5, 4, F, [0])
    x, attributes = rows(5, 9, F, False), {**trees.attributes(False), **trees.votes("class", 2, each=2)}
    model = _model("TreeEnsembleClassifier", x, 3, 2, classlabels_int64s=[7, 3], **attributes)
    have = run(model, {"x": x})
    scores = onnxruntime_run(model, {"x": x})["y1"]
    equal({"y1": have["y1"]}, {"y1": scores}, 2e-6)
    assert have["y0"].tolist() == [(7, 3)[at] for at in scores.argmax(1)]


def _ensemble(dtype: type, **more: Any) -> dict[str, Any]:
    """Two trees: one of three nodes, the second a leaf."""
    return {
        "nodes_splits": numpy_helper.from_array(np.array([0, 1, 0.5, 0], dtype)),
        "nodes_featureids": [0, 1, 2, 0],
        "nodes_modes": numpy_helper.from_array(np.uint8([0, 3, 5, 0])),
        "nodes_truenodeids": [1, 0, 2, 3],
        "nodes_falsenodeids": [2, 1, 4, 3],
        "nodes_trueleafs": [0, 1, 1, 1],
        "nodes_falseleafs": [0, 1, 1, 1],
        "leaf_targetids": [0, 1, 0, 1, 1],
        "leaf_weights": numpy_helper.from_array(np.array([1, 2, 3, 4, 5], dtype)),
        "tree_roots": [0, 3],
        "n_targets": 2,
        **more,
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("how", [0, 1])
def test_ensemble(dtype: type, how: int) -> None:
    """Oracle: onnx.reference, which takes the leaf of a tree without nodes to be that of the root's number; and
    ONNX Runtime, which has no f16."""
    x = rows(1, 9, F, False).astype(dtype)
    model = _model("TreeEnsemble", x, 5, aggregate_function=how, **_ensemble(dtype))
    equal(run(model, {"x": x}), reference_run(model, {"x": x}), 2e-6)
    if dtype != np.float16:
        equal(run(model, {"x": x}), onnxruntime_run(model, {"x": x}), 2e-6)


def test_ensemble_tests_for_members() -> None:
    """By hand: of the second node's members [1, 2], of the third's none but 0."""
    modes, members = np.uint8([0, 6, 6, 0]), np.float32([1, 2, np.nan, 0, np.nan])
    more = {"nodes_modes": numpy_helper.from_array(modes), "membership_values": numpy_helper.from_array(members)}
    x = np.float32([[0, 1, 9, 9], [0, 2, 9, 9], [0, 3, 9, 9], [1, 9, 0, 9], [1, 9, 1, 9]])
    model = _model("TreeEnsemble", x, 5, **_ensemble(np.float32, **more))
    assert run(model, {"x": x})["y0"].tolist() == [[1, 4], [1, 4], [0, 6], [3, 4], [0, 9]]


def test_errors() -> None:
    x, plain = rows(0, 3, F, False), _ensemble(np.float32)
    for changed, message in (
        ({"nodes_featureids": [0, 9, 2, 0]}, "a feature that is not there: the input has 4"),
        ({"nodes_truenodeids": [0, 0, 2, 4]}, "the nodes of a tree form a circle"),
        ({"leaf_targetids": [0, 1, 0, 2, 1]}, "a vote is for a target that is not there"),
        ({"aggregate_function": 4}, "aggregate_function must be 0 to 3"),
        ({"tree_roots": [0, 77]}, "names a node that is not there"),
        ({"nodes_modes": numpy_helper.from_array(np.uint8([0, 6, 5, 0]))}, "1 nodes that test for members"),
    ):
        with pytest.raises(ModelError, match=message):
            imported(_model("TreeEnsemble", x, 5, **{**plain, **changed}))
    with pytest.raises(NodeAttributeError, match="nodes_trueleafs must have 4 entries, but has 1"):
        imported(_model("TreeEnsemble", x, 5, **{**plain, "nodes_trueleafs": [1]}))
    trees = grow(0, 1, 2, F, [0])
    votes = trees.votes("class", 1)
    with pytest.raises(UnsupportedError, match="labels that are strings"):
        imported(
            _model(
                "TreeEnsembleClassifier", x, 3, 2, **trees.attributes(False), **votes, classlabels_strings=["a", "b"]
            )
        )
    names = {**trees.attributes(False), **trees.votes("target", 1), "n_targets": 1}
    with pytest.raises(ModelError, match="'BRANCH', which is no mode"):
        imported(_model("TreeEnsembleRegressor", x, **{**names, "nodes_modes": ["BRANCH"] * len(trees.nodes)}))
    with pytest.raises(ModelError, match="aggregate_function must be one of"):
        imported(_model("TreeEnsembleRegressor", x, **names, aggregate_function="MEDIAN"))
