"""Elementary functions of f32 against float64, over the whole range of floats, as compiled code."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from mlir import ir

import aiopt
from aiopt import driver
from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.lower.math import erf, exp, log, tanh
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.unit import Unit
from aiopt.runtime.net import CompiledNet
from aiopt.support.target import TargetRecord
from aiopt.targets import find_target
from aiopt.targets.cpu import codegen
from aiopt.targets.cpu.record import cpu_record, host
from unit.targets.cpu.loops import module, unit_of

Run = Callable[[np.ndarray], np.ndarray]

_COUNT = 1 << 20
_INF, _NAN = math.inf, math.nan
_DENORMAL = 1e-45
# The largest error in units in the last place, with fused multiply-add. It was measured once on every float where the
# function is neither constant nor, to 1e-4, its tangent in zero (tanh and erf, which are odd, on positive ones).
BOUNDS = {"exp": 1.02, "log": 0.86, "tanh": 2.5, "erf": 1.82, "sigmoid": 2.41}
_MONOTONE = ["exp", "log", "tanh", "erf"]
# Where to look closer than at every 256th float: around zero, where the reduction changes, where results become
# denormal, 0, 1 or inf.
_CRITICAL = {
    "exp": [0.0, 0.34657359, -0.34657359, 1.0397208, -87.336545, -103.27893, -103.97208, 88.722839],
    "log": [0.0, 2.0**-126, 0.70710678, 1.0, 1.41421356, 2.0],
    "tanh": [0.0, 0.17328680, 0.51986039, -0.17328680, 9.0109131, 10.0],
    "erf": [0.0, 0.28, -0.28, 1.0, 3.8325071, 3.95],
    "sigmoid": [0.0, 0.34657359, -0.34657359, 17.328680, -87.336545, -88.722839, -103.97208],
}
# argument, result
_SPECIAL = {
    "exp": [(0.0, 1), (-0.0, 1), (_DENORMAL, 1), (_INF, _INF), (-_INF, 0), (89, _INF), (3e38, _INF), (-104, 0)],
    "log": [(0.0, -_INF), (-0.0, -_INF), (1, 0.0), (_INF, _INF), (-1, _NAN), (-_DENORMAL, _NAN), (-_INF, _NAN)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (_DENORMAL, _DENORMAL), (-_DENORMAL, -_DENORMAL), (_INF, 1), (-_INF, -1)],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (_DENORMAL, _DENORMAL), (-_DENORMAL, -_DENORMAL), (_INF, 1), (-_INF, -1)],
    "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (_DENORMAL, 0.5), (_INF, 1), (-_INF, 0), (3e38, 1), (-3e38, 0)],
}


def _erf(x: np.ndarray) -> np.ndarray:
    """erf in float64: the standard library's, where its series or 1 does not give the same to 1e-16."""
    small, large = np.abs(x) < 1e-4, np.abs(x) > 6
    y = np.where(large, np.sign(x), (x - np.where(small, x, 0) ** 3 / 3) * (2 / math.sqrt(math.pi)))
    between = ~(small | large)
    y[between] = np.frompyfunc(math.erf, 1, 1)(x[between]).astype(np.float64)
    return y


def _sigmoid(x: np.ndarray) -> np.ndarray:
    power = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, power) / (1 + power)


_REFERENCE: dict[str, Run] = {"exp": np.exp, "log": np.log, "tanh": np.tanh, "erf": _erf, "sigmoid": _sigmoid}
_REFERENCE["rsqrt"] = lambda x: 1 / np.sqrt(x)


def _floats(stride: int) -> Iterator[np.ndarray]:
    """One float of each `stride` in the order of their bits, not always the first; in pieces of _COUNT."""
    for start in range(0, 1 << 32, stride * _COUNT):
        bits = start + np.arange(_COUNT, dtype=np.uint64) * stride
        yield (bits + (bits // stride * 97) % stride).astype(np.uint32).view(np.float32)


def _around(points: list[float]) -> np.ndarray:
    """_COUNT floats next to these, the same number on each side."""
    each = _COUNT // len(points)
    bits = np.concatenate([np.float32(p).view(np.int32) + np.arange(each) - each // 2 for p in points])
    return np.resize(bits.astype(np.int32), _COUNT).view(np.float32)


def _errors(got: np.ndarray, x: np.ndarray, reference: Run) -> np.ndarray:
    """Errors in units in the last place of the exact value's binade; inf where one of both is not finite alone."""
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
        rounded = exact.astype(np.float32)
        exponent = np.maximum(np.frexp(exact)[1] - 1, -126) - 23
        errors = np.abs(got - exact) * np.ldexp(1.0, -exponent)
        special = ~(np.isfinite(rounded) & np.isfinite(got))
        agree = (rounded == got) | (np.isnan(rounded) & np.isnan(got))
        return np.where(special, np.where(agree, 0, np.inf), errors)


def _graph(op: str, count: int = _COUNT) -> str:
    kind = f"tensor<{count}xf32>"
    return f"""module attributes {{ai.level = "graph", ai.net = "net"}} {{
      func.func @main(%x: {kind} {{ai.name = "x"}}) -> ({kind} {{ai.name = "y"}}) {{
        %y = "ai.{op}"(%x) {"{axis = 0 : i64}" if op == "softmax" else ""} : ({kind}) -> {kind}
        return %y : {kind}
      }}
    }}"""


def _kernel(op: str, vector: str = "f32") -> str:
    """A module at level LOOPS that applies a math op to scalars or to vectors of 16 elements."""
    row = f"memref<{_COUNT}xf32>"
    load, store, step = f"memref.load %x[%i] : {row}", f"memref.store %r, %y[%i] : {row}", 1
    if vector != "f32":
        load = f"vector.load %x[%i] : {row}, vector<16xf32>\n%w = vector.shape_cast %v : vector<16xf32> to {vector}"
        store = (
            f"%s = vector.shape_cast %r : {vector} to vector<16xf32>\nvector.store %s, %y[%i] : {row}, vector<16xf32>"
        )
        step = 16
    body = f"""
      %step = arith.constant {step} : index
      %end = arith.constant {_COUNT} : index
      scf.for %i = %c0 to %end step %step {{
        %v = {load}
        %r = math.{op} {"%v" if vector == "f32" else "%w"} : {vector}
        {store}
      }}"""
    return module(body, {"x": row}, {"y": row})


def _lower(text: str, record: TargetRecord) -> Unit:
    unit = unit_of(text)
    pipeline.run(unit, f"ai-plan-memory,{codegen.lower_pipeline(record)}")
    return unit


def _compile_kernel(text: str, record: TargetRecord) -> CompiledNet:
    unit = _lower(text, record)
    code = codegen.to_object(codegen.to_llvm_ir(unit), record)
    return CompiledNet("net", [code], pack_weights(unit.module, unit.weights), {})


def _compile(op: str, count: int = _COUNT) -> CompiledNet:
    """One ai op through the whole pipeline."""
    with new_context():
        return aiopt.compile(ir.Module.parse(_graph(op, count)))


def _without_fma() -> TargetRecord:
    """This machine without fused multiply-add, if that can be left out, and what implies it."""
    features = tuple(f for f in host().features if f != "fma" and not f.startswith("avx512"))
    return dataclasses.replace(host(), features=features)


def _assembly(op: str) -> str:
    """x86-64-v3 code of one ai op."""
    with new_context() as context:
        unit = driver.load_unit(ir.Module.parse(_graph(op)), context)
        driver.lower(unit, find_target("cpu"))
        return codegen.to_assembly(codegen.to_llvm_ir(unit), cpu_record("x86-64-v3"))


@pytest.mark.parametrize("op", BOUNDS)
def test_error_over_all_floats(op: str) -> None:
    with _compile(op) as net:
        for x in [*_floats(256), _around(_CRITICAL[op])]:
            y = net.run({"x": x})["y"]
            errors = _errors(y, x, _REFERENCE[op])
            at = errors.argmax()
            assert errors[at] <= BOUNDS[op], f"{op}({x[at]!r}) is off by {errors[at]} ULP"
            if op in _MONOTONE:
                with np.errstate(all="ignore"):
                    assert not np.any(np.diff(x) * np.diff(y) < 0)


@pytest.mark.parametrize("function", [exp.exp, log.log, tanh.tanh, erf.erf])
def test_documented_error(function: Callable[..., ir.Value]) -> None:
    assert f" to {BOUNDS[function.__name__]} ULP" in str(function.__doc__)


def test_rsqrt() -> None:
    with _compile_kernel(_kernel("rsqrt"), host()) as net:
        for x in [*_floats(256), _around([0.0, 2.0**-126, 1.0, 4.0])]:
            assert _errors(net.run({"x": x})["y"], x, _REFERENCE["rsqrt"]).max() <= 1.5


@pytest.mark.parametrize("op", ["exp", "log", "tanh", "erf"])
def test_error_without_fma(op: str) -> None:
    record = _without_fma()
    with _compile_kernel(_kernel(op), record) as net:
        for x in [*_floats(4096), _around(_CRITICAL[op])]:
            assert _errors(net.run({"x": x})["y"], x, _REFERENCE[op]).max() <= BOUNDS[op] + 0.5


@pytest.mark.parametrize("op", ["exp", "log", "tanh", "erf"])
@pytest.mark.parametrize("vector", ["vector<16xf32>", "vector<2x8xf32>"])
def test_vectors_equal_scalars(op: str, vector: str) -> None:
    x = next(_floats(4096))
    with _compile_kernel(_kernel(op), host()) as scalars, _compile_kernel(_kernel(op, vector), host()) as vectors:
        assert vectors.run({"x": x})["y"].tobytes() == scalars.run({"x": x})["y"].tobytes()


@pytest.mark.parametrize("op", BOUNDS)
def test_special_values(op: str) -> None:
    x, expected = np.float32([*_SPECIAL[op], (_NAN, _NAN), (-_NAN, _NAN)]).T
    with _compile(op, len(x)) as net:
        got = net.run({"x": x})["y"]
    np.testing.assert_array_equal(got, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(expected[number]))


@pytest.mark.parametrize("op", ["tanh", "erf", "sigmoid"])
def test_stays_in_its_range(op: str) -> None:
    x = np.linspace(-20, 20, _COUNT, dtype=np.float32)
    with _compile(op) as net:
        y = net.run({"x": x})["y"]
    assert y.max() <= 1
    assert y.min() >= (0 if op == "sigmoid" else -1)


@pytest.mark.parametrize("exponent", [1.0, 2.0, 3.0, -1.0, 0.5, -0.5])
def test_constant_power(exponent: float) -> None:
    special = np.float32([0.0, -0.0, _INF, -_INF, _NAN, _DENORMAL, -1, -2, 1e20, 3e38])
    x = np.concatenate([special, next(_floats(4096))])[:_COUNT]
    text = _kernel_of_power(exponent)
    with _compile_kernel(text, host()) as net:
        assert _errors(net.run({"x": x})["y"], x, lambda v: np.power(v, np.full_like(v, exponent))).max() <= 1.5
    assert "pow" not in codegen.to_llvm_ir(_lower(text, host()))


@pytest.mark.parametrize("exponent", ["2.5", "0x7F800000"])
def test_other_power_is_left(exponent: str) -> None:
    assert "pow" in codegen.to_llvm_ir(_lower(_kernel_of_power(exponent), host()))


def _kernel_of_power(exponent: float | str) -> str:
    power = f"%e = arith.constant {exponent} : f32\n%r = math.powf %v, %e"
    return _kernel("powf").replace("%r = math.powf %v", power)


@pytest.mark.parametrize("op", [*BOUNDS, "softmax"])
def test_loop_is_vectorized_and_calls_nothing(op: str) -> None:
    code = _assembly(op)
    assert re.search(r"v(fmadd|mul)\w*ps.*%ymm", code)
    assert not re.search(r"\b(exp|log|tanh|erf)f?\b", code)
