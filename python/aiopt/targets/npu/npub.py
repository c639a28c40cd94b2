"""`.npub`, the file of a program.

    bytes 0-3    "NPUB"               bytes 8-39   hash of the machine    bytes 48-51  number of sections
    bytes 4-5    version              bytes 40-47  bytes of dram          bytes 52-63  zeros
    bytes 6-7    zeros

Then 24 bytes for each section (kind u32, zeros u32, first byte u64, bytes u64), then the sections: code (1), data (2:
address u64, bytes u64, the bytes, zeros to a multiple of 8, and again), names (3: JSON). Numbers are little-endian.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

from aiopt.support.errors import ModelError
from aiopt.support.types import TensorType, numpy_dtype
from aiopt.targets.npu import isa
from aiopt.targets.npu.program import Program, Tensor

MAGIC = b"NPUB"
VERSION = 1
MAX_DRAM = 1 << 32  # bytes; the simulator has all of it in memory
_HEADER = struct.Struct("<4sHH32sQI12s")
_SECTION = struct.Struct("<IIQQ")
_CHUNK = struct.Struct("<QQ")
_CODE, _DATA, _NAMES = 1, 2, 3


def write(program: Program) -> bytes:
    """The file. Raises ModelError if an instruction cannot be encoded."""
    tensors = {"inputs": program.inputs, "outputs": program.outputs}
    names = {key: [_to_json(tensor) for tensor in found] for key, found in tensors.items()}
    chunks = [_CHUNK.pack(address, len(data)) + _padded(data) for address, data in sorted(program.data.items())]
    sections = {
        _CODE: isa.encode(program.instructions),
        _DATA: b"".join(chunks),
        _NAMES: json.dumps({"machine": program.machine, **names}, sort_keys=True).encode(),
    }
    head = _HEADER.pack(MAGIC, VERSION, 0, program.machine_hash, program.dram_bytes, len(sections), bytes(12))
    at = len(head) + _SECTION.size * len(sections)
    for kind, content in sections.items():
        head += _SECTION.pack(kind, 0, at, len(content))
        at += len(content)
    return head + b"".join(sections.values())


def read(data: bytes, origin: str) -> Program:
    """The program in a file; `origin` names it in errors. Raises ModelError unless `write` could have written it."""
    try:
        return _read(data)
    except ModelError as error:
        raise ModelError(f"'{origin}': {error}") from error


def looks_like_npub(data: bytes) -> bool:
    """True if these bytes claim to be a `.npub`."""
    return data.startswith(MAGIC)


def _read(data: bytes) -> Program:
    if not looks_like_npub(data) or len(data) < _HEADER.size:
        raise ModelError("is not an npub file")
    _, version, zero, machine_hash, dram_bytes, count, zeros = _HEADER.unpack_from(data)
    if version != VERSION:
        raise ModelError(f"has version {version} of the format; this aiopt reads version {VERSION}")
    if zero or any(zeros):
        raise ModelError("a reserved byte of the header is not zero")
    sections = _sections(data, count)
    names = _names(sections[_NAMES])
    if dram_bytes > MAX_DRAM:
        raise ModelError(f"needs {dram_bytes} bytes of dram; at most {MAX_DRAM} are allowed")
    return Program(
        machine=names["machine"],
        machine_hash=machine_hash,
        dram_bytes=dram_bytes,
        instructions=isa.decode(sections[_CODE]),
        inputs=[_from_json(item, dram_bytes) for item in names["inputs"]],
        outputs=[_from_json(item, dram_bytes) for item in names["outputs"]],
        data=_chunks(sections[_DATA], dram_bytes),
    )


def _sections(data: bytes, count: int) -> dict[int, bytes]:
    """The sections by kind, of which each stands right behind the one before."""
    kinds = (_CODE, _DATA, _NAMES)
    at = _HEADER.size + _SECTION.size * count
    if count != len(kinds) or at > len(data):
        raise ModelError(f"must have {len(kinds)} sections, but has {count}")
    found = {}
    for index, expected in enumerate(kinds):
        kind, zero, start, size = _SECTION.unpack_from(data, _HEADER.size + index * _SECTION.size)
        if kind != expected or zero or start != at or start + size > len(data):
            raise ModelError(f"section {index} is not where it must be, or the file was cut off")
        found[kind] = data[start : start + size]
        at += size
    if at != len(data):
        raise ModelError(f"has {len(data) - at} bytes too many")
    return found


def _chunks(section: bytes, dram_bytes: int) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    at = end = 0
    while at < len(section):
        if at + _CHUNK.size > len(section):
            raise ModelError("the data was cut off")
        address, size = _CHUNK.unpack_from(section, at)
        at += _CHUNK.size
        content = section[at : at + size]
        stored = _padded(content)
        if len(content) != size or section[at : at + len(stored)] != stored:
            raise ModelError("the data was cut off, or a reserved byte in it is not zero")
        if (found and address < end) or address + size > dram_bytes:
            raise ModelError(f"data at 0x{address:x}: it overlaps other data or ends beyond {dram_bytes} bytes of dram")
        found[address] = content
        at += len(stored)
        end = address + size
    return found


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _names(section: bytes) -> Mapping[str, Any]:
    try:
        names = json.loads(section)
        if set(names) == {"machine", "inputs", "outputs"} and isinstance(names["machine"], str):
            return names
    except (ValueError, TypeError):
        pass  # said below
    raise ModelError("the names of inputs and outputs cannot be read")


def _to_json(tensor: Tensor) -> dict[str, Any]:
    kind = tensor.type
    return {"name": tensor.name, "address": tensor.address, "shape": list(kind.shape), "element": kind.element}


def _from_json(item: Mapping[str, Any], dram_bytes: int) -> Tensor:
    try:
        name, address, shape, element = (item[key] for key in ("name", "address", "shape", "element"))
        numpy_dtype(element)
        if isinstance(name, str) and all(type(n) is int and n >= 0 for n in [address, *shape]):
            return checked_tensor(Tensor(name, address, TensorType(tuple(shape), element)), dram_bytes)
    except (KeyError, TypeError):
        pass  # said below
    raise ModelError("an input or output cannot be read")


def checked_tensor(tensor: Tensor, dram_bytes: int) -> Tensor:
    """The tensor. Raises ModelError if it is not in dram or not aligned."""
    end = tensor.address + tensor.type.nbytes
    if end > dram_bytes:
        raise ModelError(f"'{tensor.name}' ends at {end}, beyond {dram_bytes} bytes of dram")
    if tensor.address % tensor.type.dtype.itemsize:
        raise ModelError(f"'{tensor.name}': 0x{tensor.address:x} is not aligned for {tensor.type.element}")
    return tensor
