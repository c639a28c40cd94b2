"""Figures of NPUs: products equal to ONNX Runtime, a busy array, and lost waits that are reported."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

import aiopt
from aiopt.support.compare import run_onnxruntime
from aiopt.support.types import TensorType
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.simulator import Result, simulate
from bench.figure import Figure, at_least
from e2e.mlps import magika_mlp, magika_mlp_input
from unit.targets.npu import mutants
from unit.targets.npu.chains import QLinearChain, square
from unit.targets.npu.kernels import QLinear, chain_program

SECTIONS = ("npu",)
_CHAINS = 50
_MUTANTS = 100  # of each kind
_SIZE = 512
_MACHINES = ("edge16", "mid32")


def measure() -> Iterator[Figure]:
    """All of them."""
    yield _chains()
    yield from _large_product()
    yield from _mutants()
    for machine in _MACHINES:
        yield _magika(machine)


def _run(x: np.ndarray, layers: list[QLinear], machine: str, depth: int = 2) -> Result:
    found = find_machine(machine)
    return simulate(chain_program(TensorType.of(x), layers, found, depth), found, {"x": x})


def _chains() -> Figure:
    equal = 0
    for seed in range(_CHAINS):
        chain = QLinearChain(seed)
        result = _run(chain.x, chain.layers, _MACHINES[seed % 2])
        equal += not result.races and np.array_equal(result.outputs["result0"], chain.expected())
    measured = f"{equal} of {_CHAINS}"
    return Figure("NPU, QLinearMatMul chains bit-equal to ONNX Runtime", measured, f"{_CHAINS}", equal == _CHAINS)


def _large_product() -> Iterator[Figure]:
    x, layer = square(_SIZE)
    double, single = (_run(x, [layer], "edge16", depth) for depth in (2, 1))
    name = f"NPU, {_SIZE} x {_SIZE} x {_SIZE} of int8 on edge16"
    yield at_least(f"{name}, utilisation", double.utilisation, 0.9)
    yield at_least(f"{name}, cycles at depth 1 / depth 2", single.cycles / double.cycles, 1.25)


def _mutants() -> Iterator[Figure]:
    program = mutants.many_turns()
    for mutate in mutants.MUTATIONS:
        pick = random.Random(0)
        reports = [mutants.problems(mutate(program, pick)) for _ in range(_MUTANTS)]
        caught = sum(report != "" for report in reports)
        kinds = ", ".join(f"{reports.count(kind)} by {kind}" for kind in ("verifier", "race", "deadlock"))
        name = f"NPU, mutants reported ({mutate.__name__.replace('_', ' ')})"
        yield Figure(name, f"{caught} of {_MUTANTS} ({kinds})", f"{_MUTANTS}", caught == _MUTANTS)


def _magika(machine: str) -> Figure:
    model, inputs = magika_mlp(), magika_mlp_input()
    with aiopt.compile(model, target="npu,cpu", machine=machine, cache=False) as net:
        outputs, kernels = net.run(inputs), net.report()["kernels"]
    references = run_onnxruntime(model, inputs)
    equal = all(np.array_equal(outputs[name], references[name]) for name in ("codes", "logits"))
    there = [kernel for kernel in kernels if kernel["target"] == "npu"]
    cycles, seconds = (sum(kernel[key] for kernel in there) for key in ("cycles", "seconds"))
    measured = f"{'equal' if equal else 'differs'}, {len(there)} of {len(kernels)} kernels in {cycles} cycles, "
    measured += f"{seconds * 1e6:.0f} us"
    name = f"NPU, magika's products on integers, {machine} and CPU, to ONNX Runtime"
    return Figure(name, measured, "equal, 3 kernels", equal and len(there) == 3)
