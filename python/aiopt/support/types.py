"""Tensor types as plain values, shared by the dialect, the frontend and the runtime (no mlir needed)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_NUMPY = {
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
_ELEMENT = {dtype: element for element, dtype in _NUMPY.items()}

FLOATS = frozenset({"f16", "f32", "f64"})
SIGNED = frozenset({"i8", "i16", "i32", "i64"})
UNSIGNED = frozenset({"ui8", "ui16", "ui32", "ui64"})
INTEGERS = SIGNED | UNSIGNED
ELEMENTS = FLOATS | INTEGERS | {"i1"}
_STORAGE = {"i1": "i8", "ui8": "i8", "ui16": "i16", "ui32": "i32", "ui64": "i64"}


@dataclass(frozen=True)
class TensorType:
    """A static shape and an element type spelled as MLIR spells it (`f32`, `i64`, `ui8`, `i1` for bool)."""

    shape: tuple[int, ...]
    element: str

    @staticmethod
    def of(array: np.ndarray) -> TensorType:
        """The type of a numpy array. Raises KeyError for a dtype aiopt does not have."""
        return TensorType(tuple(array.shape), _ELEMENT[array.dtype])

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        return _NUMPY[self.element]

    @property
    def nbytes(self) -> int:
        """Bytes in memory, dense, row-major; a bool takes one byte."""
        return self.size * self.dtype.itemsize

    def with_shape(self, *shape: int) -> TensorType:
        return TensorType(tuple(shape), self.element)

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.element])


def has_element(dtype: np.dtype) -> bool:
    """True if arrays of this numpy dtype can be tensors here."""
    return np.dtype(dtype) in _ELEMENT


def storage_element(element: str) -> str:
    """The element type in memory, from level TENSOR on: bool takes a byte, integers are signless."""
    return _STORAGE.get(element, element)


def numpy_dtype(element: str) -> np.dtype:
    """`f32` -> float32. Raises KeyError for an unknown element type."""
    return _NUMPY[element]


def element_of(dtype: np.dtype) -> str:
    """float32 -> `f32`. Raises KeyError for a dtype aiopt does not have."""
    return _ELEMENT[np.dtype(dtype)]
