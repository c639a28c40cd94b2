"""Compiled quantised operators on any values. Oracle: ONNX Runtime, bit for bit; net and session are made once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import aiopt
from unit.frontend.single_node import node_model

_TINY, _HUGE = 2.0**-126, 2.0**127
ANY_SCALE = st.floats(_TINY, _HUGE, width=32)
SCALE = st.floats(2.0**-20, 2.0**10, width=32)
ANY_FLOAT = st.floats(width=32)
FLOAT = st.floats(-(2.0**60), 2.0**60, width=32)

Draw = Callable[[Any], Any]
Run = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]


def _scalar(draw: Draw, elements: st.SearchStrategy) -> np.ndarray:
    return draw(hnp.arrays("float32", (), elements=elements))


def _integers(draw: Draw, dtype: str, *shape: int) -> np.ndarray:
    return draw(hnp.arrays(dtype, shape))


def _signed(draw: Draw, *shape: int) -> np.ndarray:
    """7 bits: see test_quantize.py."""
    return draw(hnp.arrays("int8", shape, elements=st.integers(-64, 63)))


def _quantize(draw: Draw, dtype: str) -> dict[str, np.ndarray]:
    x = draw(hnp.arrays("float32", (3, 11), elements=ANY_FLOAT))
    return {"x": x, "s": _scalar(draw, ANY_SCALE), "z": _integers(draw, dtype)}


def _dequantize(draw: Draw, dtype: str) -> dict[str, np.ndarray]:
    return {"x": _integers(draw, dtype, 3, 11), "s": _scalar(draw, ANY_SCALE), "z": _integers(draw, dtype)}


def _dynamic(draw: Draw, _: str) -> dict[str, np.ndarray]:
    return {"x": draw(hnp.arrays("float32", (3, 11), elements=FLOAT))}


def _multiply(draw: Draw, dtype: str) -> dict[str, np.ndarray]:
    a, b = _integers(draw, dtype, 3, 7), _signed(draw, 7, 5)
    return {"a": a, "b": b, "az": _integers(draw, dtype), "bz": _signed(draw)}


def _qlinear(draw: Draw, dtype: str) -> dict[str, np.ndarray]:
    return {
        **{"a": _integers(draw, dtype, 3, 7), "as": _scalar(draw, SCALE), "az": _integers(draw, dtype)},
        **{"b": _signed(draw, 7, 5), "bs": _scalar(draw, SCALE), "bz": _signed(draw)},
        **{"ys": _scalar(draw, SCALE), "yz": _integers(draw, dtype)},
    }


def _convolution(draw: Draw, dtype: str) -> dict[str, np.ndarray]:
    return {
        **{"x": _integers(draw, dtype, 1, 2, 5), "xs": _scalar(draw, SCALE), "xz": _integers(draw, dtype)},
        **{"w": _signed(draw, 3, 2, 3), "ws": _scalar(draw, SCALE), "wz": _signed(draw)},
        **{"ys": _scalar(draw, SCALE), "yz": _integers(draw, dtype)},
        "b": draw(hnp.arrays("int32", (3,), elements=st.integers(-(2**20), 2**20))),
    }


CASES: dict[str, tuple[Callable[[Draw, str], dict[str, np.ndarray]], dict[str, Any]]] = {
    "QuantizeLinear": (_quantize, {}),
    "DequantizeLinear": (_dequantize, {}),
    "DynamicQuantizeLinear": (_dynamic, {"outputs": 3}),
    "MatMulInteger": (_multiply, {}),
    "QLinearMatMul": (_qlinear, {}),
    "QLinearConv": (_convolution, {"pads": [1, 2]}),
}
OF_ANY_WIDTH = ("QuantizeLinear", "DequantizeLinear")
WIDE = ("int8", "uint8", "int16", "uint16")


def _make(op_type: str, inputs: dict[str, np.ndarray]) -> tuple[Run, Run]:
    """aiopt's and ONNX Runtime's way to run the operator on inputs of these types."""
    model = node_model(op_type, inputs, 21, **CASES[op_type][1])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    net = aiopt.compile(model, threads=1, cache=False)
    return net.run, lambda inputs: dict(zip(names, map(np.asarray, session.run(names, inputs)), strict=True))


@pytest.mark.parametrize(
    ("op_type", "dtype"),
    [(op_type, dtype) for op_type in CASES for dtype in (WIDE if op_type in OF_ANY_WIDTH else WIDE[:2])],
)
def test_any_values(op_type: str, dtype: str) -> None:
    made: list[tuple[Run, Run]] = []

    @settings(max_examples=150)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        inputs = CASES[op_type][0](data.draw, dtype)
        if not made:
            made.append(_make(op_type, inputs))
        ours, theirs = made[0]
        got, want = ours(inputs), theirs(inputs)
        for name, array in want.items():
            np.testing.assert_array_equal(got[name], array, strict=True)

    check()
