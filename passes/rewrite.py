"""Pattern rewriting on `ai` ops: a driver, the edits a pattern may make, and questions it may ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import arith

from aiopt.dialects import ext
from aiopt.dialects.ai import ConstantOp
from aiopt.passes.unit import Unit
from aiopt.support.types import TensorType

TARGET, PARTITION = "ai.target", "ai.partition"  # where an op runs (ai-assign-target)
WHY = "ai.why"  # why no target that was preferred does
CALL_ATTRIBUTES = ("ai.nodes", PARTITION, WHY)  # what a call of a kernel says, at each level
SMALL_BYTES = 64  # equal-element constants up to this size stand in the IR (docs/levels.md)
MAX_SWEEPS = 64

Pattern = Callable[[Any, "Rewriter"], bool]


class Rewriter:
    """The edits of a pattern: it may build before the op it was given, and replace that op."""

    def __init__(self, unit: Unit, op: ext.Operation) -> None:
        self.unit = unit
        self.op = op

    def create(
        self, cls: type[ext.Operation], *operands: Any, merged: Sequence[ir.OpView] = (), **attributes: Any
    ) -> ir.Value:
        """Build an op before the matched one, at its location (fused with those of the `merged` ops); its result."""
        location = fused_location([*(op.location for op in merged), self.op.location])
        made = cls(*operands, loc=location, ip=ir.InsertionPoint(self.op), **attributes)
        copy_placement(self.op, made)
        return made.operation.results[0]

    def constant(self, array: np.ndarray, hint: str) -> ir.Value:
        """A constant of this value before the matched op; `hint` names it in the WeightStore."""
        return make_constant(self.unit, array, hint, self.op.location, ir.InsertionPoint(self.op))

    def replace(self, value: ir.Value) -> bool:
        """Let `value` stand for the result of the matched op and erase the op; returns True, for patterns to return."""
        self.op.operation.results[0].replace_all_uses_with(value)
        self.op.operation.erase()
        return True


def rewrite(unit: Unit, patterns: Mapping[type[ext.Operation], Sequence[Pattern]]) -> bool:
    """Apply patterns to all ops, operands before users, again and again until none applies. True if any did.

    A pattern `_verb_noun(op, rewriter) -> bool` returns True if it rewrote `op`. It may erase `op`, but nothing else;
    ops left without use are erased after each sweep. Patterns must make progress: still rewriting after MAX_SWEEPS
    sweeps is taken for two patterns undoing each other.
    """
    for sweep in range(MAX_SWEEPS):
        if not _sweep(unit, patterns):
            return sweep > 0
        erase_dead(unit.module)
    raise AssertionError(f"patterns still rewrite after {MAX_SWEEPS} sweeps: {list(patterns)}")


def _sweep(unit: Unit, patterns: Mapping[type[ext.Operation], Sequence[Pattern]]) -> bool:
    changed = False
    for op in ext.operations(unit.module):
        if isinstance(op, ext.Operation):
            rewriter = Rewriter(unit, op)
            changed |= any(pattern(op, rewriter) for pattern in patterns.get(type(op), ()))
    return changed


def copy_placement(source: ir.OpView, made: ir.OpView) -> None:
    """Let an op run where another one runs."""
    for key in (TARGET, PARTITION, WHY):
        if key in source.operation.attributes:
            made.operation.attributes[key] = source.operation.attributes[key]


def is_used(value: ir.Value) -> bool:
    """True if anything reads the value."""
    return next(iter(value.uses), None) is not None


def users(value: ir.Value) -> list[ir.OpView]:
    """The ops that read the value, once for each time they do."""
    return [use.owner for use in value.uses]


def has_one_use(value: ir.Value) -> bool:
    """True if exactly one operand reads the value."""
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


def defining(value: ir.Value) -> ir.OpView | None:
    """The op whose result the value is; None for an argument."""
    return value.owner if isinstance(value, ir.OpResult) else None  # pyright: ignore[reportReturnType]


def constant_value(value: ir.Value, unit: Unit) -> np.ndarray | None:
    """The array a constant stands for (do not write to it).

    None where the value is not a constant, or the unit does not know its array (text read without weights).
    """
    op = defining(value)
    if isinstance(op, ConstantOp):
        key = op.python_attributes()["key"]
        known = key in unit.weights  # asked first: looking it up would raise
        return unit.weights[key] if known else None
    if isinstance(op, arith.ConstantOp) and isinstance(attribute := op.attributes["value"], ir.DenseElementsAttr):
        return ext.dense_array(attribute, ext.type_of(value))
    return None


def flops_of(op: ext.Operation) -> int:
    """Arithmetic operations of one execution."""
    types = [[ext.type_of(v) for v in g] if isinstance(g, list) else g and ext.type_of(g) for g in op.operand_groups()]
    return type(op).flops(*types, **op.python_attributes())


def splat_value(value: ir.Value, unit: Unit) -> Any:
    """The numpy scalar that all elements of a constant equal; None if they differ or it is not a constant."""
    array = constant_value(value, unit)
    return array.flat[0] if array is not None and _is_splat(array) else None


def make_constant(unit: Unit, array: np.ndarray, hint: str, location: ir.Location, at: ir.InsertionPoint) -> ir.Value:
    """Build a constant: `arith.constant` if its elements are equal and it is small, else `ai.constant`."""
    kind = TensorType.of(array)
    if kind.nbytes <= SMALL_BYTES and _is_splat(array):
        attribute = _splat_attribute(array.flat[0], ext.to_ir(kind))
        op = arith.ConstantOp(ext.to_ir(kind), attribute, loc=location, ip=at)  # pyright: ignore[reportArgumentType]
        return op.result
    key = unit.weights.add(hint, array)
    return ConstantOp(key=key, results=[kind], loc=location, ip=at).operation.results[0]


def erase_dead(module: ir.Module) -> int:
    """Erase every `ai` op and constant that nothing uses, whole chains at once; how many there were."""
    return sum(_erase_dead_in(block) for region in module.operation.regions for block in region.blocks)


def _erase_dead_in(block: ir.Block) -> int:
    count = 0
    for op in reversed(list(block.operations)):  # users before what they use
        for region in op.operation.regions:
            count += sum(_erase_dead_in(inner) for inner in region.blocks)
        pure = isinstance(op, (ext.Operation, arith.ConstantOp))
        if pure and not any(is_used(result) for result in op.operation.results):
            op.operation.erase()
            count += 1
    return count


def fused_location(locations: Sequence[ir.Location]) -> ir.Location:
    """One location for what came from several: node names in order, each once."""
    split = (location.locations if location.is_a_fused() else [location] for location in locations)
    parts = {part.attr: part for group in split for part in group}  # equal locations differ in their hashes
    parts.pop(ir.Location.unknown().attr, None)
    return ir.Location.fused(list(parts.values())) if parts else ir.Location.unknown()


def _is_splat(array: np.ndarray) -> bool:
    """All elements have the same bits (so 0.0 and -0.0 differ and a NaN equals itself)."""
    if array.size == 0 or array.flat[0].tobytes() != array.flat[-1].tobytes():
        return False
    bits = array.reshape(-1).view(f"u{array.dtype.itemsize}")
    return bool((bits == bits[0]).all())


def _splat_attribute(value: Any, kind: ir.RankedTensorType) -> ir.DenseElementsAttr:
    if value.dtype == np.bool_:  # a buffer of bools is taken for packed bits
        return ir.DenseElementsAttr.get_splat(kind, ir.BoolAttr.get(bool(value)))
    if isinstance(kind.element_type, ir.BF16Type):
        return ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(kind.element_type, float(value)))
    return ir.DenseElementsAttr.get(np.array([value]), type=kind)  # pyright: ignore[reportCallIssue, reportArgumentType]
