"""ONNX to a GRAPH-level module, node by node in the order of the file."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ai import AiDialect
from aiopt.dialects.ext import to_ir
from aiopt.frontend.onnx.builder import Builder, require_possible
from aiopt.frontend.onnx.expand import check, expand
from aiopt.frontend.onnx.functions import Functions
from aiopt.frontend.onnx.load import net_name
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.part import Part, Step, read_model
from aiopt.frontend.onnx.registry import Handler, find
from aiopt.frontend.onnx.schema import domain_of
from aiopt.frontend.onnx.scope import Scope
from aiopt.frontend.onnx.signature import declared_dims, read_inputs
from aiopt.frontend.onnx.support import require_supported
from aiopt.frontend.onnx.tensors import element_type
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import (
    AioptError,
    DeclarationError,
    IRError,
    LimitError,
    ModelError,
    RunTimeValueError,
    UnsupportedAttributeError,
    UnsupportedError,
)
from aiopt.support.types import TensorType, has_element
from aiopt.support.weights import WeightStore

# What a handler may raise on a broken node: everything in a model is untrusted.
_BROKEN = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, ir.MLIRError)  # pyright: ignore[reportAttributeAccessIssue]


@dataclass(frozen=True)
class Deferred:
    """A step that cannot be imported yet: it waits for others (no error), needs `tensor` known, has no lowering, or is
    broken (a ModelError).

    types: its inputs and their types, as far as they are known.
    """

    step: Step
    error: AioptError | None = None
    types: Mapping[str, TensorType] = field(default_factory=dict)

    @property
    def tensor(self) -> str:
        """The tensor whose contents must be known, or nothing."""
        return self.error.tensor if isinstance(self.error, RunTimeValueError) else ""


@dataclass(frozen=True)
class Imported:
    """What became of a part: a module that makes `results`, tensors that are known, names that stand for inputs.

    initializers: constants of the part and of what was expanded in it.
    deferred: the steps that are left, in order; empty if the module is all of the part.
    """

    module: ir.Module
    weights: WeightStore
    results: tuple[str, ...]
    known: Mapping[str, np.ndarray]
    aliases: Mapping[str, str]
    initializers: Mapping[str, onnx.TensorProto]
    deferred: tuple[Deferred, ...]


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
    proto, part = read_model(model)
    require_supported(part)
    module, weights = _new_module(context, net_name(model, proto.graph.name)), WeightStore()
    with context, ir.Location.unknown(context), ir.InsertionPoint(module.body):
        main = _Main(part, read_inputs(proto.graph, shapes), weights)
        main.run(())
        main.finish([_output(value, main, bool(shapes)) for value in proto.graph.output], part.outputs)
    return module, weights


def import_part(
    part: Part,
    name: str,
    inputs: Mapping[str, TensorType],
    absent: Collection[str],
    context: ir.Context,
    keep: tuple[type[AioptError], ...] = (UnsupportedError,),
) -> Imported:
    """Import as much of a part as can be computed from these inputs without knowing what they hold.

    absent: names that exist when the part is run, but are no tensors a net could take.
    keep: the errors with which a step is deferred; others are raised.
    Errors: ModelError if the part is broken, LimitError.
    """
    module, weights = _new_module(context, name), WeightStore()
    with context, ir.Location.unknown(context), ir.InsertionPoint(module.body):
        main = _Main(part, inputs, weights, absent)
        main.run(keep)
        known, aliases, results = main.live()
        main.finish(list(results.values()), tuple(results))
    return Imported(module, weights, tuple(results), known, aliases, main.scope.initializers, tuple(main.deferred))


def _new_module(context: ir.Context, name: str) -> ir.Module:
    AiDialect.load(context)
    with context, ir.Location.unknown(context):
        module = ir.Module.create()
        module.operation.attributes["ai.level"] = ir.StringAttr.get("graph")
        module.operation.attributes["ai.net"] = ir.StringAttr.get(name)
    return module


class _Main:
    """Builds @main at the current insertion point."""

    def __init__(
        self, part: Part, inputs: Mapping[str, TensorType], weights: WeightStore, absent: Collection[str] = ()
    ) -> None:
        self.part = part
        self.builder = Builder(weights)
        self.deferred: list[Deferred] = []
        self._used = part.reads()
        self._pending = set(absent)  # names that only a later stage has
        self.scope = Scope(part.initializers, self._used, {name for step in part.steps for name in step.makes()})
        self._inputs = dict(inputs)
        for name, kind in inputs.items():
            require_possible(kind, f"input '{name}'")
        self._function = func.FuncOp("main", ([to_ir(kind) for kind in inputs.values()], []))
        self._block = self._function.add_entry_block([ir.Location.name(name) for name in inputs])
        for name, argument in zip(inputs, self._block.arguments, strict=True):
            self.scope.define(name, Value.made(argument))
        for name, array in part.arrays.items():
            if has_element(array.dtype):
                self.scope.define(name, Value.known(array, name))
            else:
                self._pending.add(name)

    def run(self, keep: tuple[type[AioptError], ...]) -> None:
        """Import all steps. keep: the errors with which a step is deferred; others are raised."""
        queue = deque(self.part.steps)
        with ir.InsertionPoint(self._block):
            while queue:
                step = queue.popleft()
                if step.reads() & self._pending:
                    self._defer(Deferred(step))
                    continue
                try:
                    queue.extendleft(reversed(self._import(step)))
                except LimitError:
                    raise
                except keep as error:
                    self._defer(Deferred(step, error, self.scope.types(step.node.input)))

    def finish(self, results: Sequence[ir.Value], names: Sequence[str]) -> None:
        """End @main and give it its type."""
        with ir.InsertionPoint(self._block):
            func.ReturnOp(list(results))
        types = [argument.type for argument in self._block.arguments]
        attributes = self._function.attributes
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, [result.type for result in results]))
        attributes["arg_attrs"] = _names(list(self._inputs))
        attributes["res_attrs"] = _names(list(names))

    def result(self, value: Value) -> ir.Value:
        """A value in the IR."""
        with ir.InsertionPoint(self._block):
            return self.builder.materialize(value)

    def live(self) -> tuple[dict[str, np.ndarray], dict[str, str], dict[str, ir.Value]]:
        """What the deferred steps and the outputs need: known tensors, inputs under another name, made ones."""
        whole = [left.step for left in self.deferred if not isinstance(left.error, ModelError)]
        needed = {name for step in whole for name in step.reads()} | set(self.part.outputs)
        known: dict[str, np.ndarray] = {}
        aliases: dict[str, str] = {}
        results: dict[str, ir.Value] = {}
        arguments = dict(zip(self._block.arguments, self._inputs, strict=True))
        for name in sorted(needed - self._pending - set(self._inputs)):
            if (array := self.scope.foreign(name)) is not None:
                known[name] = array
                continue
            value = self.scope.lookup(name)
            if value.array is not None:
                known[name] = value.array
            elif value.tensor in arguments:
                aliases[name] = arguments[value.tensor]
            else:
                assert value.tensor is not None, "a value is known or made"
                results[name] = value.tensor
        return known, aliases, results

    def _defer(self, deferred: Deferred) -> None:
        self.deferred.append(deferred)
        self._pending.update(deferred.step.makes())

    def _import(self, step: Step) -> list[Step]:
        """Import one step, or give those it stands for."""
        try:
            with ir.Location.name(step.place):
                if (expansion := expand(step, self.scope, self.part.functions)) is not None:
                    self.scope.add_initializers(expansion.initializers)
                    self._used |= {name for inner in expansion.steps for name in inner.reads()}
                    return expansion.steps
                _import_node(step, self.builder, self.scope, self.part.functions)
                return []
        except IRError as error:
            raise ModelError(f"{self._describe(step)}: {error}") from error
        except AioptError as error:
            raise error.at(self._describe(step))  # noqa: B904
        except MemoryError as error:
            raise LimitError(f"{self._describe(step)}: there is not enough memory for its constants") from error
        except _BROKEN as error:
            raise ModelError(f"{self._describe(step)}: {type(error).__name__}: {error}") from error

    def _describe(self, step: Step) -> str:
        return step.describe(self.scope.types(step.node.input))


def _import_node(step: Step, builder: Builder, scope: Scope, functions: Functions) -> None:
    node = step.node
    handler = find(node.op_type, step.opset, domain_of(node))
    assert handler is not None, "other nodes are expanded"
    inputs = [scope.lookup(name) if name else None for name in node.input]
    check(step, inputs, functions)
    values = _run(handler, Node(node, step.opset, inputs, builder))
    for index, name in enumerate(node.output):
        value = values[index] if index < len(values) else None
        if value is not None:
            scope.define(name, value)
        elif scope.is_used(name):
            raise UnsupportedError(f"its output {index} ('{name}') is used, but aiopt does not compute it")


def _run(handler: Handler, node: Node) -> Sequence[Value | None]:
    values = handler(node)
    if unread := node.attributes.unread():
        raise UnsupportedAttributeError(f"attribute '{unread[0]}' is not known for this operator and opset")
    return [values] if isinstance(values, Value) else values


def _output(declared: onnx.ValueInfoProto, main: _Main, is_resized: bool) -> ir.Value:
    """The value of an output, which must be as the model declares it; sizes only if it fixes those of its inputs too.

    Exporters leave the sizes of the example they traced in outputs of models whose inputs are open.
    """
    name = declared.name
    try:
        value = main.scope.lookup(name)
    except ModelError as error:
        raise error.at(f"output '{name}' of the model")  # noqa: B904
    code = declared.type.tensor_type.elem_type
    if code and (element := element_type(code, f"output '{name}'")) != value.element:
        raise DeclarationError(f"output '{name}' is declared with elements of type {element}, but has {value.element}")
    if (dims := declared_dims(declared)) is not None:
        sizes = zip(dims, value.shape, strict=False)
        if len(dims) != value.rank or (not is_resized and any(isinstance(d, int) and d != n for d, n in sizes)):
            shown = ", ".join("?" if dim is None else str(dim) for dim in dims)
            raise DeclarationError(f"output '{name}' is declared with shape [{shown}], but has {list(value.shape)}")
    return main.result(value)


def _names(names: list[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(name)}) for name in names])
