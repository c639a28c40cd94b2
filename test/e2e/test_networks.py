"""Both networks from file to numbers. Oracle: ONNX Runtime with its optimisations off."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import aiopt
from aiopt.runtime.net import CompiledNet
from aiopt.tools.demo_ocr import alphabet, decode_ctc, render_line, to_input
from e2e import models
from e2e.lines import LINES, SIZES
from e2e.models import Network

ARENA_SLACK = 1.10
APPLICATION_THREADS = 8
RUNS_EACH = {"recogniser": 100, "resnet50": 3}  # ResNet-50 has 14 times the work


def test_numbers(network: Network, net: CompiledNet) -> None:
    models.compare(net.run(dict(network.inputs)), network.references)


def test_positional_call(network: Network, net: CompiledNet) -> None:
    outputs = net(*network.inputs.values())
    models.compare(dict(zip(net.outputs, outputs, strict=True)), network.references)


def test_arena_is_near_its_lower_bound(net: CompiledNet) -> None:
    report = net.report()
    assert 0 < report["arena_lower_bound_bytes"] <= report["arena_bytes"]
    assert report["arena_bytes"] <= ARENA_SLACK * report["arena_lower_bound_bytes"]
    assert report["arena_bytes"] <= report["temporaries_bytes"]


def test_report_covers_the_model(network: Network, net: CompiledNet) -> None:
    report = net.report()
    kernels = report["kernels"]
    assert kernels
    assert report["launches"] >= len(kernels) > 0
    assert report["weights_bytes"] > 1 << 20
    assert all(kernel["ops"] and kernel["flops"] >= 0 and kernel["bytes"] > 0 for kernel in kernels)
    assert sum(kernel["flops"] for kernel in kernels) > 1e8
    assert {"versions", "pipeline", "compile_seconds"} <= set(report)


def test_threads_change_no_bit(network: Network, net: CompiledNet) -> None:
    expected = net.run(dict(network.inputs))
    threaded = aiopt.compile(network.path, shapes=network.shapes, threads=2)
    try:
        _assert_same(threaded.run(dict(network.inputs)), expected)
    finally:
        threaded.close()


def test_one_net_serves_many_threads(network: Network, net: CompiledNet) -> None:
    """Each application thread has an input of its own: buffers shared by mistake show as another one's output."""
    inputs = [
        {name: array * (1 - i / 16) for name, array in network.inputs.items()} for i in range(APPLICATION_THREADS)
    ]
    inputs = [{name: array.astype(np.float32) for name, array in each.items()} for each in inputs]
    expected = [net.run(each) for each in inputs]

    def work(i: int) -> None:
        for _ in range(RUNS_EACH[network.name]):
            _assert_same(net.run(inputs[i]), expected[i])

    with ThreadPoolExecutor(APPLICATION_THREADS) as pool:
        for done in [pool.submit(work, i) for i in range(APPLICATION_THREADS)]:
            done.result()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("line", LINES)
def test_reads_a_line(reader: CompiledNet, line: str, size: int) -> None:
    """No character wrong, spaces aside."""
    output = reader.run({"x": to_input(render_line(line, size))})
    (probabilities,) = output.values()
    read = decode_ctc(probabilities[0], alphabet(models.recogniser()))
    assert read.replace(" ", "") == line.replace(" ", "")


def test_comparison_refuses_wrong_and_constant_outputs() -> None:
    """The helper the other tests rest on."""
    good = {"y": np.array([1.0, 2.0], np.float32)}
    models.compare(good, good)
    for bad in ([1.0, 2.001], [1.0, np.nan], [1.0, np.inf]):
        with pytest.raises(AssertionError, match="differs"):
            models.compare({"y": np.array(bad, np.float32)}, good)
    constant = {"y": np.full(3, 2.0, np.float32)}
    with pytest.raises(AssertionError, match="constant"):
        models.compare(constant, constant)


def _assert_same(outputs: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    for name, want in expected.items():
        assert np.array_equal(outputs[name], want, equal_nan=True), name
