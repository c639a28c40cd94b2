"""Elementwise ops: one scalar expression over broadcast operands."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, math

from aiopt.dialects import ai
from aiopt.dialects.ai.numerics import word_bits
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.builder import PARALLEL, Scalar, constant, dims, empty, generic, is_float, pointwise
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.support.types import FLOATS, LOW_FLOATS, UNSIGNED, TensorType

Expression = Callable[..., Scalar]


def _unary_sigmoid(x: Scalar) -> Scalar:
    """1 / (1 + e^-x), as e^x / (1 + e^x) where x < 0: e^-x would overflow where the result is still a denormal."""
    zero, one = constant(0, x.type), constant(1, x.type)
    power = math.exp(arith.negf(math.absf(x)))
    numerator = arith.select(arith.cmpf(arith.CmpFPredicate.OGE, x, zero), one, power)
    return arith.divf(numerator, arith.addf(one, power))


def _relu(x: Scalar) -> Scalar:
    zero = constant(0, x.type)
    return arith.maximumf(x, zero) if is_float(x.type) else arith.maxsi(x, zero)


def _absolute(x: Scalar) -> Scalar:
    return math.absf(x) if is_float(x.type) else math.absi(x)


def _divide_signed(x: Scalar, y: Scalar) -> Scalar:
    """As ai.div says: over 0 it is 0, and over -1 it wraps; the processor's own instruction traps at both."""
    zero, one, minus_one = (constant(value, y.type) for value in (0, 1, -1))
    by_zero, by_minus_one = (arith.cmpi(arith.CmpIPredicate.eq, y, value) for value in (zero, minus_one))
    divisor = arith.select(arith.ori(by_zero, by_minus_one), one, y)
    quotient = arith.select(by_minus_one, arith.subi(zero, x), arith.divsi(x, divisor))
    return arith.select(by_zero, zero, quotient)


def _divide_unsigned(x: Scalar, y: Scalar) -> Scalar:
    """As ai.div says: over 0 it is 0; the processor's own instruction traps there."""
    zero, one = constant(0, y.type), constant(1, y.type)
    by_zero = arith.cmpi(arith.CmpIPredicate.eq, y, zero)
    return arith.select(by_zero, zero, arith.divui(x, arith.select(by_zero, one, y)))


def _remainder_signed(x: Scalar, y: Scalar) -> Scalar:
    """As ai.remainder says: 0 over 0 and over -1, where the processor's own instruction traps."""
    zero, one, minus_one = (constant(value, y.type) for value in (0, 1, -1))
    nothing = arith.ori(*(arith.cmpi(arith.CmpIPredicate.eq, y, value) for value in (zero, minus_one)))
    return arith.remsi(x, arith.select(nothing, one, y))


def _remainder_unsigned(x: Scalar, y: Scalar) -> Scalar:
    """As ai.remainder says: 0 over 0, where the processor's own instruction traps."""
    zero, one = constant(0, y.type), constant(1, y.type)
    return arith.remui(x, arith.select(arith.cmpi(arith.CmpIPredicate.eq, y, zero), one, y))


def _negative(x: Scalar) -> Scalar:
    return arith.negf(x) if is_float(x.type) else arith.subi(constant(0, x.type), x)


# Each expression takes scalars or vectors of one shape: templates apply them to whole registers.
UNARY: dict[type[Operation], Expression] = {
    ai.IdentityOp: lambda x: x,
    ai.NegOp: _negative,
    ai.AbsOp: _absolute,
    ai.ExpOp: math.exp,
    ai.LogOp: math.log,
    ai.SqrtOp: math.sqrt,
    ai.TanhOp: math.tanh,
    ai.ErfOp: math.erf,
    ai.SigmoidOp: _unary_sigmoid,
    ai.ReluOp: _relu,
    ai.FloorOp: math.floor,
    ai.CeilOp: math.ceil,
    ai.RoundOp: math.roundeven,
    ai.Expm1Op: math.expm1,
    ai.Log1pOp: math.log1p,
    ai.SinOp: math.sin,
    ai.CosOp: math.cos,
    ai.TanOp: math.tan,
    ai.AsinOp: math.asin,
    ai.AcosOp: math.acos,
    ai.AtanOp: math.atan,
    ai.SinhOp: math.sinh,
    ai.CoshOp: math.cosh,
    ai.AsinhOp: math.asinh,
    ai.AcoshOp: math.acosh,
    ai.AtanhOp: math.atanh,
}
_UNSIGNED: dict[type[Operation], Expression] = {ai.AbsOp: lambda x: x}  # where the sign bit is none
# float, signed, unsigned; bool is none of them
BINARY: dict[type[Operation], tuple[Expression, Expression, Expression]] = {
    ai.AddOp: (arith.addf, arith.addi, arith.addi),
    ai.SubOp: (arith.subf, arith.subi, arith.subi),
    ai.MulOp: (arith.mulf, arith.muli, arith.muli),
    ai.DivOp: (arith.divf, _divide_signed, _divide_unsigned),
    ai.PowOp: (math.powf, math.ipowi, math.ipowi),
    ai.RemainderOp: (arith.remf, _remainder_signed, _remainder_unsigned),
    ai.MaximumOp: (arith.maximumf, arith.maxsi, arith.maxui),
    ai.MinimumOp: (arith.minimumf, arith.minsi, arith.minui),
}


def elementwise(operands: list[Operand], out: TensorType, expression: Expression) -> ir.Value:
    """Lower an expression over broadcast operands; splats become scalars inside."""
    tensors = [operand for operand in operands if operand.splat is None]
    inputs = [operand.broadcast(out.shape) for operand in tensors]

    def body(*scalars: Scalar) -> Scalar:
        remaining = iter(scalars)
        return expression(*(o.scalar() if o.splat is not None else next(remaining) for o in operands))

    return pointwise(inputs, out, body)


def computed(expression: Expression, element: str) -> Expression:
    """The expression on f16 and bf16, which are computed in f32.

    `contract` lets the rounding between one op and the next in a kernel go, so that values are rounded once, where they
    are stored.
    """
    if element not in LOW_FLOATS:
        return expression
    contract = arith.FastMathFlags.contract

    def body(*scalars: Scalar) -> Scalar:
        wide = [arith.extf(ir.F32Type.get(), x, fastmath=contract) for x in scalars]
        return arith.truncf(scalars[0].type, expression(*wide), fastmath=contract)

    return body


@lowers(*UNARY)
def _lower_unary(op: Operation, operand: Operand) -> ir.Value:
    element, expression = operand.type.element, UNARY[type(op)]
    if element in UNSIGNED:
        expression = _UNSIGNED.get(type(op), expression)
    return elementwise([operand], type_of(op.results[0]), computed(expression, element))


@lowers(*BINARY)
def _lower_binary(op: Operation, lhs: Operand, rhs: Operand) -> ir.Value:
    floating, signed, unsigned = BINARY[type(op)]
    element = lhs.type.element
    expression = floating if element in FLOATS else unsigned if element in UNSIGNED else signed
    return elementwise([lhs, rhs], type_of(op.results[0]), computed(expression, element))


@lowers(ai.BroadcastToOp)
def _lower_broadcast_to(op: Operation, operand: Operand) -> ir.Value:
    return elementwise([operand], type_of(op.results[0]), lambda x: x)


@lowers(ai.CastOp)
def _lower_cast(op: Operation, operand: Operand) -> ir.Value:
    out = type_of(op.results[0])
    return elementwise([operand], out, lambda x: cast(x, operand.type.element, out.element))


def cast(x: Scalar, source: str, target: str) -> Scalar:
    """Convert a scalar as ai.cast says."""
    if target == "i1":
        return _to_bool(x)
    if source == "i1":
        source = "ui8"
    kind = ir.Type.parse(target.removeprefix("u"))
    if source == "f64" and target in LOW_FLOATS:
        x = _round_to_odd(x)
    if source in FLOATS and target in FLOATS:
        if source != target and {source, target} == LOW_FLOATS:
            x = arith.extf(ir.F32Type.get(), x)
        wider = ir.FloatType(kind).width - ir.FloatType(x.type).width
        return arith.extf(kind, x) if wider > 0 else arith.truncf(kind, x) if wider < 0 else x
    if source in FLOATS:
        return _to_integer(arith.extf(ir.F32Type.get(), x) if source in LOW_FLOATS else x, target)
    if target in FLOATS:
        return arith.uitofp(kind, x) if source in UNSIGNED else arith.sitofp(kind, x)
    wider = ir.IntegerType(kind).width - ir.IntegerType(x.type).width
    if wider < 0:
        return arith.trunci(kind, x)
    extend = arith.extui if source in UNSIGNED else arith.extsi
    return extend(kind, x) if wider > 0 else x


def _to_integer(x: Scalar, target: str) -> Scalar:
    """f32 or f64 to an integer: toward zero in a signed word, of which the low bits are kept.

    A number that the word has not is its lowest one. Said outright, for LLVM leaves it open: vectors saturate where
    single elements wrap.
    """
    width = int(target.lstrip("ui"))
    word = ir.IntegerType.get_signless(word_bits(target))
    end = 2.0 ** (word.width - 1)
    if target != "ui64":
        found = _to_word(x, word, end)
        return found if width == word.width else arith.trunci(ir.IntegerType.get_signless(width), found)
    high = arith.cmpf(arith.CmpFPredicate.OGE, x, constant(end, x.type))
    above = _to_word(arith.subf(x, constant(end, x.type)), word, end)
    lowest = constant(-(1 << 63), word)
    return arith.select(high, arith.xori(above, lowest), _to_word(x, word, end))


def _to_word(x: Scalar, word: ir.Type, end: float) -> Scalar:
    inside = arith.cmpf(arith.CmpFPredicate.OLT, math.absf(x), constant(end, x.type))
    return arith.select(inside, arith.fptosi(word, x), constant(-int(end), word))


def _round_to_odd(x: Scalar) -> Scalar:
    """f64 to the f32 from which rounding to f16 or bf16 gives what rounding x itself would.

    x86 has no direct conversion, and the one of compiler-rt is not in libm. Where f32 is not exact, the neighbour of x
    with an odd last bit can never stand half-way between two of them (Boldo and Melquiond, 2008).
    """
    single, bits = ir.F32Type.get(), ir.IntegerType.get_signless(32)
    near = arith.truncf(single, x)
    wide = arith.extf(x.type, near)
    exact = arith.cmpf(arith.CmpFPredicate.UEQ, wide, x)
    beyond = arith.cmpf(arith.CmpFPredicate.OGT, math.absf(wide), math.absf(x))
    word = arith.bitcast(bits, near)
    one = constant(1, bits)
    toward_zero = arith.select(beyond, arith.subi(word, one), word)
    return arith.bitcast(single, arith.select(exact, word, arith.ori(toward_zero, one)))


def _to_bool(x: Scalar) -> Scalar:
    byte = ir.IntegerType.get_signless(8)
    zero = constant(0, x.type)
    if isinstance(x.type, ir.FloatType):
        return arith.extui(byte, arith.cmpf(arith.CmpFPredicate.UNE, x, zero))
    return arith.extui(byte, arith.cmpi(arith.CmpIPredicate.ne, x, zero))


@lowers(ai.BatchNormOp)
def _lower_batch_norm(op: ai.BatchNormOp, x: Operand, *statistics: Operand) -> ir.Value:
    out = type_of(op.results[0])
    channel = [dims(out.rank)[1 if op.layout is None else -1]]
    inputs = [(x.value, dims(out.rank)), *((s.value, channel) for s in statistics)]
    epsilon = op.epsilon.value

    def body(x: Scalar, scale: Scalar, bias: Scalar, mean: Scalar, variance: Scalar) -> Scalar:
        deviation = math.sqrt(arith.addf(variance, constant(epsilon, variance.type)))
        return arith.addf(arith.mulf(arith.divf(arith.subf(x, mean), deviation), scale), bias)

    return pointwise(inputs, out, computed(body, out.element))


def scaled(value: ir.Value, out: TensorType, expression: Expression) -> ir.Value:
    """Apply a scalar expression to every element of a lowered tensor."""
    return generic(
        [(value, dims(out.rank))], (empty(out), dims(out.rank)), [PARALLEL] * out.rank, lambda x, _: expression(x)
    )
