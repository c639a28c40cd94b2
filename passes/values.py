"""Whether the values that stand beside a module are those its constants speak of."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from mlir import ir
from mlir.dialects import func, memref

from aiopt.dialects import ext
from aiopt.dialects.ext import describe, type_of
from aiopt.passes.base import functions
from aiopt.passes.lower.linalg.builder import elements_stored_as, memref_type
from aiopt.support.errors import WeightsError
from aiopt.support.types import TensorType, has_element
from aiopt.support.weights import WeightStore


def referenced_keys(module: ir.Module) -> set[str]:
    """The keys of `ai.constant` ops and, once memory is planned, of `ai.weights_layout`."""
    return {_key(op) for op in _constants(module)} | set(_layout(module))


def check_values(module: ir.Module, weights: WeightStore, file: str) -> None:
    """Hold every constant, and every view of the planned blob, against its value in a file.

    Raises ModelError that names the constant, if the file has no value for it or one of another type or shape.
    """
    for op in _constants(module):
        have, kind = _type(weights, _key(op), file), type_of(op.operation.results[0])
        if have not in (str(kind), *_in_memory(kind, module)):
            raise WeightsError(
                f"constant '{_key(op)}' is {kind} (at {describe(op.location)}), but in '{file}' it is {have}"
            )
    layout = _layout(module)
    for key in layout:
        _type(weights, key, file)
    for key, view in _views(module, {offset: key for key, offset in layout.items()}):
        array = weights[key]
        if not has_element(array.dtype) or memref_type(TensorType.of(array)) != view.type:
            raise WeightsError(
                f"constant '{key}' is used as {view.type} (at {describe(view.owner.location)}), but in '{file}' it is "
                f"{_type(weights, key, file)}"
            )
    _check_places(layout, weights, module, file)


def _check_places(layout: dict[str, int], weights: WeightStore, module: ir.Module, file: str) -> None:
    """The values fit the places that the plan gives them: nothing overlaps, or reaches beyond the blob."""
    size = module.operation.attributes.get("ai.weights_bytes")
    end = size.value if isinstance(size, ir.IntegerAttr) else 0
    for key, offset in sorted(layout.items(), key=lambda entry: -entry[1]):
        if offset < 0 or offset + weights[key].nbytes > end:
            raise WeightsError(
                f"constant '{key}' has {weights[key].nbytes} bytes in '{file}', more than ai.weights_layout and "
                f"ai.weights_bytes have room for"
            )
        end = offset


def _type(weights: WeightStore, key: str, file: str) -> str:
    if key not in weights:
        raise WeightsError(f"'{file}' (attribute ai.weights) has no value for constant '{key}'")
    array = weights[key]
    return str(TensorType.of(array)) if has_element(array.dtype) else f"{array.dtype}{list(np.shape(array))}"


def _in_memory(kind: TensorType, module: ir.Module) -> list[str]:
    """The types of values that have this one from level TENSOR on, where bool and unsigned integers are no more."""
    level = module.operation.attributes.get("ai.level")
    if isinstance(level, ir.StringAttr) and level.value in ("graph", "kernels"):
        return []
    return [str(TensorType(kind.shape, element)) for element in elements_stored_as(kind.element)]


def _constants(module: ir.Module) -> Iterator[ir.OpView]:
    return (op for op in ext.operations(module) if op.operation.name == "ai.constant")


def _key(op: ir.OpView) -> str:
    return ir.StringAttr(op.operation.attributes["key"]).value


def _layout(module: ir.Module) -> dict[str, int]:
    """Byte offsets by key; empty before memory is planned."""
    attributes = module.operation.attributes
    if "ai.weights_layout" not in attributes:
        return {}
    return {entry.name: ir.IntegerAttr(entry.attr).value for entry in ir.DictAttr(attributes["ai.weights_layout"])}


def _views(module: ir.Module, keys: dict[int, str]) -> Iterator[tuple[str, ir.Value]]:
    """The key and the view of each constant that @main reads from the blob, which is its last argument but one."""
    main = next((function for function in functions(module) if function.name.value == "main"), None)
    if not keys or not isinstance(main, func.FuncOp) or len(main.arguments) < 2:
        return
    blob = main.arguments[len(main.arguments) - 2]
    for op in main.entry_block.operations:
        if isinstance(op, memref.ViewOp) and op.source == blob:
            offset = ir.IntegerAttr(op.byte_shift.owner.attributes["value"]).value
            if offset in keys:
                yield keys[offset], op.result
