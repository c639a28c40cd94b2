"""ai-amp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect, CastOp, RelayoutOp, Trait, TransposeOp
from aiopt.passes.base import Pass, functions
from aiopt.passes.graph.amp_choice import INPUT, Kind, Node, choose_low
from aiopt.passes.graph.amp_gain import gains
from aiopt.passes.graph.value_range import Ranges, known_ranges
from aiopt.passes.rewrite import constant_value, copy_placement, defining, erase_dead, make_constant, users
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import PipelineError
from aiopt.support.types import LOW_FLOATS, largest, numpy_dtype

SUMMARY = "ai.amp"  # module attribute: what was done
_HIGH = "f32"
_STAY_HIGH = frozenset({Trait.SENSITIVE, Trait.REDUCTION, Trait.NORMALIZATION})
_MOVE = frozenset({Trait.MOVEMENT, Trait.VIEW})


@dataclass(frozen=True)
class Amp(Pass):
    """Automatic mixed precision: contractions on operands of a 16-bit type (`amp_choice.py` has the rules).

    Before: a graph in f32. After: contractions that gain by it (`amp_gain.py`) read `type` and give their sums in f32;
    ai.cast to `type` before them, at most one for each value; constants in the type they are used in. All else stays
    f32, but movements between those. Integers are not touched. Inputs and outputs keep their types.
    Options: type, bf16 or f16; deny and allow, ops (`ai.matmul`) and ONNX nodes, comma separated, that stay f32, or
    that are in `type` though they are sensitive or gain nothing; gain=false: no contraction is asked what it gains;
    bound, what no value of the net exceeds; calibration, a .npz file of inputs (without it those of the unit). f16
    ends at 65504, so an op is in f16 only if what it reads and gives in f16 is known, by the bound or from a run on the
    calibration inputs, to be no more than half of that.
    """

    name: ClassVar[str] = "ai-amp"
    requires: ClassVar[Level | None] = Level.GRAPH
    type: str
    allow: str = ""
    deny: str = ""
    bound: float = 0.0
    calibration: str = ""
    gain: bool = True

    def run(self, unit: Unit) -> None:
        if self.type not in LOW_FLOATS:
            raise PipelineError(f"{self.name}: option 'type' is {' or '.join(sorted(LOW_FLOATS))}, not '{self.type}'")
        allowed, denied = (_names(self.name, key, getattr(self, key), unit) for key in ("allow", "deny"))
        ranges = None
        if self.type == "f16":
            ranges = known_ranges(self.name, unit, self.bound, self.calibration, largest(self.type) / 2)
        for function in functions(unit.module):
            ops = [op for op in ext.operations(function) if isinstance(op, ext.Operation)]
            ops = [op for op in ops if Trait.CONSTANT not in op.traits]
            low = choose_low(_abstract(ops, _Rules(unit, allowed, denied, ranges, self.gain)))
            rewriting = _Rewriting(unit, self.type)
            for op, is_low in zip(ops, low, strict=True):
                rewriting.visit(op, is_low)
            rewriting.finish(function)
            _report(unit, ops, low, self.type, rewriting.casts)
            for op, is_low in reversed(list(zip(ops, low, strict=True))):
                if is_low:
                    op.operation.erase()
            erase_dead(unit.module)  # constants that are now there in the other type


def _names(owner: str, option: str, text: str, unit: Unit) -> frozenset[str]:
    """The ops and nodes that an option lists. Raises OptionError for a name that is neither."""
    known = {op.OPERATION_NAME for op in AiDialect.operations.values()}
    nodes = {name for op in ext.operations(unit.module) for name in ext.node_names(op.location)}
    names = frozenset(filter(None, text.split(",")))
    for name in sorted(names):
        if name not in known and name not in nodes:
            guess = did_you_mean(name, known | nodes)
            raise PipelineError(f"{owner}: option '{option}' names '{name}', which is no op and no node{guess}")
    return names


def _titles(op: ext.Operation) -> set[str]:
    return {op.OPERATION_NAME, *ext.node_names(op.location)}


@dataclass(frozen=True)
class _Rules:
    """What decides on an op beside its place in the graph."""

    unit: Unit
    allowed: frozenset[str]
    denied: frozenset[str]
    ranges: Ranges | None
    gain: bool

    def allow(self, op: ext.Operation) -> bool:
        return bool(_titles(op) & self.allowed)

    def may_be_low(self, op: ext.Operation, kind: Kind, read: list[ir.Value]) -> bool:
        """read: the operands in f32."""
        if _titles(op) & self.denied or kind in (Kind.APART, Kind.SENSITIVE):
            return False
        contracts = kind is Kind.CONTRACTION
        if contracts and self.gain and not self.allow(op) and not gains(op, self.unit):
            return False
        values = [value for value in read if value not in _biases(op)] + ([] if contracts else [*op.operation.results])
        return self.ranges is None or self.ranges.fit(op, values)


def _abstract(ops: list[ext.Operation], rules: _Rules) -> list[Node]:
    index: dict[ir.Value, int] = {op.operation.results[0]: number for number, op in enumerate(ops)}
    return [_node(op, index, rules) for op in ops]


def _node(op: ext.Operation, index: dict[ir.Value, int], rules: _Rules) -> Node:
    result = op.operation.results[0]
    read = [v for v in op.operation.operands if _is_high(v)]
    operands = tuple(index.get(v, INPUT) for v in read if constant_value(v, rules.unit) is None)
    kind = _kind(op, rules.allow(op))
    is_output = any(isinstance(user, func.ReturnOp) for user in users(result))
    is_free = kind is Kind.MOVEMENT and not isinstance(op, (TransposeOp, RelayoutOp))
    return Node(kind, operands, rules.may_be_low(op, kind, read), is_output, is_free)


def _kind(op: ext.Operation, is_allowed: bool) -> Kind:
    result = op.operation.results[0]
    if not _is_high(result):
        return Kind.SENSITIVE if any(_is_high(v) for v in op.operation.operands) else Kind.APART
    if isinstance(op, CastOp):
        return Kind.SENSITIVE
    if Trait.CONTRACTION in op.traits:
        return Kind.CONTRACTION
    if is_allowed:
        return Kind.ALLOWED
    if op.traits & _STAY_HIGH:
        return Kind.SENSITIVE
    return Kind.MOVEMENT if op.traits & _MOVE else Kind.FOLLOWER


def _is_high(value: ir.Value) -> bool:
    return ext.type_of(value).element == _HIGH


def _biases(op: ext.Operation) -> list[ir.Value]:
    """What a contraction adds to its sums, which may have their type."""
    bias = getattr(op, "bias", None) if Trait.CONTRACTION in op.traits else None
    return [] if bias is None else [bias]


@dataclass
class _Rewriting:
    """Rebuilds a graph op by op. `versions` has each value of the old graph in the types it was needed in so far."""

    unit: Unit
    low: str
    versions: dict[tuple[ir.Value, str], ir.Value] = field(default_factory=dict)
    made_low: set[ir.Value] = field(default_factory=set)  # results of the old graph that the new one has in `low`
    casts: int = 0

    def visit(self, op: ext.Operation, is_low: bool) -> None:
        if is_low:
            self._rebuild(op)
        else:
            for number, value in enumerate(list(op.operation.operands)):
                if value in self.made_low:
                    op.operation.operands[number] = self._version(value, _HIGH, op)

    def finish(self, function: func.FuncOp) -> None:
        """Let the function return what it returned; what was rebuilt is then without use."""
        end = function.entry_block.operations[len(function.entry_block.operations) - 1]
        for number, value in enumerate(list(end.operands)):
            if value in self.made_low:
                end.operation.operands[number] = self._version(value, _HIGH, end)

    def _rebuild(self, op: ext.Operation) -> None:
        kept = _biases(op)

        def operand(value: ir.Value) -> ir.Value:
            return (
                self._version(value, self.low, op) if _is_high(value) and value not in kept else self._as_is(value, op)
            )

        groups = [
            [operand(v) for v in group] if isinstance(group, list) else None if group is None else operand(group)
            for group in op.operand_groups()
        ]
        at, result = ir.InsertionPoint(op), op.operation.results[0]
        sums: dict[str, Any] = {"to": _HIGH} if Trait.CONTRACTION in op.traits else {}
        made: Any = type(op)(*groups, loc=op.location, ip=at, **op.python_attributes(), **sums)
        copy_placement(op, made)
        if sums:
            result.replace_all_uses_with(made.operation.results[0])
            return
        self.versions[result, self.low] = made.operation.results[0]
        self.made_low.add(result)

    def _as_is(self, value: ir.Value, user: ir.OpView) -> ir.Value:
        return self._version(value, _HIGH, user) if value in self.made_low else value

    def _version(self, value: ir.Value, element: str, user: ir.OpView) -> ir.Value:
        """The value in a type: as it is, a constant converted now, or through one cast, before the first user."""
        own = self.low if value in self.made_low else _HIGH
        if own == element and own == _HIGH:
            return value
        if (known := self.versions.get((value, element))) is not None:
            return known
        array = constant_value(value, self.unit)
        at = ir.InsertionPoint(user)
        if array is not None:
            made = make_constant(self.unit, _narrow(array, element), _hint(value), user.location, at)
        else:
            source = self.versions[value, own] if own == self.low else value
            location = user.location if defining(value) is None else value.owner.location
            made = CastOp(source, to=element, loc=location, ip=at).operation.results[0]
            self.casts += 1
        self.versions[value, element] = made
        return made


def _narrow(array: np.ndarray, element: str) -> np.ndarray:
    """A constant in the low type; what is finite stays finite (masks add the lowest number of f32)."""
    limit = largest(element)
    clipped = np.where(np.isfinite(array), np.clip(array, -limit, limit), array)
    return clipped.astype(numpy_dtype(element))


def _hint(value: ir.Value) -> str:
    """A name for a converted constant: that of the constant."""
    op = defining(value)
    return op.key.value if isinstance(op, ext.Operation) and hasattr(op, "key") else "constant"  # pyright: ignore


def _report(unit: Unit, ops: list[ext.Operation], low: list[bool], element: str, casts: int) -> None:
    contractions = [is_low for op, is_low in zip(ops, low, strict=True) if Trait.CONTRACTION in op.traits]
    numbers = {"contractions": len(contractions), "low": sum(contractions), "casts": casts}
    i64 = ir.IntegerType.get_signless(64)
    unit.module.operation.attributes[SUMMARY] = ir.DictAttr.get(
        {"type": ir.StringAttr.get(element), **{key: ir.IntegerAttr.get(i64, n) for key, n in numbers.items()}}
    )
    unit.remarks.append(
        f"ai-amp: {sum(contractions)} of {len(contractions)} contractions and {sum(low)} of {len(ops)} ops in "
        f"{element}, {casts} casts"
    )
