"""Nodes of opsets 1 to 6 as nodes of opset 7, the oldest that handlers read.

Source: ONNX operator changelog: what opset 7 (numpy broadcasting) and those before it changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, numpy_helper

from aiopt.frontend.onnx.attributes import Attributes
from aiopt.frontend.onnx.control_flow import Expansion
from aiopt.frontend.onnx.part import Step
from aiopt.frontend.onnx.registry import OLDEST_OPSET
from aiopt.frontend.onnx.schema import check_node, find_schema
from aiopt.frontend.onnx.scope import Scope
from aiopt.frontend.onnx.subgraph import label
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError

Inputs = Sequence[Value | None]
Rule = Callable[[onnx.NodeProto, Inputs], list[onnx.NodeProto]]  # may change the node: it is a copy


def renew(step: Step, scope: Scope) -> Expansion | None:
    """The nodes of opset 7 that a node of ONNX's own operators in an older one stands for; None for a newer one.

    Errors: ModelError for a broken node, UnsupportedError for a use that opset 7 cannot express.
    """
    if step.opset >= OLDEST_OPSET or step.node.domain not in ("", "ai.onnx"):
        return None
    schema, newer = (find_schema(step.node.op_type, opset) for opset in (step.opset, OLDEST_OPSET))
    if schema is None:
        raise ModelError(f"opset {step.opset} has no such operator")
    inputs = [scope.lookup(name) if name else None for name in step.node.input]
    check_node(step.node, step.opset, inputs)
    node = onnx.NodeProto()
    node.CopyFrom(step.node)
    _take(node, "consumed_inputs")  # of opset 1: which inputs may be overwritten
    nodes = [node]
    if newer is None or schema.since_version != newer.since_version:
        rule = _RULES.get(node.op_type)
        if rule is None and (newer is None or set(schema.attributes) - {"consumed_inputs"} != set(newer.attributes)):
            raise UnsupportedError("this opset of the operator is not supported: export the model anew")
        nodes = nodes if rule is None else rule(node, inputs)
    return Expansion(step.inner(nodes, {**step.opsets, "": OLDEST_OPSET}))


def _take(node: onnx.NodeProto, name: str) -> AttributeProto | None:
    """Remove an attribute."""
    for index, attribute in enumerate(node.attribute):
        if attribute.name == name:
            copy = AttributeProto()
            copy.CopyFrom(attribute)
            del node.attribute[index]
            return copy
    return None


def _take_int(node: onnx.NodeProto, name: str, default: int) -> int:
    attribute = _take(node, name)
    return default if attribute is None else Attributes([attribute]).get_int(name, default)


def _set(node: onnx.NodeProto, name: str, value: object) -> None:
    node.attribute.append(helper.make_attribute(name, value))


def _present(inputs: Inputs) -> list[Value]:
    """The inputs of an operator that has none to leave out. Errors: ModelError."""
    if None in inputs:
        raise ModelError(f"input {list(inputs).index(None)} is missing")
    return [value for value in inputs if value is not None]


def _broadcast(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    """The second input stands for a run of the first's dimensions, from `axis` on or the last ones.

    Its dimensions of size 1 are repeated: the operator's text has no such case, the cases of the onnx package have.
    """
    a, b = _present(inputs)
    allowed, axis = _take_int(node, "broadcast", 0), _take_int(node, "axis", a.rank - b.rank)
    if a.shape == b.shape or (allowed and b.type.size == 1 and b.rank <= a.rank):
        return [node]
    if not allowed:
        raise ModelError(f"shapes {list(a.shape)} and {list(b.shape)} differ, but broadcast is not 1")
    axis = axis + a.rank if axis < 0 else axis
    run = a.shape[max(axis, 0) : axis + b.rank]
    if axis < 0 or len(run) != b.rank or any(have not in (1, want) for have, want in zip(b.shape, run, strict=True)):
        raise ModelError(f"shape {list(b.shape)} is not a part of {list(a.shape)} from axis {axis} on")
    return _align(node, b.rank, a.rank - axis - b.rank)


def _align(node: onnx.NodeProto, rank: int, missing: int) -> list[onnx.NodeProto]:
    """Give the second input dimensions of size 1 behind its own."""
    if not missing:
        return [node]
    name = f"{label(node)}/aligned"
    axes = list(range(rank, rank + missing))
    aligned = helper.make_node("Unsqueeze", [node.input[1]], [name], name, axes=axes)
    node.input[1] = name
    return [aligned, node]


def _slope_by_channel(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    """PRelu: one slope for all, or one for each channel."""
    x, slope = _present(inputs)
    if slope.type.size == 1 or slope.shape == x.shape:
        return [node]
    if x.rank < 2 or slope.shape != x.shape[1:2]:
        raise ModelError(f"the slope must have one element or one for each channel, but has shape {list(slope.shape)}")
    return _align(node, 1, x.rank - 2)


def _inference(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    if not _take_int(node, "is_test", 0):
        raise UnsupportedError("is_test=0, its default in this opset, is training: export the model for inference")
    return [node]


def _without(*names: str) -> Rule:
    """Attributes that say nothing any more."""

    def rule(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
        for name in names:
            _take(node, name)
        return [node]

    return rule


def _with(**defaults: object) -> Rule:
    """Attributes that had another default."""

    def rule(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
        given = {attribute.name for attribute in node.attribute}
        for name in defaults.keys() - given:
            _set(node, name, defaults[name])
        return [node]

    return rule


def _reshape(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    """The shape was an attribute."""
    attribute = _take(node, "shape")
    if attribute is None:
        raise ModelError("the attribute 'shape' is missing")
    shape = Attributes([attribute]).get_ints("shape", [])
    name = f"{label(node)}/shape"
    value = numpy_helper.from_array(np.array(shape, np.int64))
    node.input.append(name)
    return [helper.make_node("Constant", [], [name], name, value=value), node]


def _pad(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    """pads had another name."""
    for attribute in node.attribute:
        attribute.name = "pads" if attribute.name == "paddings" else attribute.name
    return [node]


def _cast(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    """The type was given by its name."""
    attribute = _take(node, "to")
    name = "" if attribute is None else Attributes([attribute]).get_string("to", "")
    if name not in (codes := dict(TensorProto.DataType.items())):
        raise ModelError(f"attribute 'to' must name an element type, but is '{name}'")
    _set(node, "to", codes[name])
    return [node]


def _split(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    if len(inputs) > 1:
        raise UnsupportedError("lengths as an input are not supported in this opset: export the model anew")
    return [node]


def _whole_p(node: onnx.NodeProto, inputs: Inputs) -> list[onnx.NodeProto]:
    """p was a float."""
    attribute = _take(node, "p")
    p = 2.0 if attribute is None else Attributes([attribute]).get_float("p", 2.0)
    if p != int(p):
        raise UnsupportedError(f"p={p} is not supported, only whole numbers")
    _set(node, "p", int(p))
    return [node]


_BROADCASTING = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(_BROADCASTING, _broadcast),
    **dict.fromkeys(("BatchNormalization", "Dropout"), _inference),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _without("output_sequence")),  # that which output there is says
    **dict.fromkeys(("GlobalLpPool", "LpPool"), _whole_p),
    "AveragePool": _without(),
    "Cast": _cast,
    "Concat": _with(axis=1),
    "Gemm": _without("broadcast"),
    "PRelu": _slope_by_channel,
    "Pad": _pad,
    "Reshape": _reshape,
    "Selu": _with(alpha=1.6732, gamma=1.0507),
    "Split": _split,
}
