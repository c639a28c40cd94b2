"""bf16 and f16 compiled. Oracle: the numpy references (f32, rounded), themselves tested in test/unit/dialects."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

import aiopt
from aiopt.dialects import ai
from aiopt.passes.interpret import interpret
from aiopt.passes.io import new_context
from aiopt.support.types import LOW_FLOATS, is_float, numpy_dtype
from aiopt.support.weights import WeightStore
from unit.passes.lower import integer_cases
from unit.passes.lower.modules import Build, module_of
from unit.passes.lower.test_lowering import CASES

SHARE = ("matmul", "conv", "pool", "batch_norm", "softmax", "sum", "mean", "max_first", "min", "transpose", "slice")
SHARE += ("concat", "broadcast", "resize_linear", "layer_norm_op", "pow", "select", "scalars")
FLOAT = CASES.keys() - integer_cases.CASES.keys()
NAMES = [
    name for name in CASES if name in FLOAT and name.startswith(SHARE) and not name.endswith(("f64", "long", "int"))
]


def _run(build: Build, arrays: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    with new_context(), ir.Location.unknown():
        module = module_of(build, arrays)
        expected = interpret(module, WeightStore(), inputs)["y"]
        got = aiopt.compile(module).run(inputs)["y"]
    assert got.dtype == expected.dtype
    return got, expected


@pytest.mark.parametrize("name", NAMES)
def test_compiled_equals_reference(name: str) -> None:
    """To two units in the last place of bf16: a kernel rounds where it stores, the reference after each op."""
    build, arrays = CASES[name]
    got, expected = _run(build, [a.astype(numpy_dtype("bf16")) if a.dtype == np.float32 else a for a in arrays])
    if not is_float(expected.dtype):
        np.testing.assert_array_equal(got, expected)
        return
    want = expected.astype(np.float64)
    largest = float(np.abs(want[np.isfinite(want)]).max(initial=1))
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=2.0**-7, atol=2.0**-8 * largest)


@pytest.mark.parametrize("low", sorted(LOW_FLOATS))
@pytest.mark.parametrize("op", [ai.ExpOp, ai.LogOp, ai.SqrtOp, ai.TanhOp, ai.ErfOp, ai.SigmoidOp, ai.ReluOp, ai.NegOp])
def test_one_op_is_rounded_once(op: type, low: str) -> None:
    """Each op computes in f32 to a few units in the last place, which are far below those of 16 bits."""
    x = np.random.default_rng(0).uniform(0.1, 4, 500).astype(numpy_dtype(low))
    got, expected = _run(lambda x: op(x).out, [x])
    spacing = 2.0**-8 if low == "bf16" else 2.0**-10
    np.testing.assert_allclose(got.astype(np.float64), expected.astype(np.float64), rtol=spacing)
    assert (got == expected).mean() > 0.99


@pytest.mark.parametrize("low", sorted(LOW_FLOATS))
@pytest.mark.parametrize("source", ["f32", "f64", "i32", "i8", "ui8", "i64"])
def test_casts(source: str, low: str) -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 4000, dtype=np.uint64).astype(np.uint32)
    if source in ("f32", "f64"):
        ties = (bits & np.uint32(0xFFFF0000)) | np.uint32(0x8000)  # half-way between two bf16
        x = np.concatenate([bits, ties, ties + np.uint32(1), ties - np.uint32(1)]).view(np.float32)
        with np.errstate(all="ignore"):
            x = x.astype(numpy_dtype(source)) * (1 if source == "f32" else 1 + 2.0**-50)
    else:
        x = bits.astype(numpy_dtype(source))
    with np.errstate(all="ignore"):
        got, expected = _run(lambda x: ai.CastOp(x, to=low).out, [x])
    np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("target", ["f32", "f64", "f16", "i32", "i1"])
def test_casts_of_every_bf16(target: str) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(numpy_dtype("bf16"))
    if target == "i32":  # out of range is undefined
        with np.errstate(all="ignore"):
            x = x[np.abs(x.astype(np.float64)) < 2**31]
    got, expected = _run(lambda x: ai.CastOp(x, to=target).out, [x])
    np.testing.assert_array_equal(got, expected)


def test_between_f16_and_bf16() -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    got, expected = _run(lambda x: ai.CastOp(x, to="bf16").out, [x])
    np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64))
