"""write_model.py FILE: an ONNX model with attributes of every kind, an optional operand and several weights."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

shapes = {"w": (4, 3, 3, 3), "b": (4,), "scale": (4,), "shift": (4,), "mean": (4,), "variance": (4,)}
weights = [
    numpy_helper.from_array(np.linspace(0.5, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape), name)
    for name, shape in shapes.items()
]
nodes = [
    helper.make_node("Conv", ["x", "w", "b"], ["c"], "conv", pads=[1, 1, 1, 1], strides=[2, 2]),
    helper.make_node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"], "norm", epsilon=1e-3),
    helper.make_node("AveragePool", ["n"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
    helper.make_node("Concat", ["p", "p", "p"], ["k"], "concat", axis=1),
    helper.make_node("ReduceMean", ["k"], ["r"], "mean", axes=[2], keepdims=0),
    helper.make_node("Cast", ["r"], ["y"], "cast", to=TensorProto.FLOAT16),
]
x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT16, [1, 12, 2])
graph = helper.make_graph(nodes, "g", [x], [y], weights)
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), sys.argv[1])
