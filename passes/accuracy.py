"""Where mixed precision loses digits: the values of a graph before and after `ai-amp`, op by op, on numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import CastOp, Trait
from aiopt.passes import pipeline
from aiopt.passes.interpret import interpret
from aiopt.passes.unit import Unit
from aiopt.support.compare import Likeness, likeness
from aiopt.support.types import element_of, is_float

_Key = tuple[str, ...]


@dataclass(frozen=True)
class Layer:
    """An op with the ONNX nodes it comes from, the type it computes in, and how near its value is to that in f32."""

    op: str
    nodes: str
    element: str
    likeness: Likeness


def per_layer(plain: Unit, low: Unit, amp: str, inputs: Mapping[str, np.ndarray]) -> list[Layer]:
    """Run two units of one model, both at level GRAPH, the second in mixed precision; its ops in order.

    Raises what the passes and the interpreter do.
    """
    pipeline.run(plain, "ai-graph-pipeline")
    pipeline.run(low, f"ai-graph-pipeline,ai-amp{{type={amp}}}")
    expected = _values(plain, inputs)
    return [
        Layer(key[0], "+".join(key[1:-1]), element_of(have.dtype), likeness(have, expected[key]))
        for key, have in _values(low, inputs).items()
        if key in expected
    ]


def _values(unit: Unit, inputs: Mapping[str, np.ndarray]) -> dict[_Key, np.ndarray]:
    """The float values that ops compute, by op, nodes and number among those of the same nodes."""
    found: dict[_Key, np.ndarray] = {}

    def observe(value: ir.Value, array: np.ndarray) -> None:
        op = value.owner.opview if isinstance(value.owner, ir.Operation) else value.owner
        if not isinstance(op, ext.Operation) or isinstance(op, CastOp) or Trait.CONSTANT in op.traits:
            return
        if is_float(array.dtype):
            title = (op.OPERATION_NAME, *ext.node_names(op.location))
            number = sum(key[:-1] == title for key in found)
            found[*title, str(number)] = array

    interpret(unit.module, unit.weights, inputs, observe)
    return found
