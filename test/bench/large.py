"""A model that is large, with its weights in a file beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

_SIZE = 2048  # rows and columns of a weight
_FILE = "weights.bin"


def write_large_model(folder: Path, size: int) -> Path:
    """Layers of matrix product and relu with about `size` bytes of f32 weights; every second weight is transposed."""
    count = size // (_SIZE * _SIZE * 4)
    rng = np.random.default_rng(0)
    with open(folder / _FILE, "wb") as file:
        for _ in range(count):
            file.write((rng.standard_normal((_SIZE, _SIZE), np.float32) / np.float32(_SIZE) ** 0.5).tobytes())
    nodes = []
    for i in range(count):
        turned = {"transB": 1} if i % 2 else {}
        nodes.append(helper.make_node("Gemm" if turned else "MatMul", [f"x{i}", f"w{i}"], [f"m{i}"], **turned))
        nodes.append(helper.make_node("Relu", [f"m{i}"], [f"x{i + 1}"]))
    ends = [helper.make_tensor_value_info(f"x{i}", TensorProto.FLOAT, [4, _SIZE]) for i in (0, count)]
    graph = helper.make_graph(nodes, "large", ends[:1], ends[1:], [_weight(i) for i in range(count)])
    model = folder / "large.onnx"
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    model.write_bytes(proto.SerializeToString())
    return model


def _weight(index: int) -> TensorProto:
    tensor = TensorProto(name=f"w{index}", data_type=TensorProto.FLOAT, dims=[_SIZE, _SIZE])
    tensor.data_location = TensorProto.EXTERNAL
    size = _SIZE * _SIZE * 4
    for key, value in (("location", _FILE), ("offset", index * size), ("length", size)):
        tensor.external_data.add(key=key, value=str(value))
    return tensor
