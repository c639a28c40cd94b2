"""The high tier of the dialect: what its ops mean, what its verifier finds, and the semaphores that come of it."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects.npu import NpuDialect, StartLoadOp, TileOp, WaitOp
from aiopt.passes import io, pipeline
from aiopt.passes.base import functions
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.targets.npu import convert
from aiopt.targets.npu.access import Memory
from aiopt.targets.npu.encoding import Instruction, Queue
from aiopt.targets.npu.isa import DmaLoad, DmaStore, Element, Halt, Space, Vec
from aiopt.targets.npu.machine import find_machine
from aiopt.targets.npu.program import Program
from aiopt.targets.npu.simulator import simulate
from aiopt.targets.npu.synchronize import synchronize
from aiopt.targets.npu.tile_blocks import block_of
from aiopt.targets.npu.verify import verify
from aiopt.targets.npu.verify_tiles import verify_tiles

EDGE = find_machine("edge16")
_TO_PROGRAM = "npu-verify-tiles,npu-allocate,npu-verify-tiles,npu-assign-semaphores,npu-verify-programs"


def _unit(arguments: str, body: str) -> Unit:
    """A function of the high tier for edge16; `$x8x8xf32` stands for a memref in that space (d, s, a)."""
    text = f"func.func @f({arguments}) attributes {{npu.tiles}} {{\n{body}\n  return\n}}"
    for short, space in (("$d", "dram"), ("$s", "spad"), ("$a", "acc")):
        text = text.replace(short, f"#npu.{space}")
    context = io.new_context()
    NpuDialect.load(context)
    unit = Unit(ir.Module.parse(text, context))
    with context:
        convert.mark_machine(functions(unit.module)[0], EDGE)
    return unit


def _load(source: str, target: str, kinds: str, attributes: str = "") -> str:
    return f'%t{target} = "npu.dma_load"(%{source}, %{target}) {{{attributes}}} : ({kinds}) -> !npu.token'


def _wait(token: str) -> str:
    return f'"npu.wait"(%{token}) : (!npu.token) -> ()'


def _run(unit: Unit, **inputs: np.ndarray) -> np.ndarray:
    pipeline.run(unit, _TO_PROGRAM)
    result = simulate(convert.only_program(unit, "f"), EDGE, inputs)
    assert result.races == []
    return result.outputs["y"]


_VECTOR = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


@pytest.mark.parametrize("op", _VECTOR)
@pytest.mark.parametrize("right", ["block", "row", "number"])
def test_vector_ops(op: str, right: str) -> None:
    shape = {"block": "4x6xf32", "row": "6xf32", "number": "6xf32"}[right]
    second, kind, form = ("%b, ", f"memref<{shape}, $s>, ", "") if right != "number" else ("", "", "immediate = 0.5, ")
    sizes = f"operandSegmentSizes = array<i32: 1, {int(right != 'number')}, 1>"
    lines = [
        "%a = memref.alloc() : memref<4x6xf32, $s>",
        f"%b = memref.alloc() : memref<{shape}, $s>",
        _load("x", "a", "memref<4x6xf32, $d>, memref<4x6xf32, $s>"),
        _load("w", "b", f"memref<{shape}, $d>, memref<{shape}, $s>"),
        _wait("ta"),
        _wait("tb"),
        f'"npu.tile_vec"(%a, {second}%a) {{{form}op = "{op}", {sizes}}} : '
        f"(memref<4x6xf32, $s>, {kind}memref<4x6xf32, $s>) -> ()",
        '%ty = "npu.dma_store"(%a, %y) : (memref<4x6xf32, $s>, memref<4x6xf32, $d>) -> !npu.token',
        _wait("ty"),
    ]
    arguments = (
        f'%x: memref<4x6xf32, $d> {{ai.name = "x"}}, %w: memref<{shape}, $d> {{ai.name = "w"}}, '
        '%y: memref<4x6xf32, $d> {ai.name = "y", ai.output}'
    )
    pick = np.random.default_rng(0)
    x, w = (pick.standard_normal(s, np.float32) for s in ((4, 6), (4, 6) if right == "block" else (6,)))
    unit = _unit(arguments, "\n".join(lines))
    assert np.array_equal(_run(unit, x=x, w=w), _VECTOR[op](x, np.float32(0.5) if right == "number" else w))


def test_a_border_is_put_around_a_block() -> None:
    lines = [
        "%part = memref.subview %x[1, 2] [3, 4] [1, 1] : memref<6x9xf32, $d> to "
        "memref<3x4xf32, strided<[9, 1], offset: 11>, $d>",
        "%a = memref.alloc() : memref<6x7xf32, $s>",
        _load(
            "part",
            "a",
            "memref<3x4xf32, strided<[9, 1], offset: 11>, $d>, memref<6x7xf32, $s>",
            "fill = 1 : i64, pad = array<i64: 1, 2, 3, 0>",
        ),
        _wait("ta"),
        '%ty = "npu.dma_store"(%a, %y) : (memref<6x7xf32, $s>, memref<6x7xf32, $d>) -> !npu.token',
        _wait("ty"),
    ]
    arguments = '%x: memref<6x9xf32, $d> {ai.name = "x"}, %y: memref<6x7xf32, $d> {ai.name = "y", ai.output}'
    x = np.arange(54, dtype=np.float32).reshape(6, 9)
    expected = np.full((6, 7), np.frombuffer(b"\1\1\1\1", np.float32)[0])
    expected[1:4, 3:7] = x[1:4, 2:6]
    assert np.array_equal(_run(_unit(arguments, "\n".join(lines)), x=x), expected)


def test_each_wait_that_is_late_is_found() -> None:
    """All waits of a lowered product, each moved behind what it was for."""
    text = """
func.func @f(%x: tensor<40x70xf32>, %w: tensor<70x50xf32>) -> tensor<40x50xf32> attributes {ai.target = "npu"} {
  %0 = "ai.matmul"(%x, %w) {acc = f32} : (tensor<40x70xf32>, tensor<70x50xf32>) -> tensor<40x50xf32>
  return %0 : tensor<40x50xf32>
}"""
    unit = Unit(ir.Module.parse(text, io.new_context()))
    pipeline.run(unit, "npu-lower-kernels{machine=edge16},npu-verify-tiles")
    lowered = str(unit.module)
    count = lowered.count('"npu.wait"')
    assert count > 4
    for number in range(count):
        module = ir.Module.parse(lowered, unit.module.context)
        function = functions(module)[0]
        waits = [op for op in function.entry_block.operations if isinstance(op, WaitOp)]
        end = function.entry_block.operations[len(function.entry_block.operations) - 1]
        waits[number].operation.move_before(end)
        if any(isinstance(op, TileOp) and not isinstance(op, WaitOp) for op in _behind(lowered, number)):
            with pytest.raises(IRError, match=r"before the npu.dma_(load|store) .* is waited for"):
                verify_tiles(function, EDGE)


def _behind(lowered: str, number: int) -> list[ir.OpView]:
    module = ir.Module.parse(lowered, io.new_context())
    ops = list(functions(module)[0].entry_block.operations)
    at = [index for index, op in enumerate(ops) if isinstance(op, WaitOp)][number]
    return ops[at + 1 :]


def _random_body(pick: random.Random) -> list[Instruction]:
    """Instructions of three queues on a few bytes."""
    body: list[Instruction] = []
    for _ in range(40):
        at, other = 16 * pick.randrange(6), 16 * pick.randrange(6)
        rows = {"rows": pick.randint(1, 3)}
        kind = pick.randrange(3)
        if kind == 0:
            body.append(DmaLoad(dram=other, spad=at, row_bytes=8, dram_stride=16, spad_stride=16, **rows))
        elif kind == 1:
            body.append(DmaStore(dram=other, spad=at, row_bytes=8, dram_stride=16, spad_stride=16, **rows))
        else:
            strides = {"out_stride": 16, "left_stride": 16}
            element = {"element": Element.I32, "left_space": Space.ACC, "columns": 2}
            body.append(Vec(out=at, left=other, **strides, **element, **rows))
    return body


@pytest.mark.parametrize("seed", range(20))
def test_semaphores_order_all_that_must_be_and_no_more(seed: int) -> None:
    sizes = {Memory.DRAM: 256, Memory.SPAD: EDGE.spad_bytes, Memory.ACC: EDGE.acc_bytes}
    instructions = [*synchronize(_random_body(random.Random(seed)), sizes), Halt()]
    program = Program(EDGE.name, EDGE.hash(), 256, instructions)
    assert verify(program, EDGE) == []
    assert simulate(program, EDGE, {}).races == []
    for number, op in enumerate(instructions):
        for token in op.waits:
            assert simulate(_without(program, number, token.semaphore), EDGE, {}).races != []


def _without(program: Program, number: int, semaphore: int) -> Program:
    """The program that lost a wait, and the last signal for it, so that it ends."""
    changed = list(program.instructions)
    op = changed[number]
    changed[number] = dataclasses.replace(op, waits=tuple(t for t in op.waits if t.semaphore != semaphore))
    last = max(n for n, o in enumerate(changed) if any(t.semaphore == semaphore for t in o.signals))
    op = changed[last]
    changed[last] = dataclasses.replace(op, signals=tuple(t for t in op.signals if t.semaphore != semaphore))
    return dataclasses.replace(program, instructions=changed)


def test_what_one_queue_does_needs_no_semaphore() -> None:
    loads: list[Instruction] = [DmaLoad(rows=1, row_bytes=8) for _ in range(3)]
    assert synchronize(loads, {Memory.DRAM: 64, Memory.SPAD: 64, Memory.ACC: 64}) == loads
    assert {op.runs_on() for op in loads} == {Queue.LOAD}


def test_blocks_overlap_where_they_share_a_byte() -> None:
    """Against sets of bytes."""
    pick = random.Random(0)
    with io.new_context() as context, ir.Location.unknown():
        NpuDialect.load(context)
        module = ir.Module.parse("func.func @f(%x: memref<9x9xi8, #npu.dram>) { return }")
        function = functions(module)[0]
        (root,) = function.arguments
        base = block_of(root)
        for _ in range(500):
            one, two = (
                dataclasses.replace(
                    base,
                    start=pick.randrange(20),
                    rows=pick.randint(1, 5),
                    row_bytes=pick.randint(1, 6),
                    stride=pick.randint(6, 11),
                )
                for _ in range(2)
            )
            bytes_of = [
                {b.start + r * b.stride + c for r in range(b.rows) for c in range(b.row_bytes)} for b in (one, two)
            ]
            assert one.overlaps(two) == bool(bytes_of[0] & bytes_of[1])


def test_ops_are_built_from_memrefs_and_give_tokens() -> None:
    with io.new_context() as context, ir.Location.unknown():
        NpuDialect.load(context)
        module = ir.Module.parse(
            "func.func @f(%d: memref<4xi8, #npu.dram>, %s: memref<4xi8, #npu.spad>, %e: memref<?xi8, #npu.spad>) "
            "{ return }"
        )
        function = functions(module)[0]
        dram, spad, dynamic = function.arguments
        with ir.InsertionPoint.at_block_terminator(function.entry_block):
            assert str(StartLoadOp(dram, spad).token.type) == "!npu.token"
            with pytest.raises(IRError, match="expected a ranked memref of static shape and layout, got memref<"):
                StartLoadOp(dram, dynamic)
