"""A node as its handler sees it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from aiopt.dialects.ext import Operation
from aiopt.frontend.onnx.attributes import Attributes
from aiopt.frontend.onnx.builder import Builder, Operand
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, NodeInputError, RunTimeValueError


def node_name(proto: onnx.NodeProto) -> str:
    """The node's name; of a nameless one its operator and first output."""
    return proto.name or f"{proto.op_type}:{next((name for name in proto.output if name), '')}"


class Node:
    """Inputs, attributes and outputs of one node, and the way to emit what it means.

    Errors raised here say what is wrong with the node; the importer adds which node it is.
    """

    def __init__(self, proto: onnx.NodeProto, opset: int, inputs: Sequence[Value | None], builder: Builder) -> None:
        self.proto = proto
        self.opset = opset
        self.inputs = inputs
        self.attributes = Attributes(proto.attribute)
        self._builder = builder

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs; an absent one is the empty string."""
        return list(self.proto.output)

    def input(self, index: int) -> Value:
        """An input that must be there."""
        value = self.optional(index)
        if value is None:
            raise NodeInputError(f"input {index} is missing")
        return value

    def optional(self, index: int) -> Value | None:
        """An input that may be absent."""
        return self.inputs[index] if index < len(self.inputs) else None

    def variadic(self) -> list[Value]:
        """All inputs of an operator that takes one or more."""
        values = [self.input(index) for index in range(len(self.inputs))]
        if not values:
            raise NodeInputError("at least one input is needed")
        return values

    def known(self, index: int, role: str) -> np.ndarray:
        """The contents of an input. Errors: RunTimeValueError if they depend on the data of a run."""
        value = self.input(index)
        if value.array is None:
            name = self.proto.input[index]
            raise RunTimeValueError(
                f"input {index} ({role}, '{name}') depends on the data of a run, but must be known when compiling", name
            )
        return value.array

    def known_ints(self, index: int, role: str) -> list[int]:
        """The contents of an integer input, flat."""
        array = self.known(index, role)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise ModelError(f"input {index} ({role}) must be a list of integers, not {array.dtype}{list(array.shape)}")
        return [int(value) for value in array.reshape(-1)]

    def optional_ints(self, index: int, role: str) -> list[int] | None:
        """As `known_ints`, or None if the input is absent."""
        return None if self.optional(index) is None else self.known_ints(index, role)

    def emit(self, op: type[Operation], *operands: Operand, **attributes: Any) -> Value:
        """Build an op, or fold it; see Builder.emit."""
        return self._builder.emit(op, *operands, **attributes)
