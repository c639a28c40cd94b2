"""Building loops, flat buffers and column vectors: what all templates are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir
from mlir.dialects import arith, memref, scf, vector

from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.spec.base import WIDTH

# Unrolled by LLVM, a loop that fills all registers is no faster, but takes three times as long to compile.
_KEEP_LOOP = "#llvm.loop_annotation<unroll = <disable = true>>"

LINE = 16  # f32 elements of a cache line

Index = ir.Value | int  # of type index, or known now


def index(value: Index) -> ir.Value:
    """As a value."""
    return value if isinstance(value, ir.Value) else arith.ConstantOp(ir.IndexType.get(), value).result


def add(a: Index, b: Index) -> Index:
    """a + b, at compile time where both are known."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    if a == 0 or b == 0:
        return b if isinstance(a, int) else a
    return arith.addi(index(a), index(b))


def mul(a: Index, factor: int) -> Index:
    """a * factor, at compile time where a is known."""
    if isinstance(a, int) or factor in (0, 1):
        return a * factor if isinstance(a, int) else a if factor else 0
    return arith.muli(a, index(factor))


def divided(a: Index, divisor: int) -> tuple[Index, Index]:
    """a // divisor and a % divisor for a >= 0, at compile time where a is known."""
    if isinstance(a, int):
        return divmod(a, divisor)
    return arith.divui(a, index(divisor)), arith.remui(a, index(divisor))


def minimum(a: Index, b: Index) -> Index:
    """The smaller one, at compile time where both are known."""
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else arith.minsi(index(a), index(b))


def maximum(a: Index, b: Index) -> Index:
    """The larger one, at compile time where both are known."""
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else arith.maxsi(index(a), index(b))


def dot(indices: Sequence[Index], strides: Sequence[int]) -> Index:
    """Where an element is in a flat buffer."""
    total: Index = 0
    for position, stride in zip(indices, strides, strict=True):
        total = add(total, mul(position, stride))
    return total


def flat(buffer: ir.Value) -> ir.Value:
    """A dense buffer as one of rank 1."""
    size = prod(buffer.type.shape)  # pyright: ignore[reportAttributeAccessIssue]
    kind = ir.MemRefType.get([size], buffer.type.element_type)  # pyright: ignore[reportAttributeAccessIssue]
    return (
        buffer if kind == buffer.type else memref.ReinterpretCastOp(kind, buffer, [], [], [], [0], [size], [1]).result
    )


def scratch(elements: int) -> ir.Value:
    """A flat buffer of f32 of a task."""
    return memref.AllocOp(ir.MemRefType.get([elements], ir.F32Type.get()), [], []).result


def for_loop(
    lower: Index,
    upper: Index,
    step: int,
    carried: Sequence[ir.Value],
    body: Callable[[Index, list[ir.Value]], Sequence[ir.Value]],
) -> list[ir.Value]:
    """An scf.for; `body` gets the position and the carried values and gives the next ones. One trip is no loop."""
    if isinstance(lower, int) and isinstance(upper, int) and upper - lower <= step:
        return list(body(lower, list(carried))) if upper > lower else list(carried)
    loop = scf.ForOp(index(lower), index(upper), index(step), list(carried))
    loop.operation.attributes["llvm.loop_annotation"] = ir.Attribute.parse(_KEEP_LOOP)
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(list(body(loop.induction_variable, list(loop.inner_iter_args))))
    return list(loop.results)


Side = Callable[[], Sequence[ir.Value]]


def branch(condition: ir.Value, yes: Side, no: Side | None = None, kinds: Sequence[ir.Type] = ()) -> list[ir.Value]:
    """An scf.if that gives values of these types; without `no` it gives none."""
    op = scf.IfOp(condition, list(kinds), has_else=no is not None)
    for block, side in ((op.then_block, yes), *(((op.else_block, no),) if no is not None else ())):
        with ir.InsertionPoint(block):  # pyright: ignore[reportArgumentType, reportCallIssue]
            scf.YieldOp(list(side()))
    return list(op.results)


def multiple_below(count: Index, step: int) -> Index:
    """The largest multiple of `step` that is not above `count`."""
    if isinstance(count, int):
        return count - count % step
    return mul(arith.divui(count, index(step)), step)


def equal(a: Index, b: Index) -> ir.Value | bool:
    """a == b; a bool where it is known now."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    return arith.cmpi(arith.CmpIPredicate.eq, index(a), index(b))


def less(a: Index, b: Index) -> ir.Value:
    """a < b."""
    return arith.cmpi(arith.CmpIPredicate.slt, index(a), index(b))


def when(condition: ir.Value | bool, body: Callable[[], None]) -> None:
    """Run `body` if the condition holds."""

    def run() -> Sequence[ir.Value]:
        body()
        return []

    if isinstance(condition, ir.Value):
        branch(condition, run)
    elif condition:
        body()


def forall(trips: Sequence[int], body: Callable[..., None], along: int = 0) -> None:
    """A parallel loop from 0 along each dimension, the last one fastest; `body` gets the positions.

    along: the dimension that is divided among threads; each runs all iterations of those before it. In a task of
    another parallel loop it is one loop after the other: tasks have no tasks.
    """
    if _is_in_task():
        _nest(trips, body, [])
        return
    loop = scf.ForallOp([0] * len(trips), list(trips), [1] * len(trips))
    if prod(trips[:along]) > 1:
        loop.operation.attributes[WIDTH] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), prod(trips[along:]))
    with ir.InsertionPoint(loop.body):
        body(*loop.induction_variables)
        scf.InParallelOp()


def _nest(trips: Sequence[int], body: Callable[..., None], positions: list[Index]) -> None:
    if not trips:
        body(*(index(position) for position in positions))
        return

    def inner(position: Index, _: list[ir.Value]) -> list[ir.Value]:
        _nest(trips[1:], body, [*positions, position])
        return []

    for_loop(0, trips[0], 1, [], inner)


def _is_in_task() -> bool:
    parent = ir.InsertionPoint.current.block.owner
    while parent is not None:
        if parent.operation.name == "scf.forall":
            return True
        parent = parent.operation.parent
    return False


@dataclass(frozen=True)
class Chunk:
    """A vector of columns: where it starts in its block, how many lanes it has, how many of them are columns."""

    offset: int
    lanes: int
    valid: int

    @property
    def full(self) -> Chunk:
        """All its lanes valid: in packed weights, which are filled up with zeros."""
        return Chunk(self.offset, self.lanes, self.lanes)

    @property
    def kind(self) -> ir.VectorType:
        return ir.VectorType.get([self.lanes], ir.F32Type.get())


def chunks(columns: int, lanes: int, single: bool = False) -> list[Chunk]:
    """Cover columns by whole registers: as few vectors as there are with a power of two of lanes; single: one each."""
    padded = -(-columns // lanes) * lanes
    size = lanes if single else padded & -padded
    return [Chunk(at, size, min(size, columns - at)) for at in range(0, padded, size)]


def zeros(chunk: Chunk) -> ir.Value:
    return constant(0.0, chunk.kind)


def load(buffer: ir.Value, position: Index, chunk: Chunk) -> ir.Value:
    """The valid lanes of a chunk from a flat buffer, as f32 or i1, zeros in the others."""
    element = buffer.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
    if chunk.valid == chunk.lanes:
        kind = ir.VectorType.get([chunk.lanes], element)
        return _widened(vector.LoadOp(kind, buffer, [index(add(position, chunk.offset))]).result, chunk.kind)
    whole = constant(0.0, ir.VectorType.get([chunk.lanes], element))
    for at, size in pieces(chunk.valid):
        kind = ir.VectorType.get([size], element)
        piece = vector.LoadOp(kind, buffer, [index(add(position, chunk.offset + at))]).result
        whole = vector.InsertStridedSliceOp(piece, whole, [at], [1]).result
    return _widened(whole, chunk.kind)


def store(value: ir.Value, buffer: ir.Value, position: Index, chunk: Chunk) -> None:
    """Write the valid lanes of a chunk to a flat buffer, rounded to its type. In pieces where some are not valid:
    masked stores are slow."""
    element = buffer.type.element_type  # pyright: ignore[reportAttributeAccessIssue]
    if not isinstance(element, ir.F32Type):
        value = arith.truncf(ir.VectorType.get([chunk.lanes], element), value)
    if chunk.valid == chunk.lanes:
        vector.StoreOp(value, buffer, [index(add(position, chunk.offset))])
        return
    for at, size in pieces(chunk.valid):
        kind = ir.VectorType.get([size], element)
        piece = vector.ExtractStridedSliceOp(kind, value, [at], [size], [1]).result
        vector.StoreOp(piece, buffer, [index(add(position, chunk.offset + at))])


def load_scalar(buffer: ir.Value, position: Index, kind: ir.VectorType) -> ir.Value:
    """One element of a flat buffer in all lanes, as f32 or i1.

    A bf16 goes to both halves of each lane, of which the lower one is cleared: two instructions, where extending it
    first takes four.
    """
    if isinstance(buffer.type.element_type, ir.BF16Type):  # pyright: ignore[reportAttributeAccessIssue]
        (lanes,), half, word = kind.shape, ir.IntegerType.get_signless(16), ir.IntegerType.get_signless(32)
        bits = arith.bitcast(half, memref.LoadOp(buffer, [index(position)]).result)
        halves = vector.BroadcastOp(ir.VectorType.get([2 * lanes], half), bits).result
        words = vector.BitCastOp(ir.VectorType.get([lanes], word), halves).result
        return arith.bitcast(kind, arith.andi(words, constant(-(1 << 16), words.type)))
    scalar = _widened(memref.LoadOp(buffer, [index(position)]).result, kind.element_type)
    return vector.BroadcastOp(ir.VectorType.get(kind.shape, scalar.type), scalar).result


def _widened(value: ir.Value, kind: ir.Type) -> ir.Value:
    """As f32: what is stored in 16 bits is computed in 32. A bool, which takes a byte in memory, as i1."""
    element = value.type.element_type if isinstance(value.type, ir.VectorType) else value.type
    if isinstance(element, ir.IntegerType):
        return arith.cmpi(arith.CmpIPredicate.ne, value, constant(0, value.type))
    return value if value.type == kind else arith.extf(kind, value)


def line_of(buffer: ir.Value) -> int:
    """Elements of a buffer in a cache line."""
    return LINE * 32 // buffer.type.element_type.width  # pyright: ignore[reportAttributeAccessIssue]


def prefetch(buffer: ir.Value, position: Index) -> None:
    """Fetch the line of an element of a flat buffer into the L2 cache."""
    memref.PrefetchOp(buffer, [index(position)], False, 2, True)


def multiply_add(x: ir.Value, w: ir.Value, total: ir.Value, fma: bool) -> ir.Value:
    """total + x * w, in one instruction where the machine has it."""
    return vector.FMAOp(x, w, total).result if fma else arith.addf(total, arith.mulf(x, w))


def pieces(count: int) -> list[tuple[int, int]]:
    """(start, size) of powers of two that add up to `count`, larger ones first."""
    found, at = [], 0
    while at < count:
        size = 1 << ((count - at).bit_length() - 1)
        found.append((at, size))
        at += size
    return found
