"""Random decision trees, as attributes of the operators of ai.onnx.ml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import numpy_helper

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]


@dataclass
class Trees:
    """nodes: tree, number, feature, mode (-1: a leaf), value, yes, no, missing."""

    features: int
    rng: np.random.Generator
    modes: list[int]
    nodes: list[list[float]] = field(default_factory=list)

    def grow(self, tree: int, depth: int) -> None:
        """A tree of at most this depth; values are whole numbers, so that some are equal to features."""
        queue, number = [(0, depth)], 0
        while queue:
            own, left = queue.pop(0)
            if left == 0 or (own and self.rng.random() < 0.2):
                self.nodes.append([tree, own, 0, -1, 0, 0, 0, 0])
                continue
            yes, no, number = number + 1, number + 2, number + 2
            queue += [(yes, left - 1), (no, left - 1)]
            mode, feature = self.rng.choice(self.modes), self.rng.integers(self.features)
            self.nodes.append([tree, own, feature, mode, self.rng.integers(-2, 3), yes, no, self.rng.integers(2)])

    def attributes(self, missing: bool, double: bool = False) -> dict[str, Any]:
        """Those of TreeEnsembleRegressor and TreeEnsembleClassifier that are called nodes_..."""
        columns = list(zip(*self.nodes, strict=True))
        names = ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
        found: dict[str, Any] = {f"nodes_{name}": [int(n) for n in columns[at]] for at, name in enumerate(names)}
        found["nodes_modes"] = [MODES[int(mode)] if mode >= 0 else "LEAF" for mode in columns[3]]
        values = np.array(columns[4], np.float64 if double else np.float32)
        del found["nodes_values"]
        found |= (
            {"nodes_values_as_tensor": numpy_helper.from_array(values)} if double else {"nodes_values": values.tolist()}
        )
        if missing:
            found["nodes_missing_value_tracks_true"] = [int(flag) for flag in columns[7]]
        return found

    def votes(self, kind: str, count: int, each: int = 1, positive: bool = False) -> dict[str, Any]:
        """Those called target_... or class_...; `each`: how many votes a leaf has."""
        votes = []
        for tree, own, _, mode, *_ in self.nodes:
            if mode < 0:
                for target in self.rng.permutation(count)[:each]:
                    votes.append((int(tree), int(own), int(target), float(np.float32(self.rng.standard_normal()))))
        tree, own, target, weight = zip(*votes, strict=True)
        weights = [abs(number) if positive else number for number in weight]
        return {f"{kind}_treeids": tree, f"{kind}_nodeids": own, f"{kind}_ids": target, f"{kind}_weights": weights}


def grow(seed: int, trees: int, depth: int, features: int, modes: list[int]) -> Trees:
    """Some of different depths."""
    made = Trees(features, np.random.default_rng(seed), modes)
    for tree in range(trees):
        made.grow(tree, max(depth - tree % 3, 1))
    return made


def rows(seed: int, count: int, features: int, missing: bool) -> np.ndarray:
    """Whole numbers and others; NaN among them if some may be missing."""
    rng = np.random.default_rng(seed)
    x = np.where(
        rng.random((count, features)) < 0.5,
        rng.integers(-2, 3, (count, features)),
        rng.standard_normal((count, features)),
    )
    return np.where(missing & (rng.random(x.shape) < 0.2), np.nan, x).astype(np.float32)
