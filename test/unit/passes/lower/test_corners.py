"""What rules and templates have in the corners: tensors without elements, extreme integers.

Oracle: the ops' numpy references, themselves tested in test/unit/dialects.
"""

from __future__ import annotations

import numpy as np
import pytest
from ml_dtypes import bfloat16
from mlir import ir

import aiopt
from aiopt.dialects import ai
from aiopt.passes.interpret import interpret
from aiopt.passes.io import new_context
from aiopt.support.types import TensorType
from aiopt.support.weights import WeightStore
from unit.passes.lower.modules import Build, module_of

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def _ones(*shape: int) -> np.ndarray:
    return np.ones(shape, np.float32)


def _every_pair(dtype: str) -> list[np.ndarray]:
    """Where processors trap (the lowest integer over -1, anything over 0) and around."""
    info = np.iinfo(dtype)
    numbers = np.array([info.min, info.min + 1, info.max, 0, 1, 2, 7, *([-1, -7] if info.min else [])], dtype)
    return [numbers[:, None], numbers]


def _slice(x: ir.Value, start: int) -> ir.Value:
    return ai.SliceOp(x, starts=[start, 0], sizes=[0, 3], steps=[1, 1]).out


def _conv(*operands: ir.Value) -> ir.Value:
    return ai.ReluOp(ai.ConvOp(*operands, strides=[1, 1], pads=[1, 1, 1, 1], dilations=[1, 1], group=1).out).out


def _average(x: ir.Value) -> ir.Value:
    return ai.AvgPoolOp(x, kernel=[3, 2], strides=[2, 1], pads=[1, 1, 1, 1], count_include_pad=False).out


EMPTY: dict[str, tuple[Build, list[np.ndarray]]] = {
    "relu": (lambda x: ai.ReluOp(x).out, [_ones(2, 0)]),
    "between": (
        lambda x: (
            ai.AddOp(
                x,
                ai.ReduceSumOp(ai.ExpOp(_slice(x, 2)).out, axes=[0], keepdims=False).out,
            ).out
        ),
        [_ones(4, 3)],
    ),
    "slice_at_end": (lambda x: _slice(x, 4), [_ones(4, 3)]),
    "broadcast_to": (lambda x: ai.BroadcastToOp(x, shape=[3, 0]).out, [_ones(3, 1)]),
    "concat_some": (lambda *v: ai.ConcatOp(list(v), axis=1).out, [_ones(3, 2), _ones(3, 0), _ones(3, 1)]),
    "matmul_k": (lambda a, b, c: ai.AddOp(ai.MatMulOp(a, b).out, c).out, [_ones(40, 0), _ones(0, 96), _ones(96)]),
    "matmul_m": (lambda a, b: ai.MatMulOp(a, b).out, [_ones(0, 3), _ones(3, 5)]),
    "matmul_n": (lambda a, b: ai.MatMulOp(a, b).out, [_ones(4, 3), _ones(3, 0)]),
    "conv": (_conv, [_ones(0, 16, 8, 8), _ones(24, 16, 3, 3), _ones(24)]),
    "pool": (_average, [_ones(0, 6, 12, 14)]),
    "softmax": (lambda x: ai.SoftmaxOp(x, axis=1).out, [_ones(3, 0)]),
    "sum": (lambda x: ai.ReduceSumOp(x, axes=[0, 1], keepdims=False).out, [_ones(3, 0)]),
    "max": (lambda x: ai.ReduceMaxOp(x, axes=[1], keepdims=True).out, [_ones(3, 0)]),
    "reshape": (lambda x: ai.ReshapeOp(ai.ExpOp(x).out, shape=[7, 0]).out, [_ones(3, 0)]),
    "gather": (lambda x, i: ai.GatherOp(x, i).out, [_ones(3, 4), np.zeros((2, 0), np.int64)]),
    "resize": (lambda x: ai.ResizeOp(x, shape=[0, 3, 8, 8]).out, [_ones(0, 3, 4, 4)]),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", EMPTY)
def test_tensors_without_elements(name: str, threads: int) -> None:
    _check(*EMPTY[name], threads)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division_is_defined_everywhere(dtype: str) -> None:
    _check(lambda x, y: ai.DivOp(x, y).out, _every_pair(dtype))


@pytest.mark.parametrize("op", [ai.ReduceMaxOp, ai.ReduceMinOp])
@pytest.mark.parametrize("dtype", INTEGERS)
def test_reductions_start_at_the_last_integer(op: type[ai.ReduceMaxOp | ai.ReduceMinOp], dtype: str) -> None:
    rows = np.array([[3, 1, 2], [0, np.iinfo(dtype).max, np.iinfo(dtype).min]], dtype)
    _check(lambda x: op(x, axes=[1], keepdims=False).out, [rows])


def _check(build: Build, arrays: list[np.ndarray], threads: int = 1) -> None:
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    with new_context(), ir.Location.unknown():
        module = module_of(build, arrays)
        expected = interpret(module, WeightStore(), inputs)["y"]
        got = aiopt.compile(module, threads=threads).run(inputs)["y"]
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("source", ["float32", "float64", "float16", "bfloat16"])
def test_floats_out_of_range_become_one_integer_in_vectors_and_alone(source: str, dtype: str) -> None:
    numbers = [300.7, -1.0, 70000.0, 3e9, -3e9, 1e10, 2.0**63, -(2.0**63), 1.5e19, 1e30, np.inf, -np.inf, np.nan]
    with np.errstate(over="ignore"):
        x = np.repeat(np.array(numbers), 13).astype(bfloat16 if source == "bfloat16" else source)
    to = TensorType.of(np.zeros(1, dtype)).element
    _check(lambda x: ai.CastOp(x, to=to).out, [x.reshape(13, 13)])
    _check(lambda x: ai.CastOp(x, to=to).out, [x[::13]])
