"""The model a user gave, as far as it has to be known before the compiler is loaded."""

from __future__ import annotations

import hashlib
import mmap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiopt.support import onnx_file
from aiopt.support.errors import ChangedError, ExternalDataError
from aiopt.support.external import locate
from aiopt.support.onnx_file import Dims


@dataclass(frozen=True)
class Source:
    """A model, its SHA-256 where its bytes are at hand, and whether that is all its net depends on.

    It is for ONNX, external files included; the weights of MLIR lie in files that only MLIR can find.
    """

    model: Any  # what the driver takes: a path, bytes, a ModelProto or a Module
    digest: str | None = None
    is_whole: bool = False
    inputs: Mapping[str, Dims | None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The file's name, from which that of the net is made; empty if there is no file."""
        return Path(self.model).stem if isinstance(self.model, (str, Path)) else ""

    @property
    def open_inputs(self) -> dict[str, Dims | None]:
        """The inputs whose shape the model leaves open."""
        return {
            name: dims
            for name, dims in self.inputs.items()
            if dims is None or not all(isinstance(dim, int) for dim in dims)
        }

    def require_unchanged(self) -> None:
        """Raise ModelError if the model is no longer what it was when it was first read."""
        if read_source(self.model).digest != self.digest:
            raise ChangedError(f"'{self.model}' has changed since it was opened: open it again")


def read_source(model: Any) -> Source:
    """Look at a model. Never fails: what is wrong with it, the frontend says best."""
    data = _bytes(model)
    if data is None:
        return Source(model)
    digest = hashlib.sha256(data)
    try:
        inputs = {} if _is_mlir_name(model) else onnx_file.input_dims(data)
        external = sorted(onnx_file.external_files(data)) if inputs else []
    except ValueError:
        inputs, external = {}, []
    for location in external:
        known = _digest_beside(model, location)
        if known is None:
            return Source(model, digest.hexdigest(), False, inputs)
        digest.update(f"\0{location}\0{known}".encode())
    return Source(model, digest.hexdigest(), bool(inputs), inputs)


def source_files(model: Any) -> tuple[Path, ...]:
    """The file of a model, and those of an ONNX model's external data, as far as they can be found out."""
    if not isinstance(model, (str, Path)):
        return ()
    data = None if _is_mlir_name(model) else _bytes(model)
    try:
        external = sorted(onnx_file.external_files(data)) if data is not None else []
    except ValueError:
        external = []
    return (Path(model), *(Path(model).parent / location for location in external))


def _is_mlir_name(model: Any) -> bool:
    return isinstance(model, (str, Path)) and Path(model).suffix in (".mlir", ".mlirbc")


def _bytes(model: Any) -> memoryview | None:
    """The model as the bytes of a file, if it can be had so; a file is mapped, not read."""
    if isinstance(model, (str, Path)):
        try:
            with open(model, "rb") as file:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):  # ValueError: an empty file, or a name that cannot be one
            return None
    if isinstance(model, (bytes, bytearray, memoryview)):
        return memoryview(bytes(model))
    if type(model).__name__ == "ModelProto":  # its class is not loaded for this
        try:
            return memoryview(model.SerializeToString(deterministic=True))
        except ValueError:  # over 2 GiB
            return None
    return None


def _digest_beside(model: Any, location: str) -> str | None:
    """The SHA-256 of an external file; None if it may not or cannot be read."""
    if not isinstance(model, (str, Path)):
        return None
    try:
        with open(locate(Path(model), location), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ExternalDataError):
        return None
