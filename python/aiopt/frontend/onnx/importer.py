"""ONNX to a GRAPH-level module, node by node in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import onnx
from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ai import AiDialect
from aiopt.dialects.ext import to_ir
from aiopt.frontend.onnx.builder import Builder
from aiopt.frontend.onnx.functions import Functions, instantiate, operator_body, scope_graph
from aiopt.frontend.onnx.load import load, net_name
from aiopt.frontend.onnx.node import Node, node_name
from aiopt.frontend.onnx.registry import Handler, find
from aiopt.frontend.onnx.schema import check_node, domain_of
from aiopt.frontend.onnx.scope import Scope
from aiopt.frontend.onnx.signature import declared_dims, read_inputs
from aiopt.frontend.onnx.support import read_opsets, require_opset, require_supported
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import AioptError, IRError, ModelError, UnsupportedError
from aiopt.support.weights import WeightStore

# What a handler may raise on a broken node: everything in a model is untrusted.
_BROKEN = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError, ir.MLIRError)  # pyright: ignore[reportAttributeAccessIssue]


def import_model(
    model: str | Path | bytes | onnx.ModelProto,
    context: ir.Context,
    shapes: Mapping[str, Sequence[int]] | None = None,
) -> tuple[ir.Module, WeightStore]:
    """Import an ONNX model as a GRAPH-level module (docs/levels.md) and the values of its constants.

    shapes: the full shape of each input the model gives no fixed one, by name.
    Errors: ModelError if it cannot be read or is broken, UnsupportedError if it uses what aiopt does not have,
    InputError if shapes are missing or do not fit.
    Source: ONNX IR specification; operators as in aiopt.frontend.onnx.ops.
    """
    proto, source = load(model)
    require_opset(proto, source)
    functions, opsets = Functions(proto.functions), read_opsets(proto.opset_import)
    require_supported(proto, opsets, functions)
    weights = WeightStore()
    AiDialect.load(context)
    with context, ir.Location.unknown(context):
        module = ir.Module.create()
        attributes = module.operation.attributes
        attributes["ai.level"] = ir.StringAttr.get("graph")
        attributes["ai.net"] = ir.StringAttr.get(net_name(model, proto.graph.name))
        with ir.InsertionPoint(module.body):
            _import_graph(proto.graph, _Rules(opsets, functions, Builder(weights)), shapes)
    return module, weights


@dataclass(frozen=True)
class _Rules:
    """What the nodes of a graph or of a function's body are read by."""

    opsets: Mapping[str, int]
    functions: Functions
    builder: Builder


def _import_graph(graph: onnx.GraphProto, rules: _Rules, shapes: Mapping[str, Sequence[int]] | None) -> None:
    """Build @main at the current insertion point."""
    inputs = read_inputs(graph, shapes)
    main = func.FuncOp("main", ([to_ir(kind) for kind in inputs.values()], []))
    block, scope = main.add_entry_block([ir.Location.name(name) for name in inputs]), Scope(graph)
    for name, argument in zip(inputs, block.arguments, strict=True):
        scope.define(name, Value.made(argument))
    with ir.InsertionPoint(block):
        for proto in graph.node:
            with ir.Location.name(node_name(proto)):
                _import_node(proto, rules, scope)
        results = [_output(value, rules.builder, scope, bool(shapes)) for value in graph.output]
        func.ReturnOp(results)
    main.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([argument.type for argument in block.arguments], [result.type for result in results])
    )
    main.attributes["arg_attrs"] = _names(list(inputs))
    main.attributes["res_attrs"] = _names([value.name for value in graph.output])


def _import_node(proto: onnx.NodeProto, rules: _Rules, scope: Scope) -> None:
    opset = rules.opsets.get(domain_of(proto), 0)
    try:
        inputs = [scope.lookup(name) if name else None for name in proto.input]
        values = _compute(proto, inputs, opset, rules)
        for name, value in zip(proto.output, values, strict=False):
            if value is not None:
                scope.define(name, value)
        _require_outputs(proto, len(values), scope)
    except AioptError as error:
        kind = ModelError if isinstance(error, IRError) else type(error)
        raise kind(f"{_where(proto, opset)}: {error}") from error
    except _BROKEN as error:
        raise ModelError(f"{_where(proto, opset)}: {type(error).__name__}: {error}") from error


def _compute(
    proto: onnx.NodeProto, inputs: Sequence[Value | None], opset: int, rules: _Rules
) -> Sequence[Value | None]:
    """The outputs of a node: by the function it calls, by the operator's handler, or by the body ONNX gives it."""
    if (function := rules.functions.find(proto)) is not None:
        return _call(function, proto, inputs, rules)
    check_node(proto, opset, inputs)
    handler = find(proto.op_type, opset, domain_of(proto))
    if handler is None:
        return _call(operator_body(proto, opset, inputs), proto, inputs, rules)
    return _run(handler, Node(proto, opset, inputs, rules.builder))


def _run(handler: Handler, node: Node) -> Sequence[Value]:
    values = handler(node)
    if unread := node.attributes.unread():
        raise UnsupportedError(f"attribute '{unread[0]}' is not known for this operator and opset")
    return [values] if isinstance(values, Value) else values


def _call(
    function: onnx.FunctionProto, call: onnx.NodeProto, inputs: Sequence[Value | None], rules: _Rules
) -> Sequence[Value | None]:
    """Import the body of a function for one call; an output that the call leaves out is None."""
    nodes = instantiate(function, call)
    scope = Scope(scope_graph(function, nodes))
    for name, value in zip(function.input, inputs, strict=False):
        if value is not None:
            scope.define(name, value)
    inner = replace(rules, opsets={**rules.opsets, **read_opsets(function.opset_import)})
    for node in nodes:
        _import_node(node, inner, scope)
    return [scope.lookup(formal) if name else None for formal, name in zip(function.output, call.output, strict=False)]


def _require_outputs(proto: onnx.NodeProto, made: int, scope: Scope) -> None:
    for index, name in enumerate(proto.output):
        if index >= made and scope.is_used(name):
            raise UnsupportedError(f"its output {index} ('{name}') is used, but aiopt computes only {made} of them")


def _output(declared: onnx.ValueInfoProto, builder: Builder, scope: Scope, is_resized: bool) -> ir.Value:
    """The value of an output, which must be as the model declares it; sizes only if it fixes those of its inputs too.

    Exporters leave the sizes of the example they traced in outputs of models whose inputs are open.
    """
    name = declared.name
    try:
        value = scope.lookup(name)
    except ModelError as error:
        raise ModelError(f"output '{name}' of the model: {error}") from error
    code = declared.type.tensor_type.elem_type
    if code and (element := element_type(code, f"output '{name}'")) != value.element:
        raise ModelError(f"output '{name}' is declared with elements of type {element}, but has {value.element}")
    if (dims := declared_dims(declared)) is not None:
        sizes = zip(dims, value.shape, strict=False)
        if len(dims) != value.rank or (not is_resized and any(isinstance(d, int) and d != n for d, n in sizes)):
            shown = ", ".join("?" if dim is None else str(dim) for dim in dims)
            raise ModelError(f"output '{name}' is declared with shape [{shown}], but has {list(value.shape)}")
    return builder.materialize(value)


def _names(names: list[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(name)}) for name in names])


def _where(proto: onnx.NodeProto, opset: int) -> str:
    return f"node '{node_name(proto)}' ({proto.op_type}, opset {opset})"
