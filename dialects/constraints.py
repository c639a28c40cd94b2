"""Constraints on operands and results, used as `Operand[FloatTensor]`."""

from typing import ClassVar

from aiopt.dialects.values import BufferType, OpaqueType, PlainType
from aiopt.support.types import ELEMENTS, FLOATS, INTEGERS, SIGNED, TensorType


class Constraint:
    """Base of all: what IRDL checks (`base`), and what it cannot (`holds`)."""

    base: ClassVar[str]  # of the type, as `irdl.base` takes it
    text: ClassVar[str]  # for people

    @classmethod
    def holds(cls, kind: PlainType) -> bool:
        """True if a value may have this type."""
        raise NotImplementedError


class AnyTensor(Constraint):
    """A ranked tensor of static shape with any element type aiopt has."""

    base = '"!builtin.tensor"'
    text = "a tensor"
    elements: ClassVar[frozenset[str]] = ELEMENTS

    @classmethod
    def holds(cls, kind: PlainType) -> bool:
        return isinstance(kind, TensorType) and kind.element in cls.elements


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


class AnyMemRef(Constraint):
    """A ranked memref of static shape and layout with any element type aiopt has, in one of some memory spaces."""

    base = '"!builtin.memref"'
    text = "a memref"
    elements: ClassVar[frozenset[str]] = ELEMENTS
    spaces: ClassVar[frozenset[str]]  # as MLIR spells them; "" is the one of memrefs that name none

    @classmethod
    def holds(cls, kind: PlainType) -> bool:
        return isinstance(kind, BufferType) and kind.element in cls.elements and kind.space in cls.spaces


class Opaque(Constraint):
    """A type without parameters that a dialect of ours declares."""

    spelling: ClassVar[str]  # `!npu.token`

    @classmethod
    def holds(cls, kind: PlainType) -> bool:
        return kind == OpaqueType(cls.spelling)


class NarrowTensor(AnyTensor):
    """Elements i8, ui8, i16 or ui16: integers that stand for real numbers."""

    elements = frozenset({"i8", "ui8", "i16", "ui16"})
    text = "a tensor of i8, ui8, i16 or ui16"


class QuantizedTensor(AnyTensor):
    """Elements as in NarrowTensor, or i32: a bias and the sums of products."""

    elements = NarrowTensor.elements | {"i32"}
    text = "a tensor of i8, ui8, i16, ui16 or i32"


class ByteTensor(AnyTensor):
    """Elements i8 or ui8: what integer contractions multiply."""

    elements = frozenset({"i8", "ui8"})
    text = "a tensor of i8 or ui8"


class I32Tensor(AnyTensor):
    """Elements i32: sums of products."""

    elements = frozenset({"i32"})
    text = "a tensor of i32"


class ScaleTensor(AnyTensor):
    """Elements f32, f16 or bf16: how much one step of an integer stands for."""

    elements = frozenset({"bf16", "f16", "f32"})
    text = "a tensor of f32, f16 or bf16"


class F32Tensor(AnyTensor):
    """Elements f32."""

    elements = frozenset({"f32"})
    text = "a tensor of f32"
