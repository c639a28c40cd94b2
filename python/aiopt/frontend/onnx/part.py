"""What is left of a model to be imported: nodes in order, the tensors they know, and what they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
import onnx

from aiopt.frontend.onnx.functions import Functions
from aiopt.frontend.onnx.load import load
from aiopt.frontend.onnx.node import node_name
from aiopt.frontend.onnx.registry import NEWEST_OPSET
from aiopt.frontend.onnx.schema import DEFAULT_DOMAINS, domain_of
from aiopt.support.errors import DefinitionError, ModelError, NestingError, UnsupportedOpsetError, UnsupportedTypeError
from aiopt.support.types import TensorType

DEEPEST = 50  # functions that call functions
MOST_SHOWN = 8  # inputs of a node in a message


@dataclass(frozen=True)
class Step:
    """A node, the opset of each domain it is written in, and the nodes it came from: functions, branches, loops."""

    node: onnx.NodeProto
    opsets: Mapping[str, int]
    callers: tuple[onnx.NodeProto, ...] = ()

    @property
    def opset(self) -> int:
        """That of the node's domain; 0 if the model names none."""
        return self.opsets.get(domain_of(self.node), 0)

    @property
    def place(self) -> str:
        """The name of the node of the model that it is, or came from."""
        return node_name(self.callers[0] if self.callers else self.node)

    def reads(self) -> set[str]:
        """Names of all tensors it reads, those that its subgraphs take from outside included."""
        return {name for name in self.node.input if name} | captured(self.node)

    def makes(self) -> list[str]:
        """Names of its outputs that are there."""
        return [name for name in self.node.output if name]

    def inner(self, nodes: Iterable[onnx.NodeProto], opsets: Mapping[str, int] | None = None) -> list[Step]:
        """Steps that stand for this one. Errors: ModelError if they are nested without end."""
        if len(self.callers) >= DEEPEST:
            raise NestingError(f"functions or graphs are nested more than {DEEPEST} deep")
        return [Step(node, opsets or self.opsets, (*self.callers, self.node)) for node in nodes]

    def describe(self, inputs: Mapping[str, TensorType] = MappingProxyType({})) -> str:
        """`node 'relu_3' (Relu, opset 17; x: 2x3xf32)`, those it came from before it. inputs: those that are known."""
        nodes = [f"node '{node_name(node)}' ({self._operator(node)})" for node in self.callers]
        shown = [f"{name}: {kind}" for name, kind in inputs.items()][:MOST_SHOWN]
        listed = f"; {', '.join(shown)}{', ...' if len(inputs) > MOST_SHOWN else ''}" if shown else ""
        return ": ".join([*nodes, f"node '{node_name(self.node)}' ({self._operator(self.node)}{listed})"])

    def _operator(self, node: onnx.NodeProto) -> str:
        domain = domain_of(node)
        return f"{domain}{'.' if domain else ''}{node.op_type}, opset {self.opsets.get(domain, 0)}"


@dataclass(frozen=True)
class Part:
    """A model or a part of one. initializers and arrays: tensors that are known, by name."""

    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, onnx.TensorProto] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    functions: Functions = field(default_factory=Functions)

    def reads(self) -> set[str]:
        """Names of all tensors that are read, or asked for."""
        return {name for step in self.steps for name in step.reads()} | set(self.outputs)


def read_model(model: object) -> tuple[onnx.ModelProto, Part]:
    """A model, and the whole of it as a part.

    Errors: ModelError if it cannot be read or is broken, UnsupportedError for an opset aiopt does not read.
    """
    proto, source, mapped = load(model)  # pyright: ignore[reportArgumentType]
    require_opset(proto, source)
    outputs = [value.name for value in proto.graph.output]
    if len(set(outputs)) != len(outputs):
        raise DefinitionError(f"two outputs of the model have one name (its outputs are {', '.join(outputs)})")
    part = read_graph(proto.graph, read_opsets(proto.opset_import), Functions(proto.functions))
    initializers = {name: tensor for name, tensor in part.initializers.items() if name not in mapped}
    return proto, replace(part, initializers=initializers, arrays=mapped)


def require_opset(proto: onnx.ModelProto, source: str) -> None:
    """The IR version is known, and there is one opset of ONNX's operators, one aiopt reads.

    Errors: ModelError, UnsupportedError.
    """
    if proto.ir_version > onnx.IR_VERSION:
        raise UnsupportedOpsetError(
            f"{source} is of ONNX's IR version {proto.ir_version}, but the onnx package here reads up to "
            f"{onnx.IR_VERSION}: install a newer one"
        )
    opsets = {entry.version for entry in proto.opset_import if entry.domain in DEFAULT_DOMAINS}
    if not opsets and all(domain_of(node) for node in proto.graph.node):
        return
    if len(opsets) != 1:
        raise ModelError(f"{source} must name one opset of ONNX's operators, but names {sorted(opsets) or 'none'}")
    opset = opsets.pop()
    if not 1 <= opset <= NEWEST_OPSET:
        raise UnsupportedOpsetError(
            f"{source} uses opset {opset} of ONNX's operators, but aiopt reads 1 to {NEWEST_OPSET}: "
            "convert it with onnx.version_converter or export it anew"
        )


def read_opsets(entries: Iterable[onnx.OperatorSetIdProto]) -> dict[str, int]:
    """The opset of each domain; ONNX's own domain is the empty one."""
    return {"" if entry.domain in DEFAULT_DOMAINS else entry.domain: entry.version for entry in entries}


def read_graph(graph: onnx.GraphProto, opsets: Mapping[str, int], functions: Functions) -> Part:
    """A graph as a part; of a body, whose outputs may be one tensor several times, each once.

    Errors: ModelError for names that stand twice, UnsupportedError for sparse initializers.
    """
    if graph.sparse_initializer:
        raise UnsupportedTypeError(f"initializer '{graph.sparse_initializer[0].values.name}' is sparse: not supported")
    initializers: dict[str, onnx.TensorProto] = {}
    for tensor in graph.initializer:
        if tensor.name in initializers:
            raise DefinitionError(f"two initializers are called '{tensor.name}'")
        initializers[tensor.name] = tensor
    outputs = tuple(dict.fromkeys(value.name for value in graph.output))
    steps = tuple(Step(node, opsets) for node in graph.node)
    return Part(steps, outputs, initializers, functions=functions)


def subgraphs(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """The graphs among its attributes."""
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.GRAPH:
            yield attribute.g
        yield from attribute.graphs


def captured(node: onnx.NodeProto) -> set[str]:
    """Names that the subgraphs of a node read from outside."""
    return {name for graph in subgraphs(node) for name in free_names(graph)}


def free_names(graph: onnx.GraphProto) -> set[str]:
    """Names that a graph reads and does not define."""
    defined = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    free: set[str] = set()
    for node in graph.node:
        free |= ({name for name in node.input if name} | captured(node)) - defined
        defined.update(node.output)
    return free | ({value.name for value in graph.output} - defined)
