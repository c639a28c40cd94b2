"""gather and resize: elements read at computed positions."""

from __future__ import annotations

from itertools import product

from mlir import ir
from mlir.dialects import arith, linalg, math, tensor

from aiopt.dialects import ai
from aiopt.dialects.ai.sampling import resized_axes, transform
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import Scalar, constant, dims, pointwise
from aiopt.passes.lower.linalg.elementwise import cast
from aiopt.passes.lower.linalg.rules import Operand, lowers


@lowers(ai.GatherOp)
def _lower_gather(op: ai.GatherOp, x: Operand, indices: Operand) -> ir.Value:
    """An index below 0 counts from the end; then all are clamped, so that nothing outside is read."""
    out, axis, size = type_of(op.results[0]), op.axis.value, x.type.shape[op.axis.value]
    source, end = x.value, axis + indices.type.rank

    def body(at: Scalar) -> Scalar:
        below = arith.cmpi(arith.CmpIPredicate.slt, at, constant(0, at.type))
        at = arith.select(below, arith.addi(at, constant(size, at.type)), at)
        at = arith.minsi(arith.maxsi(at, constant(0, at.type)), constant(size - 1, at.type))
        place = [linalg.IndexOp(i).result for i in range(out.rank)]
        return tensor.ExtractOp(source, [*place[:axis], arith.index_cast(_index(), at), *place[end:]]).result

    return pointwise([(indices.value, dims(out.rank)[axis:end])], out, body)


@lowers(ai.ResizeOp)
def _lower_resize(op: ai.ResizeOp, x: Operand) -> ir.Value:
    out, scales = type_of(op.results[0]), list(op.scales)
    axes = resized_axes(x.type.shape, out.shape, scales)
    axis_of = {axis: _Axis(op, axis, x.type.shape[axis], out.shape[axis], scales[axis]) for axis in axes}
    source, nearest = x.value, op.mode.value == "nearest"

    def read(at: dict[int, Scalar]) -> Scalar:
        place = [at[i] if i in at else linalg.IndexOp(i).result for i in range(out.rank)]
        return tensor.ExtractOp(source, place).result

    def body() -> Scalar:
        if nearest:
            return read({axis: rule.nearest() for axis, rule in axis_of.items()})
        wide = "f64" if out.element == "f64" else "f32"
        taps = [[(axis, *tap) for tap in rule.linear(wide)] for axis, rule in axis_of.items()]
        total: Scalar | None = None
        for chosen in product(*taps):  # no axis: one empty choice, the element itself
            term = cast(read({axis: at for axis, at, _ in chosen}), out.element, wide)
            for _, _, weight in chosen:
                term = arith.mulf(term, weight)
            total = term if total is None else arith.addf(total, term)
        return cast(total, wide, out.element)

    return pointwise([], out, body)


class _Axis:
    """Emits the positions in one resized dimension that the loop over the result's dimension reads."""

    def __init__(self, op: ai.ResizeOp, axis: int, size: int, out_size: int, scale: float) -> None:
        self.axis, self.size, self.scale = axis, size, scale
        self.coordinates, self.rounding = op.coordinates.value, op.rounding.value
        self.factor, (self.shift, self.subtract), self.divisor = transform(size, out_size, scale, self.coordinates)
        self.repeat = round(scale) if scale == round(scale) and out_size == size * scale else 0

    def nearest(self) -> Scalar:
        """The element nearest to the position; a plain division where each element is repeated a whole number of
        times."""
        if self.repeat and (self.coordinates, self.rounding) == ("asymmetric", "floor"):
            return arith.divui(linalg.IndexOp(self.axis).result, constant(self.repeat, _index()))
        half = constant(0.5, ir.F32Type.get())
        x = self._position()
        rounded = {
            "round_prefer_floor": lambda: math.ceil(arith.subf(x, half)),
            "round_prefer_ceil": lambda: math.floor(arith.addf(x, half)),
            "floor": lambda: math.floor(x),
            "ceil": lambda: math.ceil(x),
        }[self.rounding]()
        return _as_index(self._clamped(rounded))

    def linear(self, wide: str) -> list[tuple[Scalar, Scalar]]:
        """(position, weight) of the elements before and after."""
        x = self._clamped(self._position())
        floor = math.floor(x)
        below, index = _as_index(floor), _index()
        above = arith.minsi(arith.addi(below, constant(1, index)), constant(self.size - 1, index))
        part = cast(arith.subf(x, floor), "f32", wide)
        return [(below, arith.subf(constant(1, part.type), part)), (above, part)]

    def _position(self) -> Scalar:
        f32 = ir.F32Type.get()
        at = arith.index_cast(ir.IntegerType.get_signless(32), linalg.IndexOp(self.axis).result)
        x = arith.addf(arith.sitofp(f32, at), constant(self.shift, f32))
        x = arith.divf(arith.mulf(x, constant(self.factor, f32)), constant(self.divisor, f32))
        return arith.subf(x, constant(self.subtract, f32))

    def _clamped(self, x: Scalar) -> Scalar:
        return arith.minimumf(arith.maximumf(x, constant(0, x.type)), constant(self.size - 1, x.type))


def _index() -> ir.Type:
    return ir.IndexType.get()


def _as_index(x: Scalar) -> Scalar:
    return arith.index_cast(_index(), arith.fptosi(ir.IntegerType.get_signless(32), x))
