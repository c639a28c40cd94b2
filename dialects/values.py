"""Between MLIR's objects and plain Python values: types, attributes, locations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from aiopt.support.errors import IRError
from aiopt.support.types import TensorType, is_float, numpy_dtype

LOW_BYTES = 2  # of f16 and bf16

_ATTRIBUTE_TEXT: dict[type, str] = {
    ir.IntegerAttr: "an integer of type i64",
    ir.BoolAttr: "true or false",
    ir.FloatAttr: "a number of type f64",
    ir.StringAttr: "a string",
    ir.TypeAttr: "a type",
    ir.DenseI64ArrayAttr: "an array of i64",
    ir.DenseF64ArrayAttr: "an array of f64",
}


@dataclass(frozen=True)
class BufferType:
    """A memref as a plain value: strides and offset in elements, the memory space as MLIR spells it ("" for none)."""

    shape: tuple[int, ...]
    element: str
    strides: tuple[int, ...]
    offset: int
    space: str

    @property
    def tensor(self) -> TensorType:
        """What is in it, without where it is."""
        return TensorType(self.shape, self.element)

    def __str__(self) -> str:
        return f"memref<{self.tensor}{f', {self.space}' if self.space else ''}>"


@dataclass(frozen=True)
class OpaqueType:
    """Any other type, by its spelling."""

    text: str

    def __str__(self) -> str:
        return self.text


PlainType = TensorType | BufferType | OpaqueType


def plain_type(value: ir.Value | ir.Type) -> PlainType:
    """The type of a value as a plain value. Raises IRError for tensors and memrefs that are dynamic or unranked."""
    kind = value if isinstance(value, ir.Type) else value.type
    if isinstance(kind, (ir.RankedTensorType, ir.UnrankedTensorType)):
        return type_of(kind)
    return buffer_type(kind) if isinstance(kind, (ir.MemRefType, ir.UnrankedMemRefType)) else OpaqueType(str(kind))


def buffer_type(value: ir.Value | ir.Type) -> BufferType:
    """The BufferType of a value or type. Raises IRError unless it is a ranked memref of static shape and layout."""
    kind = value if isinstance(value, ir.Type) else value.type
    if isinstance(kind, ir.MemRefType) and kind.has_static_shape:
        strides, offset = kind.get_strides_and_offset()
        dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
        if dynamic not in (*strides, offset):
            space = kind.memory_space
            spelled = "" if space is None else str(space)
            return BufferType(tuple(kind.shape), str(kind.element_type), tuple(strides), offset, spelled)
    raise IRError(f"expected a ranked memref of static shape and layout, got {kind}")


def spell(kind: PlainType) -> str:
    """A type as MLIR would write it."""
    return f"tensor<{kind}>" if isinstance(kind, TensorType) else str(kind)


def type_of(value: ir.Value | ir.Type) -> TensorType:
    """The TensorType of a value or type. Raises IRError unless it is a ranked tensor of static shape."""
    kind = value if isinstance(value, ir.Type) else value.type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        raise IRError(f"expected a ranked tensor of static shape, got {kind}")
    element = kind.element_type  # printing a type is slow, and nearly all are f32
    return TensorType(tuple(kind.shape), "f32" if isinstance(element, ir.F32Type) else str(element))


def to_ir(kind: TensorType) -> ir.RankedTensorType:
    """The ranked tensor type in the current context."""
    return ir.RankedTensorType.get(list(kind.shape), ir.Type.parse(kind.element))


def ir_type(kind: PlainType) -> ir.Type:
    """Any plain type in the current context. Raises IRError for memrefs: views of them come from upstream's ops."""
    if isinstance(kind, BufferType):
        raise IRError(f"no op here makes a {kind}")
    return to_ir(kind) if isinstance(kind, TensorType) else ir.Type.parse(kind.text)


def from_attribute(attribute: ir.Attribute) -> Any:
    """An attribute's value: int, float, bool, str, list[int], list[float], or the text of a type."""
    if isinstance(attribute, (ir.DenseI64ArrayAttr, ir.DenseF64ArrayAttr)):
        return list(attribute)
    if isinstance(attribute, ir.TypeAttr):
        return str(attribute.value)
    return attribute.value  # pyright: ignore[reportAttributeAccessIssue]


def to_attribute(kind: type, value: Any) -> ir.Attribute:
    """A Python value as an attribute of this kind; an attribute as it is."""
    if isinstance(value, ir.Attribute):
        return value
    if kind is ir.IntegerAttr:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if kind is ir.FloatAttr:
        return ir.FloatAttr.get(ir.F64Type.get(), value, loc=ir.Location.unknown())
    if kind is ir.TypeAttr:
        return ir.TypeAttr.get(ir.Type.parse(value) if isinstance(value, str) else value)
    if kind is ir.DenseI64ArrayAttr:
        return ir.DenseI64ArrayAttr.get([int(v) for v in value])
    if kind is ir.DenseF64ArrayAttr:
        return ir.DenseF64ArrayAttr.get([float(v) for v in value])
    return kind.get(value)  # pyright: ignore[reportAttributeAccessIssue]


def dense_array(attribute: ir.DenseElementsAttr, kind: TensorType) -> np.ndarray:
    """The values of a dense attribute. Raises IRError for bf16 whose elements differ, which MLIR shows to nobody."""
    if attribute.is_splat and kind.element in ("bf16", "i1"):  # of equal bools the buffer has eight, whatever it says
        value: Any = attribute.get_splat_value()
        return np.full(kind.shape, value.value, kind.dtype)
    if kind.element == "bf16":
        raise IRError(f"a constant tensor<{kind}> whose elements differ must be an ai.constant, not arith.constant")
    array = np.asarray(attribute)  # pyright: ignore[reportArgumentType, reportCallIssue]: it has the buffer protocol
    return array.astype(numpy_dtype(kind.element), copy=False).reshape(kind.shape)


def widened(array: np.ndarray) -> np.ndarray:
    """f16 and bf16 as f32, in which they are computed; all else unchanged."""
    return array.astype(np.float32) if is_float(array.dtype) and array.dtype.itemsize == LOW_BYTES else array


def map_arrays(function: Callable[[Any], Any], groups: Sequence[Any]) -> list[Any]:
    """Apply a function to operands given by slot: each array is one, in a list, or absent (None)."""
    return [
        [function(a) for a in group] if isinstance(group, (list, tuple)) else None if group is None else function(group)
        for group in groups
    ]


def check_attribute(op: str, key: str, kind: type, attribute: ir.Attribute) -> None:
    """Hold an attribute against its declared kind; one number has one spelling. Raises IRError naming op and key."""
    fits = isinstance(attribute, kind)
    if isinstance(attribute, ir.IntegerAttr):
        number = attribute.type
        fits = fits and isinstance(number, ir.IntegerType) and number.width == 64 and number.is_signless
    elif isinstance(attribute, ir.FloatAttr):
        fits = fits and isinstance(attribute.type, ir.F64Type)
    if not fits:
        raise IRError(f"{op}: attribute '{key}' must be {_ATTRIBUTE_TEXT[kind]}, but is {attribute}")


def signature(op: ir.Operation) -> tuple[Any, ...]:
    """All of an op but which values it reads and where it stands: name, attributes, types."""
    operands, results = [value.type for value in op.operands], [value.type for value in op.results]
    return (op.name, len(operands), *operands, *results, *((name, value) for name, value in op.attributes.items()))


def describe(location: ir.Location) -> str:
    """A location as a person would write it: node names, or file:line:column."""
    return str(location).removeprefix("loc(").removesuffix(")").replace('"', "'")


def node_names(location: ir.Location) -> list[str]:
    """The names in a location (ONNX nodes), those of a fused one in order without repeats."""
    if location.is_a_fused():
        return list(dict.fromkeys(name for part in location.locations for name in node_names(part)))
    return [location.name_str] if location.is_a_name() else []
