"""What a run of a net computed on the way, and whether two runs agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from aiopt.support.compare import relative_difference
from aiopt.support.types import is_float


@dataclass
class Value:
    """A value, the op or the kernel that computed it, their ONNX nodes, and which values that read (by number)."""

    op: str
    nodes: tuple[str, ...]
    array: np.ndarray
    sources: tuple[int, ...] = ()


@dataclass
class Run:
    """Outputs by name, all values in the order of their computation, and for each kernel call those it returned."""

    outputs: dict[str, np.ndarray]
    values: list[Value] = field(default_factory=list)
    calls: list[list[Value]] = field(default_factory=list)


@dataclass(frozen=True)
class Tolerance:
    """How far a value may be from its reference, relative to the reference's largest element."""

    relative: float

    def difference(self, have: np.ndarray, want: np.ndarray) -> float:
        """The relative difference; memory has no bool and no unsigned types, so those of `want` are taken."""
        if have.dtype != want.dtype and have.dtype.itemsize == want.dtype.itemsize:
            have = have.view(want.dtype)
        return relative_difference(have, want)

    def allows(self, have: np.ndarray, want: np.ndarray) -> bool:
        """True if `have` is near enough; floats of 16 bits may also differ in their last places."""
        limit = self.relative
        if is_float(want.dtype) and want.dtype.itemsize == 2:  # kernels round where they store, references each op
            limit = max(limit, 4 * _low_epsilon(want.dtype))
        return self.difference(have, want) <= limit

    def wrong_outputs(self, have: Mapping[str, np.ndarray], want: Mapping[str, np.ndarray]) -> list[str]:
        """The names of the outputs that are too far off."""
        return [name for name, array in want.items() if not self.allows(have[name], array)]

    def wrong_call(self, have: Sequence[list[Value]], want: Sequence[list[Value]]) -> int | None:
        """The first kernel call that returned something else; None if there is none."""
        for number, (results, expected) in enumerate(zip(have, want, strict=True)):
            pairs = zip(results, expected, strict=True)
            if not all(self.allows(result.array, other.array) for result, other in pairs):
                return number
        return None

    def explains(self, value: np.ndarray, candidates: Sequence[Value]) -> bool:
        """True if a candidate has the same elements, perhaps with its channels in another place."""
        return any(
            self.allows(value.reshape(-1), np.ascontiguousarray(form).reshape(-1))
            for candidate in candidates
            if candidate.array.size == value.size and candidate.array.dtype.kind == value.dtype.kind
            for form in _layouts(candidate.array)
        )


def _layouts(array: np.ndarray) -> list[np.ndarray]:
    return [array, np.moveaxis(array, 1, -1), np.moveaxis(array, -1, 1)] if array.ndim > 2 else [array]


def _low_epsilon(dtype: np.dtype) -> float:
    return float(np.finfo(np.float16).eps) if dtype == np.float16 else 2.0**-8
