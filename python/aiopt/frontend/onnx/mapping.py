"""Large tensors of external files, mapped and not read: a page at a time, when used."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import helper

from aiopt.support.types import has_element

MAPPED_BYTES = 1 << 16  # from here on a tensor is mapped
_CHUNK_BYTES, _CHUNKS = 1 << 22, 128  # a mapping, which goes when no tensor in it is used, takes a file descriptor


@dataclass(frozen=True)
class Place:
    """Where the values of a tensor are, as numpy has them."""

    tensor: onnx.TensorProto
    dtype: np.dtype
    file: Path
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


def find_place(tensor: onnx.TensorProto, file: Path, offset: int, length: int | None) -> Place | None:
    """The place of a large tensor in a file; None for what is small, odd or wrong, which is read."""
    dtype = _dtype(tensor)
    if dtype is None or any(size < 0 for size in tensor.dims):
        return None
    size = math.prod(tensor.dims) * dtype.itemsize
    if size < MAPPED_BYTES or length not in (None, size) or offset + size > file.stat().st_size:
        return None
    return Place(tensor, dtype, file, offset, size)


def map_places(places: Sequence[Place]) -> dict[str, np.ndarray]:
    """Read-only arrays by name. The files must stay as they are for as long as they are used. Raises OSError."""
    return {name: array for chunk in _chunks(places) for name, array in _map(chunk)}


def _dtype(tensor: onnx.TensorProto) -> np.dtype | None:
    """The type of elements that are stored as numpy has them."""
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, ValueError, TypeError):
        return None
    return dtype if has_element(dtype) else None


def _chunks(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Neighbours in a file, to be mapped together."""
    most = max(_CHUNK_BYTES, sum(place.size for place in places) // _CHUNKS)
    chunk: list[Place] = []
    for place in sorted(places, key=lambda place: (place.file, place.offset)):
        if chunk and (place.file != chunk[0].file or place.end - chunk[0].offset > most):
            yield chunk
            chunk = []
        chunk.append(place)
    if chunk:
        yield chunk


def _map(chunk: Sequence[Place]) -> Iterator[tuple[str, np.ndarray]]:
    start = chunk[0].offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    with open(chunk[0].file, "rb") as file:
        end = max(place.end for place in chunk)
        memory = mmap.mmap(file.fileno(), end - start, access=mmap.ACCESS_READ, offset=start)
    for place in chunk:
        shape = tuple(place.tensor.dims)
        array = np.frombuffer(memory, place.dtype, math.prod(shape), place.offset - start)
        yield place.tensor.name, array.reshape(shape)
