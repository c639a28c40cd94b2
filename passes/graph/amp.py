"""ai-amp."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import AiDialect, CastOp, Trait
from aiopt.passes.base import Pass, functions
from aiopt.passes.graph.amp_choice import INPUT, Kind, Node, choose_low
from aiopt.passes.graph.value_range import Ranges, known_ranges
from aiopt.passes.rewrite import constant_value, copy_placement, defining, erase_dead, make_constant, users
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError
from aiopt.support.types import LOW_FLOATS, largest, numpy_dtype

SUMMARY = "ai.amp"  # module attribute: what was done
_HIGH = "f32"
_STAY_HIGH = frozenset({Trait.SENSITIVE, Trait.REDUCTION, Trait.NORMALIZATION})
_MOVE = frozenset({Trait.MOVEMENT, Trait.VIEW})


@dataclass(frozen=True)
class Amp(Pass):
    """Automatic mixed precision: contractions in a 16-bit type, with sums in f32 (`amp_choice.py` has the rules).

    Before: a graph in f32. After: ai.cast between f32 and `type`, at most one for each value; constants in the type
    they are used in. Softmax and other normalisations, reductions, exp, log, pow, sqrt and comparisons stay f32, all
    other ops have the widest type of their operands; integers are not touched. Inputs and outputs keep their types.
    Options: type, bf16 or f16; deny and allow, ops (`ai.matmul`) and ONNX nodes, comma separated, that stay f32, or
    that are no longer held to be sensitive; bound, what no value of the net exceeds; calibration, a .npz file of
    inputs (without it those of the unit). f16 ends at 65504, so an op is in f16 only if what it reads and gives is
    known, by the bound or from a run on the calibration inputs, to be no more than half of that.
    """

    name: ClassVar[str] = "ai-amp"
    requires: ClassVar[Level | None] = Level.GRAPH
    type: str
    allow: str = ""
    deny: str = ""
    bound: float = 0.0
    calibration: str = ""

    def run(self, unit: Unit) -> None:
        if self.type not in LOW_FLOATS:
            raise OptionError(f"{self.name}: option 'type' is {' or '.join(sorted(LOW_FLOATS))}, not '{self.type}'")
        allowed, denied = (_names(self.name, key, getattr(self, key), unit) for key in ("allow", "deny"))
        ranges = None
        if self.type == "f16":
            ranges = known_ranges(self.name, unit, self.bound, self.calibration, largest(self.type) / 2)
        for function in functions(unit.module):
            ops = [op for op in ext.operations(function) if isinstance(op, ext.Operation)]
            ops = [op for op in ops if Trait.CONSTANT not in op.traits]
            low = choose_low(_abstract(ops, allowed, denied, ranges, unit))
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
            raise OptionError(f"{owner}: option '{option}' names '{name}', which is no op and no node{guess}")
    return names


def _titles(op: ext.Operation) -> set[str]:
    return {op.OPERATION_NAME, *ext.node_names(op.location)}


def _abstract(
    ops: list[ext.Operation], allowed: frozenset[str], denied: frozenset[str], ranges: Ranges | None, unit: Unit
) -> list[Node]:
    index: dict[ir.Value, int] = {op.operation.results[0]: number for number, op in enumerate(ops)}
    return [_node(op, index, allowed, denied, ranges, unit) for op in ops]


def _node(
    op: ext.Operation,
    index: dict[ir.Value, int],
    allowed: frozenset[str],
    denied: frozenset[str],
    ranges: Ranges | None,
    unit: Unit,
) -> Node:
    result = op.operation.results[0]
    read = [v for v in op.operation.operands if _is_high(v)]
    operands = tuple(index.get(v, INPUT) for v in read if constant_value(v, unit) is None)
    kind = _kind(op, bool(_titles(op) & allowed))
    may_be_low = not _titles(op) & denied
    if may_be_low and ranges is not None and kind not in (Kind.APART, Kind.SENSITIVE):
        may_be_low = ranges.fit(op, [v for v in read if v not in _biases(op)])
    is_output = any(isinstance(user, func.ReturnOp) for user in users(result))
    return Node(kind, operands, may_be_low, is_output)


def _kind(op: ext.Operation, is_allowed: bool) -> Kind:
    result = op.operation.results[0]
    if not _is_high(result):
        return Kind.SENSITIVE if any(_is_high(v) for v in op.operation.operands) else Kind.APART
    if isinstance(op, CastOp) or (op.traits & _STAY_HIGH and not is_allowed):
        return Kind.SENSITIVE
    if Trait.CONTRACTION in op.traits:
        return Kind.CONTRACTION
    one = sum(_is_high(v) for v in op.operation.operands) == 1
    return Kind.MOVEMENT if op.traits & _MOVE and one else Kind.FOLLOWER


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
        at = ir.InsertionPoint(op)
        made: Any = type(op)(*groups, loc=op.location, ip=at, **op.python_attributes())
        copy_placement(op, made)
        result = op.operation.results[0]
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
