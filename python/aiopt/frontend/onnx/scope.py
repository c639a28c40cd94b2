"""The names of a graph and what they stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import onnx

from aiopt.frontend.onnx.tensors import declared_type, foreign_array, to_array
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import DefinitionError, OrderError
from aiopt.support.types import TensorType, has_element


class Scope:
    """Tensors by name; each name is defined once (static single assignment) and before it is used."""

    def __init__(
        self, initializers: Mapping[str, onnx.TensorProto], used: Collection[str], made: Collection[str]
    ) -> None:
        """used: all names that are read. made: those that nodes define."""
        self._values: dict[str, Value] = {}
        self.initializers = dict(initializers)
        self._used = used
        self._made = made

    def add_initializers(self, initializers: Mapping[str, onnx.TensorProto]) -> None:
        """Tensors of a subgraph that is taken into this one, under names of their own."""
        self.initializers.update(initializers)

    def define(self, name: str, value: Value) -> None:
        """Bind a name; the empty name is that of an absent output. Errors: ModelError if it is bound."""
        if not name:
            return
        if name in self._values or name in self.initializers:
            raise DefinitionError(f"the name '{name}' is defined twice")
        if value.derived:
            value.name, value.derived = name, False
        self._values[name] = value

    def lookup(self, name: str) -> Value:
        """The tensor of a name. Errors: ModelError if it is not defined (yet), or broken."""
        if name in self._values:
            return self._values[name]
        if name in self.initializers:
            # Decoded at first use: an unused initializer costs nothing, whatever it holds.
            value = Value.known(to_array(self.initializers[name], f"initializer '{name}'"), name)
            self._values[name] = value
            return value
        if name in self._made:
            raise OrderError(f"'{name}' is used before the node that makes it: the graph has a cycle or is unordered")
        raise DefinitionError(f"'{name}' is neither an input, an initializer nor the output of a node")

    def foreign(self, name: str) -> np.ndarray | None:
        """The contents of an initializer of a type aiopt does not have; None for all else."""
        tensor = None if name in self._values else self.initializers.get(name)
        if tensor is None:
            return None
        array = foreign_array(tensor, f"initializer '{name}'")
        return None if has_element(array.dtype) else array

    def types(self, names: Iterable[str]) -> dict[str, TensorType]:
        """The types of those of these tensors that are defined and of a type aiopt has."""
        found: dict[str, TensorType] = {}
        for name in names:
            if name in self._values:
                found[name] = self._values[name].type
            elif name in self.initializers and (kind := declared_type(self.initializers[name])) is not None:
                found[name] = kind
        return found

    def is_used(self, name: str) -> bool:
        """True if a node or the model's outputs read this name."""
        return bool(name) and name in self._used
