"""How large the values of a graph get: by a stated bound, or from a run on calibration inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mlir import ir

from aiopt.dialects import ext
from aiopt.passes.interpret import interpret
from aiopt.passes.remark import MISSED, Remark
from aiopt.passes.rewrite import constant_value
from aiopt.passes.unit import Unit
from aiopt.support.errors import InputError, OptionError
from aiopt.support.types import is_float


@dataclass(frozen=True)
class Ranges:
    """The largest absolute value that each value takes; `bound` for those without an entry."""

    owner: str
    unit: Unit
    found: Mapping[ir.Value, float]
    bound: float
    limit: float

    def fit(self, op: ext.Operation, values: Sequence[ir.Value]) -> bool:
        """True if these values, which an op reads or gives, are within the limit; leaves a remark where one is not."""
        for value in values:
            largest = self._largest(value)
            if not largest <= self.limit:  # NaN does not fit
                names = "+".join(ext.node_names(op.location)) or op.OPERATION_NAME
                text = f"{self.owner}: {names} stays f32: a value reaches {largest:.3g}, more than {self.limit:.3g}"
                self.unit.remarks.append(Remark(text, MISSED, "lowered", op))
                return False
        return True

    def _largest(self, value: ir.Value) -> float:
        if value in self.found:
            return self.found[value]
        array = constant_value(value, self.unit)
        return self.bound if array is None else _largest(array)


def known_ranges(owner: str, unit: Unit, bound: float, calibration: str, limit: float) -> Ranges:
    """What is known of the values in @main. Raises OptionError if nothing is, InputError for unfit calibration inputs.

    bound: of all values, 0 for none. calibration: a .npz file, or empty for the inputs that the unit has.
    """
    inputs = _load(calibration) if calibration else unit.calibration
    if inputs is None:
        if bound <= 0:
            raise OptionError(f"{owner}: f16 needs to know how large values get: give calibration inputs or a bound")
        return Ranges(owner, unit, {}, bound, limit)
    found: dict[ir.Value, float] = {}

    def observe(value: ir.Value, array: np.ndarray) -> None:
        if is_float(array.dtype):
            found[value] = _largest(array)

    interpret(unit.module, unit.weights, inputs, observe)
    largest_input = max((_largest(a) for a in inputs.values() if is_float(a.dtype)), default=0.0)
    return Ranges(owner, unit, found, largest_input, limit)


def _largest(array: np.ndarray) -> float:
    """NaN if there is one."""
    return float(np.abs(array.astype(np.float64)).max(initial=0))


def _load(file: str) -> dict[str, np.ndarray]:
    try:
        with np.load(Path(file), allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, AttributeError, TypeError) as error:
        raise InputError(f"cannot read calibration inputs from '{file}': {error}") from error
