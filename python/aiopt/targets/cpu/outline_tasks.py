"""cpu-outline-tasks: parallel loops become functions over a range of iterations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, func, scf

from aiopt.dialects.ext import describe
from aiopt.passes.base import Pass, functions
from aiopt.passes.spec.base import SERIAL, WIDTH, Level
from aiopt.passes.unit import Unit
from aiopt.passes.walk import all_ops, ops_named
from aiopt.support.errors import CompileError

PARALLEL = "ai.parallel"  # on the call of a task: its range may be split among threads, each row of this width alike
_ALIGNMENT = 64
# What a task computes again instead of taking it as an argument.
_PURE_DIALECTS = frozenset({"arith", "math", "affine", "vector"})
_VIEWS = frozenset(
    f"memref.{name}"
    for name in ("subview", "cast", "reinterpret_cast", "expand_shape", "collapse_shape", "get_global", "view")
)


@dataclass(frozen=True)
class OutlineTasks(Pass):
    """Before: scf.forall at the top of a kernel.
    After: a call of a private function that runs the iterations begin <= i < end of the linearised space.

    The call covers the whole range, so the module stays an ordinary serial program; `ai.parallel = width` on it says
    that cpu-emit-entry may split it, every row of so many iterations alike: what the loop's `ai.width` says, else all
    of them are one. A loop of one iteration or of a kernel that is `ai.serial` (ai-plan-threads) is called
    without: waking threads would take longer. Memrefs the loop uses become arguments of the task that do not
    alias (docs/levels.md: buffers of one call overlap only if both are read); what else it uses is cloned.
    Allocas go to the head of their function: in a loop they would grow the stack at each iteration.
    """

    name: ClassVar[str] = "cpu-outline-tasks"
    requires: ClassVar[Level | None] = Level.LOOPS
    ensures: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> None:
        taken = {op.name.value for op in unit.module.body.operations if isinstance(op, func.FuncOp)}
        for kernel in functions(unit.module):
            if kernel.name.value == "main":
                continue
            loops = [op for op in kernel.entry_block.operations if isinstance(op, scf.ForallOp)]
            tasks = [
                _outline(loop, kernel, _free_name(f"{kernel.name.value}_task_{i}", taken))
                for i, loop in enumerate(loops)
            ]
            for function in (kernel, *tasks):
                _hoist_allocas(function)
                _forbid_aliasing(function)


@dataclass(frozen=True)
class _Space:
    """The iteration space of an scf.forall, bounds known."""

    lower: list[int]
    steps: list[int]
    trips: list[int]

    @property
    def size(self) -> int:
        return math.prod(self.trips)


def parallel(width: int) -> ir.IntegerAttr:
    """The value of `ai.parallel`."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), width)


def _free_name(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _outline(loop: scf.ForallOp, kernel: func.FuncOp, name: str) -> func.FuncOp:
    space = _read_space(loop)
    needed = _needed(loop)
    buffers = [value for value in needed if _is_buffer(value)]
    index = ir.IndexType.get()
    with ir.InsertionPoint(kernel), loop.location:
        task = func.FuncOp(name, ([*(v.type for v in buffers), index, index], []), visibility="private")
    block = task.add_entry_block([loop.location] * (len(buffers) + 2))
    *arguments, begin, end = block.arguments
    inside = dict(zip(buffers, arguments, strict=True))
    with ir.InsertionPoint(block), loop.location:
        for value in needed:
            if value not in inside:
                _clone(value, inside)
        _emit_range(loop, space, inside, begin, end)
        func.ReturnOp([])
    with ir.InsertionPoint(loop), loop.location:
        bounds = [arith.ConstantOp(index, bound).result for bound in (0, space.size)]
        call = func.CallOp([], name, [*buffers, *bounds])
    if space.size > 1 and SERIAL not in kernel.attributes:
        call.operation.attributes[PARALLEL] = parallel(_width(loop, space))
    loop.operation.erase()
    return task


def _read_space(loop: scf.ForallOp) -> _Space:
    if len(loop.results):
        raise CompileError(f"cpu-outline-tasks: scf.forall at {describe(loop.location)} has results: bufferize first")
    attributes = loop.operation.attributes
    bounds = [list(attributes[f"static{name}"]) for name in ("LowerBound", "UpperBound", "Step")]
    dynamic = ir.ShapedType.get_dynamic_size()
    if any(dynamic in values for values in bounds):
        raise CompileError(f"cpu-outline-tasks: scf.forall at {describe(loop.location)} needs constant bounds")
    lower, upper, steps = bounds
    trips = [max(-(-(u - b) // s), 0) for b, u, s in zip(lower, upper, steps, strict=True)]
    return _Space(lower, steps, trips)


def _width(loop: scf.ForallOp, space: _Space) -> int:
    """Iterations of a row, of which each thread runs the same part."""
    given = loop.operation.attributes.get(WIDTH)
    if given is None:
        return space.size
    if not isinstance(given, ir.IntegerAttr) or given.value < 1 or space.size % given.value:
        raise CompileError(
            f"cpu-outline-tasks: the scf.forall at {describe(loop.location)} has {WIDTH} = {given}, "
            f"which must be a number that divides its {space.size} iterations"
        )
    return given.value


def _needed(loop: scf.ForallOp) -> list[ir.Value]:
    """What the task needs from outside: buffers and values to compute again, each after what it is made of."""
    inner = all_ops(loop)
    defined = {argument for op in inner for r in op.regions for b in r.blocks for argument in b.arguments}
    defined.update(result for op in inner for result in op.results)
    found: dict[ir.Value, None] = {}

    def visit(value: ir.Value) -> None:
        if value in found or value in defined:
            return
        if not _is_buffer(value):
            for operand in _cheap_owner(value, loop).operands:
                visit(operand)
        found[value] = None

    for op in inner:
        for value in op.operands:
            visit(value)
    return list(found)


def _is_buffer(value: ir.Value) -> bool:
    """A memref that a task takes as an argument: an argument of the kernel or an alloca. Views are made again."""
    if not isinstance(value.type, ir.MemRefType):
        return False
    return isinstance(value.owner, ir.Block) or value.owner.operation.name == "memref.alloca"


def _cheap_owner(value: ir.Value, loop: scf.ForallOp) -> ir.Operation:
    """The op behind a value, if it may be computed again in the task."""
    name = "" if isinstance(value.owner, ir.Block) else value.owner.operation.name
    if name not in _VIEWS and name.split(".")[0] not in _PURE_DIALECTS:
        raise CompileError(
            f"cpu-outline-tasks: the scf.forall at {describe(loop.location)} uses {value.get_name()} from outside, "
            "which is neither a buffer nor cheap to compute again: move it into the loop"
        )
    return value.owner.operation


def _clone(value: ir.Value, inside: dict[ir.Value, ir.Value]) -> None:
    if value in inside:  # a second result of an op that was cloned
        return
    clone = value.owner.operation.clone()
    _remap(clone.operation, inside)
    inside.update(zip(value.owner.operation.results, clone.operation.results, strict=True))


def _remap(op: ir.Operation, inside: dict[ir.Value, ir.Value]) -> None:
    for i, operand in enumerate(op.operands):
        if operand in inside:
            op.operands[i] = inside[operand]


def _emit_range(
    loop: scf.ForallOp, space: _Space, inside: dict[ir.Value, ir.Value], begin: ir.Value, end: ir.Value
) -> None:
    """Loops over begin <= i < end of the linear space, the last dimension innermost so that LLVM can vectorize it."""
    if len(space.trips) == 1:
        with _for(begin, end) as position:
            _emit_body(loop, space, inside, [position])
        return
    width = _constant(space.trips[-1])
    rounded = arith.AddIOp(end, _constant(space.trips[-1] - 1)).result
    with _for(arith.DivUIOp(begin, width).result, arith.DivUIOp(rounded, width).result) as row:
        start = arith.MulIOp(row, width).result
        first = arith.MaxSIOp(arith.SubIOp(begin, start).result, _constant(0)).result
        last = arith.MinSIOp(arith.SubIOp(end, start).result, width).result
        outer = _delinearize(row, space.trips[:-1])
        with _for(first, last) as column:
            _emit_body(loop, space, inside, [*outer, column])


def _delinearize(position: ir.Value, trips: list[int]) -> list[ir.Value]:
    """One index per dimension, the last one fastest."""
    indices: list[ir.Value] = []
    for size in reversed(trips[1:]):
        indices.insert(0, arith.RemUIOp(position, _constant(size)).result)
        position = arith.DivUIOp(position, _constant(size)).result
    return [position, *indices]


def _emit_body(loop: scf.ForallOp, space: _Space, inside: dict[ir.Value, ir.Value], positions: list[ir.Value]) -> None:
    """Move the body of the scf.forall to the insertion point."""
    body = loop.operation.regions[0].blocks[0]
    for argument, position, lower, step in zip(body.arguments, positions, space.lower, space.steps, strict=True):
        if step != 1:
            position = arith.MulIOp(position, _constant(step)).result
        if lower != 0:
            position = arith.AddIOp(position, _constant(lower)).result
        argument.replace_all_uses_with(position)
    for op in list(body.operations)[:-1]:
        for inner in all_ops(op):
            _remap(inner, inside)
        ir.InsertionPoint.current.insert(op.operation.detach_from_parent())


@contextmanager
def _for(lower: ir.Value, upper: ir.Value) -> Iterator[ir.Value]:
    """An scf.for of step one with what is built in the `with` as its body; gives the induction variable."""
    loop = scf.ForOp(lower, upper, _constant(1))
    with ir.InsertionPoint(loop.body):
        yield loop.induction_variable
        scf.YieldOp([])


def _constant(value: int) -> ir.Value:
    return arith.ConstantOp(ir.IndexType.get(), value).result


def _hoist_allocas(function: func.FuncOp) -> None:
    for op in ops_named(function, "memref.alloca"):
        if len(op.operands):
            raise CompileError(f"cpu-outline-tasks: memref.alloca at {describe(op.location)} needs a static shape")
        if "alignment" not in op.attributes:
            op.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _ALIGNMENT)
        first = function.entry_block.operations[0]
        if first.operation != op:
            op.move_before(first.operation)


def _forbid_aliasing(function: func.FuncOp) -> None:
    noalias = ir.DictAttr.get({"llvm.noalias": ir.UnitAttr.get()})
    kinds = function.type.inputs
    function.arg_attrs = [noalias if isinstance(t, ir.MemRefType) else ir.DictAttr.get({}) for t in kinds]
