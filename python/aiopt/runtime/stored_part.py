"""The parts of a parted net in an artifact: their objects one after the other, their weights in one blob."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from aiopt.runtime.artifact import Artifact

_ALIGNMENT = 64
_NONE = np.empty(0, np.uint8)


@dataclass(frozen=True)
class StoredPart:
    """A part as a file holds it: its target, what that says of it (of JSON's types), objects and weights."""

    target: str
    facts: Mapping[str, Any]
    objects: Sequence[bytes]
    weights: np.ndarray = field(default_factory=lambda: _NONE)


def pack(parts: Sequence[StoredPart]) -> tuple[list[dict[str, Any]], list[bytes], np.ndarray]:
    """What the header says of the parts, all their objects, and the blob of all weights."""
    entries, objects, blobs, offset = [], [], [], 0
    for part in parts:
        size = part.weights.nbytes
        weights = [offset, size]
        entries.append({"target": part.target, "facts": part.facts, "objects": len(part.objects), "weights": weights})
        objects += part.objects
        blobs += [part.weights, np.zeros(-size % _ALIGNMENT, np.uint8)]
        offset += size + -size % _ALIGNMENT
    return entries, objects, np.concatenate(blobs) if blobs else _NONE


def unpack(stored: Artifact) -> Iterator[StoredPart]:
    """The parts of a file; their weights are views of it. Raises KeyError, TypeError or ValueError for others."""
    first = 0
    for entry in stored.header["parts"]:
        (offset, size), count = entry["weights"], entry["objects"]
        objects, weights = stored.objects[first : first + count], stored.weights[offset : offset + size]
        if len(objects) != count or weights.nbytes != size:
            raise ValueError("a part lies outside the file")
        yield StoredPart(entry["target"], entry["facts"], objects, weights)
        first += count
