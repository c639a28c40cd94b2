"""The high tier: blocks of buffers, and transfers that are waited for by token.

A function of this tier is a program as one thread would run it: `tile_*` ops take effect where they stand, transfers
(`dma_*`) at some time between where they stand and the `wait` for their token. Buffers are memrefs whose memory space
says where they are; blocks of them are views (memref.subview, memref.collapse_shape). `npu-verify-tiles` checks such a
function as a whole, and docs/npu.md shows one.
"""

from __future__ import annotations

from typing import ClassVar

from mlir import ir

from aiopt.dialects.ext import BufferType, OpaqueType, Operand, Result
from aiopt.dialects.npu.dialect import (
    AccMemRef,
    ChipMemRef,
    DramMemRef,
    NpuDialect,
    SpadMemRef,
    Token,
    check_attribute_names,
)

TOKEN = OpaqueType(Token.spelling)
_MATRIX = 2
_SUMS = {"f32": "f32", "i8": "i32", "ui8": "i32"}  # element of the left operand -> of the sums
VECTOR_OPS = ("copy", "add", "sub", "mul", "max", "min")


class TileOp(NpuDialect.Operation):
    """Base of the ops of this tier.

    Buffers have rank 1 or 2, and the elements of a row are next to each other.
    """

    written: ClassVar[str] = ""  # the operand it writes

    def verify_op(self) -> None:
        """Attributes have their kinds, and there are no others."""
        super().verify_op()
        check_attribute_names(self)


class StartLoadOp(TileOp, name="dma_load"):
    """Start to copy a block from dram to the scratchpad, with a border of `fill` around it.

    Shapes: source [r, c] -> target [top + r + bottom, left + c + right] with `pad` = top, bottom, left, right (default:
    no border); or [c] -> [c]. Both may be strided. `fill` is a byte (default 0), of which elements of the border are
    made.
    Types: any, the same for both.
    Errors: other shapes or types; a negative border; a border of a vector; `fill` beyond a byte.
    Source: DMA_LD (docs/npu.md).
    """

    written = "target"
    source: Operand[DramMemRef]
    target: Operand[SpadMemRef]
    pad: ir.DenseI64ArrayAttr | None
    fill: ir.IntegerAttr | None
    token: Result[Token]

    @staticmethod
    def infer(source: BufferType, target: BufferType, *, pad: list[int] | None = None, fill: int = 0) -> OpaqueType:
        check_rows(source=source, target=target)
        if not 0 <= fill <= 255:
            raise ValueError(f"fill must be from 0 to 255, but is {fill}")
        want = source.shape
        if pad is not None:
            if len(pad) != 4 or min(pad) < 0 or len(want) != _MATRIX:
                raise ValueError(f"pad must be 4 numbers (top, bottom, left, right) around a matrix, but is {pad}")
            top, bottom, left, right = pad
            want = (top + want[0] + bottom, left + want[1] + right)
        check_block("target", target, want, source.element)
        return TOKEN


class StartStoreOp(TileOp, name="dma_store"):
    """Start to copy a block from the scratchpad to dram.

    Shapes: source [r, c] -> target [r, c], or [c] -> [c]. Both may be strided.
    Types: any, the same for both.
    Errors: other shapes or types.
    Source: DMA_ST (docs/npu.md).
    """

    written = "target"
    source: Operand[SpadMemRef]
    target: Operand[DramMemRef]
    token: Result[Token]

    @staticmethod
    def infer(source: BufferType, target: BufferType) -> OpaqueType:
        check_rows(source=source, target=target)
        check_block("target", target, source.shape, source.element)
        return TOKEN


class WaitOp(TileOp, name="wait"):
    """Wait until a transfer is done.

    Errors: none of its own; that each token is waited for once is `npu-verify-tiles`'.
    Source: semaphores (docs/npu.md), which `npu-assign-semaphores` makes of it.
    """

    token: Operand[Token]

    @staticmethod
    def infer(token: OpaqueType) -> tuple[()]:
        return ()


class TileMatMulOp(TileOp, name="tile_matmul"):
    """acc = left x right, or with `accumulate` acc += left x right: one pass of the array.

    Shapes: left [m, k], right [k, n], acc [m, n]. k is at most the rows of the array, n at most its columns (which
    `npu-verify-tiles` checks).
    Types: left i8 or ui8, right i8, acc i32; or all f32.
    Errors: other shapes or types.
    Source: LOADW and MATMUL (docs/npu.md), where the order of f32 sums stands.
    """

    written = "acc"
    left: Operand[SpadMemRef]
    right: Operand[SpadMemRef]
    acc: Operand[AccMemRef]
    accumulate: ir.BoolAttr | None

    @staticmethod
    def infer(left: BufferType, right: BufferType, acc: BufferType, *, accumulate: bool = False) -> tuple[()]:
        check_matrices(left=left, right=right, acc=acc)
        sums, weights = _SUMS.get(left.element), "f32" if left.element == "f32" else "i8"
        if sums is None or right.element != weights:
            raise ValueError(
                f"it multiplies i8 or ui8 with i8, or f32 with f32, not {left.element} with {right.element}"
            )
        if left.shape[1] != right.shape[0]:
            raise ValueError(f"left has {left.shape[1]} columns, right {right.shape[0]} rows")
        check_block("acc", acc, (left.shape[0], right.shape[1]), sums)
        return ()


class TileRequantOp(TileOp, name="tile_requant"):
    """out = sat(rint(f32(acc + bias) * scale) + zero_point); with `relu`, zero_point where that is greater.

    Shapes: acc [m, n], bias [n], scales [n], out [m, n]. The scale is `scale`, or that of its column in `scales`.
    Types: acc and bias i32, scales f32, out i8 or ui8 (saturated to its range, which is the clamp).
    Errors: other shapes or types; both scale and scales, or none; a zero point beyond the type of out.
    Source: REQUANT (docs/npu.md).
    """

    written = "out"
    acc: Operand[AccMemRef]
    bias: Operand[SpadMemRef] | None
    scales: Operand[SpadMemRef] | None
    out: Operand[SpadMemRef]
    scale: ir.FloatAttr | None
    zero_point: ir.IntegerAttr | None
    relu: ir.BoolAttr | None

    @staticmethod
    def infer(
        acc: BufferType,
        bias: BufferType | None,
        scales: BufferType | None,
        out: BufferType,
        *,
        scale: float | None = None,
        zero_point: int = 0,
        relu: bool = False,
    ) -> tuple[()]:
        check_matrices(acc=acc, out=out)
        check_block("acc", acc, acc.shape, "i32")
        if out.element not in ("i8", "ui8"):
            raise ValueError(f"out must be of i8 or ui8, not {out.element}")
        check_block("out", out, acc.shape, out.element)
        for name, row, element in (("bias", bias, "i32"), ("scales", scales, "f32")):
            if row is not None:
                check_rows(**{name: row})
                check_block(name, row, acc.shape[1:], element)
        if (scale is None) == (scales is None):
            raise ValueError("it takes either the attribute 'scale' or the operand 'scales'")
        low = 0 if out.element == "ui8" else -128
        if not low <= zero_point <= low + 255:
            raise ValueError(f"zero_point must be from {low} to {low + 255}, but is {zero_point}")
        return ()


class TileVecOp(TileOp, name="tile_vec"):
    """out = left `op` right, element by element; `op` is copy, add, sub, mul, max or min.

    Shapes: left [m, n], right [m, n] or one row for all, [n]; out [m, n]. Instead of right, `immediate` is one number
    for all; copy has neither.
    Types: i32 (wrapping) or f32, the same for all; in the scratchpad or the accumulators.
    Errors: other shapes or types; an unknown `op`; both right and immediate, or none.
    Source: VEC (docs/npu.md).
    """

    written = "out"
    left: Operand[ChipMemRef]
    right: Operand[ChipMemRef] | None
    out: Operand[ChipMemRef]
    op: ir.StringAttr
    immediate: ir.FloatAttr | None

    @staticmethod
    def infer(
        left: BufferType, right: BufferType | None, out: BufferType, *, op: str, immediate: float | None = None
    ) -> tuple[()]:
        if op not in VECTOR_OPS:
            raise ValueError(f"op must be one of {', '.join(VECTOR_OPS)}, but is '{op}'")
        check_matrices(left=left, out=out)
        check_block("out", out, left.shape, left.element)
        if right is not None:
            check_rows(right=right)
            check_block("right", right, left.shape if len(right.shape) == _MATRIX else left.shape[1:], left.element)
        if (right is not None) + (immediate is not None) != (op != "copy"):
            raise ValueError("it takes either the operand 'right' or the attribute 'immediate', and neither for copy")
        return ()


def check_rows(**buffers: BufferType) -> None:
    """Buffers have rank 1 or 2, are not empty, and the elements of a row are next to each other."""
    for name, buffer in buffers.items():
        if len(buffer.shape) not in (1, _MATRIX) or 0 in buffer.shape:
            raise ValueError(f"{name} must have rank 1 or 2 and elements, but is {buffer}")
        if buffer.strides[-1] != 1:
            raise ValueError(
                f"the elements of a row of {name} must be next to each other, not {buffer.strides[-1]} apart"
            )


def check_matrices(**buffers: BufferType) -> None:
    """The same for buffers that must have rank 2."""
    check_rows(**buffers)
    for name, buffer in buffers.items():
        if len(buffer.shape) != _MATRIX:
            raise ValueError(f"{name} must have rank {_MATRIX}, but is {buffer}")


def check_block(name: str, buffer: BufferType, shape: tuple[int, ...], element: str) -> None:
    """A buffer has this shape and element type."""
    if buffer.shape != shape or buffer.element != element:
        want = "x".join([*map(str, shape), element])
        raise ValueError(f"{name} must be {want}, but is {buffer.tensor}")
