"""Chains of products for tests and figures: QLinearMatMul nodes as a model and as a kernel, and a large product."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from unit.targets.npu.kernels import QLinear

_ONNX = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}


class QLinearChain:
    """QLinearMatMul nodes one after the other, as a model and as layers."""

    def __init__(self, seed: int) -> None:
        pick = np.random.default_rng(seed)
        self.dtype = np.dtype(pick.choice([np.int8, np.uint8]))
        info = np.iinfo(self.dtype)
        sizes = pick.integers(1, 90, pick.integers(2, 5))
        self.x = pick.integers(info.min, info.max + 1, (int(pick.integers(1, 90)), sizes[0])).astype(self.dtype)
        self.layers: list[QLinear] = []
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: list[onnx.TensorProto] = []
        scale, zero = np.float32(pick.uniform(0.01, 0.1)), int(pick.integers(info.min, info.max + 1))
        for number, (k, n) in enumerate(itertools.pairwise(map(int, sizes))):
            # ONNX Runtime's u8 x i8 kernels for AVX2 add pairs of products in int16: 2 * 255 * 64 fits.
            limit = 64 if self.dtype == np.uint8 else 128
            weight = pick.integers(-limit, limit, (k, n)).astype(np.int8)
            weight_scale = pick.uniform(0.001, 0.02, n if pick.random() < 0.3 else ()).astype(np.float32)
            y_scale, y_zero = np.float32(pick.uniform(0.02, 0.3)), int(pick.integers(info.min, info.max + 1))
            scales = (scale, weight_scale, y_scale)
            zeros = (self.dtype.type(zero), np.zeros(weight_scale.shape, np.int8), self.dtype.type(y_zero))
            self.layers.append(QLinear(weight, scales, zeros))
            self._add(number, self.layers[-1])
            scale, zero = y_scale, y_zero

    def _add(self, number: int, layer: QLinear) -> None:
        values = dict(zip(("xs", "xz", "w", "ws", "wz", "ys", "yz"), layer.parameters(), strict=True))
        self._initializers += [numpy_helper.from_array(np.asarray(v), f"{k}{number}") for k, v in values.items()]
        names = [f"t{number}", *(f"{key}{number}" for key in values)]
        self._nodes.append(helper.make_node("QLinearMatMul", names, [f"t{number + 1}"]))

    def expected(self) -> np.ndarray:
        kind = _ONNX[self.dtype]
        ends = [helper.make_tensor_value_info(name, kind, [None, None]) for name in ("t0", f"t{len(self.layers)}")]
        graph = helper.make_graph(self._nodes, "chain", ends[:1], ends[1:], self._initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return np.asarray(session.run(None, {"t0": self.x})[0])


def integer_layer(weight: np.ndarray, scale: float) -> QLinear:
    one, zero = np.float32(1), np.int8(0)
    return QLinear(weight, (one, np.float32(scale), one), (zero, zero, zero))


def square(size: int) -> tuple[np.ndarray, QLinear]:
    pick = np.random.default_rng(0)
    x, weight = (pick.integers(-128, 128, (size, size)).astype(np.int8) for _ in range(2))
    return x, integer_layer(weight, 1e-3)
