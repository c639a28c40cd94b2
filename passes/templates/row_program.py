"""A kernel that works on rows as a straight program: loads, elementwise steps and folds of whole rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from mlir import ir

_POLYNOMIAL_COST = 10
Compute = Callable[..., ir.Value]  # of a FloatBuilder (passes/lower/math) and vectors of its kind, one for each operand


class Extent(Enum):
    """How many values a step has: one for each element of a row, or one for the row."""

    ROW = auto()
    SINGLE = auto()


class Fold(Enum):
    """How the elements of a row become one value."""

    SUM = auto()
    MAX = auto()
    MIN = auto()
    PEAK = auto()  # the largest; of a row with a NaN, any value


@dataclass(frozen=True, eq=False)
class Step:
    """A value of the program, made of those before it.

    value, shape: the argument that a load reads, and its shape in the full rank of the rows. compute: what makes it of
    its operands. fold: what makes it of its only operand, to be divided by `count`. cost: instructions of an element,
    about.
    """

    extent: Extent
    operands: tuple[Step, ...] = ()
    value: ir.Value | None = None
    shape: tuple[int, ...] = ()
    compute: Compute | None = None
    fold: Fold | None = None
    count: int = 1
    cost: int = 1

    @property
    def is_costly(self) -> bool:
        """True for elementary functions: of a polynomial, not of one instruction."""
        return self.cost >= _POLYNOMIAL_COST


@dataclass(frozen=True)
class Program:
    """Steps in order; the last one is stored. All computing is in f32, whatever is in memory.

    shape: that of the rows. axes: which of its axes a row has (the folded ones), neighbours; none: elementwise.
    """

    shape: tuple[int, ...]
    axes: range
    steps: list[Step] = field(default_factory=list)

    def _add(self, step: Step) -> Step:
        self.steps.append(step)
        return step

    @property
    def loads(self) -> list[Step]:
        return [step for step in self.steps if step.value is not None]

    @property
    def single(self) -> tuple[int, ...]:
        """The shape of one value a row."""
        return tuple(1 if axis in self.axes else size for axis, size in enumerate(self.shape))

    def load(self, value: ir.Value, extent: Extent, shape: tuple[int, ...]) -> Step:
        """An argument of the kernel, `shape` its shape in full rank; equal loads are one step."""
        for step in self.loads:
            if (step.value, step.extent, step.shape) == (value, extent, shape):
                return step
        return self._add(Step(extent, value=value, shape=shape))

    def splat(self, value: float) -> Step:
        """A constant."""
        return self._add(Step(Extent.SINGLE, compute=lambda build: build.constant(value), cost=0))

    def compute(self, compute: Compute, *operands: Step, cost: int = 1) -> Step:
        """An elementwise step."""
        extent = Extent.ROW if any(step.extent is Extent.ROW for step in operands) else Extent.SINGLE
        return self._add(Step(extent, operands, compute=compute, cost=cost))

    def fold(self, fold: Fold, operand: Step, count: int = 1) -> Step:
        """One value of a row."""
        return self._add(Step(Extent.SINGLE, (operand,), fold=fold, count=count))


_KEPT_COST = 3  # to keep a value in L1 and read it again


@dataclass(frozen=True)
class Sweep:
    """One pass over a row: the loads and computed steps of its elements, in order, and what becomes of them."""

    steps: tuple[Step, ...]
    folds: tuple[Step, ...]
    kept: tuple[Step, ...]  # for later sweeps
    reused: frozenset[Step]  # kept by earlier ones

    @property
    def is_costly(self) -> bool:
        """True if it computes an elementary function."""
        return any(step.is_costly for step in self.steps if step not in self.reused)


def plan(program: Program) -> list[Sweep]:
    """The passes over a row: each has the folds for which all they need is known, the last one stores the result.

    What a later pass needs of an earlier one is computed again where it is cheap, else kept.
    """
    level: dict[Step, int] = {}
    for step in program.steps:
        below = max((level[operand] for operand in step.operands), default=0)
        level[step] = below + (step.fold is not None)
    result = program.steps[-1]
    wanted: list[list[Step]] = [[] for _ in range(max(level.values()) + 1)]
    for step in program.steps:
        if step.fold is not None:
            wanted[level[step] - 1].append(step)
    ends = [[fold.operands[0] for fold in folds] for folds in wanted]
    if result.extent is Extent.ROW:
        ends[-1].append(result)
    first: dict[Step, int] = {}  # a step of a row -> the sweep that computes it first
    kept: dict[Step, None] = {}
    sweeps: list[tuple[tuple[Step, ...], frozenset[Step]]] = []
    for number, roots in enumerate(ends):
        reused: set[Step] = set()
        steps = _closure(program, roots, lambda step, n=number: _is_kept(step, n, first), reused)
        for step in steps:
            first.setdefault(step, number)
        kept.update(dict.fromkeys(step for step in program.steps if step in reused))
        sweeps.append((steps, frozenset(reused)))
    return [
        Sweep(steps, tuple(wanted[n]), tuple(step for step in steps if step in kept and step not in reused), reused)
        for n, (steps, reused) in enumerate(sweeps)
        if steps or wanted[n]
    ]


def _closure(
    program: Program, roots: Sequence[Step], is_kept: Callable[[Step], bool], reused: set[Step]
) -> tuple[Step, ...]:
    """The steps of a row's elements that the roots are made of, in order, down to loads and to kept ones."""
    found, work = set(), list(roots)
    while work:
        step = work.pop()
        if step in found or step.extent is not Extent.ROW:
            continue
        found.add(step)
        if is_kept(step):
            reused.add(step)
        else:
            work += step.operands
    return tuple(step for step in program.steps if step in found)


def _is_kept(step: Step, number: int, first: dict[Step, int]) -> bool:
    """True if an earlier sweep had the step and it costs more to compute it again."""
    return first.get(step, number) < number and _total_cost(step) > _KEPT_COST


def _total_cost(step: Step) -> int:
    """Instructions for an element of it; shared operands count each time."""
    return step.cost + sum(_total_cost(operand) for operand in step.operands if operand.extent is Extent.ROW)
