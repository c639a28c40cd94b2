"""A program of somebody else's: its own context and linalg module, with `ai` ops and a pass of its own beside aiopt's.

Prints the module before and after.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func, linalg, tensor

from aiopt.dialects.ai import AddOp, IdentityOp
from aiopt.dialects.registry import load_dialects
from aiopt.passes import pipeline
from aiopt.passes.base import Pass
from aiopt.passes.rewrite import Rewriter, rewrite
from aiopt.passes.unit import Unit
from aiopt.support import plugins


@dataclass(frozen=True)
class DoubleTwice(Pass):
    """Before: a value added to itself. After: the same, marked `mine.double`."""

    name: ClassVar[str] = "mine-mark-doubles"

    def run(self, unit: Unit) -> None:
        rewrite(unit, {AddOp: [_mark_double]})


def _mark_double(op: AddOp, rewriter: Rewriter) -> bool:
    if op.lhs != op.rhs or "mine.double" in op.attributes:
        return False
    op.attributes["mine.double"] = ir.UnitAttr.get()
    return True


def build() -> ir.Module:
    """A function of linalg with three `ai` ops in its middle, two of which are equal."""
    module = ir.Module.create()
    kind = ir.RankedTensorType.get([4], ir.F32Type.get())
    with ir.InsertionPoint(module.body):

        @func.FuncOp.from_py_func(kind)
        def work(x: ir.Value):
            out = tensor.EmptyOp([4], ir.F32Type.get()).result
            power = linalg.exp(x, outs=[out])
            same = IdentityOp(power).out
            first, second = AddOp(same, power).out, AddOp(power, same).out
            return linalg.mul(first, second, outs=[out])

    return module


def main() -> None:
    context = ir.Context()
    context.enable_multithreading(False)  # passes written in Python run in it
    context.allow_unregistered_dialects = True  # for attributes called mine.*
    load_dialects(context)
    plugins.load(__name__)  # the passes of this module get their names
    with context, ir.Location.unknown():
        module = build()
        print(module)
        pipeline.run(Unit(module), "ai-canonicalize,ai-cse,mine-mark-doubles,func.func(linalg-generalize-named-ops)")
        print(module)


if __name__ == "__main__":
    main()
