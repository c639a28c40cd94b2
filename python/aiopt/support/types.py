"""Tensor types as plain values, shared by the dialect, the frontend and the runtime (no mlir needed)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from aiopt.support.errors import UnsupportedError

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
_BFLOAT16 = "bfloat16"  # what the dtype of ml_dtypes is called: numpy has none of its own

LOW_FLOATS = frozenset({"bf16", "f16"})  # stored in 16 bits, computed in f32
FLOATS = LOW_FLOATS | {"f32", "f64"}
SIGNED = frozenset({"i8", "i16", "i32", "i64"})
UNSIGNED = frozenset({"ui8", "ui16", "ui32", "ui64"})
INTEGERS = SIGNED | UNSIGNED
_WIDER_FLOATS = {"bf16": {"f32", "f64"}, "f16": {"f32", "f64"}, "f32": {"f64"}}
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
        return TensorType(tuple(array.shape), element_of(array.dtype))

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype:
        """The numpy dtype. Raises UnsupportedError for bf16 without the package ml_dtypes."""
        return numpy_dtype(self.element)

    @property
    def nbytes(self) -> int:
        """Bytes in memory, dense, row-major; a bool takes one byte."""
        return self.size * item_bytes(self.element)

    def with_shape(self, *shape: int) -> TensorType:
        return TensorType(tuple(shape), self.element)

    def __str__(self) -> str:
        return "x".join([*map(str, self.shape), self.element])


def has_element(dtype: np.dtype) -> bool:
    """True if arrays of this numpy dtype can be tensors here."""
    return np.dtype(dtype) in _ELEMENT or np.dtype(dtype).name == _BFLOAT16


def storage_element(element: str) -> str:
    """The element type in memory, from level TENSOR on: bool takes a byte, integers are signless."""
    return _STORAGE.get(element, element)


def numpy_dtype(element: str) -> np.dtype:
    """`f32` -> float32. Raises KeyError for an unknown element type, UnsupportedError for bf16 without ml_dtypes."""
    return _bfloat16() if element == "bf16" else _NUMPY[element]


def element_of(dtype: np.dtype) -> str:
    """float32 -> `f32`. Raises KeyError for a dtype aiopt does not have."""
    dtype = np.dtype(dtype)
    return "bf16" if dtype.name == _BFLOAT16 else _ELEMENT[dtype]


def item_bytes(element: str) -> int:
    """Bytes of one element in memory."""
    return 2 if element == "bf16" else _NUMPY[element].itemsize


def is_float(dtype: np.dtype) -> bool:
    """True for float dtypes, bfloat16 among them (whose kind numpy does not know)."""
    return dtype.kind == "f" or dtype.name == _BFLOAT16


def holds(wide: str, element: str) -> bool:
    """True if the float type `wide` has every value of the float type `element`."""
    return element in FLOATS and (wide == element or wide in _WIDER_FLOATS.get(element, set()))


def largest(element: str) -> float:
    """The largest finite number of a float type."""
    return (2 - 2.0**-7) * 2.0**127 if element == "bf16" else float(np.finfo(_NUMPY[element]).max)


@cache
def _bfloat16() -> np.dtype:
    try:  # here and not above: nets without bf16 at their borders run with numpy alone
        from ml_dtypes import bfloat16
    except ImportError as error:
        raise UnsupportedError("arrays of bf16 need the package ml_dtypes: pip install ml_dtypes") from error
    return np.dtype(bfloat16)
