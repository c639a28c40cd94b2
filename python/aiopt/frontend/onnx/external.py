"""Tensors whose values lie in files beside the model. Large ones are mapped, not read: a page at a time, when used."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import external_data_helper, helper

from aiopt.support.types import has_element

MAPPED_BYTES = 1 << 16  # from here on a tensor is mapped
_CHUNK_BYTES, _CHUNKS = 1 << 22, 128  # a mapping, which goes when no tensor in it is used, takes a file descriptor


@dataclass(frozen=True)
class _Place:
    """Where the values of a tensor are."""

    tensor: onnx.TensorProto
    dtype: np.dtype
    file: Path
    offset: int
    size: int

    @property
    def end(self) -> int:
        return self.offset + self.size


def load_external_data(proto: onnx.ModelProto, folder: Path) -> dict[str, np.ndarray]:
    """Read external data into a model, but for large initializers, which are mapped: read-only arrays by name.

    The files must stay as they are until the model is compiled. What cannot be mapped is read, by the onnx package's
    rules of where it may lie. Raises OSError, ValueError and onnx.checker.ValidationError as that does.
    """
    external = filter(external_data_helper.uses_external_data, proto.graph.initializer)
    places = [place for tensor in external if (place := _find(tensor, folder)) is not None]
    mapped = {name: array for group in _chunks(places) for name, array in _map(group)}
    for place in places:
        place.tensor.data_location = onnx.TensorProto.DEFAULT  # so that the others alone are read
    onnx.load_external_data_for_model(proto, str(folder))
    for place in places:
        place.tensor.data_location = onnx.TensorProto.EXTERNAL
    return mapped


def _find(tensor: onnx.TensorProto, folder: Path) -> _Place | None:
    """The place of a tensor; None for what is small, odd or wrong: of that the onnx package says what it is."""
    info = external_data_helper.ExternalDataInfo(tensor)
    dtype = _dtype(tensor)
    if dtype is None or any(size < 0 for size in tensor.dims):
        return None
    size, file = math.prod(tensor.dims) * dtype.itemsize, folder / info.location
    offset = info.offset or 0
    if size < MAPPED_BYTES or info.length not in (None, size) or not _is_plain(info.location, folder):
        return None
    return _Place(tensor, dtype, file, offset, size) if offset + size <= file.stat().st_size else None


def _dtype(tensor: onnx.TensorProto) -> np.dtype | None:
    """The type of elements that are stored as numpy has them."""
    try:
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    except (KeyError, ValueError, TypeError):
        return None
    return dtype if has_element(dtype) else None


def _is_plain(location: str, folder: Path) -> bool:
    """True for a regular file in the folder that has no other name, and no links on the way to it."""
    if Path(location).is_absolute():
        return False
    inside = folder.resolve()
    try:
        resolved = (inside / location).resolve(strict=True)
        is_only = resolved.is_file() and resolved.stat().st_nlink == 1
    except (OSError, ValueError, RuntimeError):
        return False
    return is_only and resolved == inside / location and resolved.is_relative_to(inside)


def _chunks(places: Sequence[_Place]) -> Iterator[list[_Place]]:
    """Neighbours in a file, to be mapped together."""
    most = max(_CHUNK_BYTES, sum(place.size for place in places) // _CHUNKS)
    chunk: list[_Place] = []
    for place in sorted(places, key=lambda place: (place.file, place.offset)):
        if chunk and (place.file != chunk[0].file or place.end - chunk[0].offset > most):
            yield chunk
            chunk = []
        chunk.append(place)
    if chunk:
        yield chunk


def _map(chunk: Sequence[_Place]) -> Iterator[tuple[str, np.ndarray]]:
    start = chunk[0].offset // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    with open(chunk[0].file, "rb") as file:
        end = max(place.end for place in chunk)
        memory = mmap.mmap(file.fileno(), end - start, access=mmap.ACCESS_READ, offset=start)
    for place in chunk:
        shape = tuple(place.tensor.dims)
        array = np.frombuffer(memory, place.dtype, math.prod(shape), place.offset - start)
        yield place.tensor.name, array.reshape(shape)
