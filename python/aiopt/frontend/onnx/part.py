"""What is left of a model to be imported: nodes in order, the tensors they know, and what they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import inliner

from aiopt.frontend.onnx.load import load
from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET
from aiopt.support.errors import ModelError, UnsupportedError

DEFAULT_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True)
class Step:
    """A node and the opset of ONNX's own operators in which it is written."""

    node: onnx.NodeProto
    opset: int

    def reads(self) -> set[str]:
        """Names of all tensors it reads, those that its subgraphs take from outside included."""
        return {name for name in self.node.input if name} | captured(self.node)

    def makes(self) -> list[str]:
        """Names of its outputs that are there."""
        return [name for name in self.node.output if name]


@dataclass(frozen=True)
class Part:
    """A model or a part of one. initializers and arrays: tensors that are known, by name."""

    steps: tuple[Step, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, onnx.TensorProto] = field(default_factory=dict)
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    domains: Mapping[str, int] = field(default_factory=dict)  # opsets of the other domains

    def reads(self) -> set[str]:
        """Names of all tensors that are read, or asked for."""
        return {name for step in self.steps for name in step.reads()} | set(self.outputs)


def read_model(model: object) -> tuple[onnx.ModelProto, Part]:
    """A model, its functions put in place of their calls, and the whole of it as a part.

    Errors: ModelError if it cannot be read or is broken, UnsupportedError for an opset aiopt does not read.
    """
    proto, source = load(model)  # pyright: ignore[reportArgumentType]
    opset = default_opset(proto, source)
    if proto.functions:
        proto = inliner.inline_local_functions(proto)
    domains = {entry.domain: entry.version for entry in proto.opset_import if entry.domain not in DEFAULT_DOMAINS}
    return proto, read_graph(proto.graph, opset, domains)


def default_opset(proto: onnx.ModelProto, source: str) -> int:
    """The opset of ONNX's own operators. Errors: ModelError if none is given, UnsupportedError out of range."""
    opsets = {entry.version for entry in proto.opset_import if entry.domain in DEFAULT_DOMAINS}
    if len(opsets) != 1:
        raise ModelError(f"{source} must name one opset of ONNX's operators, but names {sorted(opsets) or 'none'}")
    opset = opsets.pop()
    if not OLDEST_OPSET <= opset <= NEWEST_OPSET:
        raise UnsupportedError(
            f"{source} uses opset {opset} of ONNX's operators, but aiopt reads {OLDEST_OPSET} to {NEWEST_OPSET}: "
            "convert it with onnx.version_converter or export it anew"
        )
    return opset


def read_graph(graph: onnx.GraphProto, opset: int, domains: Mapping[str, int]) -> Part:
    """A graph as a part. Errors: ModelError for names that stand twice, UnsupportedError for sparse initializers."""
    if graph.sparse_initializer:
        raise UnsupportedError(f"initializer '{graph.sparse_initializer[0].values.name}' is sparse: not supported")
    initializers: dict[str, onnx.TensorProto] = {}
    for tensor in graph.initializer:
        if tensor.name in initializers:
            raise ModelError(f"two initializers are called '{tensor.name}'")
        initializers[tensor.name] = tensor
    outputs = tuple(value.name for value in graph.output)
    if len(set(outputs)) != len(outputs):
        raise ModelError(f"two outputs of the model have one name (its outputs are {', '.join(outputs)})")
    return Part(tuple(Step(node, opset) for node in graph.node), outputs, initializers, domains=domains)


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
