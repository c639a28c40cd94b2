"""Builds `ai` ops, folding those whose operands are all known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import arith

from aiopt.dialects.ai import ConstantOp
from aiopt.dialects.ext import Operation, Slot, to_ir
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import LimitError, UnsupportedTypeError
from aiopt.support.types import FLOATS, TensorType
from aiopt.support.weights import WeightStore

Operand = Value | Sequence[Value] | None

_SMALL_BYTES = 64  # docs/levels.md: up to here a constant of equal elements stands in the IR
_LARGEST_CONSTANT = 1 << 32  # folding would otherwise let a tiny model ask for any amount of memory
_LARGEST_MADE = 1 << 30  # of those that are made of a few numbers, not of tensors of the model
_LARGEST_TENSOR = 1 << 48  # keeps sizes in bytes far from overflowing 64 bits


class Builder:
    """Emits at the current insertion point and location of mlir's Python bindings."""

    def __init__(self, weights: WeightStore) -> None:
        self.weights = weights

    def emit(self, op: type[Operation], *operands: Operand, **attributes: Any) -> Value:
        """Build an op of one result; compute it at once with its numpy reference if all operands are known.

        Operands and attributes as the op's `infer` takes them. Errors: IRError if they do not fit each other,
        UnsupportedError if the op does not take their element type, LimitError if the result is beyond any memory.
        """
        types = [[v.type for v in o] if isinstance(o, Sequence) else o and o.type for o in operands]
        attributes = {**op.defaults(*types, **attributes), **attributes}
        _check_elements(op, operands)
        (kind,) = op.infer_types(*types, **attributes)
        _check_size(kind, _LARGEST_TENSOR)
        flat = _flatten(operands)
        if flat and all(value.array is not None for value in flat):
            return _fold(op, operands, kind, attributes)
        arguments = [self._put(operand) for operand in operands]
        return Value.made(op(*arguments, results=[kind], **attributes).operation.results[0])

    def materialize(self, value: Value) -> ir.Value:
        """The tensor in the IR; a known one becomes a constant where it is first used."""
        if value.tensor is not None:
            return value.tensor
        assert value.array is not None, "a value is known or made"
        made = value.tensor = self._constant(value.type, value.array, value.name)
        return made

    def _constant(self, kind: TensorType, array: np.ndarray, name: str) -> ir.Value:
        if kind.nbytes <= _SMALL_BYTES and _elements_equal(array):
            splat = _splat(kind, array)
            return arith.ConstantOp(splat.type, splat).result  # pyright: ignore[reportArgumentType]
        return ConstantOp(results=[kind], key=self.weights.add(name, array)).operation.results[0]

    def _put(self, operand: Operand) -> ir.Value | list[ir.Value] | None:
        if isinstance(operand, Sequence):
            return [self.materialize(value) for value in operand]
        return None if operand is None else self.materialize(operand)


def require_possible(kind: TensorType, where: str) -> None:
    """Errors: LimitError if no machine has memory for a tensor of this type."""
    try:
        _check_size(kind, _LARGEST_TENSOR)
    except LimitError as error:
        raise error.at(where)  # noqa: B904


def require_small(shape: Sequence[int], element: str) -> None:
    """Errors: LimitError if a constant of this type, made of numbers alone, would be too large."""
    _check_size(TensorType(tuple(shape), element), _LARGEST_MADE)


def known(array: np.ndarray, name: str = "") -> Value:
    """A known tensor. Errors: LimitError if it is too large to be a constant."""
    value = Value.known(array, name)
    _check_size(value.type, _LARGEST_CONSTANT)
    return value


def full(shape: Sequence[int], value: np.ndarray, name: str = "") -> Value:
    """A known tensor whose elements are all `value`. Errors: LimitError if it is too large."""
    kind = TensorType(tuple(shape), TensorType.of(value).element)
    _check_size(kind, _LARGEST_MADE)
    return Value.known(np.full(kind.shape, value, kind.dtype), name)


def _fold(op: type[Operation], operands: Sequence[Operand], kind: TensorType, attributes: dict[str, Any]) -> Value:
    _check_size(kind, _LARGEST_CONSTANT)
    arrays = [[v.array for v in o] if isinstance(o, Sequence) else o and o.array for o in operands]
    with np.errstate(all="ignore"):
        (array,) = op.compute(arrays, **attributes)
    assert TensorType.of(array) == kind, f"{op.OPERATION_NAME}: reference gives {TensorType.of(array)}, infer {kind}"
    named = next((value.name for value in _flatten(operands) if value.name), "")
    return Value.known(array, f"{named}.{op.OPERATION_NAME.split('.')[-1]}" if named else "", derived=True)


def _flatten(operands: Sequence[Operand]) -> list[Value]:
    flat: list[Value] = []
    for operand in operands:
        flat += list(operand) if isinstance(operand, Sequence) else [] if operand is None else [operand]
    return flat


def _check_elements(op: type[Operation], operands: Sequence[Operand]) -> None:
    for slot, operand in zip(op.operand_slots, operands, strict=False):
        for value in _flatten([operand]):
            _check_element(op, slot, value)


def _check_element(op: type[Operation], slot: Slot, value: Value) -> None:
    if value.element not in slot.constraint.elements:  # pyright: ignore[reportAttributeAccessIssue]
        raise UnsupportedTypeError(f"{op.OPERATION_NAME} takes {slot.constraint.text} as {slot.name}, not {value.type}")


def _check_size(kind: TensorType, most: int) -> None:
    if kind.nbytes > most:
        raise LimitError(f"a tensor of type {kind} takes {kind.nbytes} bytes; at most {most} are allowed here")


def _elements_equal(array: np.ndarray) -> bool:
    data = array.tobytes()  # compared by bits: 0.0 and -0.0 differ, NaN equals itself
    return data == data[: array.dtype.itemsize] * array.size


def _splat(kind: TensorType, array: np.ndarray) -> ir.DenseElementsAttr:
    tensor = to_ir(kind)
    value = array.flat[0] if array.size else kind.dtype.type(0)
    if kind.element in FLOATS:
        element = ir.FloatAttr.get(tensor.element_type, float(value))
    else:
        number = int(value)  # the bindings take 64 bits as signed ones, whatever the type
        element = ir.IntegerAttr.get(tensor.element_type, number - (1 << 64) if number >> 63 > 0 else number)
    return ir.DenseElementsAttr.get_splat(tensor, element)
