"""Nodes that stand for others: functions of the model, and operators that ONNX defines by a body of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx
from google.protobuf.message import DecodeError
from onnx import AttributeProto

from aiopt.frontend.onnx.schema import domain_of, find_schema, type_proto
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import DefinitionError, NodeInputError, UnsupportedOperatorError

_REFERENCE_KINDS = (AttributeProto.GRAPH, AttributeProto.GRAPHS)


class Functions:
    """The functions of a model by domain, name and overload. Errors: ModelError if two are one."""

    def __init__(self, functions: Iterable[onnx.FunctionProto] = ()) -> None:
        self._functions: dict[tuple[str, str, str], onnx.FunctionProto] = {}
        for function in functions:
            key = (function.domain, function.name, function.overload)
            if key in self._functions:
                raise DefinitionError(
                    f"two functions of the model are called '{function.name}' (domain '{function.domain}')"
                )
            self._functions[key] = function

    def find(self, node: onnx.NodeProto) -> onnx.FunctionProto | None:
        """The function of the model that a node calls, or None."""
        return self._functions.get((node.domain, node.op_type, node.overload))


def fixed_body(node: onnx.NodeProto, opset: int) -> onnx.FunctionProto | None:
    """The body that ONNX gives an operator whatever its inputs are, or None."""
    schema = find_schema(node.op_type, opset, domain_of(node))
    if schema is None or not schema.has_function:
        return None
    return _parse(schema.get_function_with_opset_version(_nearest(schema.function_opset_versions, opset)), node)


def has_body(node: onnx.NodeProto, opset: int) -> bool:
    """True if ONNX defines this operator by others."""
    schema = find_schema(node.op_type, opset, domain_of(node))
    return schema is not None and (schema.has_function or schema.has_context_dependent_function)


def operator_body(node: onnx.NodeProto, opset: int, inputs: Sequence[Value | None]) -> onnx.FunctionProto:
    """The body that ONNX gives an operator for inputs of these types. Errors: UnsupportedError if it gives none."""
    if (body := fixed_body(node, opset)) is not None:
        return body
    schema = find_schema(node.op_type, opset, domain_of(node))
    if schema is None or not schema.has_context_dependent_function:
        raise UnsupportedOperatorError("aiopt has no such operator")
    version = _nearest(schema.context_dependent_function_opset_versions, opset)
    types = [type_proto(value).SerializeToString() for value in inputs]
    body = schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), types)
    if not body:
        raise UnsupportedOperatorError(
            "aiopt reads this operator as ONNX defines it by others, which it does not for this use"
        )
    return _parse(body, node)


def instantiate(function: onnx.FunctionProto, call: onnx.NodeProto) -> list[onnx.NodeProto]:
    """The nodes of a body for one call: references to attributes replaced, inputs the call leaves out are absent.

    An attribute without a default that the call leaves out is absent where the body refers to it (as in onnx.inliner).
    Errors: ModelError if the call has more inputs or outputs than the function.
    """
    for kind, given, formal in (("inputs", call.input, function.input), ("outputs", call.output, function.output)):
        if len(given) > len(formal):
            raise NodeInputError(f"it has {len(given)} {kind}, but the function has {len(formal)}")
    attributes = {**_defaults(function, call), **{attribute.name: attribute for attribute in call.attribute}}
    absent = {name for index, name in enumerate(function.input) if index >= len(call.input) or not call.input[index]}
    return [_bind(node, attributes, absent) for node in function.node]


def _bind(node: onnx.NodeProto, attributes: Mapping[str, AttributeProto], absent: set[str]) -> onnx.NodeProto:
    bound = onnx.NodeProto()
    bound.CopyFrom(node)
    bound.input[:] = ["" if name in absent else name for name in node.input]
    del bound.attribute[:]
    for attribute in node.attribute:
        if not attribute.ref_attr_name:
            bound.attribute.append(_bind_graphs(attribute, attributes, absent))
        elif attribute.ref_attr_name in attributes:
            copy = bound.attribute.add()
            copy.CopyFrom(attributes[attribute.ref_attr_name])
            copy.name = attribute.name
    return bound


def _bind_graphs(attribute: AttributeProto, attributes: Mapping[str, Any], absent: set[str]) -> AttributeProto:
    """The attribute with the nodes of its subgraphs bound."""
    if attribute.type not in _REFERENCE_KINDS:
        return attribute
    copy = AttributeProto()
    copy.CopyFrom(attribute)
    for graph in [copy.g] if attribute.type == AttributeProto.GRAPH else copy.graphs:
        nodes = [_bind(node, attributes, absent) for node in graph.node]
        del graph.node[:]
        graph.node.extend(nodes)
    return copy


def _defaults(function: onnx.FunctionProto, call: onnx.NodeProto) -> dict[str, AttributeProto]:
    defaults = {attribute.name: attribute for attribute in function.attribute_proto}
    opset = next((entry.version for entry in function.opset_import if entry.domain == domain_of(call)), None)
    schema = None if opset is None else find_schema(call.op_type, opset, domain_of(call))
    for name, declared in (schema.attributes if schema else {}).items():
        if declared.default_value.type != AttributeProto.UNDEFINED:
            defaults.setdefault(name, declared.default_value)
    return defaults


def _nearest(versions: Sequence[int], opset: int) -> int:
    """The newest body that is not newer than the opset; else the first, which is written in a newer one."""
    return max((version for version in versions if version <= opset), default=min(versions))


def _parse(data: bytes, node: onnx.NodeProto) -> onnx.FunctionProto:
    try:
        return onnx.FunctionProto.FromString(data)
    except DecodeError as error:
        raise UnsupportedOperatorError(f"the onnx package gives no body for {node.op_type}: {error}") from error
