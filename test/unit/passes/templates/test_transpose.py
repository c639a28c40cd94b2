"""Transposes by tiles and by rows give what numpy does: every element is moved, none is computed."""

from __future__ import annotations

import numpy as np
import pytest

from aiopt.dialects import ai
from unit.passes.templates.kernels import Kernel, check

_RNG = np.random.default_rng(0)
_FACTS = [None, "vector-bits=128 registers=16", "vector-bits=512 registers=32"]


def _transpose(permutation: list[int], *shape: int, template: str = "transpose", dtype: str = "f4") -> Kernel:
    array = _RNG.integers(-(2**20), 2**20, shape).astype(dtype)
    return Kernel(template, lambda x: ai.TransposeOp(x, permutation=permutation).out, [array])


@pytest.mark.parametrize("facts", _FACTS)
def test_matrices(facts: str | None) -> None:
    check([_transpose([1, 0], *shape) for shape in ((8, 8), (9, 13), (16, 33), (70, 41), (24, 8))], facts)


@pytest.mark.parametrize("facts", _FACTS)
def test_few_rows_and_short_ones(facts: str | None) -> None:
    """Elements of up to seven rows take turns, or fall into as many."""
    check([_transpose([0, 2, 1], 3, count, 17) for count in range(2, 8)], facts)
    check([_transpose([0, 2, 1], 3, 17, count) for count in range(2, 8)], facts)


@pytest.mark.parametrize("facts", _FACTS)
def test_axes_that_stay_or_join(facts: str | None) -> None:
    check(
        [
            _transpose([0, 2, 1, 3], 2, 5, 3, 32),
            _transpose([0, 2, 1, 3], 2, 5, 3, 37),
            _transpose([2, 0, 1], 5, 8, 11),
            _transpose([0, 2, 3, 1], 2, 9, 3, 5),
            _transpose([3, 2, 1, 0], 8, 3, 2, 9),
            Kernel("transpose", lambda x: ai.RelayoutOp(x, to="channels_last").out, [_RNG.random((2, 3, 7, 9), "f4")]),
            Kernel(
                "transpose", lambda x: ai.RelayoutOp(x, to="channels_first").out, [_RNG.random((2, 7, 9, 20), "f4")]
            ),
        ],
        facts,
    )


def test_what_is_left_to_other_loops() -> None:
    check(
        [
            _transpose([1, 0], 9, 13, dtype="f8", template="structured"),
            _transpose([0, 2, 1], 50, 3, 5, template="structured"),  # both sides shorter than a vector
            _transpose([2, 1, 0], 3, 10, 20, template="structured"),  # three elements, but not beside each other
            Kernel(
                "structured",
                lambda x: ai.ReluOp(ai.TransposeOp(x, permutation=[1, 0]).out).out,
                [_RNG.random((9, 9), "f4")],
            ),
        ]
    )
