"""Whether a model is made of what aiopt has: all that is missing is said at once."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from aiopt.frontend.onnx.control_flow import EXPANDERS
from aiopt.frontend.onnx.functions import Functions, fixed_body, has_body
from aiopt.frontend.onnx.node import node_name
from aiopt.frontend.onnx.part import DEEPEST, Part, read_opsets
from aiopt.frontend.onnx.registry import OLDEST_OPSET, covered_opsets, find
from aiopt.frontend.onnx.schema import domain_of
from aiopt.support.errors import NestingError, UnsupportedOperatorError


def require_supported(part: Part) -> None:
    """Errors: UnsupportedError that lists the operators without a handler, once each, with their first node."""
    if missing := missing_operators(part):
        listed = "; ".join(f"{reason} at {_places(names)}" for reason, names in missing.items())
        raise UnsupportedOperatorError(f"the model uses operators aiopt does not have: {listed}")


def missing_operators(part: Part) -> dict[str, list[str]]:
    """The operators without a handler, in words, and the names of the nodes that have them."""
    missing: dict[str, list[str]] = {}
    search = _Search(part.functions)
    for step in part.steps:
        for reason in search.reasons(step.node, step.opsets, ()):
            missing.setdefault(reason, []).append(node_name(step.node))
    return missing


class _Search:
    """What nodes need that is not there; of functions, what their nodes need. Each body is looked at once."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._found: dict[tuple[str, str, str, int], list[str]] = {}

    def reasons(self, node: onnx.NodeProto, opsets: Mapping[str, int], within: tuple[str, ...]) -> list[str]:
        domain, name = domain_of(node), node.op_type
        opset = opsets.get(domain, 0) if domain else max(opsets.get(domain, 0), OLDEST_OPSET)  # older ones are renewed
        function = self._functions.find(node)
        if function is None:
            if find(name, opset, domain) is not None or (not domain and name in EXPANDERS):
                return []
            function = fixed_body(node, opset)
        if function is None:
            return [] if has_body(node, opset) else [_reason(node, opset)]
        key = (domain, name, node.overload, opset)
        if key not in self._found:
            calls = (*within, f"{domain}.{name}")
            if calls[-1] in within or len(calls) > DEEPEST:
                raise NestingError(
                    f"the function {name} (domain '{domain}') calls itself, or functions are nested too deep"
                )
            inner = {**opsets, **read_opsets(function.opset_import)}
            self._found[key] = [reason for body in function.node for reason in self.reasons(body, inner, calls)]
        return self._found[key]


def _reason(node: onnx.NodeProto, opset: int) -> str:
    if node.domain:
        return f"{node.op_type} (domain '{node.domain}', opset {opset or 'not given'})"
    known = covered_opsets(node.op_type)
    return f"{node.op_type} (opset {opset}{f'; it came with opset {known[0]}' if known else ''})"


def _places(names: list[str]) -> str:
    return f"node '{names[0]}'" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
