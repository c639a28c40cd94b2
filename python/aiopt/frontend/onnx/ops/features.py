"""Numeric operators of ai.onnx.ml that prepare features, and LinearRegressor. Their results are f32.

Source: the operators' text in onnx.defs, opsets 1 to 5 of the domain; where it is silent ONNX Runtime.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from aiopt.dialects import ai
from aiopt.frontend.onnx.activations import affine
from aiopt.frontend.onnx.forms import broadcast_to, cast, reshape, scalar, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import H, onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError

ML = "ai.onnx.ml"
_NEWEST = 5


def ml_op(op_type: str, *, since: int = 1, until: int = _NEWEST) -> Callable[[H], H]:
    """Register a handler for these opsets of the domain."""
    return onnx_op(op_type, since=since, until=until, domain=ML)


def _row(node: Node, name: str, element: str, size: int) -> Value:
    """An attribute with one number for each feature, or one for all."""
    numbers = node.attributes.get_ints(name, None) if element == "i64" else node.attributes.get_floats(name)
    numbers = node.attributes.require(name, numbers)
    if len(numbers) not in (1, size):
        raise ModelError(f"{name} must have 1 or {size} numbers, but has {len(numbers)}")
    return Value.known(np.array(numbers, np.int64 if element == "i64" else np.float32))


def _features(x: Value) -> int:
    """The size of the last dimension. Errors: ModelError for a scalar."""
    if not x.rank:
        raise ModelError("the input must have features, but is a scalar")
    return x.shape[-1]


@ml_op("Scaler")
def _scaler(node: Node) -> Value:
    """(x - offset) * scale."""
    x = cast(node, node.input(0), "f32")
    offset, scale = (_row(node, name, "f32", _features(x)) for name in ("offset", "scale"))
    return node.emit(ai.MulOp, node.emit(ai.SubOp, x, offset), scale)


@ml_op("Binarizer")
def _binarizer(node: Node) -> Value:
    """1 above the threshold, else 0."""
    x = node.input(0)
    threshold = scalar(x, node.attributes.get_float("threshold", 0.0))
    return cast(node, node.emit(ai.LessOp, threshold, x), x.element)


@ml_op("Normalizer")
def _normalizer(node: Node) -> Value:
    """x / norm of its row: MAX the largest element, L1 or L2; a row whose norm is 0 stays."""
    x, norm = cast(node, node.input(0), "f32"), node.attributes.get_string("norm", "MAX")
    axes = [x.rank - 1]
    _features(x)
    if norm == "MAX":
        size = node.emit(ai.ReduceMaxOp, x, axes=axes)
    elif norm == "L1":
        size = node.emit(ai.ReduceSumOp, node.emit(ai.AbsOp, x), axes=axes)
    elif norm == "L2":
        size = node.emit(ai.SqrtOp, node.emit(ai.ReduceSumOp, node.emit(ai.MulOp, x, x), axes=axes))
    else:
        raise ModelError(f"norm must be MAX, L1 or L2, not '{norm}'")
    divisor = node.emit(ai.SelectOp, node.emit(ai.EqualOp, size, scalar(size, 0)), scalar(size, 1), size)
    return node.emit(ai.DivOp, x, divisor)


@ml_op("Imputer")
def _imputer(node: Node) -> Value:
    """The imputed value where x is the one to be replaced, which may be NaN."""
    x, attributes = node.input(0), node.attributes
    if x.element in ("f32", "f64"):
        old = attributes.get_float("replaced_value_float", 0.0)
        new = cast(node, _row(node, "imputed_value_floats", "f32", _features(x)), x.element)
        attributes.skip("imputed_value_int64s", "replaced_value_int64")
    else:
        old = attributes.get_int("replaced_value_int64", 0)
        new = cast(node, _row(node, "imputed_value_int64s", "i64", _features(x)), x.element)
        attributes.skip("imputed_value_floats", "replaced_value_float")
    if math.isnan(old):
        return node.emit(ai.SelectOp, node.emit(ai.EqualOp, x, x), x, new)
    return node.emit(ai.SelectOp, node.emit(ai.EqualOp, x, scalar(x, old)), new, x)


@ml_op("ArrayFeatureExtractor")
def _array_feature_extractor(node: Node) -> Value:
    """Elements of the last dimension by their places; of a vector as a row."""
    x, places = node.input(0), node.input(1)
    size = _features(x)
    if places.array is not None and places.type.size and not 0 <= places.array.min() <= places.array.max() < size:
        raise ModelError(f"a place is out of range: there are {size} features")
    out = node.emit(ai.GatherOp, x, reshape(node, places, (places.type.size,)), axis=x.rank - 1)
    return reshape(node, out, (1, places.type.size)) if x.rank == 1 else out


@ml_op("FeatureVectorizer")
def _feature_vectorizer(node: Node) -> Value:
    """The features of all inputs side by side, of each as many as inputdimensions says."""
    values = node.variadic()
    flat = [reshape(node, x, (x.shape[0], x.type.size // max(x.shape[0], 1))) if x.rank != 1 else x for x in values]
    rows = [reshape(node, x, (1, *x.shape)) if x.rank == 1 else x for x in flat]
    sizes = node.attributes.get_ints("inputdimensions", [x.shape[1] for x in rows])
    if len(sizes) != len(rows) or any(size > x.shape[1] for size, x in zip(sizes, rows, strict=False)):
        raise UnsupportedError(f"inputdimensions {sizes} of {[x.shape[1] for x in rows]} features are not supported")
    parts = [
        cast(node, take(node, x, [0, 0], [x.shape[0], size], [1, 1]), "f32")
        for x, size in zip(rows, sizes, strict=True)
    ]
    while len(parts) > 1:
        parts = [node.emit(ai.ConcatOp, parts[:2], axis=1), *parts[2:]]
    return parts[0]


@ml_op("OneHotEncoder")
def _one_hot_encoder(node: Node) -> Value:
    """One new dimension: 1 at the category an element is, all 0 where it is none (an error without `zeros`)."""
    x, attributes = node.input(0), node.attributes
    if "cats_strings" in attributes:
        raise UnsupportedError("categories that are strings are not compiled")
    categories = attributes.require("cats_int64s", attributes.get_ints("cats_int64s", None))
    if not attributes.get_bool("zeros", True):
        raise UnsupportedError("zeros=0 makes an unknown category an error, which compiled code has none of")
    given = cast(node, reshape(node, x, (*x.shape, 1)), "i64")
    return cast(node, node.emit(ai.EqualOp, given, Value.known(np.array(categories, np.int64))), "f32")


@ml_op("LinearRegressor")
def _linear_regressor(node: Node) -> Value:
    """x times the coefficients [targets, features], with intercepts."""
    attributes, x = node.attributes, cast(node, node.input(0), "f32")
    targets, size = attributes.get_int("targets", 1), _features(x)
    x = reshape(node, x, (1, size)) if x.rank == 1 else x
    numbers = attributes.require("coefficients", attributes.get_floats("coefficients"))
    if x.rank != 2 or targets < 1 or len(numbers) != targets * size:
        raise ModelError(f"{len(numbers)} coefficients are not {targets} for each feature of {list(x.shape)}")
    weights = Value.known(np.array(numbers, np.float32).reshape(targets, size), f"{node.outputs[0]}.coefficients")
    out = node.emit(ai.MatMulOp, x, transpose(node, weights, (1, 0)))
    if attributes.get_floats("intercepts"):
        out = node.emit(ai.AddOp, out, broadcast_to(node, _row(node, "intercepts", "f32", targets), (targets,)))
    return transform_scores(node, out, attributes.get_string("post_transform", "NONE"))


def transform_scores(node: Node, scores: Value, post: str) -> Value:
    """What post_transform makes of scores [n, targets]. Errors: ModelError for a name that ONNX does not have."""
    if post not in _TRANSFORMS:
        raise ModelError(f"post_transform must be one of {', '.join(_TRANSFORMS)}, not '{post}'")
    return _TRANSFORMS[post](node, scores)


def _softmax_but_zeros(node: Node, scores: Value) -> Value:
    """Softmax of the scores that are not 0; those, here below 1e-7 in size, stay out of the sum and keep theirs.

    Source: ONNX Runtime, which gives them e^-largest times what they are.
    """
    size = node.emit(ai.AbsOp, scores)
    counts = node.emit(ai.LessOp, scalar(size, 1e-7), size)
    largest = node.emit(ai.ReduceMaxOp, scores, axes=[1], keepdims=True)
    power = node.emit(ai.ExpOp, node.emit(ai.SubOp, scores, largest))
    total = node.emit(ai.ReduceSumOp, node.emit(ai.SelectOp, counts, power, scalar(power, 0)), axes=[1], keepdims=True)
    small = node.emit(ai.MulOp, scores, node.emit(ai.ExpOp, node.emit(ai.NegOp, largest)))
    return node.emit(ai.DivOp, node.emit(ai.SelectOp, counts, power, small), total)


def _probit(node: Node, scores: Value) -> Value:
    """The quantile of the normal distribution, sqrt(2) * erfinv(2 s - 1), as near as ONNX Runtime: to 3 digits.

    Source: Winitzki, A handy approximation for the error function and its inverse, 2008.
    """
    a, doubled = 0.147, affine(node, scores, 2, -1)
    square = node.emit(ai.MulOp, affine(node, doubled, -1, 1), affine(node, doubled, 1, 1))
    log = node.emit(ai.LogOp, square)
    half = affine(node, log, 0.5, 2 / (3.14159 * a))
    root = node.emit(ai.SqrtOp, node.emit(ai.SubOp, node.emit(ai.MulOp, half, half), affine(node, log, 1 / a, 0)))
    size = node.emit(ai.SqrtOp, node.emit(ai.SubOp, root, half))
    below = node.emit(ai.LessOp, doubled, scalar(doubled, 0))
    signed = node.emit(ai.SelectOp, below, node.emit(ai.NegOp, size), size)
    return affine(node, signed, math.sqrt(2), 0)


_TRANSFORMS: dict[str, Callable[[Node, Value], Value]] = {
    "NONE": lambda node, scores: scores,
    "SOFTMAX": lambda node, scores: node.emit(ai.SoftmaxOp, scores, axis=1),
    "LOGISTIC": lambda node, scores: node.emit(ai.SigmoidOp, scores),
    "SOFTMAX_ZERO": _softmax_but_zeros,
    "PROBIT": _probit,
}
