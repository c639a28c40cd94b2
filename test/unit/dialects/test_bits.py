"""References of operations on bits, by hand from the text of BitShift-28, BitwiseAnd-18 and BitCast-26."""

import ml_dtypes
import numpy as np
import pytest

from aiopt.dialects import ai
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from unit.dialects.oracle import run_ai


def test_shifts_beyond_the_width():
    x, count = np.int8([-7, -7, 5, 5, -7, 5, 1]), np.int8([1, 8, 1, 9, -1, -1, 7])
    assert run_ai(ai.ShiftRightOp, x, count).tolist() == [-4, -1, 2, 0, -1, 0, 0]
    assert run_ai(ai.ShiftLeftOp, x, count).tolist() == [-14, 0, 10, 0, 0, 0, -128]
    unsigned = np.uint8([200, 200, 200]), np.uint8([1, 7, 8])
    assert run_ai(ai.ShiftRightOp, *unsigned).tolist() == [100, 1, 0]
    assert run_ai(ai.ShiftLeftOp, *unsigned).tolist() == [144, 0, 0]


def test_logic_on_integers_is_bit_by_bit():
    x, y = np.int8([12, -1]), np.int8([10, 5])
    results = [run_ai(op, x, y).tolist() for op in (ai.AndOp, ai.OrOp, ai.XorOp)]
    assert results == [[8, 5], [14, -1], [6, -6]]
    assert run_ai(ai.NotOp, x).tolist() == [-13, 0]
    assert run_ai(ai.NotOp, np.uint8([12])).tolist() == [243]


def test_bitcast_keeps_every_bit():
    bits = np.uint16([0x3F80, 0x7FC1, 0xFF80, 0x0001])
    there = ai.BitcastOp.compute([bits], to="bf16")[0]
    assert there.dtype == ml_dtypes.bfloat16
    assert ai.BitcastOp.compute([there], to="ui16")[0].tolist() == bits.tolist()
    assert run_ai(ai.BitcastOp, np.float32(1), to="i32") == 0x3F800000


@pytest.mark.parametrize(("element", "to"), [("f32", "i16"), ("ui8", "i1"), ("i8", "f8")])
def test_bitcast_to_another_width(element: str, to: str):
    with pytest.raises(IRError, match=f"as wide as {element}, but is {to}"):
        ai.BitcastOp.infer_types(TensorType((2,), element), to=to)
