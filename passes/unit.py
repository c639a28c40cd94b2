"""What a pipeline works on: a module and the values of its constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from mlir import ir

from aiopt.passes.level import Level
from aiopt.support.weights import WeightStore


@dataclass
class Unit:
    """A module, its weights, and the remarks passes made on the way.

    calibration: inputs by name that are typical of the net, for passes that must know what values it computes.
    sources: the files it was read from, the model first; empty if it was not.
    counts: the statistics of the pass that runs, by the names it declares.
    on_remark: told of each remark after the pass that made it, with the pass's name.
    foreign: nothing in it is aiopt's, neither ops nor a level, so that upstream's verifier says all there is to say.
    """

    module: ir.Module
    weights: WeightStore = field(default_factory=WeightStore)
    remarks: list[str] = field(default_factory=list)
    calibration: Mapping[str, np.ndarray] | None = None
    sources: tuple[Path, ...] = ()
    foreign: bool = False
    on_remark: Callable[[str, str], None] | None = None
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def level(self) -> Level | None:
        """The level the module says it is at (attribute `ai.level`), or None for IR from elsewhere."""
        attributes = self.module.operation.attributes
        return Level(ir.StringAttr(attributes["ai.level"]).value) if "ai.level" in attributes else None

    @level.setter
    def level(self, level: Level) -> None:
        with self.module.context:
            self.module.operation.attributes["ai.level"] = ir.StringAttr.get(level.value)
