"""Takes allocation out of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

from mlir import ir
from mlir.dialects import arith, func, linalg, memref, scf

from aiopt.dialects.ext import operations
from aiopt.passes.base import Pass, functions
from aiopt.passes.rewrite import CALL_ATTRIBUTES
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit

_ALIGNMENT = 64


@dataclass(frozen=True)
class AllocateScratch(Pass):
    """Before: kernels that memref.alloc. After: kernels whose buffers are arguments, allocated by @main at the call.

    Up to `stack-bytes` in all are memref.alloca instead. An allocation inside a parallel loop is private to an
    iteration: what is too large for the stack is a part of one scratch buffer for each. The attribute `ai.scratch` says
    how many arguments were added. Copies become linalg.copy: no library is called.
    """

    name: ClassVar[str] = "ai-allocate-scratch"
    requires = Level.TENSOR
    stack_bytes: int = 65536

    def run(self, unit: Unit) -> None:
        scratch: dict[str, list[ir.MemRefType]] = {}
        for function in functions(unit.module):
            if "ai.kernel" in function.attributes:
                convert_copies(function)
                scratch[function.name.value] = self._hoist(function)
        for function in functions(unit.module):
            if "ai.kernel" not in function.attributes:
                _extend_calls(function, scratch)

    def _hoist(self, function: func.FuncOp) -> list[ir.MemRefType]:
        """Replace the allocations of a kernel; the types of the arguments that were added."""
        kinds: list[ir.MemRefType] = []
        stack = 0
        for op in operations(function):
            if not isinstance(op, memref.AllocOp):
                continue
            kind = ir.MemRefType.get(op.result.type.shape, op.result.type.element_type)
            loop, size = _parallel_loop(op), buffer_bytes(kind)
            with ir.InsertionPoint(op), op.location:
                if stack + size <= self.stack_bytes:
                    stack += size
                    replacement = memref.AllocaOp(kind, [], [], alignment=_ALIGNMENT).result
                elif loop is None:
                    replacement = _add_argument(function, kind, kinds)
                else:
                    replacement = _part_of_scratch(function, kind, loop, kinds)
            op.result.replace_all_uses_with(replacement)
            op.operation.erase()
        inputs = [argument.type for argument in function.arguments]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, []))
        function.attributes["ai.scratch"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(kinds))
        return kinds


def _add_argument(function: func.FuncOp, kind: ir.MemRefType, kinds: list[ir.MemRefType]) -> ir.Value:
    kinds.append(kind)
    return function.entry_block.add_argument(kind, ir.Location.unknown())


def _part_of_scratch(
    function: func.FuncOp, kind: ir.MemRefType, loop: scf.ForallOp, kinds: list[ir.MemRefType]
) -> ir.Value:
    """A view into a scratch buffer with one aligned part for each iteration of the loop."""
    part = buffer_bytes(kind)
    lower, upper, step = (list(loop.attributes[f"static{key}"]) for key in ("LowerBound", "UpperBound", "Step"))
    trips = [-(-(u - lo) // s) for lo, u, s in zip(lower, upper, step, strict=True)]
    whole = ir.MemRefType.get([part * prod(trips)], ir.IntegerType.get_signless(8))
    buffer = _add_argument(function, whole, kinds)
    index = ir.IndexType.get()

    def number(value: int) -> ir.Value:
        return arith.ConstantOp(index, value).result

    linear = number(0)
    for variable, lo, s, trip in zip(loop.induction_variables, lower, step, trips, strict=True):
        position = arith.divui(arith.subi(variable, number(lo)), number(s))
        linear = arith.addi(arith.muli(linear, number(trip)), position)
    return memref.ViewOp(kind, buffer, arith.muli(linear, number(part)), []).result


def _parallel_loop(op: ir.OpView) -> scf.ForallOp | None:
    """The outermost scf.forall around an op."""
    found, parent = None, op.operation.parent
    while parent is not None:
        if isinstance(parent.opview, scf.ForallOp):
            found = parent.opview
        parent = parent.operation.parent
    return found


def buffer_bytes(kind: ir.MemRefType) -> int:
    """Bytes of a buffer, rounded up to the alignment."""
    element: Any = kind.element_type
    width = 64 if isinstance(element, ir.IndexType) else element.width
    return -(-prod(kind.shape) * max(1, width // 8) // _ALIGNMENT) * _ALIGNMENT


def convert_copies(function: func.FuncOp) -> None:
    """Make each memref.copy a linalg.copy, which becomes loops and needs no library."""
    for op in operations(function):
        if isinstance(op, memref.CopyOp):
            with ir.InsertionPoint(op), op.location:
                linalg.copy(op.source, outs=[op.target])
            op.operation.erase()


def _extend_calls(function: func.FuncOp, scratch: dict[str, list[ir.MemRefType]]) -> None:
    """Give each call of a kernel its scratch buffers."""
    for op in operations(function):
        if not isinstance(op, func.CallOp) or not scratch.get(op.callee.value):
            continue
        with ir.InsertionPoint(op), op.location:
            buffers = [memref.AllocOp(kind, [], []).result for kind in scratch[op.callee.value]]
            call = func.CallOp([], op.callee, [*op.operands_, *buffers])
        for key in CALL_ATTRIBUTES:
            if key in op.attributes:
                call.attributes[key] = op.attributes[key]
        op.operation.erase()
