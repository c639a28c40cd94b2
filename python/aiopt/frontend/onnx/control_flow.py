"""Branches and loops in place of the node that holds them: loops whose length is known and short are unrolled.

Source: ONNX operator specification (If, Loop-1/11/13, Scan-9).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

from aiopt.frontend.onnx.attributes import Attributes
from aiopt.frontend.onnx.part import Step
from aiopt.frontend.onnx.scope import Scope
from aiopt.frontend.onnx.subgraph import Inliner, identities, label
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, NodeAttributeError, NodeInputError, RunTimeValueError, UnsupportedError

MOST_UNROLLED = 256  # nodes that a loop may become; a longer one is run step by step


@dataclass(frozen=True)
class Expansion:
    """Steps in place of one, and the constants they bring."""

    steps: list[Step]
    initializers: dict[str, onnx.TensorProto] = field(default_factory=dict)


def _expand_if(step: Step, scope: Scope) -> Expansion:
    node = step.node
    condition = known(scope, node.input[0], "the condition")
    if condition.size != 1:
        raise ModelError(f"the condition must have one element, but has shape {list(condition.shape)}")
    graph = graph_attribute(node, "then_branch" if condition.reshape(()) else "else_branch")
    inliner = Inliner(f"{label(node)}/", {})
    initializers = inliner.initializers(graph)
    nodes = inliner.nodes(graph.node)
    results = [inliner.name(value.name) for value in graph.output]
    if len(results) < len(node.output):
        raise NodeInputError(f"it has {len(node.output)} outputs, but the branch gives {len(results)}")
    nodes += identities(results, node.output, f"{label(node)}/")
    return _expansion(nodes, step, initializers)


def _expand_loop(step: Step, scope: Scope) -> Expansion:
    """Unrolled, if how often it runs is known and it is not long."""
    node, body = step.node, graph_attribute(step.node, "body")
    carried = list(node.input[2:])
    if len(body.input) != 2 + len(carried) or len(body.output) < 1 + len(carried):
        raise NodeInputError(f"the body takes {len(body.input)} inputs, but the loop carries {len(carried)} tensors")
    trips = _trips(node, body, scope)
    _require_short(trips, body)
    nodes: list[onnx.NodeProto] = []
    initializers: dict[str, onnx.TensorProto] = {}
    scanned: list[list[str]] = [[] for _ in body.output[1 + len(carried) :]]
    true = f"{label(node)}/true"
    initializers[true] = numpy_helper.from_array(np.array(True))
    for trip in range(trips):
        prefix = f"{label(node)}/{trip}/"
        initializers[f"{prefix}trip"] = numpy_helper.from_array(np.array(trip, np.int64))
        names = [value.name for value in body.input]
        inliner = Inliner(prefix, dict(zip(names, [f"{prefix}trip", true, *carried], strict=True)))
        initializers |= inliner.initializers(body)
        nodes += inliner.nodes(body.node)
        results = [inliner.name(value.name) for value in body.output][1:]
        for names, name in zip(scanned, results[len(carried) :], strict=True):
            names.append(name)
        carried = results[: len(carried)]
    outputs = list(node.output) + [""] * (len(carried) + len(scanned) - len(node.output))
    nodes += identities(carried, outputs, f"{label(node)}/")
    for names, output in zip(scanned, outputs[len(carried) :], strict=True):
        if output:
            nodes += _stack(names, output, 0, f"{label(node)}/{output}/", step.opset)
    return _expansion(nodes, step, initializers)


def _trips(node: onnx.NodeProto, body: onnx.GraphProto, scope: Scope) -> int:
    """How often a loop runs. Errors: UnsupportedError if its body decides."""
    given = [scope.lookup(name).array if name else None for name in (*node.input[:2], "", "")[:2]]
    limit, condition = given
    if len(node.input) > 1 and node.input[1]:
        if condition is None or not _keeps_condition(body):
            raise UnsupportedError("a loop that ends by a condition is run step by step")
        if not condition.reshape(()):
            return 0
    if limit is None:
        raise UnsupportedError("a loop whose length only a run knows is run step by step")
    return max(int(limit.reshape(())), 0)


def _keeps_condition(body: onnx.GraphProto) -> bool:
    """True if the body hands its condition on, or gives a constant that is true."""
    makers = {name: node for node in body.node for name in node.output}
    name = body.output[0].name
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if name == body.input[1].name:
        return True
    tensors = [tensor for tensor in body.initializer if tensor.name == name]
    if name in makers and makers[name].op_type == "Constant":
        tensors = [a.t for a in makers[name].attribute if a.name == "value"]
    return bool(tensors) and bool(numpy_helper.to_array(tensors[0]).all())


def _expand_scan(step: Step, scope: Scope) -> Expansion:
    """Unrolled, if it is not long. Opset 8 had a batch axis: such a Scan is run step by step."""
    if step.opset < 9:
        raise UnsupportedError("Scan before opset 9 is run step by step")
    node, body = step.node, graph_attribute(step.node, "body")
    attributes = Attributes(node.attribute)
    count = attributes.require("num_scan_inputs", attributes.get_int("num_scan_inputs", None))
    states = len(node.input) - count
    outputs = len(node.output) - states
    if states < 0 or outputs < 0 or len(body.input) != len(node.input) or len(body.output) != len(node.output):
        raise NodeInputError(f"{len(node.input)} inputs and {len(node.output)} outputs do not fit the body")
    values = [scope.lookup(name) for name in node.input[states:]]
    axes = _axes(attributes.get_ints("scan_input_axes", [0] * count), values)
    backward = attributes.get_ints("scan_input_directions", [0] * count)
    sizes = {value.shape[axis] for value, axis in zip(values, axes, strict=True)}
    if len(sizes) != 1:
        raise ModelError(f"the scanned axes have different sizes: {sorted(sizes)}")
    trips = sizes.pop()
    _require_short(trips, body)
    nodes: list[onnx.NodeProto] = []
    initializers: dict[str, onnx.TensorProto] = {}
    carried, scanned = list(node.input[:states]), [[] for _ in range(outputs)]
    for trip in range(trips):
        prefix = f"{label(node)}/{trip}/"
        names = [value.name for value in body.input]
        taken = []
        for number, (name, axis) in enumerate(zip(node.input[states:], axes, strict=True)):
            at = trips - 1 - trip if backward[number] else trip
            initializers[f"{prefix}at{number}"] = numpy_helper.from_array(np.array(at, np.int64))
            taken.append(f"{prefix}in{number}")
            nodes.append(helper.make_node("Gather", [name, f"{prefix}at{number}"], [taken[-1]], taken[-1], axis=axis))
        inliner = Inliner(prefix, dict(zip(names, [*carried, *taken], strict=True)))
        initializers |= inliner.initializers(body)
        nodes += inliner.nodes(body.node)
        results = [inliner.name(value.name) for value in body.output]
        carried = results[:states]
        for made, name in zip(scanned, results[states:], strict=True):
            made.append(name)
    nodes += identities(carried, node.output[:states], f"{label(node)}/")
    out_axes = attributes.get_ints("scan_output_axes", [0] * outputs)
    out_backward = attributes.get_ints("scan_output_directions", [0] * outputs)
    for names, output, axis, turn in zip(scanned, node.output[states:], out_axes, out_backward, strict=True):
        if output:
            order = names[::-1] if turn else names
            nodes += _stack(order, output, axis, f"{label(node)}/{output}/", step.opset)
    return _expansion(nodes, step, initializers)


def _axes(axes: list[int], values: list[Value]) -> list[int]:
    for axis, value in zip(axes, values, strict=True):
        if not -value.rank <= axis < value.rank:
            raise ModelError(f"axis {axis} is out of range for a scanned input of rank {value.rank}")
    return [axis % value.rank for axis, value in zip(axes, values, strict=True)]


def _stack(names: list[str], output: str, axis: int, prefix: str, opset: int) -> list[onnx.NodeProto]:
    """Nodes that join tensors of one shape along a new axis. Errors: UnsupportedError if there are none."""
    if not names:
        raise UnsupportedError("a loop of no steps that stacks its results is run step by step")
    nodes = []
    for index, name in enumerate(names):
        made = f"{prefix}{index}"
        if opset < 13:
            nodes.append(helper.make_node("Unsqueeze", [name], [made], made, axes=[axis]))
        else:
            constant = helper.make_node("Constant", [], [f"{made}/axis"], f"{made}/axis", value_ints=[axis])
            nodes += [constant, helper.make_node("Unsqueeze", [name, f"{made}/axis"], [made], made)]
    joined = [f"{prefix}{index}" for index in range(len(names))]
    return [*nodes, helper.make_node("Concat", joined, [output], f"{prefix}stack", axis=axis)]


def _require_short(trips: int, body: onnx.GraphProto) -> None:
    if trips * max(len(body.node), 1) > MOST_UNROLLED:
        raise UnsupportedError(f"a loop of {trips} steps is run step by step")


def graph_attribute(node: onnx.NodeProto, name: str) -> onnx.GraphProto:
    """Errors: ModelError if there is none."""
    for attribute in node.attribute:
        if attribute.name == name and attribute.type == onnx.AttributeProto.GRAPH:
            return attribute.g
    raise NodeAttributeError(f"the attribute '{name}' is missing or no graph")


def known(scope: Scope, name: str, role: str) -> np.ndarray:
    """The contents of a tensor. Errors: RunTimeValueError if only a run has them."""
    array = scope.lookup(name).array
    if array is None:
        raise RunTimeValueError(
            f"{role} ('{name}') depends on the data of a run, but must be known when compiling", name
        )
    return array


def _expansion(nodes: list[onnx.NodeProto], step: Step, initializers: dict[str, onnx.TensorProto]) -> Expansion:
    return Expansion(step.inner(nodes), initializers)


EXPANDERS: dict[str, Callable[[Step, Scope], Expansion]] = {
    "If": _expand_if,
    "Loop": _expand_loop,
    "Scan": _expand_scan,
}
