"""Nodes that stand for other nodes: branches, loops of a known length, operators that ONNX defines by others.

Source: the function bodies in onnx.defs.
"""

from __future__ import annotations

import onnx
from onnx import defs, helper

from aiopt.frontend.onnx.control_flow import EXPANDERS, Expansion
from aiopt.frontend.onnx.part import DEFAULT_DOMAINS, Step
from aiopt.frontend.onnx.registry import find
from aiopt.frontend.onnx.scope import Scope
from aiopt.frontend.onnx.subgraph import Inliner, identities, label


def expand(step: Step, scope: Scope) -> Expansion | None:
    """What a step stands for; None for one with a handler of its own, or for which there is nothing.

    Errors: ModelError for a broken node, RunTimeValueError if it depends on a value that is not known,
    UnsupportedError for a loop that is not unrolled.
    """
    node = step.node
    if node.domain in DEFAULT_DOMAINS:
        if node.op_type in EXPANDERS:
            return EXPANDERS[node.op_type](step, scope)
        if find(node.op_type, step.opset) is not None:
            return None
    return _expand_function(step, scope)


def can_expand(step: Step) -> bool:
    """True if `expand` has a way for nodes like this one."""
    node = step.node
    if node.domain in DEFAULT_DOMAINS and node.op_type in EXPANDERS:
        return True
    schema = _schema(step)
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def _expand_function(step: Step, scope: Scope) -> Expansion | None:
    """The body that ONNX gives an operator, if it has one."""
    schema = _schema(step)
    if schema is None or not (schema.has_function or schema.has_context_dependent_function):
        return None
    function = onnx.FunctionProto()
    if schema.has_function:
        versions = [version for version in schema.function_opset_versions if version <= step.opset]
        if not versions:
            return None
        function.ParseFromString(schema.get_function_with_opset_version(max(versions)))
    else:
        versions = [v for v in schema.context_dependent_function_opset_versions if v <= step.opset]
        if not versions:
            return None
        types = [_type_of(scope, name).SerializeToString() for name in step.node.input]
        given = step.node.SerializeToString()
        function.ParseFromString(schema.get_context_dependent_function_with_opset_version(max(versions), given, types))
    defaults = {name: a.default_value for name, a in schema.attributes.items() if a.default_value.name}
    return _inline_function(function, step, defaults)


def _inline_function(function: onnx.FunctionProto, step: Step, defaults: dict[str, onnx.AttributeProto]) -> Expansion:
    node, prefix = step.node, f"{label(step.node)}/"
    given = [*node.input, *[""] * (len(function.input) - len(node.input))]
    inliner = Inliner(prefix, dict(zip(function.input, given, strict=False)))
    attributes = defaults | {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
    nodes = [_bind_attributes(inner, attributes) for inner in inliner.nodes(function.node)]
    nodes += identities([inliner.name(name) for name in function.output], node.output, prefix)
    opset = next((o.version for o in function.opset_import if o.domain in DEFAULT_DOMAINS), step.opset)
    return Expansion([Step(inner, opset) for inner in nodes])


def _bind_attributes(node: onnx.NodeProto, given: dict[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """Put the caller's attributes, or the function's defaults, where the body refers to them."""
    kept = []
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            kept.append(attribute)
        elif attribute.ref_attr_name in given:
            bound = onnx.AttributeProto()
            bound.CopyFrom(given[attribute.ref_attr_name])
            bound.name = attribute.name
            kept.append(bound)
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    del copy.attribute[:]
    copy.attribute.extend(kept)
    return copy


def _type_of(scope: Scope, name: str) -> onnx.TypeProto:
    if not name:
        return onnx.TypeProto()
    value = scope.lookup(name)
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.type.dtype), value.shape)


def _schema(step: Step) -> defs.OpSchema | None:
    if step.node.domain not in DEFAULT_DOMAINS:
        return None
    try:
        return defs.get_schema(step.node.op_type, step.opset, "")
    except defs.SchemaError:
        return None
