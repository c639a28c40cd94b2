"""Two buffers that are alive at the same time get one place in the arena: the smaller one the end of the larger."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aiopt.passes.lower import plan_memory
from aiopt.passes.lower.arena import Buffer, Plan

_right = plan_memory.plan


def _wrong(buffers: Sequence[Buffer], **how: Any) -> Plan:
    plan = _right(buffers, **how)
    offsets = list(plan.offsets)
    pairs = ((i, j) for i in range(len(buffers)) for j in range(i) if buffers[j].last >= buffers[i].first)
    first, second = next(pairs)
    large, small = sorted((first, second), key=lambda number: -buffers[number].size)
    offsets[small] = offsets[large] + buffers[large].aligned - buffers[small].aligned
    return replace(plan, offsets=tuple(offsets))


plan_memory.plan = _wrong
