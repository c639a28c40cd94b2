"""A net in parts, each on a target of its own; the host runs them one after the other and hands values on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

import numpy as np

from aiopt.runtime import artifact, signature
from aiopt.runtime.artifact import Artifact
from aiopt.runtime.base import Net
from aiopt.runtime.library import MOST_THREADS
from aiopt.runtime.net import CompiledNet
from aiopt.runtime.stored_part import StoredPart, pack, unpack
from aiopt.support.checks import whole_number
from aiopt.support.errors import ArtifactVersionError, DamagedArtifactError, StateError, UnsupportedError
from aiopt.support.types import TensorType


class Part(Protocol):
    """What one target runs of a net."""

    @property
    def launches(self) -> list[str]:
        """The kernel of each launch."""
        ...

    @property
    def features(self) -> str:
        """What it needs of the CPU."""
        ...

    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        """The results by position, new arrays, and the seconds of each launch."""
        ...

    def stored(self) -> StoredPart:
        """What a file holds of it."""
        ...

    def close(self) -> None:
        """Free what it holds."""
        ...


@dataclass(frozen=True)
class CpuPart:
    """A part that is a net of its own on the CPU."""

    net: CompiledNet

    @property
    def launches(self) -> list[str]:
        return self.net.launches

    @property
    def features(self) -> str:
        return self.net.features

    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        return self.net.timed(inputs)

    def stored(self) -> StoredPart:
        facts = {"name": self.net.name, "features": self.net.features}
        return StoredPart("cpu", facts, self.net.objects, self.net.weights)

    def close(self) -> None:
        self.net.close()

    @staticmethod
    def load(stored: StoredPart, threads: int) -> CpuPart:
        """The part that was stored. Raises as CompiledNet does."""
        return CpuPart(CompiledNet(stored.facts["name"], stored.objects, stored.weights, {}, threads))


Loader = Callable[[StoredPart, int], Part]  # threads


@dataclass(frozen=True)
class Step:
    """A part, the numbers of the values it reads and those of the values it gives; the net's inputs come first."""

    part: Part
    reads: tuple[int, ...]
    writes: tuple[int, ...]


class PartedNet(Net):
    """A net in parts; called like a CompiledNet, from any number of threads."""

    def __init__(
        self,
        name: str,
        types: tuple[Mapping[str, TensorType], Mapping[str, TensorType]],
        steps: Sequence[Step],
        results: Sequence[int],
        report: Mapping[str, Any],
        threads: int = 1,
    ) -> None:
        """types: inputs and outputs; results: the number of the value of each output.

        report: kept by reference. Raises OptionError for a wrong thread count.
        """
        self.name = name
        self.threads = whole_number("threads", threads, 1, MOST_THREADS)
        self.inputs, self.outputs = (MappingProxyType(dict(kinds)) for kinds in types)
        self.launches = [kernel for step in steps for kernel in step.part.launches]
        self._steps, self._results = tuple(steps), tuple(results)
        self._report = report
        self._closed = False
        words = {word for step in steps for word in step.part.features.split(",")}
        self.features = ",".join(sorted(words - {""}))
        self._last = {value: number for number, step in enumerate(steps) for value in step.reads}

    def bind(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> NoReturn:
        """Raises UnsupportedError: between its parts a run makes arrays of its own."""
        raise UnsupportedError(f"net '{self.name}' runs in parts and cannot be bound to arrays: call net.run")

    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        """`__call__`, and the seconds of each launch: measured on the CPU, on an NPU its cycles at the clock's rate."""
        if self._closed:
            raise StateError(f"net '{self.name}' has been closed")
        pairs = zip(self.inputs.items(), inputs, strict=True)
        values = {i: signature.checked_array(name, kind, value) for i, ((name, kind), value) in enumerate(pairs)}
        seconds: list[float] = []
        for number, step in enumerate(self._steps):
            outputs, times = step.part.timed([values[value] for value in step.reads])
            seconds += times
            values.update(zip(step.writes, outputs, strict=True))
            for value in set(step.reads) - set(self._results):
                if self._last[value] == number:
                    del values[value]
        return [values[value] for value in self._results], seconds

    def save(self, path: str | Path) -> None:
        """Write all parts and the report to one file, which `aiopt.load` reads. Raises OutputError."""
        entries, objects, weights = pack([step.part.stored() for step in self._steps])
        flow = [{"reads": step.reads, "writes": step.writes} for step in self._steps]
        parts = [{**entry, **ends} for entry, ends in zip(entries, flow, strict=True)]
        header = {**self._header(), "parts": parts, "results": self._results}
        artifact.write_artifact(Path(path), header, objects, weights)

    def close(self) -> None:
        """Free the parts. The net cannot be run any more."""
        self._closed = True
        for step in self._steps:
            step.part.close()

    def _call(self, values: Sequence[Any]) -> list[np.ndarray]:
        return self.timed(values)[0]


def is_parted(stored: Artifact) -> bool:
    """True if the net of a file is one in parts."""
    return "parts" in stored.header


def from_artifact(
    stored: Artifact, report: Mapping[str, Any], threads: int, loaders: Mapping[str, Loader]
) -> PartedNet:
    """The net of a file; loaders: what makes a part, by target. Raises ModelError, and what they raise."""
    name = stored.header["name"]
    try:
        return _assemble(stored, report, threads, loaders)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedArtifactError(f"the compiled net '{name}' is damaged ({error}): write or copy it again") from error


def _assemble(stored: Artifact, report: Mapping[str, Any], threads: int, loaders: Mapping[str, Loader]) -> PartedNet:
    header = stored.header
    inputs, outputs = (
        {name: TensorType(tuple(shape), element) for name, shape, element in header[role]}
        for role in ("inputs", "outputs")
    )
    steps: list[Step] = []
    for entry, part in zip(header["parts"], unpack(stored), strict=True):
        if part.target not in loaders:
            raise ArtifactVersionError(
                f"'{header['name']}' has a part for '{part.target}', which this aiopt does not have"
            )
        reads, writes = tuple(entry["reads"]), tuple(entry["writes"])
        steps.append(Step(loaders[part.target](part, threads), reads, writes))
    return PartedNet(header["name"], (inputs, outputs), steps, header["results"], report, threads)
