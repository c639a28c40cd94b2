"""Whether a model is made of what aiopt has: all that is missing is said at once."""

from __future__ import annotations

import onnx

from aiopt.frontend.onnx.attributes import graph_attributes
from aiopt.frontend.onnx.node import node_name
from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets, find
from aiopt.support.errors import ModelError, UnsupportedError

_DEFAULT_DOMAINS = ("", "ai.onnx")


def default_opset(proto: onnx.ModelProto, source: str) -> int:
    """The opset of ONNX's own operators. Errors: ModelError if none is given, UnsupportedError out of range."""
    opsets = {entry.version for entry in proto.opset_import if entry.domain in _DEFAULT_DOMAINS}
    if len(opsets) != 1:
        raise ModelError(f"{source} must name one opset of ONNX's operators, but names {sorted(opsets) or 'none'}")
    opset = opsets.pop()
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise UnsupportedError(
            f"{source} uses opset {opset} of ONNX's operators, but aiopt reads {OLDEST_OPSET} to {NEWEST_OPSET}: "
            "convert it with onnx.version_converter or export it anew"
        )
    return opset


def require_supported(proto: onnx.ModelProto, opset: int) -> None:
    """Errors: UnsupportedError that lists the operators without a handler, once each, with their first node."""
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    functions = {(function.domain, function.name) for function in proto.functions}
    missing: dict[str, list[str]] = {}
    for node in proto.graph.node:
        if reason := _reason(node, opset, versions, functions):
            missing.setdefault(reason, []).append(node_name(node))
    if missing:
        listed = "; ".join(f"{reason} at {_places(names)}" for reason, names in missing.items())
        raise UnsupportedError(f"the model uses operators aiopt does not have: {listed}")


def _reason(node: onnx.NodeProto, opset: int, versions: dict[str, int], functions: set[tuple[str, str]]) -> str:
    if (node.domain, node.op_type) in functions:
        return f"{node.op_type} (a function of the model, domain '{node.domain}')"
    if node.domain not in _DEFAULT_DOMAINS:
        return f"{node.op_type} (domain '{node.domain}', opset {versions.get(node.domain, 'not given')})"
    if graph_attributes(node):
        return f"{node.op_type} (opset {opset}, holds a subgraph)"
    if find(node.op_type, opset) is None:
        known = covered_opsets(node.op_type)
        return f"{node.op_type} (opset {opset}{f'; it came with opset {known[0]}' if known else ''})"
    return ""


def _places(names: list[str]) -> str:
    return f"node '{names[0]}'" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
