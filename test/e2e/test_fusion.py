"""Kernels of several layers, and producers that write into one buffer, in whole networks. Oracle: ONNX Runtime."""

from __future__ import annotations

import numpy as np
import pytest

import aiopt
from aiopt.support.compare import TOLERANCE, relative_difference, run_onnxruntime
from aiopt.support.errors import OptionError
from bench.networks import moving_kernels
from e2e.cases import CASES


@pytest.mark.parametrize(("name", "most"), [("squeezenet-random", 31), ("resnet50-random", 40)])
def test_as_few_launches_as_can_be(name: str, most: int) -> None:
    case = CASES[name]
    model, inputs = case.model(), case.inputs()
    with aiopt.compile(model, fusion="max", threads=2, cache=False) as net:
        assert net.report()["launches"] <= most
        assert not moving_kernels(net.report()["kernels"])
        outputs = net.run(inputs)
        for key, want in run_onnxruntime(model, inputs).items():
            assert relative_difference(outputs[key], want) <= TOLERANCE
        again = net.run(inputs)
        assert all(np.array_equal(outputs[key], again[key]) for key in outputs)


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(OptionError, match="fusion is one of auto, max, off, not 'most'"):
        aiopt.compile(CASES["squeezenet-random"].model(), fusion="most")
