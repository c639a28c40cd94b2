"""Whether a model is made of what aiopt has: all that is missing is said at once."""

from __future__ import annotations

import onnx

from aiopt.frontend.onnx.expand import can_expand
from aiopt.frontend.onnx.node import node_name
from aiopt.frontend.onnx.part import DEFAULT_DOMAINS, Part, Step
from aiopt.frontend.onnx.registry import covered_opsets, find
from aiopt.support.errors import UnsupportedError


def require_supported(proto: onnx.ModelProto, part: Part) -> None:
    """Errors: UnsupportedError that lists the operators without a handler, once each, with their first node."""
    versions = {entry.domain: entry.version for entry in proto.opset_import}
    missing: dict[str, list[str]] = {}
    for step in part.steps:
        if reason := _reason(step, versions):
            missing.setdefault(reason, []).append(node_name(step.node))
    if missing:
        listed = "; ".join(f"{reason} at {_places(names)}" for reason, names in missing.items())
        raise UnsupportedError(f"the model uses operators aiopt does not have: {listed}")


def _reason(step: Step, versions: dict[str, int]) -> str:
    node, opset = step.node, step.opset
    if node.domain not in DEFAULT_DOMAINS:
        return f"{node.op_type} (domain '{node.domain}', opset {versions.get(node.domain, 'not given')})"
    if find(node.op_type, opset) is None and not can_expand(step):
        known = covered_opsets(node.op_type)
        return f"{node.op_type} (opset {opset}{f'; it came with opset {known[0]}' if known else ''})"
    return ""


def _places(names: list[str]) -> str:
    return f"node '{names[0]}'" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
