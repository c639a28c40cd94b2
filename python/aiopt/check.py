"""What of a model is compiled, and what is not, found out by the importer before anything is compiled."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import onnx
import onnx.checker
import onnx.shape_inference
from onnx import helper

from aiopt.frontend.onnx.importer import Deferred, import_model, import_part
from aiopt.frontend.onnx.load import net_name
from aiopt.frontend.onnx.part import Part, Step, free_names, read_graph, read_model, subgraphs
from aiopt.frontend.onnx.schema import domain_of
from aiopt.frontend.onnx.signature import declared_dims, foreign_inputs, foreign_names, read_inputs
from aiopt.frontend.onnx.support import missing_operators
from aiopt.frontend.onnx.tensors import element_type
from aiopt.passes import io
from aiopt.passes.interpret import output_types
from aiopt.source import read_source
from aiopt.staged.host import HostStep
from aiopt.staged.stages import fold, rest_of, split
from aiopt.support.errors import (
    AioptError,
    LimitError,
    ModelError,
    RunTimeValueError,
    UnsupportedError,
    UnsupportedOperatorError,
)
from aiopt.support.types import TensorType, has_element

Shapes = Mapping[str, Sequence[int]]
LATE, SLOW, UNSUPPORTED, BROKEN = "at run time", "slow route", "unsupported", "broken"
ASSUMED = 1  # the size of a dimension that the model leaves open and nobody gave
_KEPT = (UnsupportedError, ModelError)
_KIND = onnx.AttributeProto
_SHOWN = (_KIND.INT, _KIND.FLOAT, _KIND.STRING, _KIND.INTS, _KIND.FLOATS, _KIND.STRINGS)


@dataclass(frozen=True)
class Finding:
    """A node that is not compiled, or not before a run has got there.

    status: LATE (compiled by a run that knows what it depends on), SLOW (run by the onnx package's reference),
    UNSUPPORTED, or BROKEN (no valid node). node: the node of the model it is, or came from. inputs: their types, as far
    as they are known.
    """

    status: str
    node: str
    operator: str
    domain: str
    opset: int
    inputs: Mapping[str, str]
    attributes: Mapping[str, Any]
    code: str
    reason: str


@dataclass(frozen=True)
class Report:
    """All findings, in the order of the model; `assumed` are the shapes of inputs that the model leaves open."""

    nodes: int
    findings: tuple[Finding, ...]
    assumed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def is_supported(self) -> bool:
        """True if every node is compiled or run by the reference."""
        return all(finding.status not in (UNSUPPORTED, BROKEN) for finding in self.findings)

    def count(self, status: str) -> int:
        """How many of the model's nodes are of this status, or hold one that is."""
        return len({finding.node for finding in self.findings if finding.status == status})


def check_model(model: Any, shapes: Shapes | None = None) -> Report:
    """Look at every node of an ONNX model, with the importer that aiopt.compile uses.

    shapes: as of aiopt.compile. Without any, open dimensions are taken as 1, and the report says so.
    Raises ModelError, InputError and LimitError as aiopt.compile does for a model that is broken as a whole; broken
    nodes and what is not supported are in the report.
    """
    proto, part = read_model(model)
    assumed = {} if shapes else _assumed(model)
    try:
        return _check(proto, part, net_name(model, proto.graph.name), shapes or assumed, assumed)
    except ModelError as error:
        if assumed:
            raise error.at(f"with open dimensions taken as {ASSUMED} (--shape gives others)")  # noqa: B904
        raise


def _assumed(model: Any) -> dict[str, tuple[int, ...]]:
    """Shapes for inputs whose rank is known; of others the importer asks for the shape."""
    found = read_source(model).open_inputs.items()
    return {name: tuple(d if isinstance(d, int) else ASSUMED for d in dims) for name, dims in found if dims is not None}


def _check(proto: onnx.ModelProto, part: Part, name: str, shapes: Shapes | None, assumed: Shapes) -> Report:
    nodes, context = len(part.steps), io.new_context()
    stated = {name: tuple(shape) for name, shape in assumed.items()}
    try:
        import_model(proto, context, shapes)
        return Report(nodes, (), stated)
    except LimitError:
        raise
    except (UnsupportedError, ModelError) as error:
        first = error
    foreign = foreign_inputs(proto.graph)
    types = read_inputs(proto.graph, shapes, foreign)
    inspector = _Inspector(name, _inferred(proto, types))
    inspector.inspect(part, types, foreign)
    if not inspector.findings and isinstance(first, ModelError):
        raise first
    if not inspector.findings:  # an output that no net gives
        inspector.findings.append(Finding(LATE, name, "", "", 0, {}, {}, first.code, str(first)))
    return Report(nodes, tuple(inspector.findings), stated)


@dataclass
class _Tensors:
    """Tensors by name, as far as the inspector has come."""

    types: dict[str, TensorType]
    foreign: set[str]
    unknown: set[str]

    def define(self, step: Step, inferred: Mapping[str, TensorType | None]) -> None:
        """Add what a step makes that is not compiled."""
        for name in step.makes():
            kind = inferred.get(name)
            if kind is not None:
                self.types[name] = kind
            else:
                (self.foreign if name in inferred else self.unknown).add(name)


class _Inspector:
    """Goes through a part stage by stage, as aiopt.staged.stages does, but compiles nothing.

    A tensor from outside or of an earlier stage is known by its type, foreign (no net takes it), or of unknown type.
    """

    def __init__(self, name: str, inferred: Mapping[str, TensorType | None]) -> None:
        """inferred: what is known of tensors that the importer cannot know; None for foreign ones."""
        self.findings: list[Finding] = []
        self._name = name
        self._inferred = inferred

    def inspect(
        self, part: Part, types: Mapping[str, TensorType], foreign: Collection[str], outside: Collection[str] = ()
    ) -> None:
        """outside: names of tensors from outside that are of unknown type, unless they are in `types` or foreign."""
        tensors = _Tensors(dict(types), set(foreign), set(outside) - types.keys() - set(foreign))
        rest: Part | None = part
        while rest is not None:
            waiting, following = self._inspect_stage(rest, tensors)
            if following is not None and len(waiting) >= len(rest.steps):
                self._judge_waiting(following, tensors.unknown)
                return
            rest = following

    def _inspect_stage(self, part: Part, tensors: _Tensors) -> tuple[list[Deferred], Part | None]:
        """The steps of a part that wait for others, and the part they are."""
        reads = part.reads() - part.initializers.keys() - part.arrays.keys()
        given = {name: tensors.types[name] for name in sorted(reads & tensors.types.keys())}
        absent = reads & (tensors.foreign | tensors.unknown)
        imported = import_part(part, self._name, given, absent, io.new_context(), _KEPT)
        tensors.types |= output_types(imported.module)
        constants: dict[str, Any] = {**part.arrays, **imported.known}
        tensors.types |= {n: tensors.types[source] for n, source in imported.aliases.items() if source in tensors.types}
        have = {*given, *absent, *imported.results, *imported.aliases, *constants, *part.initializers}
        foreign = tensors.foreign | {name for name, value in constants.items() if not has_element(value.dtype)}

        def host(one: Deferred) -> HostStep | None:
            step = self._hosted(part, one)
            if step is not None:
                self._inspect_graphs(part, one.step, tensors)
            tensors.define(one.step, self._inferred)
            return step

        steps, left = split(self._sound(imported.deferred, tensors), have, foreign, host)
        fold(steps, constants)
        for one in left:
            if one.tensor:
                self._add(LATE, one.step, one.types, one.error)
                self._inspect_graphs(part, one.step, tensors)
                tensors.define(one.step, self._inferred)
        waiting = [one for one in left if not one.tensor]
        return waiting, rest_of(part, imported, constants, waiting)[0]

    def _sound(self, deferred: Iterable[Deferred], tensors: _Tensors) -> list[Deferred]:
        """All but those that are broken, which are findings."""
        sound = []
        for one in deferred:
            if isinstance(one.error, ModelError):
                self._add(BROKEN, one.step, one.types, one.error)
                tensors.define(one.step, self._inferred)
            else:
                sound.append(one)
        return sound

    def _hosted(self, part: Part, one: Deferred) -> HostStep | None:
        """What runs a step on the host, or None where nothing can; either is a finding."""
        try:
            step = HostStep(one.step, one.error, part.functions, _no_runner)
        except UnsupportedError as error:
            self._add(UNSUPPORTED, one.step, one.types, error)
            return None
        self._add(SLOW, one.step, one.types, one.error or UnsupportedError(step.reason))
        return step

    def _inspect_graphs(self, part: Part, step: Step, tensors: _Tensors) -> None:
        """Branches and bodies, which become nets of their own when a run takes them."""
        for graph in subgraphs(step.node):
            body = read_graph(graph, step.opsets, part.functions)
            declared, free = {value.name: _declared(value) for value in graph.input}, free_names(graph)
            types = {name: kind for name, kind in declared.items() if kind is not None}
            types |= {name: tensors.types[name] for name in free & tensors.types.keys()}
            known = {name: tensor for name, tensor in part.initializers.items() if name in free}
            arrays = {name: array for name, array in part.arrays.items() if name in free}
            body = replace(body, initializers={**known, **body.initializers}, arrays={**arrays, **body.arrays})
            inner = _Inspector(self._name, {})
            inner.inspect(body, types, free & tensors.foreign, declared.keys() | free)
            self.findings += [Finding(**{**vars(finding), "node": step.place}) for finding in inner.findings]

    def _judge_waiting(self, part: Part, unknown: set[str]) -> None:
        """Steps of which nothing but the operator can be said: the types of their inputs are not known."""
        for step in part.steps:
            names = sorted(step.reads() & unknown)
            unknown.update(step.makes())
            reasons = missing_operators(Part((step,), (), functions=part.functions))
            if not reasons:
                on = ", ".join(f"'{name}'" for name in names)
                self._add(LATE, step, {}, RunTimeValueError(f"{step.describe()}: its shapes depend on {on}", names[0]))
                continue
            error = UnsupportedOperatorError(f"{step.describe()}: aiopt does not have {'; '.join(reasons)}")
            self._hosted(part, Deferred(step, error))

    def _add(self, status: str, step: Step, types: Mapping[str, TensorType], error: AioptError | None) -> None:
        assert error is not None, "a step that is left has a reason"
        node = step.node
        inputs = {name: str(kind) for name, kind in types.items()}
        self.findings.append(
            Finding(
                status,
                step.place,
                node.op_type,
                domain_of(node),
                step.opset,
                inputs,
                dict(_attributes(node)),
                error.code,
                str(error),
            )
        )


def _no_runner(_part: Part, _name: str) -> Any:
    """Bodies are looked at, not run."""
    return None


def _inferred(proto: onnx.ModelProto, types: Mapping[str, TensorType]) -> dict[str, TensorType | None]:
    """What onnx's shape inference finds out, if the inputs are of these types: all of a type and shape, or foreign."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(proto)
    for value in fixed.graph.input:
        if value.name in types:
            element = helper.np_dtype_to_tensor_dtype(types[value.name].dtype)
            value.CopyFrom(helper.make_tensor_value_info(value.name, element, types[value.name].shape))
    try:
        graph = onnx.shape_inference.infer_shapes(fixed, data_prop=True).graph
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError, ValueError, RuntimeError):
        # it knows less than the importer
        return {}
    values = [value for value in (*graph.value_info, *graph.output) if _has_kind(value.type)]
    found: dict[str, TensorType | None] = dict.fromkeys(foreign_names(values))
    return found | {value.name: kind for value in values if (kind := _declared(value)) is not None}


def _has_kind(kind: onnx.TypeProto) -> bool:
    """True if it says what it is, of a tensor also of what."""
    return kind.WhichOneof("value") is not None and (not kind.HasField("tensor_type") or kind.tensor_type.elem_type > 0)


def _declared(value: onnx.ValueInfoProto) -> TensorType | None:
    """The type of a value, where all of it is said and aiopt has it."""
    dims = declared_dims(value)
    if dims is None:
        return None
    sizes = tuple(dim for dim in dims if isinstance(dim, int))
    try:
        element = element_type(value.type.tensor_type.elem_type, f"'{value.name}'")
    except AioptError:
        return None
    return TensorType(sizes, element) if len(sizes) == len(dims) else None


def _attributes(node: onnx.NodeProto) -> Iterable[tuple[str, Any]]:
    """Numbers and texts as they are, of all else the kind."""
    for attribute in node.attribute:
        is_shown = attribute.type in _SHOWN and not attribute.ref_attr_name
        value: Any = helper.get_attribute_value(attribute) if is_shown else None
        if isinstance(value, Sequence) and not isinstance(value, (bytes, str)):
            yield attribute.name, [_text(item) for item in value]
        elif value is not None:
            yield attribute.name, _text(value)
        else:
            yield attribute.name, onnx.AttributeProto.AttributeType.Name(attribute.type).lower()


def _text(value: Any) -> Any:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value
