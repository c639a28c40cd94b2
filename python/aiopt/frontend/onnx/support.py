"""Whether a model is made of what aiopt has: all that is missing is said at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from aiopt.frontend.onnx.control_flow import EXPANDERS
from aiopt.frontend.onnx.functions import Functions, fixed_body, has_body
from aiopt.frontend.onnx.node import node_name
from aiopt.frontend.onnx.part import DEEPEST, Part, read_opsets
from aiopt.frontend.onnx.registry import OLDEST_OPSET, covered_opsets, find
from aiopt.frontend.onnx.schema import domain_of
from aiopt.support.errors import LimitError, NestingError, UnsupportedOperatorError

_MOST_NODES = 1 << 20  # that all calls of functions stand for


def require_supported(part: Part) -> None:
    """Errors: UnsupportedError that lists the operators without a handler, once each, with their first node."""
    if missing := missing_operators(part):
        listed = "; ".join(f"{reason} at {_places(names)}" for reason, names in missing.items())
        raise UnsupportedOperatorError(f"the model uses operators aiopt does not have: {listed}")


def missing_operators(part: Part) -> dict[str, list[str]]:
    """The operators without a handler, in words, and the names of the nodes that have them."""
    missing: dict[str, list[str]] = {}
    search, count = _Search(part.functions), 0
    for step in part.steps:
        need = search.need(step.node, step.opsets, ())
        count += need.nodes
        if count > _MOST_NODES:
            raise LimitError(f"node '{node_name(step.node)}': with it, functions stand for over {_MOST_NODES} nodes")
        for reason in need.missing:
            missing.setdefault(reason, []).append(node_name(step.node))
    return missing


@dataclass(frozen=True)
class _Need:
    """What a node stands for, the functions it calls expanded: the operators that are missing, once each."""

    missing: tuple[str, ...] = ()
    nodes: int = 1


class _Search:
    """What nodes need. The body of each function is looked at once."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions
        self._found: dict[tuple[str, str, str, int], _Need] = {}

    def need(self, node: onnx.NodeProto, opsets: Mapping[str, int], within: tuple[str, ...]) -> _Need:
        domain, name = domain_of(node), node.op_type
        opset = opsets.get(domain, 0) if domain else max(opsets.get(domain, 0), OLDEST_OPSET)  # older ones are renewed
        function = self._functions.find(node)
        if function is None:
            if find(name, opset, domain) is not None or (not domain and name in EXPANDERS):
                return _Need()
            function = fixed_body(node, opset)
        if function is None:
            return _Need() if has_body(node, opset) else _Need((_reason(node, opset),))
        key = (domain, name, node.overload, opset)
        if key not in self._found:
            calls = (*within, f"{domain}.{name}")
            if calls[-1] in within or len(calls) > DEEPEST:
                raise NestingError(
                    f"the function {name} (domain '{domain}') calls itself, or functions are nested too deep"
                )
            inner = {**opsets, **read_opsets(function.opset_import)}
            needs = [self.need(body, inner, calls) for body in function.node]
            missing = dict.fromkeys(reason for need in needs for reason in need.missing)
            self._found[key] = _Need(tuple(missing), sum(need.nodes for need in needs))
        return self._found[key]


def _reason(node: onnx.NodeProto, opset: int) -> str:
    if node.domain:
        return f"{node.op_type} (domain '{node.domain}', opset {opset or 'not given'})"
    known = covered_opsets(node.op_type)
    return f"{node.op_type} (opset {opset}{f'; it came with opset {known[0]}' if known else ''})"


def _places(names: list[str]) -> str:
    return f"node '{names[0]}'" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
