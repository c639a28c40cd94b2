"""Ops on bf16: the reference on f32, rounded once. Oracle: the same references on f32, tested elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from aiopt.dialects.ai import AiDialect
from aiopt.dialects.ai.checks import check_accumulator
from aiopt.dialects.ai.numerics import convert
from aiopt.support.types import TensorType, numpy_dtype
from unit.dialects.examples import EXAMPLES

BF16 = numpy_dtype("bf16")


def _map(function: Any, groups: list[Any]) -> list[Any]:
    return [[function(x) for x in group] if isinstance(group, list) else function(group) for group in groups]


@pytest.mark.parametrize("name", [name for name in EXAMPLES if EXAMPLES[name][0]])
def test_computed_in_f32_and_rounded_once(name: str) -> None:
    op, (kinds, attributes) = AiDialect.operations[name], EXAMPLES[name]
    generator = np.random.default_rng(0)

    def low(kind: TensorType) -> np.ndarray:
        values = generator.random(kind.shape)
        return values.astype(BF16) if kind.element == "f32" else (4 * values).astype(kind.dtype)

    operands = _map(low, kinds)
    wide = _map(lambda a: a.astype(np.float32) if a.dtype == BF16 else a, operands)
    padding = [None] * (len(op.operand_slots) - len(operands))
    types = [*_map(TensorType.of, operands), *padding]
    attributes = {**op.defaults(*types, **attributes), **attributes}
    (expected,) = op.infer_types(*types, **attributes)
    (result,) = op.compute([*operands, *padding], **attributes)
    assert TensorType.of(result) == expected
    want = np.asarray(op.reference(*wide, *padding, **attributes))
    np.testing.assert_array_equal(result.astype(np.float64), want.astype(expected.dtype).astype(np.float64))


def test_f64_is_rounded_once() -> None:
    """1 + 2^-8 + 2^-40 lies just above the middle of two numbers; rounded to f32 first, it would lie on it."""
    middle = 1 + 2.0**-8
    values = np.array(
        [middle + 2.0**-40, middle, middle - 2.0**-40, -middle - 2.0**-40, np.inf, -np.inf, 1e300, 1e-300]
    )
    expected = [1 + 2.0**-7, 1, 1, -1 - 2.0**-7, np.inf, -np.inf, np.inf, 0]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(convert(values, "bf16").astype(np.float64), expected)
        assert np.isnan(convert(np.array([np.nan]), "bf16").astype(np.float64)).all()


@pytest.mark.parametrize(("acc", "element"), [("bf16", "bf16"), ("f16", "bf16"), ("bf16", "f16"), ("i32", "f32")])
def test_accumulators_too_narrow(acc: str, element: str) -> None:
    with pytest.raises(ValueError, match=f"acc must be a float type at least as wide as {element}"):
        check_accumulator(acc, element)
