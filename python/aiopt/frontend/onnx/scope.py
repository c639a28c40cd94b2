"""The names of a graph and what they stand for."""

from __future__ import annotations

import onnx

from aiopt.frontend.onnx.tensors import to_array
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError


class Scope:
    """Tensors by name; each name is defined once (static single assignment) and before it is used."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        if graph.sparse_initializer:
            raise UnsupportedError(f"initializer '{graph.sparse_initializer[0].values.name}' is sparse: not supported")
        self._values: dict[str, Value] = {}
        self._initializers: dict[str, onnx.TensorProto] = {}
        for tensor in graph.initializer:
            if tensor.name in self._initializers:
                raise ModelError(f"two initializers are called '{tensor.name}'")
            self._initializers[tensor.name] = tensor
        outputs = [value.name for value in graph.output]
        if len(set(outputs)) != len(outputs):
            raise ModelError(f"two outputs of the model have one name (its outputs are {', '.join(outputs)})")
        self._used = {name for node in graph.node for name in node.input} | set(outputs)
        self._maker = {name: node for node in graph.node for name in node.output}

    def define(self, name: str, value: Value) -> None:
        """Bind a name; the empty name is that of an absent output. Errors: ModelError if it is bound."""
        if not name:
            return
        if name in self._values or name in self._initializers:
            raise ModelError(f"the name '{name}' is defined twice")
        if value.derived:
            value.name, value.derived = name, False
        self._values[name] = value

    def lookup(self, name: str) -> Value:
        """The tensor of a name. Errors: ModelError if it is not defined (yet), or broken."""
        if name in self._values:
            return self._values[name]
        if name in self._initializers:
            # Decoded at first use: an unused initializer costs nothing, whatever it holds.
            value = Value.known(to_array(self._initializers[name], f"initializer '{name}'"), name)
            self._values[name] = value
            return value
        if name in self._maker:
            raise ModelError(f"'{name}' is used before the node that makes it: the graph has a cycle or is unordered")
        raise ModelError(f"'{name}' is neither an input, an initializer nor the output of a node")

    def is_used(self, name: str) -> bool:
        """True if a node or the model's outputs read this name."""
        return bool(name) and name in self._used
