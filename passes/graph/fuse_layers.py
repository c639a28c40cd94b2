"""Which kernels become one of several stages (see passes/templates/stages.py), by what they cost: contractions that
follow each other, and what folds the rows that the last one gives.

Pairs are tried in the order of what lies between them, the smallest first: so a bottleneck's narrow layers find each
other before two bottlenecks do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import Trait
from aiopt.passes.rewrite import PARTITION, users
from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.blocking import idle_part
from aiopt.passes.templates.read_kernel import Known, Stage, stages_of
from aiopt.passes.templates.row_reader import RowKernel, is_fold
from aiopt.passes.templates.stages import Banded, plan_bands, weight_bytes
from aiopt.support.fusion import MAX

_MOST_STAGES = 4  # a bottleneck and its projection
_MOST_REPEATED = 0.25  # of the cycles, with max
_FAR = 16  # times the L2 cache: what is larger goes to memory; up to there layers hide what they read and write
# Cycles: of a byte that goes to memory and back, of a launch.
_BYTES_PER_CYCLE = 10.0
LAUNCH_CYCLES = 4000.0
_AGAIN_BYTES_PER_CYCLE = 25.0  # of weights from beyond the L2 cache that are fetched ahead (measured)


@dataclass(frozen=True)
class Attempt:
    """What came of trying to make one kernel of two: a plan, or why there is none."""

    plan: Banded | None
    why: str = ""


@dataclass
class LayerFusion:
    """Joins groups of ops.

    groups: the number of each op's, none where an op is apart. loads: ops that belong to those that read them.
    """

    ops: Sequence[ext.Operation]
    loads: Mapping[ir.Value, ext.Operation]
    groups: list[int | None]
    facts: Facts
    is_known: Known
    mode: str
    max_ops: int
    _tried: dict[frozenset[int], Attempt] = field(default_factory=dict)

    def run(self) -> list[tuple[int, int, Attempt]]:
        """Join what pays. Pairs of stages one of which reads the other, by number of op, and what came of it."""
        found: list[tuple[int, int, Attempt]] = []
        while True:
            pair = next(((a, b, t) for a, b in self._pairs() if (t := self._try(a, b)).plan is not None), None)
            if pair is None:
                break
            one, other, attempt = pair
            found.append((self._result(one), self._result(other), attempt))
            self.groups = [other if number == one else number for number in self.groups]
        missed = [(self._result(a), self._result(b), self._try(a, b)) for a, b in self._pairs()]
        return found + missed

    def _pairs(self) -> list[tuple[int, int]]:
        """Groups (one, other) where the other reads what the one gives, the smallest between first."""
        index = {op.operation.results[0]: number for number, op in enumerate(self.ops)}
        pairs: dict[tuple[int, int], int] = {}
        for number, op in enumerate(self.ops):
            for value in op.operation.operands:
                one, other = self.groups[index[value]] if value in index else None, self.groups[number]
                if one is not None and other is not None and one != other and self._may_follow(one, other):
                    pairs.setdefault((one, other), ext.type_of(value).nbytes)
        return sorted(pairs, key=lambda pair: (pairs[pair], pair))

    def _may_follow(self, one: int, other: int) -> bool:
        """True for two groups of contractions, and for one that a fold of rows follows."""
        behind = self._members(other)
        return _has_root(self._members(one)) and (_has_root(behind) or any(is_fold(op) for op in behind))

    def _members(self, *groups: int) -> list[ext.Operation]:
        return [op for op, number in zip(self.ops, self.groups, strict=True) if number in groups]

    def _result(self, group: int) -> int:
        return max(index for index, number in enumerate(self.groups) if number == group)

    def _try(self, one: int, other: int) -> Attempt:
        members = frozenset(index for index, number in enumerate(self.groups) if number in (one, other))
        if members not in self._tried:
            self._tried[members] = self._attempt(one, other)
        return self._tried[members]

    def _attempt(self, one: int, other: int) -> Attempt:
        members = self._members(one, other)
        inside = {op.operation for op in members}
        between = self.ops[self._result(one)].operation.results[0]
        outside = {user.operation for user in users(between)} - inside
        if outside:
            return Attempt(None, f"{len(outside)} other ops read what is between them")
        if len({op.operation.attributes.get(PARTITION) for op in members}) > 1:
            return Attempt(None, "they are of different partitions")
        if len(members) > self.max_ops:
            return Attempt(None, f"they are more than {self.max_ops} ops")
        loads = list(dict.fromkeys(load for op in members for load in self._loads_of(op)))
        stages = stages_of([*loads, *members], members[-1].operation.results[0], self.is_known)
        if stages is None:
            return Attempt(None, "no templates make one kernel of them")
        if len(stages) > _MOST_STAGES:
            return Attempt(None, f"they are more than {_MOST_STAGES} stages")
        plan = plan_bands(stages, self.facts, self.facts.l2_bytes)
        if plan is None:
            big = plan_bands(stages, self.facts, 1 << 62)
            if big is None:
                return Attempt(None, "no templates make one kernel of them")
            return Attempt(None, f"{big.buffer_bytes} bytes between them exceed the cache of {self.facts.l2_bytes}")
        return self._judge(plan, members, stages)

    def _loads_of(self, op: ext.Operation) -> Iterator[ext.Operation]:
        for value in op.operation.operands:
            if value in self.loads:
                yield from self._loads_of(self.loads[value])
                yield self.loads[value]

    def _judge(self, plan: Banded, members: list[ext.Operation], stages: list[Stage]) -> Attempt:
        """Whether the plan is good enough."""
        if self.mode == MAX:
            if plan.repeated > _MOST_REPEATED * plan.cycles:
                return Attempt(None, f"{_percent(plan)} of the work would be done twice")
            return Attempt(plan)
        *inner, _ = [op.operation.results[0] for op in members if Trait.CONTRACTION in op.traits]
        sizes = [size for value in inner if (size := ext.type_of(value).nbytes) > _FAR * self.facts.l2_bytes]
        saved = sum(2 * size / _BYTES_PER_CYCLE for size in sizes) + LAUNCH_CYCLES
        if plan.tasks * plan.images < self.facts.cores:
            return Attempt(None, f"it would keep {plan.tasks} of {self.facts.cores} cores busy")
        if not inner and isinstance(stages[-1], RowKernel):
            return self._judge_rows(plan, stages)
        if not sizes:
            return Attempt(None, "what is between them stays in the cache")
        if plan.repeated > saved:
            lost = f"{plan.repeated:.0f} cycles of work done twice"
            return Attempt(None, f"{lost} outweigh the {saved:.0f} of traffic saved")
        return Attempt(plan)

    def _judge_rows(self, plan: Banded, stages: list[Stage]) -> Attempt:
        """The same for a product and what folds its rows: a launch is saved, as what is between stays in the cache."""
        far = sum(size for stage in stages if (size := weight_bytes(stage)) > self.facts.l2_bytes)
        again = (plan.bands - 1) * far / _AGAIN_BYTES_PER_CYCLE
        lost = plan.repeated + again + idle_part(plan.bands, self.facts.cores) * plan.cycles
        if lost > LAUNCH_CYCLES:
            reasons = "weights read again or cores without a band"
            return Attempt(None, f"{lost:.0f} cycles of {reasons} outweigh the {LAUNCH_CYCLES:.0f} of a launch")
        return Attempt(plan)


def _has_root(ops: Sequence[ext.Operation]) -> bool:
    return any(Trait.CONTRACTION in op.traits for op in ops)


def _percent(plan: Banded) -> str:
    return f"{100 * plan.repeated / plan.cycles:.0f} %"
