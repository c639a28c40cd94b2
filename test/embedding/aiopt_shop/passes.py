"""shop-fuse-swish, and how shop.swish becomes linalg."""

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import arith, math

from aiopt.dialects.ai import MulOp, SigmoidOp
from aiopt.dialects.ext import type_of
from aiopt.passes.base import Pass
from aiopt.passes.lower.linalg.builder import constant
from aiopt.passes.lower.linalg.elementwise import elementwise
from aiopt.passes.lower.linalg.rules import Operand, lowers
from aiopt.passes.rewrite import Rewriter, defining, rewrite
from aiopt.passes.unit import Unit
from aiopt_shop.shop import SwishOp


@dataclass(frozen=True)
class FuseSwish(Pass):
    """Before: the product of a value and its sigmoid. After: shop.swish."""

    name: ClassVar[str] = "shop-fuse-swish"

    def run(self, unit: Unit) -> None:
        rewrite(unit, {MulOp: [_fuse_swish]})


def _fuse_swish(op: MulOp, rewriter: Rewriter) -> bool:
    sigmoid = defining(op.rhs)
    if not isinstance(sigmoid, SigmoidOp) or sigmoid.input != op.lhs:
        return False
    return rewriter.replace(rewriter.create(SwishOp, op.lhs, merged=[sigmoid]))


@lowers(SwishOp)
def _lower_swish(op: SwishOp, operand: Operand) -> ir.Value:
    def body(x: ir.Value) -> ir.Value:
        return arith.divf(x, arith.addf(constant(1, x.type), math.exp(arith.negf(x))))

    return elementwise([operand], type_of(op.out), body)
