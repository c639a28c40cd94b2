"""The light models of the onnx wheel: as they are, and with random weights.

The files make every weight by ConstantOfShape: equal weights hide mistakes in channels, and the saturated softmax hides
all others. So tests draw weights, and promote the softmax's input to an output. What a file
stores itself, as resnet50 does some parameters of batch norms, keeps its values.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

LIGHT = (
    "bvlc_alexnet",
    "densenet121",
    "inception_v1",
    "inception_v2",
    "resnet50",
    "shufflenet",
    "squeezenet",
    "vgg19",
    "zfnet512",
)
SEED = 20240815

_SLOTS = {
    "Conv": ["", "weight", "bias"],
    "Gemm": ["", "weight", "bias"],
    "BatchNormalization": ["", "scale", "bias", "mean", "variance"],
    "Mul": ["scale", "scale"],  # scale and shift of channels, after a batch norm of Caffe's kind
    "Add": ["bias", "bias"],
}
_VIEWS = ("Reshape", "Unsqueeze")


def light_path(name: str) -> Path:
    """The file of a light model."""
    return Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx"


def light_random(name: str) -> bytes:
    """A light model with random weights, and the softmax's input as a second output where it has a softmax."""
    model = onnx.load(light_path(name))
    graph = model.graph
    shapes = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    fills = [node for node in graph.node if node.op_type == "ConstantOfShape"]
    made = {node.output[0]: tuple(map(int, shapes[node.input[0]])) for node in fills}
    _drop(graph, fills)
    model.ir_version = 8  # from 4 on an initializer need not be an input too
    roles = _roles(graph)
    rng = np.random.default_rng(SEED)
    for weight, shape in made.items():
        graph.initializer.append(numpy_helper.from_array(_draw(rng, roles[weight], shape), weight))
    promote_input(model, "Softmax")
    return model.SerializeToString()


def promote_input(model: onnx.ModelProto, op_type: str) -> None:
    """Make what the last node of this type reads an output of the model, if there is such a node."""
    last = next((node for node in reversed(model.graph.node) if node.op_type == op_type), None)
    if last is not None:
        promoted = model.graph.output.add(name=last.input[0])
        promoted.type.tensor_type.elem_type = onnx.TensorProto.FLOAT


def _drop(graph: onnx.GraphProto, fills: list[onnx.NodeProto]) -> None:
    """Remove these nodes and what only they read: initializers that are inputs as well."""
    read = {name for node in fills for name in node.input}
    for node in fills:
        graph.node.remove(node)
    read -= {name for node in graph.node for name in node.input}
    for entries in (graph.initializer, graph.input):
        for entry in [entry for entry in entries if entry.name in read]:
            entries.remove(entry)


def _roles(graph: onnx.GraphProto) -> dict[str, str]:
    """What each tensor is to the node that reads it, also through a view."""
    roles: dict[str, str] = {}
    for node in reversed(graph.node):
        slots = [roles.get(node.output[0], "")] if node.op_type in _VIEWS else _SLOTS.get(node.op_type, [])
        roles.update({name: role for name, role in zip(node.input, slots, strict=False) if role})
    return roles


def _draw(rng: np.random.Generator, role: str, shape: tuple[int, ...]) -> np.ndarray:
    """Conv and Gemm weights N(0, 2 / fan-in); batch norm as after training."""
    match role:
        case "weight":  # [out, in, ...], Gemm has transB = 1; a view may have put 1s before that
            fan_in = np.prod(np.trim_zeros(np.array(shape) - 1, "f")[1:] + 1)
            values = rng.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / fan_in))
        case "scale":
            values = rng.uniform(0.9, 1.1, shape)
        case "variance":
            values = rng.uniform(0.5, 1.5, shape)
        case "bias" | "mean":
            values = rng.standard_normal(shape) * 0.1
        case _:
            raise AssertionError(f"a weight without a role: {role}")
    return values.astype(np.float32)
