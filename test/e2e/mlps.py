"""Multilayer perceptrons for nets in parts: one of f32, and one of integers made of magika's own weights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from aiopt.support.wheels import fetch
from e2e.models import MAGIKA, file_bytes

_OPSET = 17
BYTES, CODES = 2048, 257  # magika's input: so many bytes, each one of so many codes (256 is padding)
ROWS = BYTES // 4  # magika puts the features of four bytes beside each other
# ONNX Runtime's kernels for AVX2 add two products of uint8 and int8 in int16, which saturates: 2 * 255 * 64 fits.
_MOST = 64


def _model(name: str, nodes: Sequence[onnx.NodeProto], inputs: dict, outputs: dict, arrays: dict) -> bytes:
    def infos(types: dict) -> list[onnx.ValueInfoProto]:
        return [helper.make_tensor_value_info(name, *type_) for name, type_ in types.items()]

    weights = [numpy_helper.from_array(array, key) for key, array in arrays.items()]
    graph = helper.make_graph(list(nodes), name, infos(inputs), infos(outputs), weights)
    opset = helper.make_opsetid("", _OPSET)
    return helper.make_model(graph, ir_version=8, opset_imports=[opset]).SerializeToString()


def float_mlp(
    rows: int | str = 24, sizes: Sequence[int] = (70, 90, 40, 10), seed: int = 0
) -> tuple[bytes, list[np.ndarray]]:
    """relu(x @ w + b) again and again, tanh before the last product, softmax behind it; and w0, b0, w1, b1, ...

    Outputs: `features`, what goes into tanh, `logits` and `y`.
    """
    pick = np.random.default_rng(seed)
    arrays: dict[str, np.ndarray] = {}
    nodes, value = [], "x"
    for number, (k, n) in enumerate(itertools.pairwise(sizes)):
        arrays[f"w{number}"] = (pick.standard_normal((k, n)) / np.sqrt(k)).astype(np.float32)
        arrays[f"b{number}"] = pick.standard_normal(n).astype(np.float32)
        last = number == len(sizes) - 2
        if last:
            nodes.append(helper.make_node("Tanh", [value], ["tanh"], name="Tanh"))
            value = "tanh"
        product, sums = f"product{number}", "logits" if last else f"sums{number}"
        nodes.append(helper.make_node("MatMul", [value, f"w{number}"], [product], name=f"MatMul_{number}"))
        nodes.append(helper.make_node("Add", [product, f"b{number}"], [sums], name=f"Add_{number}"))
        value = sums
        if not last:
            value = "features" if number == len(sizes) - 3 else f"relu{number}"
            nodes.append(helper.make_node("Relu", [sums], [value], name=f"Relu_{number}"))
    nodes.append(helper.make_node("Softmax", [value], ["y"], name="Softmax"))
    outputs = {
        "features": (TensorProto.FLOAT, [rows, sizes[-2]]),
        "logits": (TensorProto.FLOAT, [rows, sizes[-1]]),
        "y": (TensorProto.FLOAT, [rows, sizes[-1]]),
    }
    model = _model("mlp", nodes, {"x": (TensorProto.FLOAT, [rows, sizes[0]])}, outputs, arrays)
    return model, list(arrays.values())


def dense_model() -> bytes:
    """relu(x @ w) @ y with both x and y as inputs: [4, 6] x [6, 5] x [5, 3]."""
    arrays = {"w": np.random.default_rng(0).standard_normal((6, 5)).astype(np.float32)}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["product"], name="MatMul_0"),
        helper.make_node("Relu", ["product"], ["relu"], name="Relu"),
        helper.make_node("MatMul", ["relu", "y"], ["z"], name="MatMul_1"),
    ]
    inputs = {"x": (TensorProto.FLOAT, [4, 6]), "y": (TensorProto.FLOAT, [5, 3])}
    return _model("dense", nodes, inputs, {"z": (TensorProto.FLOAT, [4, 3])}, arrays)


def returning_model() -> bytes:
    """A product of x and a weight, returned twice, beside x and a constant."""
    arrays = {"w": np.arange(12, dtype=np.float32).reshape(3, 4), "constant": np.arange(5, dtype=np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["product"], name="MatMul")]
    copies = {"y": "product", "again": "product", "input": "x", "five": "constant"}
    nodes += [helper.make_node("Identity", [value], [name], name=f"Identity_{name}") for name, value in copies.items()]
    shapes = {"y": [2, 4], "again": [2, 4], "input": [2, 3], "five": [5]}
    outputs = {name: (TensorProto.FLOAT, shape) for name, shape in shapes.items()}
    return _model("returning", nodes, {"x": (TensorProto.FLOAT, [2, 3])}, outputs, arrays)


@cache
def magika_mlp() -> bytes:
    """Magika's products on integers, quantized by hand: bytes -> one of 257 -> 64; four of them, 256 -> 512 -> 214.

    The weights are those of magika's first layer, of the middle tap of its convolution and of its last layer, in 7 bits
    with a scale for each layer. The activations are uint8 with a zero point. Outputs: `codes` of uint8, `logits`, which
    they stand for, and `y`, their softmax.
    """
    first, middle, last = _magika_weights()
    one_hot = np.eye(CODES, dtype=np.float32)[file_bytes()["bytes"].ravel()]
    arrays = {
        "codes257": np.arange(CODES, dtype=np.int32).reshape(1, CODES),
        "one": np.float32(1).reshape(()),
        "none": np.uint8(0).reshape(()),
        "rows": np.array([ROWS, 256], np.int64),
    }
    nodes = [
        helper.make_node("Equal", ["bytes", "codes257"], ["is_code"], name="Equal"),
        helper.make_node("Cast", ["is_code"], ["a0"], name="Cast", to=TensorProto.UINT8),
    ]
    value, scale, shift = one_hot, "one", "none"
    for number, weight in enumerate((first, middle, last)):
        names = f"w{number}", f"w{number}_scale", f"w{number}_zero", f"y{number}_scale", f"y{number}_zero"
        w_scale = np.float32(np.abs(weight).max() / _MOST)
        value = value @ weight
        low, high = value.min(), value.max()
        y_scale = np.float32((high - low) / 255)
        y_zero = np.uint8(np.clip(np.rint(-low / y_scale), 0, 255))
        values = np.rint(weight / w_scale).astype(np.int8), w_scale, np.int8(0), y_scale, y_zero
        arrays.update({name: np.asarray(array) for name, array in zip(names, values, strict=True)})
        given = "rows0" if number == 1 else f"a{number}"
        out = "codes" if number == 2 else f"a{number + 1}"
        operands = [given, scale, shift, *names]
        nodes.append(helper.make_node("QLinearMatMul", operands, [out], name=f"Dense_{number}"))
        if number == 0:
            value = value.reshape(ROWS, 256)
            nodes.append(helper.make_node("Reshape", ["a1", "rows"], ["rows0"], name="Reshape"))
        scale, shift = names[3:]
    nodes.append(helper.make_node("DequantizeLinear", ["codes", scale, shift], ["logits"], name="Dequantize"))
    nodes.append(helper.make_node("Softmax", ["logits"], ["y"], name="Softmax"))
    count = last.shape[1]
    outputs = {
        "codes": (TensorProto.UINT8, [ROWS, count]),
        "logits": (TensorProto.FLOAT, [ROWS, count]),
        "y": (TensorProto.FLOAT, [ROWS, count]),
    }
    return _model("magika_mlp", nodes, {"bytes": (TensorProto.INT32, [BYTES, 1])}, outputs, arrays)


def magika_mlp_input() -> dict[str, np.ndarray]:
    """The bytes of a file."""
    return {"bytes": file_bytes()["bytes"].reshape(BYTES, 1)}


def _magika_weights() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[257, 64], [256, 512] and [512, 214]"""
    model = onnx.load(fetch(MAGIKA))
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    read = [arrays[name] for node in model.graph.node for name in node.input if name in arrays]
    convolution = next(array for array in read if array.shape == (512, 256, 5, 1))
    first, last = (next(array for array in read if array.shape == shape) for shape in ((CODES, 64), (512, 214)))
    return first, np.ascontiguousarray(convolution[:, :, 2, 0].T), last
