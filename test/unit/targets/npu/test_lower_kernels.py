"""Matrix products on the simulator: numbers against ONNX Runtime and numpy, cycles, and what lost waits do."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence

import numpy as np
import pytest

from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType
from aiopt.targets.npu import tiles
from aiopt.targets.npu.isa import Element
from aiopt.targets.npu.machine import Machine, find_machine
from aiopt.targets.npu.simulator import Result, simulate
from aiopt.targets.npu.tiles import Problem
from unit.targets.npu import mutants
from unit.targets.npu.chains import QLinearChain, square
from unit.targets.npu.kernels import Dense, QLinear, chain_program
from unit.targets.npu.programs import TINY

EDGE = find_machine("edge16")


def _run(x: np.ndarray, chain: Sequence[Dense | QLinear], machine: Machine = EDGE, depth: int = 2) -> Result:
    result = simulate(chain_program(TensorType.of(x), chain, machine, depth), machine, {"x": x})
    assert result.races == []
    return result


@pytest.mark.parametrize("seed", range(50))
def test_qlinear_chains_are_bit_equal_to_onnxruntime(seed: int) -> None:
    chain = QLinearChain(seed)
    machine = find_machine("mid32") if seed % 2 else EDGE
    assert np.array_equal(_run(chain.x, chain.layers, machine).outputs["result0"], chain.expected())


def test_relu_is_the_greater_of_result_and_zero_point() -> None:
    chain = QLinearChain(1)
    zero = chain.layers[-1].zeros[2]
    chain.layers[-1] = dataclasses.replace(chain.layers[-1], relu=True)
    assert np.array_equal(_run(chain.x, chain.layers).outputs["result0"], np.maximum(chain.expected(), zero))


def _in_stated_order(x: np.ndarray, layer: Dense, rows: int) -> np.ndarray:
    """f32: products of a fold from first to last, folds from first to last, then bias, then relu."""
    total = None
    for start in range(0, len(layer.weight), rows):
        fold = x[:, start : start + 1] * layer.weight[start]
        for k in range(start + 1, min(start + rows, len(layer.weight))):
            fold = fold + x[:, k : k + 1] * layer.weight[k]
        total = fold if total is None else total + fold
    assert total is not None
    total = total if layer.bias is None else total + layer.bias
    return np.maximum(total, np.float32(0)) if layer.relu else total


@pytest.mark.parametrize("machine", [EDGE, find_machine("mid32"), TINY], ids=lambda machine: machine.name)
@pytest.mark.parametrize("seed", range(6))
def test_f32_is_equal_to_numpy_in_the_stated_order(machine: Machine, seed: int) -> None:
    pick = np.random.default_rng(seed)
    m, *sizes = map(int, pick.integers(1, 70, 4))
    x = expected = pick.standard_normal((m, sizes[0])).astype(np.float32)
    layers = []
    for k, n in itertools.pairwise(sizes):
        bias = pick.standard_normal(n).astype(np.float32) if pick.random() < 0.6 else None
        layers.append(Dense(pick.standard_normal((k, n)).astype(np.float32), bias, relu=bool(pick.random() < 0.5)))
        expected = _in_stated_order(expected, layers[-1], machine.rows)
    assert np.array_equal(_run(x, layers, machine).outputs["result0"], expected)


def test_a_large_product_keeps_the_array_busy() -> None:
    """512 x 512 x 512 of int8 on edge16; depth 1 has the tiles that are best for it."""
    x, layer = square(512)
    double = _run(x, [layer])
    single = _run(x, [layer], depth=1)
    assert double.utilisation >= 0.9
    assert single.cycles >= 1.25 * double.cycles
    assert np.array_equal(double.outputs["result0"], single.outputs["result0"])


@pytest.mark.parametrize("mutate", mutants.MUTATIONS)
def test_each_lost_wait_is_reported(mutate) -> None:
    program = mutants.many_turns()
    assert mutants.problems(program) == ""
    pick = random.Random(0)
    reports = [mutants.problems(mutate(program, pick)) for _ in range(100)]
    assert "" not in reports
    if mutate in (mutants.dropped_with_its_signal, mutants.swapped_in_queue):
        assert reports.count("race") > 20  # the verifier cannot see these


def test_tiles_fit_and_cover() -> None:
    problem = Problem(512, 512, 512, Element.I8, Element.I8, 0, 1)
    for machine, depth in itertools.product((EDGE, find_machine("mid32"), TINY), (1, 2, 3)):
        chosen = tiles.choose(problem, machine, depth)
        assert chosen.spad_need(problem) <= machine.spad_bytes
        assert depth * chosen.acc_bytes() <= machine.acc_bytes
        assert chosen.k % machine.rows == 0


def test_what_does_not_fit_says_need_and_have() -> None:
    layer = Dense(np.zeros((4, 3000), np.float32), np.zeros(3000, np.float32))
    with pytest.raises(UnsupportedError, match="smallest tiles need 12416 bytes of scratchpad .* there are 1024 and"):
        chain_program(TensorType((4, 4), "f32"), [layer], TINY)
