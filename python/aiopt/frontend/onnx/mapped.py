"""Large tensors in files beside the model: mapped, not read, a page at a time when used."""

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
    """Where the values of a tensor are: a file, the first byte and the number of bytes."""

    tensor: onnx.TensorProto
    path: Path
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length


def is_mappable(place: Place) -> bool:
    """True for a large tensor whose elements lie there as numpy has them."""
    dtype, dims = _dtype(place.tensor), place.tensor.dims
    if dtype is None or any(size < 0 for size in dims):
        return False
    return place.length >= MAPPED_BYTES and place.length == math.prod(dims) * dtype.itemsize


def map_places(places: Sequence[Place]) -> dict[str, np.ndarray]:
    """Read-only arrays by the names of the tensors."""
    return {name: array for group in _chunks(places) for name, array in _map(group)}


def _dtype(tensor: onnx.TensorProto) -> np.dtype | None:
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, ValueError, TypeError):
        return None
    return dtype if has_element(dtype) else None


def _chunks(places: Sequence[Place]) -> Iterator[list[Place]]:
    """Neighbours in a file, to be mapped together."""
    most = max(_CHUNK_BYTES, sum(place.length for place in places) // _CHUNKS)
    chunk: list[Place] = []
    for place in sorted(places, key=lambda place: (place.path, place.start)):
        if chunk and (place.path != chunk[0].path or place.end - chunk[0].start > most):
            yield chunk
            chunk = []
        chunk.append(place)
    if chunk:
        yield chunk


def _map(chunk: Sequence[Place]) -> Iterator[tuple[str, np.ndarray]]:
    begin = chunk[0].start // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    with open(chunk[0].path, "rb") as file:
        end = max(place.end for place in chunk)
        memory = mmap.mmap(file.fileno(), end - begin, access=mmap.ACCESS_READ, offset=begin)
    for place in chunk:
        shape, dtype = tuple(place.tensor.dims), _dtype(place.tensor)
        assert dtype is not None, "is_mappable was asked"
        array = np.frombuffer(memory, dtype, math.prod(shape), place.start - begin)
        yield place.tensor.name, array.reshape(shape)
