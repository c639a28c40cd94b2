"""The values of tensors that lie in files beside the model.

Source: ONNX IR specification, external tensor data (keys location, offset, length; checksums are not looked at).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx

from aiopt.frontend.onnx.mapping import Place, find_place, map_places
from aiopt.support.errors import ExternalDataError, ShortDataError
from aiopt.support.external import locate


def load_external_data(proto: onnx.ModelProto, model: Path) -> dict[str, np.ndarray]:
    """Put the values into the tensors, but for large initializers, which are mapped: read-only arrays by name.

    The files must stay as they are until the model is compiled.
    Errors: ExternalDataError that names the tensor and the file.
    """
    mapped: list[Place] = []
    for tensor in filter(_is_external, proto.graph.initializer):
        with _named(tensor):
            place = _locate(tensor, model)
            if (found := find_place(tensor, *place)) is not None:
                mapped.append(found)
            else:
                _fill(tensor, place)
    for tensor in inner_external_tensors(proto):
        with _named(tensor):
            _fill(tensor, _locate(tensor, model))
    try:
        return map_places(mapped)
    except OSError as error:
        raise ExternalDataError(f"cannot read the external data of '{model}': {error.strerror}") from error


def external_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """All tensors of the model whose values are elsewhere."""
    yield from filter(_is_external, proto.graph.initializer)
    yield from inner_external_tensors(proto)


def inner_external_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Those that are no initializers of the model's graph: of attributes, subgraphs, functions, sparse tensors."""
    yield from filter(_is_external, _of_sparse(proto.graph.sparse_initializer))
    yield from filter(_is_external, _of_nodes(proto.graph.node))
    for function in proto.functions:
        yield from filter(_is_external, _of_nodes(function.node))


def _is_external(tensor: onnx.TensorProto) -> bool:
    return tensor.data_location == onnx.TensorProto.EXTERNAL


@contextmanager
def _named(tensor: onnx.TensorProto) -> Iterator[None]:
    try:
        yield
    except ExternalDataError as error:
        raise error.at(f"tensor '{tensor.name}'")  # noqa: B904
    except OSError as error:
        raise ExternalDataError(f"tensor '{tensor.name}': cannot read its data: {error.strerror}") from error


def _fill(tensor: onnx.TensorProto, place: tuple[Path, int, int | None]) -> None:
    tensor.raw_data = _read(*place)
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]


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


def _locate(tensor: onnx.TensorProto, model: Path) -> tuple[Path, int, int | None]:
    """The file, where in it the values start, and how many bytes they are; None: all that follow."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    path = locate(model, entries.get("location", ""))
    size, start = path.stat().st_size, _number(entries, "offset", 0)
    length = _number(entries, "length", 0) if "length" in entries else None
    if start + (length or 0) > size:
        raise ShortDataError(f"bytes {start} to {start + (length or 0)} of '{path}' are asked for, but it has {size}")
    return path, start, length


def _read(path: Path, start: int, length: int | None) -> bytes:
    with open(path, "rb") as file:
        file.seek(start)
        data = file.read(length)
    if length is not None and len(data) != length:
        raise ShortDataError(f"'{path}' became shorter while it was read")
    return data


def _number(entries: dict[str, str], key: str, default: int) -> int:
    text = entries.get(key, str(default))
    if not (text.isascii() and text.isdecimal() and len(text) < 20):
        raise ShortDataError(f"the {key} of its external data must be a number of 0 or more, not {text!r}")
    return int(text)
