"""From a path, bytes or a ModelProto to a ModelProto that is whole enough to look at."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError

from aiopt.frontend.onnx.external import external_tensors, inner_external_tensors, load_external_data
from aiopt.support.errors import DefinitionError, ExternalDataError, NotAModelError, UnreadableError

_MAX_NAME = 64


def load(model: str | Path | bytes | onnx.ModelProto) -> tuple[onnx.ModelProto, str, dict[str, np.ndarray]]:
    """Read a model, say what to call it in messages, and give the initializers that are mapped, by name.

    Errors: ModelError if the file is missing, a folder, unreadable, not ONNX, or lacks its external data.
    """
    mapped: dict[str, np.ndarray] = {}
    if isinstance(model, onnx.ModelProto):
        proto, source = model, "the given ModelProto"
    elif isinstance(model, (bytes, bytearray, memoryview)):
        proto, source = _parse(bytes(model), "the given bytes"), "the given bytes"
    elif isinstance(model, (str, Path)):
        proto, mapped = _read(Path(model))
        source = f"'{model}'"
    else:
        raise NotAModelError(f"a model is a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    _require_graph(proto, source)
    _require_text(proto, source)
    _require_data(proto, source, mapped.keys())
    return proto, source, mapped


def net_name(model: str | Path | bytes | onnx.ModelProto, graph_name: str) -> str:
    """A C identifier for the net: from the file's name, else the graph's, else `net`."""
    for candidate in (Path(model).stem if isinstance(model, (str, Path)) else "", graph_name):
        name = re.sub(r"\W+", "_", candidate, flags=re.ASCII).strip("_")[:_MAX_NAME]
        if name:
            return f"net_{name}" if name[0].isdigit() else name
    return "net"


def _read(path: Path) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    if path.is_dir():
        raise UnreadableError(f"'{path}' is a folder: give the .onnx file inside it")
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise UnreadableError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from error
    proto = _parse(data, f"'{path}'")
    return proto, load_external_data(proto, path)


def _parse(data: bytes, source: str) -> onnx.ModelProto:
    if not data:
        raise NotAModelError(f"{source} is empty, not an ONNX model")
    try:
        return onnx.load_model_from_string(data)
    except (DecodeError, ValueError) as error:
        raise NotAModelError(f"{source} is not an ONNX model or is cut off (protobuf: {error})") from error


def _require_graph(proto: onnx.ModelProto, source: str) -> None:
    if not proto.HasField("graph") or not proto.graph.output:
        raise NotAModelError(f"{source} is not an ONNX model: it has no graph with outputs (broken or cut off?)")


def _require_text(proto: onnx.ModelProto, source: str) -> None:
    """Names are text: protobuf hands out bytes, not str, where a file holds what is not UTF-8.

    In the C interface the names of inputs and outputs end at NUL.
    """
    for name in _names(proto):
        if not isinstance(name, str):
            raise DefinitionError(f"{source} is broken: the name {name!r} in it is not UTF-8")
    for value in (*proto.graph.input, *proto.graph.output):
        if "\0" in value.name:
            raise DefinitionError(f"{source} is broken: the name {value.name!r} of an input or output holds NUL")


def _names(proto: onnx.ModelProto) -> Iterator[object]:
    graph = proto.graph
    yield graph.name
    for entry in proto.opset_import:
        yield entry.domain
    for node in graph.node:
        yield from (node.name, node.op_type, node.domain, *node.input, *node.output)
        yield from (attribute.name for attribute in node.attribute)
    yield from (tensor.name for tensor in graph.initializer)
    for value in (*graph.input, *graph.output):
        yield value.name
        yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)


def _require_data(proto: onnx.ModelProto, source: str, mapped: Collection[str]) -> None:
    """External data of every tensor is loaded; of bytes and protos it cannot be: they have no folder."""
    inner = {tensor.name for tensor in inner_external_tensors(proto)}
    for tensor in external_tensors(proto):
        if tensor.name not in mapped or tensor.name in inner:
            raise ExternalDataError(
                f"tensor '{tensor.name}' of {source} lies in an external file: give the model's path instead, or call "
                "onnx.load_external_data_for_model first"
            )
