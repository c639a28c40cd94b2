"""What a compiled net takes and gives: read from its info, checked on each call."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from aiopt.runtime.library import ELEMENTS, TensorInfo
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import CompileError, InputNameError, InputShapeError, InputTypeError, LimitError
from aiopt.support.types import TensorType

_ALIGNMENT = 64  # bytes; a cache line
_VERBS = {"input": "takes", "output": "gives"}


def read_types(infos: Any, count: int) -> dict[str, TensorType]:
    """Name -> type of `count` aiopt_tensor_info, in their order.

    Raises CompileError for a name that comes twice or a dtype the header lacks.
    """
    types: dict[str, TensorType] = {}
    for position in range(count):
        info: TensorInfo = infos[position]
        name = info.name.decode(errors="backslashreplace")
        if name in types:
            raise CompileError(f"two inputs or two outputs of a net are called '{name}': compile it with other names")
        if not 0 <= info.dtype < len(ELEMENTS):
            raise CompileError(f"'{name}' has the element type {info.dtype}, which this aiopt does not have")
        types[name] = TensorType(tuple(info.shape[: info.rank]), ELEMENTS[info.dtype])
    return types


def describe(types: Mapping[str, TensorType | None]) -> str:
    """`x: 1x3xf32, y: 2xi64`, or `nothing`; None is what has no such type."""
    return ", ".join(f"{name}: {type_ or 'anything'}" for name, type_ in types.items()) or "nothing"


def new_array(type_: TensorType) -> tuple[np.ndarray, int]:
    """A new dense array, not initialised, and its address, a multiple of 64. Raises LimitError."""
    try:
        raw = np.empty(type_.nbytes + _ALIGNMENT, np.uint8)
    except MemoryError as error:
        raise LimitError(
            f"an output of type {type_} takes {type_.nbytes} bytes, which this machine does not give"
        ) from error
    start = ctypes.addressof(ctypes.c_char.from_buffer(raw.data))  # a third of the time of raw.ctypes.data
    offset = -start % _ALIGNMENT
    return np.ndarray(type_.shape, type_.dtype, raw, offset), start + offset


def check_names(
    net: str, types: Mapping[str, Any], given: Mapping[str, Any], takes: str = "", role: str = "input"
) -> None:
    """Raise InputError unless exactly the inputs (or outputs) of the net are given. takes: these in words."""
    if isinstance(given, dict) and given.keys() == types.keys():
        return
    takes = takes or describe(types)
    if not isinstance(given, Mapping):
        raise InputTypeError(f"net '{net}' takes a dict of arrays by {role} name ({takes}), not a {_kind(given)}")
    takes = f"{_VERBS[role]} {takes}"
    for name in given:
        if name not in types:
            hint = did_you_mean(str(name), types)
            raise InputNameError(f"net '{net}' has no {role} '{name}'{hint} (it {takes})")
    missing = [name for name in types if name not in given]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise InputNameError(f"net '{net}' was not given {names} (it {takes})")


def check_array(role: str, name: str, type_: TensorType, value: Any) -> None:
    """Raise InputError for anything but an array of this dtype and shape: nothing is converted silently."""
    if not isinstance(value, np.ndarray):
        raise InputTypeError(f"{role} '{name}' is a {_kind(value)}, expected a numpy array ({type_})")
    if value.dtype != type_.dtype:
        hint = f" (where the values fit, .astype('{type_.dtype}') converts them)" if role == "input" else ""
        raise InputTypeError(f"{role} '{name}' has dtype {_dtype(value.dtype)}, expected {type_.dtype}{hint}")
    if value.shape != type_.shape:
        raise InputShapeError(f"{role} '{name}' has shape {value.shape}, expected {type_.shape}")


def is_plain(array: np.ndarray) -> bool:
    """True if the compiled code can use the array where it is: dense, row-major, aligned to its elements."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned


def checked_array(name: str, type_: TensorType, value: Any) -> np.ndarray:
    """The value as the compiled code needs it, copied only if it is not so. Raises InputError (see check_array)."""
    check_array("input", name, type_, value)
    return value if is_plain(value) else value.copy()


def _dtype(dtype: np.dtype) -> str:
    return str(dtype) if dtype.isnative else f"{dtype.newbyteorder('=')} of the other byte order"


def _kind(value: Any) -> str:
    return type(value).__name__
