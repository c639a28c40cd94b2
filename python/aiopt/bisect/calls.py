"""@main of the lower levels as data: the kernel calls in order and the places in memory that each is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ext
from aiopt.passes.base import functions
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.spec.plan import is_planned
from aiopt.support.types import TensorType
from aiopt.support.weights import WeightStore

_ALIGNMENT = 64


@dataclass(frozen=True)
class Place:
    """A row-major buffer: a block of memory by name, a byte offset in it, and the type it is used as."""

    block: str
    offset: int
    kind: TensorType


@dataclass(frozen=True)
class Call:
    """A call of a kernel: its operands in order, results and scratch last."""

    kernel: str
    nodes: tuple[str, ...]
    operands: tuple[Place, ...]
    scratch: int = 0

    def results(self, count: int) -> tuple[Place, ...]:
        """The operands it writes, if its kernel has this many results."""
        end = len(self.operands) - self.scratch
        return self.operands[end - count : end]


@dataclass
class Plan:
    """The calls of @main, what its blocks hold at the start (None: nothing), and its inputs and outputs by name."""

    calls: list[Call]
    blocks: dict[str, bytes | int]
    inputs: dict[str, Place]
    outputs: dict[str, Place]


def read_plan(module: ir.Module, weights: WeightStore) -> Plan | None:
    """The plan of a module at level TENSOR, LOOPS or CPU; None if @main is no longer a list of calls on buffers."""
    found = {function.name.value: function for function in functions(module)}
    if "main" not in found:
        return None
    reader = _Reader(found["main"], module, weights)
    for op in found["main"].entry_block.operations:
        if not reader.read(op):
            return None
    scratch = {name: f.attributes["ai.scratch"].value for name, f in found.items() if "ai.scratch" in f.attributes}
    reader.plan.calls = [replace(call, scratch=scratch.get(call.kernel, 0)) for call in reader.plan.calls]
    return reader.plan


class _Reader:
    """Follows the buffers of @main."""

    def __init__(self, main: func.FuncOp, module: ir.Module, weights: WeightStore) -> None:
        self.plan = Plan([], {}, {}, {})
        self.weights = weights
        self.places: dict[ir.Value, Place] = {}
        self.constants: dict[ir.Value, np.ndarray | int] = {}
        arguments = list(main.arguments)
        if is_planned(module):
            arena, blob = arguments.pop(), arguments.pop(-1)
            self._add(blob, pack_weights(module, weights).tobytes())
            self._add(arena, _buffer_type(arena.type).size)
        entries = list(main.attributes["arg_attrs"]) if "arg_attrs" in main.attributes else []
        for argument, entry in zip(arguments, entries, strict=False):
            ends = self.plan.outputs if "ai.output" in entry else self.plan.inputs
            ends[ir.StringAttr(entry["ai.name"]).value] = self._add(argument, _size(argument))

    def read(self, op: ir.OpView) -> bool:
        """Take in one op; False if it is none of those that @main has at these levels."""
        name = op.operation.name
        if name == "ai.constant":
            self.constants[op.results[0]] = self.weights[ir.StringAttr(op.operation.attributes["key"]).value]
        elif isinstance(op, arith.ConstantOp):
            self.constants[op.result] = _constant(op)
        elif name == "bufferization.to_buffer":
            array = self.constants[op.operands[0]]
            self._add(op.results[0], np.ascontiguousarray(array).tobytes())
        elif name == "memref.alloc":
            self._add(op.results[0], _size(op.results[0]))
        elif name in ("memref.view", "memref.reinterpret_cast", "memref.cast"):
            source = self.places[op.operands[0]]
            shift = self.constants[op.operands[1]] if name == "memref.view" else 0
            kind = _buffer_type(op.results[0].type)
            self.places[op.results[0]] = replace(source, offset=source.offset + int(shift), kind=kind)
        elif isinstance(op, func.CallOp):
            nodes = [entry.value for entry in op.attributes["ai.nodes"]] if "ai.nodes" in op.attributes else []
            nodes = nodes or ext.node_names(op.location)
            operands = tuple(self.places[value] for value in op.operands)
            self.plan.calls.append(Call(op.callee.value, tuple(nodes), operands))
        else:
            return isinstance(op, func.ReturnOp)
        return True

    def _add(self, value: ir.Value, start: bytes | int) -> Place:
        """A block of its own for a value; `start` is its contents or its size."""
        block = f"block {len(self.plan.blocks)}"
        self.plan.blocks[block] = start
        self.places[value] = Place(block, 0, _buffer_type(value.type))
        return self.places[value]


class Memory:
    """The blocks of a plan for one run; what nobody has written is NaN, or -1 in an integer."""

    def __init__(self, plan: Plan) -> None:
        self._blocks = {name: _aligned(start) for name, start in plan.blocks.items()}

    def array(self, place: Place) -> np.ndarray:
        """The buffer at a place, shared with the block."""
        size = place.kind.size * place.kind.dtype.itemsize
        return (
            self._blocks[place.block][place.offset : place.offset + size]
            .view(place.kind.dtype)
            .reshape(place.kind.shape)
        )

    def address(self, place: Place) -> int:
        """Where the buffer begins."""
        return self._blocks[place.block].ctypes.data + place.offset


def overlap(one: Place, other: Place) -> bool:
    """True if two places share a byte."""
    sizes = [place.kind.size * place.kind.dtype.itemsize for place in (one, other)]
    return one.block == other.block and one.offset < other.offset + sizes[1] and other.offset < one.offset + sizes[0]


def fill(memory: Memory, plan: Plan, inputs: Mapping[str, np.ndarray]) -> None:
    """Put the inputs where the plan wants them."""
    for name, place in plan.inputs.items():
        given = np.ascontiguousarray(inputs[name]).reshape(-1).view(np.uint8)
        memory.array(place).reshape(-1).view(np.uint8)[:] = given


def _aligned(start: bytes | int) -> np.ndarray:
    size = start if isinstance(start, int) else len(start)
    memory = np.full(size + _ALIGNMENT, 0xFF, np.uint8)
    begin = -memory.ctypes.data % _ALIGNMENT
    block = memory[begin : begin + size]
    if isinstance(start, bytes):
        block[:] = np.frombuffer(start, np.uint8)
    return block


def _buffer_type(kind: ir.Type) -> TensorType:
    assert isinstance(kind, ir.MemRefType)
    return TensorType(tuple(kind.shape), str(kind.element_type))


def _size(value: ir.Value) -> int:
    kind = _buffer_type(value.type)
    return kind.size * kind.dtype.itemsize


def _constant(op: arith.ConstantOp) -> np.ndarray | int:
    if isinstance(op.value, ir.DenseElementsAttr):
        return ext.dense_array(op.value, ext.type_of(op.result))
    return int(op.literal_value)


def sources(operands: Sequence[Place], written: Mapping[Place, int]) -> tuple[int, ...]:
    """The numbers of the values that stand at some places."""
    return tuple(written[place] for place in operands if place in written)
