"""The two networks of the end-to-end tests, their inputs and their reference outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

from aiopt.support.compare import TOLERANCE, relative_difference
from aiopt.support.wheels import fetch
from aiopt.tools.demo_ocr import RECOGNISER, render_line, to_input

RECOGNISER_SHAPE = (1, 3, 48, 320)
_SEED = 20240815


@dataclass(frozen=True)
class Network:
    """A model, the shapes it is compiled for, an input and what ONNX Runtime makes of it."""

    name: str
    path: Path
    shapes: dict[str, tuple[int, ...]]
    inputs: Mapping[str, np.ndarray]
    references: Mapping[str, np.ndarray]

    @property
    def shape_options(self) -> list[str]:
        """The shapes as options of the commands."""
        texts = [f"{name}={'x'.join(map(str, shape))}" for name, shape in self.shapes.items()]
        return [word for text in texts for word in ("--shape", text)]


@cache
def recogniser() -> Path:
    """The trained OCR recogniser: input "x", symbolic in its batch, height and width."""
    return fetch(RECOGNISER)


def recogniser_input() -> dict[str, np.ndarray]:
    """A rendered line of text."""
    return {"x": to_input(render_line("Total: $1,234.56", 28))}


@cache
def resnet50_random() -> bytes:
    """light_resnet50 of the onnx wheel with random weights, and the softmax's input as a second output.

    The file itself makes every weight by ConstantOfShape: equal weights hide mistakes in channels, and the saturated
    softmax hides all others.
    """
    path = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / "light_resnet50.onnx"
    model = onnx.load(path)
    graph = model.graph
    shapes = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    made = {node.output[0]: tuple(map(int, shapes[node.input[0]])) for node in fills}
    _drop(graph, fills)
    model.ir_version = 8  # from 4 on an initializer need not be an input too
    roles = _roles(graph)
    rng = np.random.default_rng(_SEED)
    for name, shape in made.items():
        graph.initializer.append(numpy_helper.from_array(_draw(rng, roles[name], shape), name))
    softmax = next(node for node in graph.node if node.op_type == "Softmax")
    logits = onnx.ValueInfoProto()
    logits.CopyFrom(graph.output[0])
    logits.name = softmax.input[0]
    graph.output.append(logits)
    return model.SerializeToString()


def resnet50_input() -> dict[str, np.ndarray]:
    """A random image."""
    image = np.random.default_rng(_SEED + 1).standard_normal((1, 3, 224, 224))
    return {"gpu_0/data_0": image.astype(np.float32)}


def compare(outputs: Mapping[str, np.ndarray], references: Mapping[str, np.ndarray]) -> None:
    """Fail unless every output is its reference within TOLERANCE and says something, that is, is not constant."""
    assert set(outputs) == set(references)
    for name, want in references.items():
        have = outputs[name]
        assert have.dtype == want.dtype, name
        assert want.size == 1 or np.ptp(want[np.isfinite(want)]) > 0, f"the reference of {name} is constant"
        difference = relative_difference(have, want)
        assert difference <= TOLERANCE, f"{name} differs by {difference:.2e} of its largest value"


def _drop(graph: onnx.GraphProto, fills: list[onnx.NodeProto]) -> None:
    """Remove these nodes and what only they read: initializers that are inputs as well."""
    read = {name for node in fills for name in node.input}
    for node in fills:
        graph.node.remove(node)
    for entries in (graph.initializer, graph.input):
        for entry in [entry for entry in entries if entry.name in read]:
            entries.remove(entry)


def _roles(graph: onnx.GraphProto) -> dict[str, str]:
    """What each weight is to the node that reads it."""
    slots = {
        "Conv": ["", "weight", "bias"],
        "Gemm": ["", "weight", "bias"],
        "BatchNormalization": ["", "scale", "bias", "mean", "variance"],
    }
    return {
        name: role for node in graph.node for name, role in zip(node.input, slots.get(node.op_type, []), strict=False)
    }


def _draw(rng: np.random.Generator, role: str, shape: tuple[int, ...]) -> np.ndarray:
    """Conv and Gemm weights N(0, 2 / fan-in); batch norm as after training."""
    match role:
        case "weight":  # [out, in, ...], Gemm has transB = 1
            values = rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
        case "scale":
            values = rng.uniform(0.9, 1.1, shape)
        case "variance":
            values = rng.uniform(0.5, 1.5, shape)
        case "bias" | "mean":
            values = rng.standard_normal(shape) * 0.1
        case _:
            raise AssertionError(f"a weight without a role: {role}")
    return values.astype(np.float32)
