"""Whether a node is one its operator allows, by the onnx package's own operator schemas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import onnx
from onnx import defs, helper

from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import NodeAttributeError, NodeInputError

_MOST_OPSET = (1 << 31) - 1  # onnx.defs takes no more; a file may name any number of 64 bits
DEFAULT_DOMAINS = ("", "ai.onnx")
_NAMES = {"i1": "bool", "f32": "float", "f64": "double", "f16": "float16", "bf16": "bfloat16"}


def check_attributes(proto: onnx.NodeProto, opset: int) -> None:
    """The node has no attributes but those of its operator in this opset, each once and of its type.

    Operators that onnx has no schemas of are the handlers' business. Errors: ModelError.
    Source: onnx.defs.
    """
    for attribute in proto.attribute:
        if attribute.ref_attr_name:
            raise NodeAttributeError(f"attribute '{attribute.name}' refers to one of a function, but is in none")
    schema = find_schema(proto.op_type, opset, domain_of(proto))
    if schema is None:
        return
    seen: set[str] = set()
    for attribute in proto.attribute:
        name = attribute.name
        if name not in schema.attributes:
            known = ", ".join(sorted(schema.attributes)) or "none"
            raise NodeAttributeError(f"attribute '{name}' is none of the operator in this opset (it has: {known})")
        if name in seen:
            raise NodeAttributeError(f"attribute '{name}' is given twice")
        seen.add(name)
        wanted = schema.attributes[name].type.value
        if attribute.type != wanted:
            kinds = onnx.AttributeProto.AttributeType
            raise NodeAttributeError(
                f"attribute '{name}' must be of type {kinds.Name(wanted)}, but is {kinds.Name(attribute.type)}"
            )


def check_node(proto: onnx.NodeProto, opset: int, inputs: Sequence[Value | None], *, typed: bool = True) -> None:
    """How many inputs and outputs there are, and (typed) the element types of the inputs, and which must be alike.

    Absent optional inputs are the handlers' business, as are operators that onnx has no schemas of.
    Errors: ModelError.
    Source: onnx.defs.
    """
    schema = find_schema(proto.op_type, opset, domain_of(proto))
    if schema is None:
        return
    for kind, names, least, most in (
        ("input", proto.input, schema.min_input, schema.max_input),
        ("output", proto.output, schema.min_output, schema.max_output),
    ):
        given = max((index + 1 for index, name in enumerate(names) if name), default=0)
        if len(names) < least:
            raise NodeInputError(f"{kind} {len(names)} is missing")
        if given > most:
            raise NodeInputError(f"it has {given} {kind}s, but the operator has at most {most}")
    if typed:
        _check_types(schema, proto.input, inputs)


def _check_types(schema: Any, names: Sequence[str], inputs: Sequence[Value | None]) -> None:
    allowed = _constraints(schema.name, schema.since_version, schema.domain)
    bound: dict[str, tuple[str, int]] = {}  # type parameter -> the element type it stands for, and of which input
    for index, value in enumerate(inputs):
        if value is None:
            continue
        formal = schema.inputs[min(index, len(schema.inputs) - 1)]
        name = _onnx_type(value.element)
        types = allowed.get(formal.type_str, frozenset({formal.type_str}))
        where = f"input {index} ('{names[index]}')"
        if name not in types:
            listed = ", ".join(sorted(kind.removeprefix("tensor(").removesuffix(")") for kind in types))
            raise NodeInputError(f"{where} has elements of type {value.element}; the operator takes {listed} there")
        first, at = bound.setdefault(formal.type_str, (value.element, index))
        if first != value.element and formal.is_homogeneous:
            raise NodeInputError(
                f"{where} has elements of type {value.element}, but must have those of input {at}: {first}"
            )


def _onnx_type(element: str) -> str:
    """`ui8` -> `tensor(uint8)`"""
    return f"tensor({_NAMES.get(element) or element.replace('i', 'int')})"


def domain_of(node: onnx.NodeProto) -> str:
    """The domain of a node; that of ONNX's own operators is empty."""
    return "" if node.domain in DEFAULT_DOMAINS else node.domain


@cache
def find_schema(op_type: str, opset: int, domain: str = "") -> Any:
    """The schema (onnx.defs.OpSchema) of an operator in a model of this opset of its domain, or None."""
    if not 0 <= opset <= _MOST_OPSET:
        return None
    try:
        return defs.get_schema(op_type, opset, domain)
    except defs.SchemaError:
        return None


def type_proto(value: Value | None) -> onnx.TypeProto:
    """The ONNX type of a tensor; an empty one for an absent tensor."""
    if value is None:
        return onnx.TypeProto()
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(value.type.dtype), value.shape)


@cache
def _constraints(op_type: str, since: int, domain: str) -> Mapping[str, frozenset[str]]:
    """The allowed types of each type parameter."""
    schema = find_schema(op_type, since, domain)
    return {rule.type_param_str: frozenset(rule.allowed_type_strs) for rule in schema.type_constraints}
