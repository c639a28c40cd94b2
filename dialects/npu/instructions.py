"""The low tier: one op for each instruction, with static addresses and numbered semaphores.

What an op does, and what its attributes mean, stands in docs/npu.md. An attribute that is not there is 0 or false;
`waits` and `signals` are pairs: semaphore, count, semaphore, count. `npu-verify-programs` checks programs as a whole.
"""

from __future__ import annotations

from mlir import ir

from aiopt.dialects.npu.dialect import NpuDialect, check_attribute_names


class Instruction(NpuDialect.Operation):
    """Base: an op without operands and results."""

    @staticmethod
    def infer(**_: object) -> tuple[()]:
        return ()

    def verify_op(self) -> None:
        """Attributes have their kinds, and there are no others: what is not there means 0, so a typing error counts."""
        super().verify_op()
        check_attribute_names(self)


class NopOp(Instruction, name="nop"):
    """Does nothing, but waits and signals as an instruction of its queue."""

    on: ir.StringAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None


class HaltOp(Instruction, name="halt"):
    """Waits until all queues are done and ends the program. The last instruction, and only the last."""


class FenceOp(Instruction, name="fence"):
    """Waits until all queues are done: what comes before it is ordered before what comes after it."""


class SemInitOp(Instruction, name="sem_init"):
    """Sets a semaphore. Stands at the start of a program or behind a fence, before what uses the semaphore."""

    value: ir.IntegerAttr | None
    semaphore: ir.IntegerAttr | None
    signaller: ir.StringAttr | None
    waiter: ir.StringAttr | None


class DmaLoadOp(Instruction, name="dma_ld"):
    """Copies rows from dram to the scratchpad and puts a border of `fill` around them."""

    dram: ir.IntegerAttr | None
    spad: ir.IntegerAttr | None
    rows: ir.IntegerAttr | None
    row_bytes: ir.IntegerAttr | None
    dram_stride: ir.IntegerAttr | None
    spad_stride: ir.IntegerAttr | None
    top: ir.IntegerAttr | None
    bottom: ir.IntegerAttr | None
    left: ir.IntegerAttr | None
    right: ir.IntegerAttr | None
    fill: ir.IntegerAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None


class DmaStoreOp(Instruction, name="dma_st"):
    """Copies rows from the scratchpad to dram."""

    dram: ir.IntegerAttr | None
    spad: ir.IntegerAttr | None
    rows: ir.IntegerAttr | None
    row_bytes: ir.IntegerAttr | None
    dram_stride: ir.IntegerAttr | None
    spad_stride: ir.IntegerAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None


class LoadWeightsOp(Instruction, name="loadw"):
    """Brings weights [rows, columns] from the scratchpad into the shadow set; the rest of the array gets zeros."""

    spad: ir.IntegerAttr | None
    stride: ir.IntegerAttr | None
    rows: ir.IntegerAttr | None
    columns: ir.IntegerAttr | None
    element: ir.StringAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None


class MatMulOp(Instruction, name="matmul"):
    """acc[rows, columns] (+)= left[rows, inner] x weights[inner, columns]."""

    spad: ir.IntegerAttr | None
    stride: ir.IntegerAttr | None
    acc: ir.IntegerAttr | None
    acc_stride: ir.IntegerAttr | None
    rows: ir.IntegerAttr | None
    inner: ir.IntegerAttr | None
    columns: ir.IntegerAttr | None
    element: ir.StringAttr | None
    accumulate: ir.BoolAttr | None
    swap: ir.BoolAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None


class VecOp(Instruction, name="vec"):
    """out[rows, columns] = left op right, element by element, in i32 (wrapping) or f32 (NaN wins max and min)."""

    out: ir.IntegerAttr | None
    out_stride: ir.IntegerAttr | None
    left: ir.IntegerAttr | None
    left_stride: ir.IntegerAttr | None
    right: ir.IntegerAttr | None
    right_stride: ir.IntegerAttr | None
    rows: ir.IntegerAttr | None
    columns: ir.IntegerAttr | None
    immediate: ir.FloatAttr | None
    op: ir.StringAttr | None
    element: ir.StringAttr | None
    out_space: ir.StringAttr | None
    left_space: ir.StringAttr | None
    right_space: ir.StringAttr | None
    constant: ir.BoolAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None


class RequantOp(Instruction, name="requant"):
    """out = sat(rint(f32(acc + bias) * scale) + zero_point), rint to even; int32 sums become i8 or u8."""

    acc: ir.IntegerAttr | None
    acc_stride: ir.IntegerAttr | None
    out: ir.IntegerAttr | None
    out_stride: ir.IntegerAttr | None
    bias: ir.IntegerAttr | None
    scales: ir.IntegerAttr | None
    rows: ir.IntegerAttr | None
    columns: ir.IntegerAttr | None
    scale: ir.FloatAttr | None
    zero_point: ir.IntegerAttr | None
    element: ir.StringAttr | None
    has_bias: ir.BoolAttr | None
    per_column: ir.BoolAttr | None
    relu: ir.BoolAttr | None
    waits: ir.DenseI64ArrayAttr | None
    signals: ir.DenseI64ArrayAttr | None
