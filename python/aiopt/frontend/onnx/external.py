"""The values of tensors that lie in files beside the model.

Source: ONNX IR specification, external tensor data (keys location, offset, length; checksums are not looked at).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import onnx

from aiopt.frontend.onnx.mapped import Place, is_mappable, map_places
from aiopt.support.errors import ExternalDataError, ShortDataError
from aiopt.support.external import locate


def load_external_data(proto: onnx.ModelProto, model: Path) -> dict[str, np.ndarray]:
    """Put the values into the tensors, but for large initializers, which are mapped: read-only arrays by name.

    The files must stay as they are until the model is compiled. Errors: ExternalDataError that names the tensor and the
    file.
    """
    large: list[Place] = []
    initializers = {tensor.name for tensor in proto.graph.initializer}
    for tensor in external_tensors(proto):
        try:
            place = find_place(tensor, model)
            if tensor.name in initializers and is_mappable(place):
                large.append(place)
                continue
            tensor.raw_data = _read(place)
        except ExternalDataError as error:
            raise error.at(f"tensor '{tensor.name}'")  # noqa: B904
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]
    return map_places(large)


def external_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """All tensors of the model, also of its subgraphs and functions, whose values are elsewhere."""
    for tensor in (*_of_graph(proto.graph), *(t for function in proto.functions for t in _of_nodes(function.node))):
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            yield tensor


def _of_graph(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    yield from _of_sparse(graph.sparse_initializer)
    yield from _of_nodes(graph.node)


def _of_nodes(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    for node in nodes:
        for attribute in node.attribute:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors
            yield from _of_sparse([attribute.sparse_tensor, *attribute.sparse_tensors])
            for graph in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _of_graph(graph)


def _of_sparse(tensors: Iterable[onnx.SparseTensorProto]) -> Iterator[onnx.TensorProto]:
    for tensor in tensors:
        yield from (tensor.values, tensor.indices)


def find_place(tensor: onnx.TensorProto, model: Path) -> Place:
    """From `offset` on `length` bytes, without one all that follow. Errors: ExternalDataError, ShortDataError."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = locate(model, entries.get("location", ""))
    try:
        size = path.stat().st_size
    except OSError as error:
        raise ExternalDataError(f"cannot read '{path}': {error.strerror}") from error
    start = _number(entries, "offset", 0)
    length = _number(entries, "length", max(size - start, 0))
    if start > size or start + length > size:
        raise ShortDataError(f"bytes {start} to {start + length} of '{path}' are asked for, but it has {size}")
    return Place(tensor, path, start, length)


def _read(place: Place) -> bytes:
    try:
        with open(place.path, "rb") as file:
            file.seek(place.start)
            data = file.read(place.length)
    except OSError as error:
        raise ExternalDataError(f"cannot read '{place.path}': {error.strerror}") from error
    if len(data) != place.length:
        raise ShortDataError(f"'{place.path}' became shorter while it was read")
    return data


def _number(entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise ShortDataError(f"the {key} of its external data must be a number of 0 or more, not {text!r}")
    return int(text)
