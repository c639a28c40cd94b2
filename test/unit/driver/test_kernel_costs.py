"""What the report of a net says of its kernels' costs."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import aiopt


def _report(nodes: list[Any], inputs: dict[str, tuple[int, list[int]]], weights: dict[str, np.ndarray]) -> dict:
    infos = [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "net", infos, [y], tensors)
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    with aiopt.compile(model, cache=False) as net:
        return net.report()


def test_a_product() -> None:
    weight = np.random.default_rng(0).standard_normal((64, 32), np.float32)
    report = _report([helper.make_node("MatMul", ["x", "w"], ["y"])], {"x": (1, [16, 64])}, {"w": weight})
    (kernel,) = report["kernels"]
    assert kernel["flops"] == 2 * 16 * 64 * 32
    assert (kernel["weight_bytes"], kernel["activation_bytes"]) == (4 * 64 * 32, 4 * 16 * (64 + 32))
    assert kernel["footprint_bytes"] == 4 * (64 * 32 + 16 * 96)
    assert kernel["template"]["name"] == "matmul"
    assert report["predicted_seconds"] == kernel["predicted_seconds"] > 0


def test_a_buffer_that_is_read_twice_counts_once() -> None:
    report = _report([helper.make_node("MatMul", ["x", "x"], ["y"])], {"x": (1, [16, 16])}, {})
    (kernel,) = report["kernels"]
    assert (kernel["weight_bytes"], kernel["activation_bytes"]) == (0, 2 * 4 * 16 * 16)


def test_a_gather_reads_no_more_of_a_table_than_it_gives() -> None:
    table = np.random.default_rng(0).standard_normal((1000, 8), np.float32)
    node = helper.make_node("Gather", ["w", "x"], ["y"])
    report = _report([node], {"x": (TensorProto.INT64, [4])}, {"w": table})
    (kernel,) = report["kernels"]
    assert kernel["weight_bytes"] == 4 * 4 * 8
