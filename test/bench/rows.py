"""Kernels of rows, of elements and of movement beside what the machine can do, and beside ONNX Runtime.

The roofline is the larger of two times: all vector instructions that a kernel needs, at the rate of multiply-adds that
the machine reaches (two a cycle on most), and all it reads and writes, once, at the bandwidth of a copy of that size.
Both are measured in the same run. A kernel's time is the least of many, by the clock around launches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

import aiopt
from aiopt.bench.roofline import Gauge
from aiopt.runtime.base import Net
from aiopt.support.cost import Machine, Work
from bench.figure import Figure, at_least, at_most

SECTIONS = ("rows",)

_SHARE, _COPY_SHARE = 0.7, 0.6  # of the roofline
_SECONDS, _IN_A_ROW = 0.5, 5
# Vector instructions for each vector of elements.
_SOFTMAX = 17  # largest, subtract, 13 of e^x, sum, scale
_LAYER_NORM = 6  # sum; subtract, square and sum; subtract, scale by row, scale and shift by column
_GELU = 31  # scale, 27 of erf, add, multiply twice


@dataclass(frozen=True)
class Case:
    """One node on an input of a shape, its other inputs constants; instructions: of a vector of its elements."""

    operator: str
    shape: tuple[int, ...]
    instructions: int
    attributes: dict[str, object]
    weights: tuple[tuple[int, ...], ...] = ()

    @property
    def name(self) -> str:
        moved = f" to {self.attributes['perm']}" if "perm" in self.attributes else ""
        return f"{self.operator} {'x'.join(map(str, self.shape))}{moved}"

    def model(self) -> onnx.ModelProto:
        rng = np.random.default_rng(0)
        arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in self.weights]
        constants = [onnx.numpy_helper.from_array(array, f"w{i}") for i, array in enumerate(arrays)]
        inputs = ["x", *(constant.name for constant in constants)]
        node = helper.make_node(self.operator, inputs, ["y"], **self.attributes)
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        graph = helper.make_graph([node], "rows", [x], [y], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)

    def least_seconds(self, machine: Machine, net: Net) -> float:
        """The roofline's."""
        moved = 4 * (math.prod(self.shape) + math.prod(next(iter(net.outputs.values())).shape))
        return machine.roof(Work(2 * self.instructions * math.prod(self.shape), moved)).seconds


# Of sizes that lie within one level of the roofline, whatever the cache: up to 6 MB.
CASES = (
    Case("Softmax", (12, 128, 128), _SOFTMAX, {"axis": -1}),
    Case("Softmax", (40, 6625), _SOFTMAX, {"axis": -1}),
    Case("Softmax", (512, 1024), _SOFTMAX, {"axis": -1}),
    Case("LayerNormalization", (128, 384), _LAYER_NORM, {"axis": -1}, ((384,), (384,))),
    Case("LayerNormalization", (197, 768), _LAYER_NORM, {"axis": -1}, ((768,), (768,))),
    Case("LayerNormalization", (512, 1024), _LAYER_NORM, {"axis": -1}, ((1024,), (1024,))),
    Case("Gelu", (128, 1536), _GELU, {}),
    Case("Gelu", (256, 3072), _GELU, {}),
    Case("GlobalAveragePool", (1, 120, 40, 80), 1, {}),
    Case("Transpose", (1, 128, 12, 32), 0, {"perm": [0, 2, 1, 3]}),
    Case("Transpose", (1, 128, 12, 32), 0, {"perm": [0, 2, 3, 1]}),
    Case("Transpose", (784, 4, 68), 0, {"perm": [0, 2, 1]}),
    Case("Transpose", (1, 3, 224, 224), 0, {"perm": [0, 2, 3, 1]}),
)


def measure() -> Iterator[Figure]:
    """For each case the share of the roofline, and the time of a call beside ONNX Runtime's, on one thread."""
    gauge = Gauge()
    gauge.measure()
    machine = gauge.machine(1)
    for case in CASES:
        model = case.model()
        inputs = {"x": np.random.default_rng(1).standard_normal(case.shape, dtype=np.float32)}
        with aiopt.compile(model, threads=1, cache=False) as net:
            share = case.least_seconds(machine, net) / _kernel_seconds(net, inputs)
            yield at_least(f"{case.name}, share of the roofline", share, _SHARE if case.instructions else _COPY_SHARE)
            session = _session(model)
            ours, theirs = _least_of(lambda net=net, x=inputs: net.run(x), lambda s=session, x=inputs: s.run(None, x))
            yield at_most(f"{case.name}, time / ONNX Runtime's", ours / theirs, 1.0)


def _session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _kernel_seconds(net: Net, inputs: Mapping[str, np.ndarray]) -> float:
    """Of all launches together, the least for some time."""
    end, least = time.perf_counter() + _SECONDS, math.inf
    while time.perf_counter() < end:
        least = min(least, sum(seconds for _, seconds in net.profile(inputs)))
    return least


def _least_of(*calls: Callable[[], object]) -> list[float]:
    """Seconds of each call, the least; they take turns."""
    end, least = time.perf_counter() + len(calls) * _SECONDS, [math.inf] * len(calls)
    while time.perf_counter() < end:
        for number, call in enumerate(calls):
            for _ in range(_IN_A_ROW):
                start = time.perf_counter()
                call()
                least[number] = min(least[number], time.perf_counter() - start)
    return least
