"""What can be read off the bytes of an ONNX file without the onnx package (0.15 s to import) or a parse of the whole.

Source: onnx.proto3 of ONNX 1.23 and the protocol buffers' encoding. Field numbers never change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# Numbers of the fields that are looked at.
_MODEL_GRAPH, _MODEL_FUNCTIONS, _FUNCTION_NODE = 7, 25, 7
_GRAPH_NODE, _GRAPH_INITIALIZER, _GRAPH_INPUT, _GRAPH_SPARSE = 1, 5, 11, 15
_NODE_ATTRIBUTE = 5
_ATTRIBUTE_TENSORS, _ATTRIBUTE_GRAPHS, _ATTRIBUTE_SPARSE = (5, 10), (6, 11), (22, 23)
_SPARSE_TENSORS = (1, 2)
_TENSOR_NAME, _TENSOR_EXTERNAL = 8, 13
_ENTRY_KEY, _ENTRY_VALUE = 1, 2
_VALUE_NAME, _VALUE_TYPE, _TYPE_TENSOR, _TENSOR_SHAPE, _SHAPE_DIM, _DIM_VALUE, _DIM_NAME = 1, 2, 1, 2, 1, 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Dims = tuple[int | str | None, ...]  # a size, the name of a size, or neither
Field = int | memoryview


def input_dims(model: bytes | memoryview) -> Mapping[str, Dims | None]:
    """The dimensions of each input that is no initializer; None where not even the rank is known.

    Sizes of 0 or less, and the names "" and "?", are exporters' ways to say nothing. Raises ValueError for bytes that
    are no message.
    """
    inputs: dict[str, Dims | None] = {}
    initializers = set()
    for graph in _messages(model, _MODEL_GRAPH):
        for number, value in _fields(graph):
            if number == _GRAPH_INITIALIZER:
                initializers.add(_text(value, _TENSOR_NAME))
            elif number == _GRAPH_INPUT:
                inputs[_text(value, _VALUE_NAME)] = _dims(value)
    return {name: dims for name, dims in inputs.items() if name not in initializers}


def external_files(model: bytes | memoryview) -> set[str]:
    """The files that hold data of tensors, as the model names them. Raises ValueError for bytes that are no message."""
    found: set[str] = set()
    for graph in _messages(model, _MODEL_GRAPH):
        _visit_graph(graph, found)
    for function in _messages(model, _MODEL_FUNCTIONS):
        for node in _messages(function, _FUNCTION_NODE):
            _visit_node(node, found)
    return found


def _visit_graph(graph: Field, found: set[str]) -> None:
    for number, value in _fields(graph):
        if number == _GRAPH_NODE:
            _visit_node(value, found)
        elif number == _GRAPH_INITIALIZER:
            _visit_tensor(value, found)
        elif number == _GRAPH_SPARSE:
            _visit_sparse(value, found)


def _visit_node(node: Field, found: set[str]) -> None:
    if b"location" not in bytes(_message(node)):  # most nodes: not worth a look inside
        return
    for attribute in _messages(node, _NODE_ATTRIBUTE):
        for number, value in _fields(attribute):
            if number in _ATTRIBUTE_TENSORS:
                _visit_tensor(value, found)
            elif number in _ATTRIBUTE_GRAPHS:
                _visit_graph(value, found)
            elif number in _ATTRIBUTE_SPARSE:
                _visit_sparse(value, found)


def _visit_sparse(sparse: Field, found: set[str]) -> None:
    for number, value in _fields(sparse):
        if number in _SPARSE_TENSORS:
            _visit_tensor(value, found)


def _visit_tensor(tensor: Field, found: set[str]) -> None:
    for entry in _messages(tensor, _TENSOR_EXTERNAL):
        if _text(entry, _ENTRY_KEY) == "location":
            found.add(_text(entry, _ENTRY_VALUE))


def _dims(value: Field) -> Dims | None:
    """Of a sequence or an optional (): it has no shape that would be open."""
    for type_ in _messages(value, _VALUE_TYPE):
        for number, tensor in _fields(type_):
            if number != _TYPE_TENSOR:
                return ()
            for shape in _messages(tensor, _TENSOR_SHAPE):
                return tuple(_dim(dim) for dim in _messages(shape, _SHAPE_DIM))
    return None


def _dim(dim: Field) -> int | str | None:
    found: int | str | None = None
    for number, value in _fields(dim):
        if number == _DIM_VALUE and isinstance(value, int):
            found = value if 0 < value < 1 << 63 else None  # a negative size is a huge one in this encoding
        elif number == _DIM_NAME:
            text = bytes(_message(value)).decode()
            found = text if text not in ("", "?") else None
    return found


def _text(message: Field, field: int) -> str:
    """A field of text: the last one, as protocol buffers want it."""
    texts = [bytes(value) for value in _messages(message, field)]
    return texts[-1].decode() if texts else ""


def _messages(message: Field | bytes, field: int) -> Iterator[memoryview]:
    for number, value in _fields(message):
        if number == field:
            yield _message(value)


def _message(value: Field) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a number where a message should be")
    return value


def _fields(message: Field | bytes) -> Iterator[tuple[int, Field]]:
    """Number and value of each field."""
    data = memoryview(message) if isinstance(message, bytes) else _message(message)
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, at = _varint(data, at)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if size > len(data) - at:
            raise ValueError("a field ends outside its message")
        yield tag >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a number has no end")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
