"""The file format of compiled nets (.aio): one file that says all about itself.

    0   magic, format version, sizes, SHA-256 of the header (64 bytes, little-endian: see _PREAMBLE)
    64  header: JSON (write_artifact says what is in it)
        objects, then weights, each at a multiple of 64 bytes; the header has offsets from the first one and CRC-32s

The weights are not read into memory but mapped. Whatever is wrong with a file is one AioptError that names it.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import platform
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aiopt.runtime.cpu_library import missing_feature
from aiopt.runtime.library import ABI_VERSION
from aiopt.runtime.parts_table import parts_table
from aiopt.support.errors import (
    ArtifactError,
    ArtifactMachineError,
    ArtifactVersionError,
    DamagedArtifactError,
    UnreadableError,
)
from aiopt.support.files import is_special, write_output

FORMAT = 1
SUFFIX = ".aio"
_MAGIC = b"\x89AIO\r\n\x1a\n"  # as PNG's: a transfer that changes line ends or cuts the eighth bit is seen at once
_PREAMBLE = struct.Struct(
    "<8sIIQQ32s"
)  # magic, format, 0, bytes of the header, bytes of the file, SHA-256 of the header
_ALIGNMENT = 64
_HEADER = {
    **{"name": str, "features": str, "machine": str, "format": int, "abi": int, "threads": int},
    **{"inputs": list, "outputs": list, "launches": list, "objects": list, "weights": dict, "report": dict},
}


@dataclass(frozen=True)
class Artifact:
    """An artifact that was checked and fits this machine; `weights` is a view of the mapped file."""

    header: Mapping[str, Any]
    objects: tuple[bytes, ...]
    weights: np.ndarray


def is_artifact(data: bytes) -> bool:
    """True if a file that begins with these bytes is meant to be an artifact."""
    return data.startswith(_MAGIC)


def looks_like_artifact(path: str | Path) -> bool:
    """True for the path of an artifact, by its beginning or, where it cannot be read or is cut off, by its name."""
    try:
        with open(path, "rb") as file:
            return is_artifact(file.read(len(_MAGIC))) or Path(path).suffix == SUFFIX
    except OSError:
        return Path(path).suffix == SUFFIX


def write_artifact(path: Path, header: Mapping[str, Any], objects: Sequence[bytes], weights: np.ndarray) -> None:
    """Write a file that appears whole or not at all. Raises OutputError.

    header: name; inputs and outputs, [name, shape, element] each; features; threads; launches; report.
    """
    blobs = [*objects, weights.data]
    sections, offset = [], 0
    for blob in blobs:
        sections.append({"offset": offset, "bytes": len(blob), "crc32": zlib.crc32(blob)})
        offset += _aligned(len(blob))
    stated = {"format": FORMAT, "abi": ABI_VERSION, "machine": platform.machine(), **header}
    text = json.dumps({**stated, "objects": sections[:-1], "weights": sections[-1]}, allow_nan=False).encode()
    start = _aligned(_PREAMBLE.size + len(text))
    size = start + (sections[-1]["offset"] + sections[-1]["bytes"])
    preamble = _PREAMBLE.pack(_MAGIC, FORMAT, 0, len(text), size, hashlib.sha256(text).digest())
    chunks = [preamble, text, bytes(start - _PREAMBLE.size - len(text))]
    for blob in blobs:
        chunks += [blob, bytes(_aligned(len(blob)) - len(blob))]
    write_output(path, chunks[:-1])  # nothing needs what would fill up the last line


def read_header(path: str | Path) -> dict[str, Any]:
    """What an artifact says of itself, for any machine and ABI version. Raises ModelError."""
    with _opened(path) as file:
        return _read_header(file, str(path))[0]


def read_artifact(path: str | Path) -> Artifact:
    """Read and check an artifact.

    Raises ModelError if it is unreadable, cut off, damaged or of another format, CompileError if it was compiled for
    another machine or ABI version.
    """
    with _opened(path) as file:
        header, start = _read_header(file, str(path))
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    try:
        _check_fits(header, str(path))
        objects = [bytes(_section(mapped, start, section)) for section in header["objects"]]
        weights = _section(mapped, start, header["weights"])
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedArtifactError(f"'{path}' is damaged ({error}): write or copy it again") from error
    return Artifact(header, tuple(objects), np.frombuffer(weights, np.uint8))


def describe(header: Mapping[str, Any]) -> str:
    """What an artifact says of itself, a line each; lists of kernels are left to --json."""
    report = header["report"]
    lines = [f"net: {header['name']}"]
    for role in ("input", "output"):
        lines += [f"{role} {name}: {'x'.join(map(str, [*shape, kind]))}" for name, shape, kind in header[f"{role}s"]]
    lines.append(f"format {header['format']}, ABI version {header['abi']}, {header['machine']}")
    lines.append(f"cpu features: {header['features'].replace(',', ' ') or 'none'}")
    lines.append(f"code bytes: {sum(section['bytes'] for section in header['objects'])}")
    lines.append(f"weights bytes: {header['weights']['bytes']}")
    lines.append(f"launches: {len(header['launches'])}")
    lines += [f"version of {name}: {version}" for name, version in report.get("versions", {}).items()]
    lines += parts_table(report)
    target = report.get("target", {})
    target = next((device for device in target.get("devices", []) if "flags" in device), target)
    lines.append(f"flags: {' '.join(target.get('flags', [])) or 'unknown'}, passes {target.get('llvm_passes')}")
    lines.append(f"pipeline: {report.get('pipeline') or 'unknown'}")
    lines.append(f"source sha256: {report.get('source_sha256') or 'unknown'}")
    return "\n".join(lines) + "\n"


def _opened(path: str | Path):
    try:
        if is_special(Path(path)):
            raise UnreadableError(f"'{path}' is no regular file: an artifact is mapped, not read")
        return open(path, "rb")
    except OSError as error:
        raise UnreadableError(f"cannot read '{path}': {error.strerror}") from error


def _read_header(file: Any, path: str) -> tuple[dict[str, Any], int]:
    """The header and where the sections begin."""
    first = file.read(_PREAMBLE.size)
    if not is_artifact(first):
        raise ArtifactError(f"'{path}' is not a compiled net (a file written by net.save or aiopt-compile)")
    if len(first) < _PREAMBLE.size:
        raise DamagedArtifactError(f"'{path}' is cut off: it has {len(first)} bytes; write or copy it again")
    _, version, _, header_bytes, size, digest = _PREAMBLE.unpack(first)
    if version != FORMAT:
        raise ArtifactVersionError(
            f"'{path}' is of format {version}, this aiopt reads format {FORMAT}: compile the model again"
        )
    if (found := os.fstat(file.fileno()).st_size) != size:
        raise DamagedArtifactError(f"'{path}' is cut off: it has {found} bytes of {size}; write or copy it again")
    text = file.read(header_bytes) if header_bytes <= size else b""
    if hashlib.sha256(text).digest() != digest:
        raise DamagedArtifactError(f"'{path}' is damaged (header): write or copy it again")
    header = json.loads(text)
    if wrong := [key for key, kind in _HEADER.items() if not _has(header, key, kind)]:
        raise DamagedArtifactError(f"'{path}' is damaged (header without {wrong[0]}): compile the model again")
    return header, _aligned(_PREAMBLE.size + header_bytes)


def _has(header: object, key: str, kind: type) -> bool:
    return isinstance(header, dict) and isinstance(header.get(key), kind)


def _check_fits(header: Mapping[str, Any], path: str) -> None:
    again = "compile the model again on this machine"
    if header["machine"] != platform.machine():
        raise ArtifactMachineError(
            f"'{path}' is for {header['machine']}, this machine is {platform.machine()}: {again}"
        )
    if header["abi"] != ABI_VERSION:
        raise ArtifactVersionError(
            f"'{path}' is for ABI version {header['abi']}, this aiopt has {ABI_VERSION}: {again}"
        )
    if missing := missing_feature(header["features"]):
        raise ArtifactMachineError(f"'{path}' needs a CPU with '{missing}', which this one lacks: {again}")


def _section(mapped: memoryview, start: int, section: Mapping[str, Any]) -> memoryview:
    begin, size = start + section["offset"], section["bytes"]
    if min(section["offset"], size) < 0 or begin % _ALIGNMENT or begin + size > len(mapped):
        raise ValueError("a section lies outside the file")
    data = mapped[begin : begin + size]
    if zlib.crc32(data) != section["crc32"]:
        raise ValueError("a checksum is wrong")
    return data


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
