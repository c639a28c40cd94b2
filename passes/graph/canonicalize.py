"""ai-canonicalize."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect
from aiopt.passes.base import Pass
from aiopt.passes.graph import simplify_arithmetic, simplify_movement, sink_reshapes
from aiopt.passes.rewrite import Pattern, rewrite
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class Canonicalize(Pass):
    """Remove ops without effect and bring equal computations to one form; results stay equal to the bit.

    Before: identity, cast to the same type or of a widening cast, x * 1, x / 1, x - 0.0, x + -0.0, pow(x, 1),
    relu(relu), neg(neg), reshape(reshape), transpose(transpose), a transpose of unit axes, whole slices, concat of
    one, no-op broadcasts.
    After: their operand, or one op. pow(x, 2) is x * x. A reshape of what a contraction gives stands behind the
    elementwise ops that read it.
    """

    name: ClassVar[str] = "ai-canonicalize"

    def run(self, unit: Unit) -> bool:
        return rewrite(unit, _PATTERNS)


def _collect() -> dict[type[ext.Operation], list[Pattern]]:
    found: dict[type[ext.Operation], list[Pattern]] = defaultdict(list)
    operations = list(AiDialect.operations.values())
    general = (simplify_movement.binary_patterns(operations), sink_reshapes.patterns(operations))
    for table in (simplify_arithmetic.PATTERNS, simplify_movement.PATTERNS, *general):
        for cls, patterns in table.items():
            found[cls] += patterns
    return found


_PATTERNS = _collect()
