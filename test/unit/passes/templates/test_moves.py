"""Products that read operands where they lie, transposed or sliced, and store their result in another order."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes import pipeline
from unit.passes.templates.kernels import GROUPED, Kernel, check, choices, splat, unit_of

_RNG = np.random.default_rng(11)


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _turned(x: ir.Value, *permutation: int) -> ir.Value:
    return ai.TransposeOp(x, permutation=list(permutation)).out


def _columns(x: ir.Value, start: int, size: int) -> ir.Value:
    return ai.SliceOp(x, starts=[0, start], sizes=[ir.RankedTensorType(x.type).shape[0], size], steps=[1, 1]).out


def _both(a: ir.Value, b: ir.Value) -> ir.Value:
    return ai.MatMulOp(_turned(a, 1, 0), _turned(b, 1, 0)).out


def _keys(q: ir.Value, k: ir.Value) -> ir.Value:
    return ai.MulOp(ai.MatMulOp(_turned(q, 0, 2, 1, 3), _turned(k, 0, 2, 3, 1)).out, splat(0.5)).out


def _merged(a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
    return _turned(ai.AddOp(ai.MatMulOp(a, b).out, c).out, 0, 2, 1, 3)


def _heads(x: ir.Value, w: ir.Value) -> ir.Value:
    """Rows that no two dimensions of hold together."""
    return ai.MatMulOp(_turned(x, 0, 2, 1, 3), w).out


def _sliced(x: ir.Value, y: ir.Value) -> ir.Value:
    return ai.MatMulOp(_columns(x, 3, 17), _turned(_columns(y, 2, 17), 1, 0)).out


_CASES = {
    "both": (_both, [_normal(70, 23), _normal(45, 70)], []),
    "long": (_both, [_normal(1300, 9), _normal(33, 1300)], []),
    "one column": (_both, [_normal(13, 5), _normal(1, 13)], []),
    "one row": (_both, [_normal(40, 1), _normal(21, 40)], []),
    "keys": (_keys, [_normal(2, 19, 3, 20), _normal(2, 37, 3, 20)], []),
    "merged": (_merged, [_normal(2, 3, 19, 8), _normal(2, 3, 8, 21), _normal(3, 1, 21)], []),
    "heads": (_heads, [_normal(2, 7, 3, 12)], [_normal(12, 20)]),
    "sliced": (_sliced, [_normal(11, 30), _normal(9, 25)], []),
}


@pytest.mark.parametrize("name", _CASES)
def test_products(name: str) -> None:
    build, inputs, weights = _CASES[name]
    check([Kernel("matmul", build, inputs, weights)])


def test_without_templates() -> None:
    kernels = [Kernel("structured", build, inputs, weights) for build, inputs, weights in _CASES.values()]
    check(kernels, facts="templates=false")


def test_what_lies_too_far_apart_is_moved_first() -> None:
    """Neither rows nor columns are vectors in memory; the result's rows would not be."""

    def far(a: ir.Value, b: ir.Value) -> ir.Value:
        return ai.MatMulOp(_turned(a, 2, 0, 1), b).out

    def columns(a: ir.Value, b: ir.Value) -> ir.Value:
        return _turned(ai.MatMulOp(a, b).out, 1, 0)

    kernels = [
        Kernel("", far, [_normal(4, 5, 6), _normal(6, 5, 3)]),
        Kernel("", columns, [_normal(4, 5), _normal(5, 6)]),
    ]
    unit, _ = unit_of(kernels)
    pipeline.run(unit, f"{GROUPED},ai-select-route")
    assert [name == "matmul" for name in choices(unit)] == [False, True, True, False]
