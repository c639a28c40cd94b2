"""Subgraphs and functions in place of the node that holds them, under names that occur nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import onnx
from onnx import helper


class Inliner:
    """Copies nodes and gives what they define a prefix; names from outside stay as they are."""

    def __init__(self, prefix: str, renamed: Mapping[str, str]) -> None:
        """renamed: what the graph's inputs are called where it goes."""
        self._prefix = prefix
        self._names = dict(renamed)

    def define(self, name: str) -> str:
        """The new name of what the graph defines as `name`."""
        return self._names.setdefault(name, f"{self._prefix}{name}") if name else ""

    def name(self, name: str) -> str:
        """What stands for a name that the graph reads."""
        return self._names.get(name, name)

    def initializers(self, graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
        """The graph's own constants under their new names; the tensors are not copied."""
        return {self.define(tensor.name): tensor for tensor in graph.initializer}

    def nodes(self, nodes: Iterable[onnx.NodeProto]) -> list[onnx.NodeProto]:
        """Copies in order."""
        return [self._node(node) for node in nodes]

    def _node(self, node: onnx.NodeProto) -> onnx.NodeProto:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [self.name(name) for name in node.input]
        for attribute in copy.attribute:
            for graph in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
                self._rename_free(graph)
        copy.output[:] = [self.define(name) for name in node.output]
        return copy

    def _rename_free(self, graph: onnx.GraphProto) -> None:
        """Rename what a nested graph reads from outside; what it defines hides names of the same text."""
        hidden = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
        hidden |= {name for node in graph.node for name in node.output}
        inner = Inliner("", {name: new for name, new in self._names.items() if name not in hidden})
        for node in graph.node:
            node.input[:] = [inner.name(name) for name in node.input]
            for attribute in node.attribute:
                for nested in [attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else attribute.graphs:
                    inner._rename_free(nested)
        for value in graph.output:
            value.name = inner.name(value.name)


def identities(sources: Sequence[str], targets: Sequence[str], prefix: str) -> list[onnx.NodeProto]:
    """Nodes that give each target, where it has a name, the value of its source."""
    return [
        helper.make_node("Identity", [source], [target], f"{prefix}{target}")
        for source, target in zip(sources, targets, strict=False)
        if target
    ]


def label(node: onnx.NodeProto) -> str:
    """A prefix that no other node has: outputs are defined once."""
    return f"{node.op_type}:{next((name for name in node.output if name), '')}"
