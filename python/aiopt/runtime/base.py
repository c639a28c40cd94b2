"""What every compiled net is to those who call it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from aiopt.runtime import signature
from aiopt.runtime.binding import Binding
from aiopt.support.errors import InputNameError
from aiopt.support.types import TensorType

# What a report says of how the net came here, not of the net.
_OF_THIS_PROCESS = {"cache", "cache_error", "kernel_cache"}


class Net(ABC):
    """A net that can be called from any number of threads at once.

    `inputs` and `outputs` are its signature: name -> TensorType, in order; `launches` the kernel of each launch.
    """

    name: str
    threads: int
    inputs: Mapping[str, TensorType]
    outputs: Mapping[str, TensorType]
    launches: list[str]
    features: str  # what its code needs of the CPU
    _report: Mapping[str, Any]

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Compute all outputs, by name; they are new arrays.

        Inputs are numpy arrays of exactly the shapes and dtypes of `inputs`; they are copied only where they are not
        dense and row-major. Raises InputError for others, AioptError after `close`.
        """
        signature.check_names(self.name, self.inputs, inputs)
        return dict(zip(self.outputs, self._call([inputs[name] for name in self.inputs]), strict=True))

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """`run` with inputs and outputs by position."""
        if len(inputs) != len(self.inputs):
            takes = signature.describe(self.inputs)
            raise InputNameError(
                f"net '{self.name}' was given {len(inputs)} inputs, expected {len(self.inputs)} ({takes})"
            )
        return self._call(inputs)

    def profile(self, inputs: Mapping[str, np.ndarray]) -> list[tuple[str, float]]:
        """Run once with a clock around each launch: (kernel, seconds) in the order of the launches.

        Inputs and errors are those of `run`.
        """
        signature.check_names(self.name, self.inputs, inputs)
        _, seconds = self.timed([inputs[name] for name in self.inputs])
        return list(zip(self.launches, seconds, strict=True))

    def report(self) -> dict[str, Any]:
        """What the compiler says of this net; a copy."""
        return copy.deepcopy(dict(self._report))

    def note(self, **facts: Any) -> None:
        """Add facts to the report."""
        self._report = {**self._report, **facts}

    @abstractmethod
    def bind(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> Binding:
        """A call that reads these inputs and writes these outputs where they are: `bound = net.bind(...); bound()`.

        The arrays are those of `inputs` and `outputs` in shape and dtype, dense, row-major and aligned to their
        elements; outputs can be written and share no memory with another array. Raises InputError for others,
        UnsupportedError if such a net makes arrays of its own.
        """

    @abstractmethod
    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        """`__call__`, and the seconds of each launch."""

    @abstractmethod
    def save(self, path: str | Path) -> None:
        """Write code, weights and report to one file, which `aiopt.load` reads. Raises OutputError."""

    @abstractmethod
    def close(self) -> None:
        """Free code and contexts, once the calls in flight have returned. The net cannot be run any more."""

    @abstractmethod
    def _call(self, values: Sequence[Any]) -> list[np.ndarray]:
        """The outputs by position."""

    def _header(self) -> dict[str, Any]:
        """What the file of the net says of it."""
        return {
            "name": self.name,
            "inputs": [[name, type_.shape, type_.element] for name, type_ in self.inputs.items()],
            "outputs": [[name, type_.shape, type_.element] for name, type_ in self.outputs.items()],
            "features": self.features,
            "threads": self.threads,
            "launches": self.launches,
            "report": {key: value for key, value in self._report.items() if key not in _OF_THIS_PROCESS},
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        shown = f"{signature.describe(self.inputs)} -> {signature.describe(self.outputs)}"
        return f"{type(self).__name__}({self.name}: {shown})"
