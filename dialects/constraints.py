"""Constraints on operands and results, used as `Operand[FloatTensor]`."""

from typing import ClassVar

from aiopt.support.types import ELEMENTS, FLOATS, INTEGERS, SIGNED


class AnyTensor:
    """A ranked tensor of static shape with any element type aiopt has."""

    elements: ClassVar[frozenset[str]] = ELEMENTS
    text: ClassVar[str] = "a tensor"


class FloatTensor(AnyTensor):
    """Elements bf16, f16, f32 or f64."""

    elements = FLOATS
    text = "a tensor of floats"


class NumericTensor(AnyTensor):
    """Elements float or integer, not bool."""

    elements = FLOATS | INTEGERS
    text = "a tensor of numbers"


class SignedTensor(AnyTensor):
    """Elements float or signed integer."""

    elements = FLOATS | SIGNED
    text = "a tensor of signed numbers"


class BoolTensor(AnyTensor):
    """Elements bool."""

    elements = frozenset({"i1"})
    text = "a tensor of bools"


class BitTensor(AnyTensor):
    """Elements bool or integer."""

    elements = INTEGERS | {"i1"}
    text = "a tensor of bools or integers"


class IntegerTensor(AnyTensor):
    """Elements integer."""

    elements = INTEGERS
    text = "a tensor of integers"


class IndexTensor(AnyTensor):
    """Elements i32 or i64, to count positions with."""

    elements = frozenset({"i32", "i64"})
    text = "a tensor of i32 or i64"
