"""Nodes that stand for other nodes: functions, branches, loops of a known length, operators ONNX defines by others,
those of old opsets."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from aiopt.frontend.onnx.control_flow import EXPANDERS, Expansion
from aiopt.frontend.onnx.functions import Functions, has_body, instantiate, operator_body
from aiopt.frontend.onnx.older import renew
from aiopt.frontend.onnx.part import Step, read_opsets
from aiopt.frontend.onnx.registry import find
from aiopt.frontend.onnx.schema import check_attributes, check_node, domain_of
from aiopt.frontend.onnx.scope import Scope
from aiopt.frontend.onnx.subgraph import Inliner, identities, label
from aiopt.frontend.onnx.values import Value


def expand(step: Step, scope: Scope, functions: Functions) -> Expansion | None:
    """What a step stands for; None for one with a handler of its own.

    Errors: ModelError for a broken node, RunTimeValueError if it depends on a value that is not known,
    UnsupportedError for a loop that is not unrolled and an operator that is not known.
    """
    node, domain = step.node, domain_of(step.node)
    if (function := functions.find(node)) is not None:
        return _inline(function, step)
    check_attributes(node, step.opset)
    if not domain and node.op_type in EXPANDERS:
        return EXPANDERS[node.op_type](step, scope)
    if (newer := renew(step, scope)) is not None:
        return newer
    if find(node.op_type, step.opset, domain) is not None:
        return None
    inputs = [scope.lookup(name) if name else None for name in node.input]
    body = operator_body(node, step.opset, inputs)
    check(step, inputs, functions)
    return _inline(body, step)


def check(step: Step, inputs: Sequence[Value | None], functions: Functions) -> None:
    """Check a node by the schema of its operator. Errors: ModelError.

    In a body that ONNX itself gives an operator, types are ONNX's business: SoftmaxCrossEntropyLoss-13 takes bf16, but
    is made of NegativeLogLikelihoodLoss-13, which does not.
    """
    by_onnx = any(
        functions.find(caller) is None and has_body(caller, step.opsets.get(domain_of(caller), 0))
        for caller in step.callers[-1:]
    )
    check_node(step.node, step.opset, inputs, typed=not by_onnx)


def _inline(function: onnx.FunctionProto, step: Step) -> Expansion:
    """The nodes of a function's body, what they define under names of the call."""
    node, prefix = step.node, f"{label(step.node)}/"
    nodes = instantiate(function, node)
    inliner = Inliner(prefix, {formal: name for formal, name in zip(function.input, node.input, strict=False) if name})
    nodes = inliner.nodes(nodes)
    nodes += identities([inliner.name(name) for name in function.output], node.output, prefix)
    return Expansion(step.inner(nodes, {**step.opsets, **read_opsets(function.opset_import)}))
