"""Values of constants, kept outside the IR (a constant in the IR is only a key)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np

from aiopt.support.errors import OverwriteError, WeightsError
from aiopt.support.types import numpy_dtype

ELIDED = "elided"
_MARK = {"written_by": "aiopt"}  # in the metadata of files that may be written over


class WeightStore(Mapping[str, np.ndarray]):
    """Read-only arrays by key. Equal contents are stored once, whatever their names.

    Contract: the caller does not write to an array after putting it in; the store's own view is read-only.
    """

    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}
        self._key_by_digest: dict[str, str] = {}
        self._next_number: dict[str, int] = {}  # hint -> where to look for a free key, so that adding stays linear

    def add(self, hint: str, array: np.ndarray) -> str:
        """Store an array and return its key: `hint`, made unique; the older key if the contents are known.

        NUL in a hint becomes `_`: names in MLIR's dictionaries end there.
        """
        array = np.ascontiguousarray(array).reshape(array.shape).view()
        digest = _digest(array)
        known = self._key_by_digest.get(digest)
        if known is not None:
            return known
        hint = hint.replace("\0", "_") or "w"
        key, number = hint, self._next_number.get(hint, 1)
        while key in self._arrays:
            key, number = f"{hint}.{number}", number + 1
        self._next_number[hint] = number
        array.flags.writeable = False
        self._arrays[key] = array
        self._key_by_digest[digest] = key
        return key

    def __getitem__(self, key: str) -> np.ndarray:
        try:
            return self._arrays[key]
        except KeyError:
            raise WeightsError(
                f"the value of constant '{key}' is not known: give the module the attribute ai.weights, naming a "
                ".safetensors file that holds it (text written with weights elided cannot be compiled)"
            ) from None

    def __contains__(self, key: object) -> bool:
        return key in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def restricted(self, keys: Collection[str]) -> WeightStore:
        """A store of the arrays of these keys alone (those of them that are known)."""
        store = WeightStore()
        store._arrays = {key: array for key, array in self._arrays.items() if key in keys}
        store._key_by_digest = {digest: key for digest, key in self._key_by_digest.items() if key in store._arrays}
        store._next_number = dict(self._next_number)
        return store

    def save(self, path: Path, keys: set[str]) -> None:
        """Write the arrays of these keys as safetensors. The file appears whole or not at all.

        Raises OutputError if a file of that name is there that was not written by this function.
        """
        from safetensors.numpy import save_file

        if path.is_file() and not _is_ours(path):
            raise OverwriteError(
                f"cannot write the weights '{path}': aiopt did not write the file of that name that is there; remove "
                "it, or give the output another name"
            )
        part = path.with_name(path.name + ".part")
        try:
            save_file({key: self._arrays[key] for key in sorted(keys)}, part, _MARK)
            part.chmod(0o666 & ~_umask())  # safetensors makes it readable by its owner only
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise

    @staticmethod
    def load(path: Path) -> WeightStore:
        """Read a safetensors file. Raises ModelError if it is missing or broken."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        store = WeightStore()
        numpy_dtype("bf16")  # safetensors asks numpy for it by name, which numpy knows from then on
        try:
            arrays = load_file(path)
        except (OSError, SafetensorError) as error:
            raise WeightsError(f"cannot read weights from '{path}': {error}") from error
        for key, array in arrays.items():
            array.flags.writeable = False
            store._arrays[key] = array
            store._key_by_digest.setdefault(_digest(array), key)
        return store


def _is_ours(path: Path) -> bool:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
    except (OSError, SafetensorError):
        return False
    return _MARK.items() <= metadata.items()


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _digest(array: np.ndarray) -> str:
    head = f"{array.dtype.str}{array.shape}".encode()
    return hashlib.blake2b(memoryview(array.reshape(-1).view(np.uint8)), key=head[:64], digest_size=16).hexdigest()  # pyright: ignore[reportArgumentType]
