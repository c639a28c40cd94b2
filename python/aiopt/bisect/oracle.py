"""What is right: outputs of another engine, and for ONNX Runtime the values of all nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx

from aiopt.bisect.search import Search
from aiopt.bisect.values import Value
from aiopt.support.compare import run_onnxruntime


def reference(search: Search) -> dict[str, np.ndarray]:
    """The outputs of the unit as it was read: of `ai` ops by their references, else by the shortest way to LLVM."""
    level = search.unit.level
    assert level is not None
    state = search.keep("reading")
    assert state is not None
    outputs = search.run(state).outputs
    search.states.clear()
    search.steps.clear()
    return outputs


def node_values(model: Path | bytes, inputs: Mapping[str, np.ndarray]) -> list[Value]:
    """The values of all nodes of an ONNX model, by ONNX Runtime; a node without a name goes by its first output."""
    loaded = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(model)
    shown = {output.name for output in loaded.graph.output}
    for node in loaded.graph.node:
        names = [name for name in node.output if name and name not in shown]
        loaded.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        shown.update(names)
    arrays = run_onnxruntime(loaded.SerializeToString(), inputs)
    return [
        Value(node.op_type, (node.name or node.output[0],), arrays[name])
        for node in loaded.graph.node
        for name in node.output
        if name
    ]
