"""Builds ONNX models node by node, spelled as PyTorch's exporter spells them, with random weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17  # of the exporter; the first with LayerNormalization
_ELEMENTS = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64}


class GraphBuilder:
    """A graph that grows: every method adds nodes or tensors and returns the name of what they make."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._nodes: list[onnx.NodeProto] = []
        self._weights: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._counts: Counter[str] = Counter()

    def input(self, name: str, shape: Sequence[int], element: str = "f32") -> str:
        """An input of the model; element: f32 or i64."""
        self._inputs.append(helper.make_tensor_value_info(name, _ELEMENTS[element], list(shape)))
        return name

    def node(self, kind: str, *reads: str, **attributes: Any) -> str:
        """A node of one result."""
        return self.nodes(kind, *reads, results=1, **attributes)[0]

    def nodes(self, kind: str, *reads: str, results: int, **attributes: Any) -> list[str]:
        """A node of several results."""
        number = self._count(kind)
        made = [f"{kind}_{number}_output_{i}" for i in range(results)]
        self._nodes.append(helper.make_node(kind, list(reads), made, name=f"{kind}_{number}", **attributes))
        return made

    def weight(self, array: np.ndarray, name: str) -> str:
        """An initializer. name: its last part, which gets a number."""
        full = f"{name}_{self._count(name)}"
        self._weights.append(numpy_helper.from_array(array, full))
        return full

    def normal(self, shape: Sequence[int], deviation: float, name: str = "weight") -> str:
        """A weight of N(0, deviation squared)."""
        return self.weight(self._rng.standard_normal(tuple(shape), np.float32) * np.float32(deviation), name)

    def around_one(self, size: int) -> str:
        """The scale of a normalisation."""
        return self.weight(self._rng.uniform(0.9, 1.1, size).astype(np.float32), "scale")

    def constant(self, values: object, dtype: type = np.float32) -> str:
        """A Constant node, as the exporter writes numbers of the program and shapes."""
        return self.node("Constant", value=numpy_helper.from_array(np.array(values, dtype)))

    def reshape(self, x: str, *shape: int) -> str:
        """x in another shape, which a Constant node holds."""
        return self.node("Reshape", x, self.constant(shape, np.int64))

    def model(self, name: str, outputs: Mapping[str, tuple[str, Sequence[int]]]) -> bytes:
        """The model as a file's bytes. outputs: by their names, the values in f32 and their shapes."""
        named = [helper.make_node("Identity", [value], [key], name=key) for key, (value, _) in outputs.items()]
        infos = [
            helper.make_tensor_value_info(key, TensorProto.FLOAT, list(shape)) for key, (_, shape) in outputs.items()
        ]
        graph = helper.make_graph(self._nodes + named, name, self._inputs, infos, self._weights)
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, ir_version=8, opset_imports=[opset]).SerializeToString()

    def _count(self, key: str) -> int:
        self._counts[key] += 1
        return self._counts[key] - 1
