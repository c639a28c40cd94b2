"""The instructions. docs/npu.md is made from this file: `python -m aiopt.targets.npu.reference`.

Addresses and strides are bytes, each in the memory its instruction names. There is no machine state but the three
memories, the semaphores and the two sets of weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from aiopt.support.errors import ModelError
from aiopt.targets.npu.encoding import SIZE, Instruction, Queue, number


class Space(IntEnum):
    """A memory on the chip."""

    SPAD = 0
    ACC = 1


class Element(IntEnum):
    """The type of an element. i8 and u8 differ in the left operand and in what REQUANT makes."""

    I8 = 0
    U8 = 1
    I32 = 2
    F32 = 3

    @property
    def bytes(self) -> int:
        return 1 if self in (Element.I8, Element.U8) else 4


ELEMENTS = {"i8": Element.I8, "ui8": Element.U8, "i32": Element.I32, "f32": Element.F32}  # by MLIR's names


class VectorOp(IntEnum):
    """What VEC does with two operands; with COPY, the right one does not count."""

    COPY = 0
    ADD = 1
    SUB = 2
    MUL = 3
    MAX = 4
    MIN = 5


@dataclass(frozen=True, kw_only=True)
class Nop(Instruction):
    """Does nothing, but waits and signals as an instruction of its queue."""

    mnemonic = "nop"
    opcode = 0x01
    queue = None

    on: Queue = number("u8", "the queue it goes to", Queue)

    def runs_on(self) -> Queue:
        return self.on


@dataclass(frozen=True, kw_only=True)
class Halt(Instruction):
    """Waits until all queues are done and ends the program. The last instruction, and only the last."""

    mnemonic = "halt"
    opcode = 0x02
    queue = None


@dataclass(frozen=True, kw_only=True)
class Fence(Instruction):
    """Waits until all queues are done: what comes before it is ordered before what comes after it."""

    mnemonic = "fence"
    opcode = 0x03
    queue = None


@dataclass(frozen=True, kw_only=True)
class SemInit(Instruction):
    """Sets a semaphore. Stands at the start of a program or behind a fence, before what uses the semaphore."""

    mnemonic = "sem_init"
    opcode = 0x04
    queue = None

    value: int = number("u32", "what it holds at first")
    semaphore: int = number("u8", "which one, 0 to 31")
    signaller: Queue = number("u8", "the one queue that signals it", Queue)
    waiter: Queue = number("u8", "the one queue that waits for it", Queue)


@dataclass(frozen=True, kw_only=True)
class DmaLoad(Instruction):
    """Copies rows from dram to the scratchpad and puts a border of `fill` around them.

    The scratchpad gets top + rows + bottom rows of left + row_bytes + right bytes, the first of them at `spad`.
    """

    mnemonic = "dma_ld"
    opcode = 0x10
    queue = Queue.LOAD

    dram: int = number("u64", "address of the first row in dram")
    spad: int = number("u32", "address of the first row in the scratchpad, border included")
    rows: int = number("u32", "rows to copy")
    row_bytes: int = number("u32", "bytes of a row, without the border")
    dram_stride: int = number("u32", "from row to row in dram")
    spad_stride: int = number("u32", "from row to row in the scratchpad")
    top: int = number("u16", "rows of border before")
    bottom: int = number("u16", "rows of border behind")
    left: int = number("u16", "bytes of border before each row")
    right: int = number("u16", "bytes of border behind each row")
    fill: int = number("u8", "the byte the border is made of")


@dataclass(frozen=True, kw_only=True)
class DmaStore(Instruction):
    """Copies rows from the scratchpad to dram."""

    mnemonic = "dma_st"
    opcode = 0x11
    queue = Queue.STORE

    dram: int = number("u64", "address of the first row in dram")
    spad: int = number("u32", "address of the first row in the scratchpad")
    rows: int = number("u32", "rows to copy")
    row_bytes: int = number("u32", "bytes of a row")
    dram_stride: int = number("u32", "from row to row in dram")
    spad_stride: int = number("u32", "from row to row in the scratchpad")


@dataclass(frozen=True, kw_only=True)
class LoadWeights(Instruction):
    """Brings weights [rows, columns] from the scratchpad into the shadow set; the rest of the array gets zeros."""

    mnemonic = "loadw"
    opcode = 0x20
    queue = Queue.MATRIX

    spad: int = number("u32", "address of the first row")
    stride: int = number("u32", "from row to row")
    rows: int = number("u16", "at most those of the array")
    columns: int = number("u16", "at most those of the array")
    element: Element = number("u8", "i8 or f32", Element)


@dataclass(frozen=True, kw_only=True)
class MatMul(Instruction):
    """acc[rows, columns] (+)= left[rows, inner] x weights[inner, columns].

    i8 and u8: exact products, sums of int32 that wrap. f32: the products of a sum are rounded and added one after the
    other, beginning with the first (p = l0*w0; p = p + l1*w1; ...), and p is then added to what the accumulator holds.
    """

    mnemonic = "matmul"
    opcode = 0x21
    queue = Queue.MATRIX

    spad: int = number("u32", "address of the left operand")
    stride: int = number("u32", "from row to row of the left operand")
    acc: int = number("u32", "address of the result in the accumulators")
    acc_stride: int = number("u32", "from row to row of the result")
    rows: int = number("u32", "rows of the left operand")
    inner: int = number("u16", "terms of a sum, at most the rows of the array")
    columns: int = number("u16", "at most those of the array")
    element: Element = number("u8", "of the left operand: i8 or u8 (weights i8), or f32", Element)
    accumulate: bool = number("flag", "add to what is there")
    swap: bool = number("flag", "first make the shadow weights the active ones")


@dataclass(frozen=True, kw_only=True)
class Vec(Instruction):
    """out[rows, columns] = left op right, element by element, in i32 (wrapping) or f32 (NaN wins max and min)."""

    mnemonic = "vec"
    opcode = 0x30
    queue = Queue.VECTOR

    out: int = number("u32", "address of the result")
    out_stride: int = number("u32", "from row to row")
    left: int = number("u32", "address of the left operand")
    left_stride: int = number("u32", "from row to row")
    right: int = number("u32", "address of the right operand")
    right_stride: int = number("u32", "from row to row; 0: one row for all")
    rows: int = number("u32", "rows of the result")
    columns: int = number("u32", "elements of a row")
    immediate: float = number("f32", "the right operand with `constant`; a whole number for i32")
    op: VectorOp = number("u8", "copy, add, sub, mul, max or min", VectorOp)
    element: Element = number("u8", "i32 or f32", Element)
    out_space: Space = number("u8", "the memory of the result", Space)
    left_space: Space = number("u8", "the memory of the left operand", Space)
    right_space: Space = number("u8", "the memory of the right operand", Space)
    constant: bool = number("flag", "the right operand is `immediate`")


@dataclass(frozen=True, kw_only=True)
class Requant(Instruction):
    """out = sat(rint(f32(acc + bias) * scale) + zero_point), rint to even; int32 sums become i8 or u8.

    With `relu`, results below zero_point become zero_point. NaN (of a scale that is none) gives zero_point.
    """

    mnemonic = "requant"
    opcode = 0x31
    queue = Queue.VECTOR

    acc: int = number("u32", "address of the sums in the accumulators")
    acc_stride: int = number("u32", "from row to row")
    out: int = number("u32", "address of the result in the scratchpad")
    out_stride: int = number("u32", "from row to row")
    bias: int = number("u32", "address of one int32 for each column in the scratchpad")
    scales: int = number("u32", "address of one f32 for each column in the scratchpad")
    rows: int = number("u32", "rows of the result")
    columns: int = number("u32", "elements of a row")
    scale: float = number("f32", "the scale of all columns without `per_column`")
    zero_point: int = number("i32", "what stands for 0 in the result")
    element: Element = number("u8", "of the result: i8 or u8", Element)
    has_bias: bool = number("flag", "add the bias")
    per_column: bool = number("flag", "each column has a scale of its own")
    relu: bool = number("flag", "no result below zero_point")


INSTRUCTIONS: tuple[type[Instruction], ...] = (
    Nop,
    Halt,
    Fence,
    SemInit,
    DmaLoad,
    DmaStore,
    LoadWeights,
    MatMul,
    Vec,
    Requant,
)
BY_MNEMONIC = {cls.mnemonic: cls for cls in INSTRUCTIONS}
_BY_OPCODE = {cls.opcode: cls for cls in INSTRUCTIONS}


def encode(instructions: list[Instruction]) -> bytes:
    """Code. Raises ModelError that gives the number of the instruction whose values do not fit."""
    parts = []
    for index, instruction in enumerate(instructions):
        try:
            parts.append(instruction.encode())
        except ModelError as error:
            raise ModelError(f"instruction {index}: {error}") from error
    return b"".join(parts)


def decode(code: bytes) -> list[Instruction]:
    """The instructions of code. Raises ModelError on what no assembler writes: an unknown opcode, a reserved bit."""
    if len(code) % SIZE:
        raise ModelError(f"code must be a multiple of {SIZE} bytes, but has {len(code)}")
    instructions: list[Instruction] = []
    for index in range(len(code) // SIZE):
        data = code[index * SIZE : (index + 1) * SIZE]
        if data[0] not in _BY_OPCODE:
            raise ModelError(f"instruction {index}: there is no opcode 0x{data[0]:02x}")
        try:
            instructions.append(_BY_OPCODE[data[0]].decode(data))
        except ModelError as error:
            raise ModelError(f"instruction {index}: {error}") from error
    return instructions
