"""Fifteen networks from file to numbers, at the shapes people use. Oracle: ONNX Runtime with its optimisations off."""

from __future__ import annotations

import pytest

import aiopt
from aiopt.support.compare import run_onnxruntime
from e2e import models
from e2e.cases import CASES

ARENA_SLACK = 1.05


@pytest.mark.parametrize("name", CASES)
def test_numbers_and_arena(name: str) -> None:
    case = CASES[name]
    model, inputs = case.model(), case.inputs()
    references = run_onnxruntime(model, inputs)
    net = aiopt.compile(model, shapes={key: array.shape for key, array in inputs.items()})
    try:
        models.compare(net.run(inputs), references, case.constant)
        report = net.report()
    finally:
        net.close()
    assert 0 < report["arena_bytes"] <= ARENA_SLACK * report["arena_lower_bound_bytes"]
