"""Structured lowering of ops in channels_last, compiled and run. Oracle: the ops' numpy references."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

import aiopt
from aiopt.dialects import ai
from aiopt.dialects.ai import packing, winograd
from aiopt.passes import pipeline
from aiopt.passes.interpret import interpret
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError
from aiopt.support.weights import WeightStore
from unit.passes.lower.modules import Build, module_of

_random = np.random.default_rng(0)
LAST = {"layout": "channels_last"}


def _normal(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype(np.float32)


def _conv(strides: list[int], pads: list[int], dilations: list[int], group: int = 1, **packed: int) -> Build:
    attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": group, **packed, **LAST}
    return lambda *operands: ai.ReluOp(ai.ConvOp(*operands, **attributes).out).out


def _packed(filters: int, depth: int, group: int) -> np.ndarray:
    return packing.pack_filters(_normal(filters, depth, 3, 3), group, 8)


def _max(x: ir.Value) -> ir.Value:
    return ai.MaxPoolOp(x, kernel=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], dilations=[1, 2], **LAST).out


def _mean(include: bool) -> Build:
    window = {"kernel": [3, 2], "strides": [2, 1], "pads": [1] * 4, "count_include_pad": include}
    return lambda x: ai.AvgPoolOp(x, **window, **LAST).out


CASES: dict[str, tuple[Build, list[np.ndarray]]] = {
    "dense": (_conv([1, 1], [1] * 4, [1, 1]), [_normal(1, 30, 34, 16), _normal(24, 16, 3, 3), _normal(24)]),
    "strided": (_conv([2, 1], [0, 1, 1, 0], [1, 1]), [_normal(2, 12, 14, 6), _normal(5, 6, 3, 2)]),
    "dilated": (_conv([1, 1], [2] * 4, [2, 2]), [_normal(1, 12, 14, 6), _normal(5, 6, 3, 3), _normal(5)]),
    "depthwise": (_conv([2, 1], [2] * 4, [1, 1], 24), [_normal(1, 12, 14, 24), _normal(24, 1, 5, 5), _normal(24)]),
    "grouped": (_conv([1, 1], [1] * 4, [1, 1], 3), [_normal(1, 12, 14, 6), _normal(9, 2, 3, 3), _normal(9)]),
    "wide": (_conv([1, 1], [0] * 4, [1, 1]), [_normal(1, 3, 60, 5), _normal(200, 5, 1, 1), _normal(200)]),
    "one_dimension": (_conv([1], [1, 1], [1]), [_normal(1, 12, 6), _normal(9, 6, 3), _normal(9)]),
    "three_dimensions": (_conv([1] * 3, [1] * 6, [1] * 3), [_normal(1, 5, 6, 7, 3), _normal(4, 3, 3, 3, 3)]),
    "packed": (
        _conv([1, 2], [1] * 4, [1, 1], pack=8, filters=24),
        [_normal(1, 12, 14, 6), _packed(24, 6, 1), _normal(24)],
    ),
    "packed_depthwise": (
        _conv([1, 2], [1] * 4, [1, 1], 24, pack=8, filters=24),
        [_normal(1, 12, 14, 24), _packed(24, 1, 24), _normal(24)],
    ),
    "packed_matmul": (
        lambda a, b, c: ai.AddOp(ai.MatMulOp(a, b, pack=8, columns=24).out, c).out,
        [_normal(2, 7, 12), packing.pack_columns(_normal(12, 24), 8), _normal(24)],
    ),
    "max_pool": (_max, [_normal(1, 12, 14, 6)]),
    "avg_pool": (_mean(False), [_normal(1, 12, 14, 6)]),
    "avg_pool_counted": (_mean(True), [_normal(1, 12, 14, 6)]),
    "batch_norm": (
        lambda *v: ai.BatchNormOp(*v, epsilon=1e-5, **LAST).out,
        [_normal(1, 4, 5, 3), _normal(3), _normal(3), _normal(3), abs(_normal(3))],
    ),
    "to_last": (lambda x: ai.ReluOp(ai.RelayoutOp(x, to="channels_last").out).out, [_normal(2, 40, 28, 30)]),
    "to_first": (lambda x: ai.RelayoutOp(x, to="channels_first").out, [_normal(1, 28, 31, 17)]),
    "to_last_bool": (lambda x: ai.RelayoutOp(x, to="channels_last").out, [_normal(1, 3, 64) > 0]),
}


@pytest.mark.parametrize("name", CASES)
def test_compiled_equals_reference(name: str) -> None:
    """Every kernel by the structured route."""
    build, arrays = CASES[name]
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    with new_context(), ir.Location.unknown():
        module = module_of(build, arrays)
        expected = interpret(module, WeightStore(), inputs)["y"]
        pipeline.run(Unit(module), "ai-kernels-pipeline,convert-ai-to-linalg")
        got = aiopt.compile(module, threads=2).run(inputs)["y"]
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=3e-5)


@pytest.mark.parametrize(
    ("build", "arrays", "message"),
    [
        (
            _conv([1, 1], [1] * 4, [1, 1], pack=8, filters=20),
            [_normal(1, 6, 6, 6), _packed(20, 6, 1)],
            "20 columns or filters do not fill blocks of 8",
        ),
        (
            _conv([1, 1], [1] * 4, [1, 1], 2, pack=8, filters=16),
            [_normal(1, 6, 6, 6), _packed(16, 3, 2)],
            "dense and depthwise convolutions in channels_last only",
        ),
        (
            _conv([1, 1], [1] * 4, [1, 1], pack=8, filters=16, winograd=2),
            [_normal(1, 6, 6, 6), packing.pack_filters(winograd.transform_filters(_normal(16, 6, 3, 3), 2), 1, 8)],
            "leaves filters transformed for winograd to the template",
        ),
    ],
)
def test_packed_weights_it_cannot_take(build: Build, arrays: list[np.ndarray], message: str) -> None:
    with new_context(), ir.Location.unknown(), pytest.raises(UnsupportedError, match=message):
        pipeline.run(Unit(module_of(build, arrays)), "ai-kernels-pipeline,convert-ai-to-linalg")
