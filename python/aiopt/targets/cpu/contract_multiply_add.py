"""cpu-contract-multiply-add: a product that is only added becomes one multiply-add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir

from aiopt.passes.base import Pass
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.passes.walk import ops_named


@dataclass(frozen=True)
class ContractMultiplyAdd(Pass):
    """Before: llvm.fmul with one use, an llvm.fadd in the same block. After: llvm.intr.fmuladd.

    This is the one liberty taken with floats (fast-math's `contract`), and it is taken here rather than by a flag:
    under a flag LLVM decides anew for the vector body and the scalar rest of a loop, and which elements fall into
    the rest depends on the number of threads. fmuladd is one instruction where the CPU has it, else two.
    """

    name: ClassVar[str] = "cpu-contract-multiply-add"
    requires: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> bool:
        contracted = [_contract(add) for add in ops_named(unit.module.operation, "llvm.fadd")]
        return any(contracted)


def _contract(add: ir.Operation) -> bool:
    for product, other in ((add.operands[0], add.operands[1]), (add.operands[1], add.operands[0])):
        multiply = None if isinstance(product.owner, ir.Block) else product.owner.operation
        if multiply is None or multiply.name != "llvm.fmul" or multiply.block != add.block:
            continue
        if sum(1 for _ in product.uses) != 1:
            continue
        with ir.InsertionPoint(add), add.location:
            kind = add.results[0].type
            fused = ir.Operation.create("llvm.intr.fmuladd", [kind], [*multiply.operands, other])
        add.results[0].replace_all_uses_with(fused.results[0])
        add.erase()
        multiply.erase()
        return True
    return False
