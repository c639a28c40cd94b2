"""Many nodes in one model, compiled once: each on inputs of its own, each against its own oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

import aiopt
from aiopt.runtime.base import Net
from aiopt.support.compare import run_onnxruntime
from aiopt.support.types import is_float

OPSET = 18
FLOAT_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45, 1.0, -1.0)


@dataclass(frozen=True)
class _Case:
    text: str
    want: np.ndarray
    tolerance: float


@dataclass
class Batch:
    """Nodes and what numpy makes of their inputs. Arrays of one shape and type may stand for several nodes."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    cases: dict[str, _Case] = field(default_factory=dict)
    known: dict[str, np.ndarray] = field(default_factory=dict)

    def add(
        self, op_type: str, operands: Sequence[np.ndarray], want: np.ndarray, tolerance: float = 0.0, **attributes: Any
    ) -> None:
        """One node. tolerance: of each element, relative to it; 0 asks for equal numbers (NaN is NaN, -0.0 is 0.0)."""
        name = f"y{len(self.nodes)}"
        names = [f"x{len(self.nodes)}_{i}" for i in range(len(operands))]
        self.nodes.append(helper.make_node(op_type, names, [name], **attributes))
        self.inputs.update(zip(names, map(np.asarray, operands), strict=True))
        shapes = ", ".join(f"{array.dtype}{list(array.shape)}" for array in map(np.asarray, operands))
        self.cases[name] = _Case(f"{name}: {op_type}({shapes}) {attributes}", np.asarray(want), tolerance)

    def add_known(
        self, op_type: str, operands: Sequence[np.ndarray], known: np.ndarray, want: np.ndarray,
        tolerance: float = 0.0, **attributes: Any,
    ) -> None:  # fmt: skip
        """A node whose last operand is known when compiling: axes, a shape."""
        self.add(op_type, operands, want, tolerance, **attributes)
        name = f"k{len(self.nodes)}"
        self.nodes[-1].input.append(name)
        self.known[name] = known

    def model(self) -> onnx.ModelProto:
        inputs = [_info(name, array) for name, array in self.inputs.items()]
        outputs = [_info(name, case.want) for name, case in self.cases.items()]
        known = [numpy_helper.from_array(array, name) for name, array in self.known.items()]
        graph = helper.make_graph(self.nodes, "batch", inputs, outputs, known)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)

    def wrong_compiled(self) -> list[str]:
        """What the compiled model makes otherwise."""
        shapes = {name: array.shape for name, array in self.inputs.items()}  # a size of 0 says nothing in a model
        net = aiopt.compile(self.model(), shapes=shapes, cache=False)
        assert isinstance(net, Net), "all of it is compiled"
        with net:
            return self._wrong(net.run(self.inputs))

    def wrong_onnxruntime(self, *without: str) -> list[str]:
        """What ONNX Runtime makes otherwise, but for the operators on which it does not agree."""
        have = run_onnxruntime(self.model().SerializeToString(), self.inputs)
        return [line for line in self._wrong(have) if line.split(": ")[1].partition("(")[0] not in without]

    def _wrong(self, have: dict[str, np.ndarray]) -> list[str]:
        return [f"{case.text}: {text}" for name, case in self.cases.items() if (text := _difference(have[name], case))]


def _difference(have: np.ndarray, case: _Case) -> str:
    want = case.want
    if have.dtype != want.dtype or have.shape != want.shape:
        return f"is {have.dtype}{list(have.shape)}, expected {want.dtype}{list(want.shape)}"
    fits = have == want
    if is_float(want.dtype):
        with np.errstate(all="ignore"):
            near = np.abs(have.astype(np.float64) - want.astype(np.float64)) <= case.tolerance * np.abs(want)
        fits |= (near & np.isfinite(want)) | (np.isnan(have) & np.isnan(want))
    if fits.all():
        return ""
    at = tuple(map(int, np.argwhere(~fits)[0]))
    return f"{list(at)} is {have[at]!r}, expected {want[at]!r}"


def _info(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


class Numbers:
    """Random shapes and arrays, the same for each seed."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def shape(self, least: int = 0, most: int = 4) -> tuple[int, ...]:
        """Of rank `least` to `most`; sizes of 0 and 1 among them."""
        return tuple(map(int, self.rng.choice([0, 1, 2, 3, 5, 9], self.rng.integers(least, most + 1), p=_SIZES)))

    def broadcast_pair(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two shapes that broadcast with each other, one of them perhaps of lower rank."""
        shape = self.shape()
        left, right = ([1 if self.rng.random() < 0.3 else size for size in shape] for _ in range(2))
        cut = int(self.rng.integers(0, len(shape) + 1)) if self.rng.random() < 0.5 else 0
        pair = tuple(left), tuple(right[cut:])
        return pair if self.rng.random() < 0.5 else (pair[1], pair[0])

    def array(self, shape: Sequence[int], dtype: str, special: bool = True) -> np.ndarray:
        """Numbers of moderate size; a third of them special (not finite, zeros, the ends of an integer's range)."""
        if dtype == "bool":
            return np.asarray(self.rng.random(tuple(shape)) < 0.5)
        if np.dtype(dtype).kind == "f":
            values, ends = self.rng.standard_normal(tuple(shape)) * 3, np.array(FLOAT_SPECIAL)
        else:
            limits = np.iinfo(dtype)
            values = self.rng.integers(max(limits.min, -20), 20, tuple(shape))
            ends = np.array([limits.min, limits.max, 0, 1, limits.max - 1], dtype)
        values = np.asarray(values).astype(dtype)
        with np.errstate(over="ignore"):
            ends = ends.astype(dtype)
        chosen = self.rng.random(tuple(shape)) < (1 / 3 if special else 0)
        return np.asarray(np.where(chosen, self.rng.choice(ends, tuple(shape)), values)).astype(dtype)


_SIZES = [0.06, 0.2, 0.2, 0.24, 0.2, 0.1]
