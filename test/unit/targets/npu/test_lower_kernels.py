"""Matrix products on the simulator: numbers against ONNX Runtime and numpy, cycles, and what lost waits do."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType
from aiopt.targets.npu import tiles
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.isa import Element
from aiopt.targets.npu.machine import Machine, find_machine
from aiopt.targets.npu.program import Program, ProgramError
from aiopt.targets.npu.simulator import Result, simulate
from aiopt.targets.npu.tiles import Problem
from aiopt.targets.npu.verify import verify
from unit.targets.npu.kernels import Dense, QLinear, chain_program
from unit.targets.npu.programs import TINY

EDGE = find_machine("edge16")
_ONNX = {np.dtype(np.int8): TensorProto.INT8, np.dtype(np.uint8): TensorProto.UINT8}


def _run(x: np.ndarray, chain: Sequence[Dense | QLinear], machine: Machine = EDGE, depth: int = 2) -> Result:
    result = simulate(chain_program(TensorType.of(x), chain, machine, depth), machine, {"x": x})
    assert result.races == []
    return result


class _QLinearChain:
    """QLinearMatMul nodes one after the other, as a model and as layers."""

    def __init__(self, seed: int) -> None:
        pick = np.random.default_rng(seed)
        self.dtype = np.dtype(pick.choice([np.int8, np.uint8]))
        info = np.iinfo(self.dtype)
        sizes = pick.integers(1, 90, pick.integers(2, 5))
        self.x = pick.integers(info.min, info.max + 1, (int(pick.integers(1, 90)), sizes[0])).astype(self.dtype)
        self.layers: list[QLinear] = []
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: list[onnx.TensorProto] = []
        scale, zero = np.float32(pick.uniform(0.01, 0.1)), int(pick.integers(info.min, info.max + 1))
        for number, (k, n) in enumerate(itertools.pairwise(map(int, sizes))):
            # ONNX Runtime's u8 x i8 kernels for AVX2 add pairs of products in int16: 2 * 255 * 64 fits.
            limit = 64 if self.dtype == np.uint8 else 128
            weight = pick.integers(-limit, limit, (k, n)).astype(np.int8)
            weight_scale = pick.uniform(0.001, 0.02, n if pick.random() < 0.3 else ()).astype(np.float32)
            y_scale, y_zero = np.float32(pick.uniform(0.02, 0.3)), int(pick.integers(info.min, info.max + 1))
            scales = (scale, weight_scale, y_scale)
            zeros = (self.dtype.type(zero), np.zeros(weight_scale.shape, np.int8), self.dtype.type(y_zero))
            self.layers.append(QLinear(weight, scales, zeros))
            self._add(number, self.layers[-1])
            scale, zero = y_scale, y_zero

    def _add(self, number: int, layer: QLinear) -> None:
        values = dict(zip(("xs", "xz", "w", "ws", "wz", "ys", "yz"), layer.parameters(), strict=True))
        self._initializers += [numpy_helper.from_array(np.asarray(v), f"{k}{number}") for k, v in values.items()]
        names = [f"t{number}", *(f"{key}{number}" for key in values)]
        self._nodes.append(helper.make_node("QLinearMatMul", names, [f"t{number + 1}"]))

    def expected(self) -> np.ndarray:
        kind = _ONNX[self.dtype]
        ends = [helper.make_tensor_value_info(name, kind, [None, None]) for name in ("t0", f"t{len(self.layers)}")]
        graph = helper.make_graph(self._nodes, "chain", ends[:1], ends[1:], self._initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return np.asarray(session.run(None, {"t0": self.x})[0])


@pytest.mark.parametrize("seed", range(50))
def test_qlinear_chains_are_bit_equal_to_onnxruntime(seed: int) -> None:
    chain = _QLinearChain(seed)
    machine = find_machine("mid32") if seed % 2 else EDGE
    assert np.array_equal(_run(chain.x, chain.layers, machine).outputs["result0"], chain.expected())


def test_relu_is_the_greater_of_result_and_zero_point() -> None:
    chain = _QLinearChain(1)
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


def _layer(weight: np.ndarray, scale: float) -> QLinear:
    one, zero = np.float32(1), np.int8(0)
    return QLinear(weight, (one, np.float32(scale), one), (zero, zero, zero))


def _square(size: int) -> tuple[np.ndarray, QLinear]:
    pick = np.random.default_rng(0)
    x, weight = (pick.integers(-128, 128, (size, size)).astype(np.int8) for _ in range(2))
    return x, _layer(weight, 1e-3)


def test_a_large_product_keeps_the_array_busy() -> None:
    """512 x 512 x 512 of int8 on edge16; depth 1 has the tiles that are best for it."""
    x, layer = _square(512)
    double = _run(x, [layer])
    single = _run(x, [layer], depth=1)
    assert double.utilisation >= 0.9
    assert single.cycles >= 1.25 * double.cycles
    assert np.array_equal(double.outputs["result0"], single.outputs["result0"])


def _many_turns() -> Program:
    """A program in which each buffer is used many times."""
    pick = np.random.default_rng(0)
    x = pick.integers(-128, 128, (64, 40)).astype(np.int8)
    chain = [_layer(pick.integers(-128, 128, shape).astype(np.int8), 0.01) for shape in ((40, 24), (24, 20))]
    return chain_program(TensorType.of(x), chain, TINY)


def _problems(program: Program) -> str:
    """How the verifier or the simulator reports a program; "" if they do not."""
    if verify(program, TINY):
        return "verifier"
    inputs = {tensor.name: np.zeros(tensor.type.shape, tensor.type.dtype) for tensor in program.inputs}
    try:
        return "race" if simulate(program, TINY, inputs).races else ""
    except ProgramError:
        return "deadlock"


def _without(tokens: tuple, index: int) -> tuple:
    return tokens[:index] + tokens[index + 1 :]


def _replaced(program: Program, changes: dict[int, Instruction]) -> Program:
    instructions = [changes.get(number, op) for number, op in enumerate(program.instructions)]
    return dataclasses.replace(program, instructions=instructions)


def _waits(program: Program) -> list[tuple[int, int]]:
    """(instruction, which of its waits) for all waits."""
    return [(number, index) for number, op in enumerate(program.instructions) for index in range(len(op.waits))]


def _dropped(program: Program, pick: random.Random) -> Program:
    number, index = pick.choice(_waits(program))
    op = program.instructions[number]
    return _replaced(program, {number: dataclasses.replace(op, waits=_without(op.waits, index))})


def _dropped_with_its_signal(program: Program, pick: random.Random) -> Program:
    """Balanced, so that the verifier has nothing to say: the wait, and the signal that is then too many."""
    number, index = pick.choice(_waits(program))
    op = program.instructions[number]
    lost = op.waits[index]
    mutant = _replaced(program, {number: dataclasses.replace(op, waits=_without(op.waits, index))})
    last = max(number for number, op in enumerate(program.instructions) if lost in op.signals)
    op = mutant.instructions[last]
    return _replaced(mutant, {last: dataclasses.replace(op, signals=_without(op.signals, op.signals.index(lost)))})


def _swapped(program: Program, pick: random.Random) -> Program:
    """Two waits for different semaphores change places."""
    while True:
        (i, a), (j, b) = pick.sample(_waits(program), 2)
        first, second = program.instructions[i], program.instructions[j]
        if i != j and first.waits[a] != second.waits[b]:
            break
    changed = []
    for op, index, token in ((first, a, second.waits[b]), (second, b, first.waits[a])):
        changed.append(dataclasses.replace(op, waits=(*op.waits[:index], token, *op.waits[index + 1 :])))
    return _replaced(program, {i: changed[0], j: changed[1]})


def _swapped_in_queue(program: Program, pick: random.Random) -> Program:
    """The same with two instructions of one queue, which the verifier mostly has to let pass."""
    while True:
        mutant = _swapped(program, pick)
        changed = [a for a, b in zip(program.instructions, mutant.instructions, strict=True) if a != b]
        if changed[0].runs_on() == changed[1].runs_on():
            return mutant


@pytest.mark.parametrize("mutate", [_dropped, _dropped_with_its_signal, _swapped, _swapped_in_queue])
def test_each_lost_wait_is_reported(mutate) -> None:
    program = _many_turns()
    assert _problems(program) == ""
    pick = random.Random(0)
    reports = [_problems(mutate(program, pick)) for _ in range(100)]
    assert "" not in reports
    if mutate in (_dropped_with_its_signal, _swapped_in_queue):
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
