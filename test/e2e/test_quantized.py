"""Whole networks quantised by ONNX Runtime's own tool. Oracle: ONNX Runtime, optimisations off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

import aiopt

_random = np.random.default_rng(0)
_TWO_STEPS = 2 / 127  # of the result's integers, of its largest value
IMAGES = [_random.standard_normal((1, 3, 32, 32)).astype(np.float32) for _ in range(8)]


class _Images(CalibrationDataReader):
    def __init__(self) -> None:
        self._images: Iterator[np.ndarray] = iter(IMAGES)

    def get_next(self) -> dict[str, np.ndarray] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        image = next(self._images, None)
        return None if image is None else {"x": image}


def _network() -> onnx.ModelProto:
    """Convolutions dense and depthwise, a residual sum, pooling, a gate and a classifier."""
    weights: list[onnx.TensorProto] = []
    nodes: list[onnx.NodeProto] = []

    def weight(name: str, *shape: int) -> str:
        values = _random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))
        weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def node(op_type: str, inputs: list[str], output: str, **attributes: object) -> None:
        nodes.append(helper.make_node(op_type, inputs, [output], name=output, **attributes))

    pads = [1, 1, 1, 1]
    node("Conv", ["x", weight("w0", 16, 3, 3, 3), weight("b0", 16)], "c0", pads=pads, strides=[2, 2])
    node("Relu", ["c0"], "r0")
    node("Conv", ["r0", weight("w1", 16, 1, 3, 3), weight("b1", 16)], "c1", pads=pads, group=16)
    node("Conv", ["c1", weight("w2", 32, 16, 1, 1), weight("b2", 32)], "c2")
    node("Relu", ["c2"], "r2")
    node("Conv", ["r2", weight("w3", 32, 32, 3, 3), weight("b3", 32)], "c3", pads=pads)
    node("Add", ["c3", "r2"], "sum")
    node("MaxPool", ["sum"], "pool", kernel_shape=[2, 2], strides=[2, 2])
    node("Sigmoid", ["pool"], "sigmoid")
    node("Mul", ["pool", "sigmoid"], "gate")
    node("GlobalAveragePool", ["gate"], "mean")
    node("Flatten", ["mean"], "flat")
    node("Gemm", ["flat", weight("w4", 32, 10), weight("b4", 10)], "y")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, IMAGES[0].shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, 10))
    graph = helper.make_graph(nodes, "small", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("quantized")
    onnx.save(_network(), made / "plain.onnx")
    return made


def _both(model: Path) -> list[tuple[np.ndarray, np.ndarray]]:
    """(aiopt's, ONNX Runtime's) for each image."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    net = aiopt.compile(model, threads=2, cache=False)
    return [(net.run({"x": x})["y"], np.asarray(session.run(None, {"x": x})[0])) for x in IMAGES]


@pytest.mark.parametrize("form", [QuantFormat.QOperator, QuantFormat.QDQ])
@pytest.mark.parametrize(
    ("activations", "weights", "per_channel"),
    [(QuantType.QUInt8, QuantType.QInt8, True), (QuantType.QInt8, QuantType.QInt8, False)],
)
def test_static(folder: Path, form: QuantFormat, activations: QuantType, weights: QuantType, per_channel: bool) -> None:
    """Integers are the same bit for bit. QDQ is floats in between, whose last places decide some of the roundings.

    Weights in 7 bits (reduce_range): more saturate in ONNX Runtime's products of u8 and i8 on AVX2.
    """
    quantize_static(
        folder / "plain.onnx",
        folder / "static.onnx",
        _Images(),
        quant_format=form,
        activation_type=activations,
        weight_type=weights,
        per_channel=per_channel,
        reduce_range=True,
    )
    for got, want in _both(folder / "static.onnx"):
        if form is QuantFormat.QOperator:
            np.testing.assert_array_equal(got, want, strict=True)
        else:
            np.testing.assert_allclose(got, want, rtol=0, atol=_TWO_STEPS * np.abs(want).max(), strict=True)


def test_dynamic(folder: Path) -> None:
    """The scales are computed in the net, from floats: where those differ in the last place a value is a step off."""
    quantize_dynamic(folder / "plain.onnx", folder / "dynamic.onnx", weight_type=QuantType.QUInt8)
    for got, want in _both(folder / "dynamic.onnx"):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3 * np.abs(want).max())
