"""Building f32 arithmetic that is the same for scalars and vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import arith, math


@dataclass(frozen=True)
class FloatBuilder:
    """Builds arith ops on values of `kind`, f32 or a vector of it, and on their bits.

    `fma`: the CPU has fused multiply-add; without it a product is rounded before it is added.
    """

    kind: ir.Type
    fma: bool

    @property
    def bits_kind(self) -> ir.Type:
        """i32, or the vector of it that is as long as `kind`."""
        i32 = ir.IntegerType.get_signless(32)
        if isinstance(self.kind, ir.VectorType):
            return ir.VectorType.get(self.kind.shape, i32, scalable=self.kind.scalable_dims)
        return i32

    def constant(self, value: float) -> ir.Value:
        """`value` in every element."""
        return _constant(self.kind, ir.FloatAttr.get(ir.F32Type.get(), value))

    def bits_constant(self, value: int) -> ir.Value:
        """The integer `value` in every element."""
        signed = value - (1 << 32) if value >= 1 << 31 else value
        return _constant(self.bits_kind, ir.IntegerAttr.get(ir.IntegerType.get_signless(32), signed))

    def to_bits(self, x: ir.Value) -> ir.Value:
        """The bits of floats as integers."""
        return arith.bitcast(self.bits_kind, x)

    def from_bits(self, x: ir.Value) -> ir.Value:
        """The floats that have these bits."""
        return arith.bitcast(self.kind, x)

    def multiply_add(self, a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
        """a * b + c."""
        return math.fma(a, b, c) if self.fma else arith.addf(arith.mulf(a, b), c)

    def polynomial(self, x: ir.Value, coefficients: Sequence[float]) -> ir.Value:
        """coefficients[0] + coefficients[1] * x + ... by Horner's rule."""
        *others, highest = coefficients
        total = self.constant(highest)
        for coefficient in reversed(others):
            total = self.multiply_add(total, x, self.constant(coefficient))
        return total

    def at_most(self, x: ir.Value, high: float) -> ir.Value:
        """The lesser of x and `high`; NaN stays NaN (x86 has minps for just this comparison)."""
        bound = self.constant(high)
        return arith.select(arith.cmpf(arith.CmpFPredicate.OGT, x, bound), bound, x)

    def at_least(self, x: ir.Value, low: float) -> ir.Value:
        """The greater of x and `low`; NaN stays NaN."""
        bound = self.constant(low)
        return arith.select(arith.cmpf(arith.CmpFPredicate.OLT, x, bound), bound, x)


def _constant(kind: ir.Type, value: ir.Attribute) -> ir.Value:
    attribute = ir.DenseElementsAttr.get_splat(kind, value) if isinstance(kind, ir.VectorType) else value
    return arith.ConstantOp(kind, attribute).result  # pyright: ignore[reportArgumentType]: any attribute will do
