"""Small graphs of `ai` ops, random but the same for each seed, with inputs on which rounding errors stay small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation, to_ir
from aiopt.passes.rewrite import make_constant
from aiopt.passes.unit import Unit
from aiopt.support.types import TensorType, is_float

SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 3.0e38, 1.0e-45)
_MOST_ELEMENTS, _LARGEST = 1 << 13, 1e4
_ULPS = 4  # by how much `error_bounds` changes what an op reads
_SAMPLES, _MARGIN = 4, 8  # its runs; an error may be so many times what they show

# Ops that give the same bits whatever rounds elsewhere: they round once, or not at all. (A mul may become part of a
# fused multiply-add.)
_EXACT = frozenset(
    {
        *(ai.AddOp, ai.SubOp, ai.NegOp, ai.AbsOp, ai.ReluOp, ai.IdentityOp, ai.MaximumOp, ai.MinimumOp, ai.CastOp),
        *(ai.EqualOp, ai.LessOp, ai.LessEqualOp, ai.AndOp, ai.OrOp, ai.XorOp, ai.NotOp, ai.SelectOp),
        *(ai.ReshapeOp, ai.TransposeOp, ai.SliceOp, ai.ConcatOp, ai.BroadcastToOp, ai.GatherOp),
        *(ai.MaxPoolOp, ai.ReduceMaxOp, ai.ReduceMinOp),
    }
)


class RejectedError(Exception):
    """A step that cannot be taken, or whose result would be too large to compare."""


@dataclass(frozen=True)
class Input:
    """An argument of @main, and the value it is tested with."""

    array: np.ndarray


@dataclass(frozen=True)
class Constant:
    """A value known when compiling."""

    array: np.ndarray


@dataclass(frozen=True)
class Node:
    """An op on entries, by slot: a number, several for a variadic slot, None for an absent operand."""

    op: type[Operation]
    operands: tuple[int | tuple[int, ...] | None, ...]
    attributes: Mapping[str, Any]

    def reads(self) -> Iterator[int]:
        for slot in self.operands:
            yield from slot if isinstance(slot, tuple) else () if slot is None else (slot,)


@dataclass(frozen=True)
class RandomGraph:
    """Entries, each reading earlier ones, and which of them @main returns."""

    seed: int
    entries: tuple[Input | Constant | Node, ...]
    outputs: tuple[int, ...]

    def inputs(self) -> dict[str, np.ndarray]:
        """Values of moderate size, on which no op overflows."""
        return {f"x{i}": e.array for i, e in enumerate(self.entries) if isinstance(e, Input)}

    def special_inputs(self) -> dict[str, np.ndarray]:
        """NaN, infinities, zeros of both signs, the largest and smallest numbers among the others."""
        rng = np.random.default_rng([self.seed, 1])
        return {name: _with_special(array, rng) for name, array in self.inputs().items()}

    def build(self, context: ir.Context) -> Unit:
        """A unit of level GRAPH."""
        with context, ir.Location.unknown():
            module = ir.Module.create()
            module.operation.attributes["ai.level"] = ir.StringAttr.get("graph")
            module.operation.attributes["ai.net"] = ir.StringAttr.get(f"random_{self.seed}")
            unit = Unit(module)
            with ir.InsertionPoint(module.body):
                _build_main(self, unit)
            module.operation.verify()
        return unit

    def error_bounds(self) -> list[float]:
        """How far each output may be off: what rounding anew whatever an op reads changes, by _ULPS, times a margin."""
        exact = self._exact()
        want, rng = self._evaluate(), np.random.default_rng([self.seed, 2])
        bounds = [2.0**-20 * float(np.abs(a.astype(np.float64)).max(initial=0)) for a in want]
        for _ in range(_SAMPLES):
            for i, (have, right) in enumerate(zip(self._evaluate(rng, exact), want, strict=True)):
                off = np.abs(have.astype(np.float64) - right.astype(np.float64)).max(initial=0)
                bounds[i] = max(bounds[i], _MARGIN * float(off))
        return [0.0 if exact[i] else bound for i, bound in zip(self.outputs, bounds, strict=True)]

    def narrowed(self) -> Iterator[RandomGraph]:
        """The graphs that return one value of this one, smallest first, without what that does not need."""
        for index, entry in enumerate(self.entries):
            if isinstance(entry, Node):
                yield _pruned(replace(self, entries=self.entries[: index + 1], outputs=(index,)))

    def _exact(self) -> list[bool]:
        found: list[bool] = []
        for entry in self.entries:
            found.append(not isinstance(entry, Node) or is_exact(entry, self.kinds[len(found)], found))
        return found

    @property
    def kinds(self) -> list[TensorType]:
        """The types of all entries."""
        kinds: list[TensorType] = []
        for entry in self.entries:
            kinds.append(_kind(entry, kinds) if isinstance(entry, Node) else TensorType.of(entry.array))
        return kinds

    def _evaluate(self, rng: np.random.Generator | None = None, exact: Sequence[bool] = ()) -> list[np.ndarray]:
        values: list[np.ndarray] = []
        for index, entry in enumerate(self.entries):
            if isinstance(entry, Node):
                change = None if rng is None or exact[index] else rng
                values.append(compute(entry, values, change))
            else:
                values.append(entry.array)
        return [values[index] for index in self.outputs]


@dataclass
class Draft:
    """A graph that grows: `add` takes a step, or raises RejectedError and leaves it as it was."""

    rng: np.random.Generator
    entries: list[Input | Constant | Node] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    exact: list[bool] = field(default_factory=list)

    def input(self, array: np.ndarray) -> int:
        return self._append(Input(array), array, True)

    def constant(self, array: np.ndarray) -> int:
        return self._append(Constant(array), array, True)

    def add(self, op: type[Operation], *operands: int | Sequence[int] | None, **attributes: Any) -> int:
        slots = tuple(tuple(slot) if isinstance(slot, Sequence) else slot for slot in operands)
        slots += (None,) * (len(op.operand_slots) - len(slots))
        kinds = _grouped(slots, [TensorType.of(value) for value in self.values])
        node = Node(op, slots, {**op.defaults(*kinds, **attributes), **attributes})
        kind = op.infer_types(*kinds, **node.attributes)[0]
        if not _takes(op, kinds):
            raise RejectedError("of another element type")
        if kind.size > _MOST_ELEMENTS:
            raise RejectedError("too large")
        exact = is_exact(node, kind, self.exact)
        reads_rounded = not all(self.exact[i] for i in node.reads())
        if reads_rounded and not is_float(kind.dtype) and op not in (ai.SelectOp,):
            raise RejectedError("a rounding error would change it by 1")
        value = compute(node, self.values)
        if is_float(value.dtype) and not (np.abs(value) < _LARGEST).all():
            raise RejectedError("too large a number, or none")
        return self._append(node, value, exact)

    def _append(self, entry: Input | Constant | Node, value: np.ndarray, exact: bool) -> int:
        self.entries.append(entry)
        self.values.append(value)
        self.exact.append(exact)
        return len(self.entries) - 1


def is_exact(node: Node, kind: TensorType, exact: Sequence[bool]) -> bool:
    """True if the op gives the same bits however the rest is compiled."""
    return all(exact[i] for i in node.reads()) and (node.op in _EXACT or not is_float(kind.dtype))


def compute(node: Node, values: Sequence[np.ndarray], rng: np.random.Generator | None = None) -> np.ndarray:
    """The op's reference; with rng on operands whose elements are changed by up to _ULPS units in the last place."""
    read = {i: values[i] if rng is None else _rounded_anew(values[i], rng) for i in node.reads()}
    with np.errstate(all="ignore"):
        return node.op.compute(_grouped(node.operands, read), **node.attributes)[0]


def _rounded_anew(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if not is_float(array.dtype):
        return array
    step = _ULPS * float(np.finfo(array.dtype).eps)
    return (array * (1 + rng.uniform(-step, step, array.shape))).astype(array.dtype)


def _grouped(slots: Sequence[Any], items: Any) -> list[Any]:
    return [
        [items[i] for i in slot] if isinstance(slot, tuple) else None if slot is None else items[slot] for slot in slots
    ]


def _takes(op: type[Operation], kinds: Sequence[Any]) -> bool:
    groups = (group if isinstance(group, list) else [group] for group in kinds)
    pairs = zip(op.operand_slots, groups, strict=True)
    return all(slot.constraint.holds(kind) for slot, group in pairs for kind in group if kind is not None)


def _kind(node: Node, kinds: Sequence[TensorType]) -> TensorType:
    return node.op.infer_types(*_grouped(node.operands, kinds), **node.attributes)[0]


def _with_special(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if array.dtype == np.bool_:
        return array
    if not is_float(array.dtype):
        limits = np.iinfo(array.dtype)
        special: Any = np.array([limits.min, limits.max, 0, 1], array.dtype)
    else:
        special = np.array(SPECIAL).astype(array.dtype)
    chosen = rng.random(array.shape) < 0.3
    return np.where(chosen, special[rng.integers(0, len(special), array.shape)], array).astype(array.dtype)


def _build_main(graph: RandomGraph, unit: Unit) -> None:
    kinds = graph.kinds
    inputs = [i for i, entry in enumerate(graph.entries) if isinstance(entry, Input)]
    types = [to_ir(kinds[i]) for i in inputs], [to_ir(kinds[i]) for i in graph.outputs]
    main = func.FuncOp("main", types)
    main.attributes["arg_attrs"] = _names([f"x{i}" for i in inputs])
    main.attributes["res_attrs"] = _names([f"y{i}" for i in range(len(graph.outputs))])
    block = main.add_entry_block()
    arguments = iter(block.arguments)
    values: list[ir.Value] = []
    with ir.InsertionPoint(block):
        for index, entry in enumerate(graph.entries):
            where = ir.Location.name(f"n{index}")
            if isinstance(entry, Input):
                values.append(next(arguments))
            elif isinstance(entry, Constant):
                at = ir.InsertionPoint.current
                values.append(make_constant(unit, entry.array, f"c{index}", where, at))
            else:
                made = entry.op(*_grouped(entry.operands, values), loc=where, **entry.attributes)
                values.append(made.operation.results[0])
        func.ReturnOp([values[i] for i in graph.outputs])


def _names(names: Sequence[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(name)}) for name in names])


def _pruned(graph: RandomGraph) -> RandomGraph:
    """Without entries that no output needs; inputs keep their place in the order."""
    needed = set(graph.outputs)
    for index in range(len(graph.entries) - 1, -1, -1):
        entry = graph.entries[index]
        if index in needed and isinstance(entry, Node):
            needed.update(entry.reads())
    number = {old: new for new, old in enumerate(sorted(needed))}

    def renumbered(entry: Input | Constant | Node) -> Input | Constant | Node:
        if not isinstance(entry, Node):
            return entry
        slots = [tuple(number[i] for i in s) if isinstance(s, tuple) else None if s is None else number[s]
                 for s in entry.operands]  # fmt: skip
        return replace(entry, operands=tuple(slots))

    entries = tuple(renumbered(graph.entries[i]) for i in sorted(needed))
    return replace(graph, entries=entries, outputs=tuple(number[i] for i in graph.outputs))
