"""What flows between handlers: a tensor whose contents may be known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mlir import ir

from aiopt.dialects.ext import type_of
from aiopt.support.types import TensorType


@dataclass(eq=False)
class Value:
    """A tensor: known (`array`), made at run time (`tensor`), or known and already put into the IR (both).

    `name` names a known tensor's values in the WeightStore; `derived` says that the name was made up from an
    operand's while folding, and that the name of the ONNX tensor it becomes is better.
    """

    type: TensorType
    array: np.ndarray | None = None
    tensor: ir.Value | None = None
    name: str = ""
    derived: bool = False

    @staticmethod
    def known(array: np.ndarray, name: str = "", *, derived: bool = False) -> Value:
        """A tensor of these contents, which nobody may change from here on."""
        return Value(TensorType.of(array), array=array, name=name, derived=derived)

    @staticmethod
    def made(value: ir.Value) -> Value:
        """A tensor that exists at run time only."""
        return Value(type_of(value), tensor=value)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return self.type.rank

    @property
    def element(self) -> str:
        return self.type.element
