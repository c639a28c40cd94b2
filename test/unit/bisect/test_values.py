"""When two runs agree, and which calls of a plan overwrite what others read."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from aiopt.bisect.calls import Call, Place, Plan
from aiopt.bisect.narrow import overwritten
from aiopt.bisect.values import Tolerance, Value
from aiopt.support.types import TensorType

TOLERANCE = Tolerance(1e-4)
KIND = TensorType((4,), "f32")


def at(offset: int, block: str = "arena") -> Place:
    return Place(block, offset, KIND)


def test_memory_types_are_those_of_the_reference() -> None:
    assert TOLERANCE.allows(np.int8([0, 1]), np.array([False, True]))
    assert not TOLERANCE.allows(np.int8([1, 1]), np.array([False, True]))
    assert TOLERANCE.allows(np.int8([-1]), np.uint8([255]))


@pytest.mark.parametrize(("factor", "allowed"), [(1.00005, True), (1.0005, False), (np.nan, False)])
def test_floats_are_held_against_the_tolerance(factor: float, allowed: bool) -> None:
    want = np.float32([1, 2, 3])
    assert TOLERANCE.allows(want * np.float32(factor), want) is allowed


def test_floats_of_16_bits_may_differ_in_their_last_places() -> None:
    want = np.array([1, 2, 3], ml_dtypes.bfloat16)
    assert TOLERANCE.allows((want.astype("f4") * 1.008).astype(ml_dtypes.bfloat16), want)
    assert not TOLERANCE.allows((want.astype("f4") * 1.1).astype(ml_dtypes.bfloat16), want)


def test_a_value_is_explained_by_the_same_elements_in_another_layout() -> None:
    first = np.arange(2 * 3 * 4 * 5, dtype="f4").reshape(2, 3, 4, 5)
    last = np.ascontiguousarray(np.moveaxis(first, 1, -1))
    assert TOLERANCE.explains(last, [Value("ai.conv", (), first)])
    assert TOLERANCE.explains(first, [Value("ai.conv", (), last)])
    assert not TOLERANCE.explains(last + 1, [Value("ai.conv", (), first)])
    assert not TOLERANCE.explains(last, [])


def test_a_value_overwritten_before_it_is_read_is_found() -> None:
    calls = [
        Call("a", ("A",), (at(0, "in"), at(0))),
        Call("b", ("B",), (at(0, "in"), at(8))),
        Call("c", ("C",), (at(0), at(64))),
    ]
    clash = overwritten(Plan(calls, {}, {}, {}), [1, 1, 1], 2)
    assert clash is not None
    assert (clash.op, clash.nodes) == ("@b", ("B",))
    assert clash.note == "it overwrites the result of @a (A) before @c (C) reads it"


def test_memory_may_be_used_again_by_who_reads_last() -> None:
    calls = [
        Call("a", ("A",), (at(0, "in"), at(0))),
        Call("b", ("B",), (at(0), at(64))),
        Call("c", ("C",), (at(64), at(0))),
    ]
    assert all(overwritten(Plan(calls, {}, {}, {}), [1, 1, 1], reader) is None for reader in (1, 2))


def test_scratch_over_an_operand_is_found() -> None:
    calls = [Call("a", (), (at(0, "in"), at(0))), Call("b", (), (at(0), at(64), at(4)), scratch=1)]
    clash = overwritten(Plan(calls, {}, {}, {}), [1, 1], 1)
    assert clash is not None
    assert clash.note == "it overwrites the result of @a before @b reads it"
