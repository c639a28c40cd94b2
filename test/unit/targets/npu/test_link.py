"""Programs of kernels linked to one. Oracle: the programs one after the other, each on its own."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from aiopt.support.types import TensorType
from aiopt.targets.npu.isa import Fence
from aiopt.targets.npu.link import Call, Linked, link
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.program import Program
from aiopt.targets.npu.simulator import simulate
from aiopt.targets.npu.verify import verify
from unit.targets.npu.kernels import Dense, chain_program

EDGE = find_machine("edge16")


def _program(rows: int, *sizes: int, seed: int = 0) -> Program:
    pick = np.random.default_rng(seed)
    layers = [Dense(pick.standard_normal(shape).astype(np.float32)) for shape in itertools.pairwise(sizes)]
    return chain_program(TensorType((rows, sizes[0]), "f32"), layers, EDGE)


def _output(program: Program, x: np.ndarray) -> np.ndarray:
    return simulate(program, EDGE, {"x": x}).outputs["result0"]


def _type(*shape: int) -> TensorType:
    return TensorType(shape, "f32")


@pytest.fixture(scope="module")
def two() -> tuple[Program, Program]:
    """5x17 -> 5x9 in two layers, with a fence of its own, and 5x9 -> 5x3."""
    first = _program(5, 17, 12, 9)
    fenced = dataclasses.replace(first, instructions=[*first.instructions[:-1], Fence(), first.instructions[-1]])
    return fenced, _program(5, 9, 3, seed=1)


@pytest.fixture(scope="module")
def linked(two: tuple[Program, Program]) -> Linked:
    """x -> h by the first, h -> y by the second; h is an output, too."""
    first, second = two
    calls = [Call(first, ["x"], ["h"]), Call(second, ["h"], ["y"])]
    return link(calls, {"x": _type(5, 17)}, {"y": _type(5, 3), "h": _type(5, 9)}, EDGE)


def test_values_are_handed_on_in_dram(two: tuple[Program, Program], linked: Linked) -> None:
    x = np.random.default_rng(2).standard_normal((5, 17)).astype(np.float32)
    assert verify(linked.program, EDGE) == []
    result = simulate(linked.program, EDGE, {"x0": x})
    assert result.races == []
    hidden = _output(two[0], x)
    assert np.array_equal(result.outputs["y1"], hidden)
    assert np.array_equal(result.outputs["y0"], _output(two[1], hidden))


def test_fences_part_the_cycles(two: tuple[Program, Program], linked: Linked) -> None:
    alone = [simulate(p, EDGE, {"x": np.zeros(p.inputs[0].type.shape, np.float32)}).cycles for p in two]
    ends = simulate(linked.program, EDGE, {"x0": np.zeros((5, 17), np.float32)}).fence_cycles
    first, second = (ends[fence] for fence in linked.fences)
    assert linked.fences == [1, 2], "the first has one of its own"
    assert second == ends[-1]
    for cycles, want in zip((first, second - first), alone, strict=True):
        assert abs(cycles - want) <= 2  # the front end counts a halt here and a fence there


def test_without_fences_it_is_refused(linked: Linked) -> None:
    instructions = [op for op in linked.program.instructions if not isinstance(op, Fence)]
    problems = verify(dataclasses.replace(linked.program, instructions=instructions), EDGE)
    assert any("sem_init" in problem for problem in problems), problems


def test_one_value_for_two_programs() -> None:
    programs = [_program(4, 6, 6, seed=seed) for seed in (3, 4)]
    calls = [Call(program, ["x"], [f"y{i}"]) for i, program in enumerate(programs)]
    both = link(calls, {"x": _type(4, 6)}, {"y0": _type(4, 6), "y1": _type(4, 6)}, EDGE).program
    x = np.random.default_rng(5).standard_normal((4, 6)).astype(np.float32)
    outputs = simulate(both, EDGE, {"x0": x}).outputs
    for name, program in zip(("y0", "y1"), programs, strict=True):
        assert np.array_equal(outputs[name], _output(program, x))
