"""ai-fold-constants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect, Trait
from aiopt.passes.base import Pass
from aiopt.passes.rewrite import Rewriter, constant_value, rewrite
from aiopt.passes.unit import Unit

FREE_BYTES = 1 << 20  # results up to this size are folded whatever the size of the operands


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Before: an `ai` op of one result whose operands are constants. After: a constant, from the numpy reference.

    A result above 1 MiB that is more than twice its operands together (a broadcast) stays an op, so that folding
    cannot blow up the weights.
    """

    name: ClassVar[str] = "ai-fold-constants"

    def run(self, unit: Unit) -> bool:
        foldable = [op for op in AiDialect.operations.values() if Trait.CONSTANT not in op.traits]
        return rewrite(unit, dict.fromkeys(foldable, (_fold_op,)))


def _fold_op(op: ext.Operation, rewriter: Rewriter) -> bool:
    values = op.operation.operands
    if any(constant_value(value, rewriter.unit) is None for value in values):
        return False
    (out,) = op.operation.results
    operands = [ext.type_of(value) for value in values]
    if ext.type_of(out).nbytes > max(FREE_BYTES, 2 * sum(kind.nbytes for kind in operands)):
        return False
    (result,) = op.evaluate([_arrays(group, rewriter) for group in op.operand_groups()])
    names = ext.node_names(op.location)
    return rewriter.replace(rewriter.constant(np.asarray(result), names[0] if names else "folded"))


def _arrays(group: Any, rewriter: Rewriter) -> Any:
    """The values of one operand slot, as `evaluate` takes them: None, an array or a list."""
    if isinstance(group, list):
        return [_arrays(value, rewriter) for value in group]
    return None if group is None else constant_value(group, rewriter.unit)
