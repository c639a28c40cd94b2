"""A compiled network run from C: no call of the allocator on any thread, and ONNX Runtime's numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aiopt import driver
from aiopt.passes.io import new_context
from aiopt.passes.lower.plan_memory import pack_weights
from e2e import models
from e2e.models import Network
from e2e.native import count_mallocs


def test_a_run_does_not_allocate(network: Network, tmp_path: Path) -> None:
    unit = driver.load_unit(network.path, new_context(), network.shapes)
    code = driver.emit(unit, "obj")
    name = unit.module.operation.attributes["ai.net"].value
    weights = pack_weights(unit.module, unit.weights)
    run = count_mallocs(name, [code], weights, list(network.inputs.values()), len(network.references), tmp_path)
    for place in ("main", "worker"):
        assert all(run.planted[place].values()), f"calls planted in {place} were not seen: {run.planted[place]}"
    assert set(run.calls) == {1, 2}
    for threads, calls in run.calls.items():
        assert sum(calls.values()) == 0, f"with {threads} threads: {calls}"
    assert run.same
    wanted = network.references.items()
    outputs = {
        name: np.frombuffer(raw, want.dtype).reshape(want.shape)
        for (name, want), raw in zip(wanted, run.outputs, strict=True)
    }
    models.compare(outputs, network.references)
