"""Sums of pairs of bf16 products in one instruction (vdpbf16ps): when templates use it, and how they read its operands.

Lane i of the sums gets row[2j] * column i[2j] and row[2j + 1] * column i[2j + 1]: of a row, the same pair goes to all
lanes; a column's pairs are neighbours in packed weights (`interleave`).
"""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith, vector

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.emit import Chunk, Index
from aiopt.passes.templates.kernel import Contraction, weight_of

SUM_PAIRS = "x86vector.avx512.dot"
_ELEMENT = "bf16"
_LANES = (4, 8, 16)  # f32 sums of one instruction


def sums_pairs(kernel: Contraction, facts: Facts, lanes: int) -> bool:
    """True if the machine has the instruction for these products, and the weight is or can be packed for it."""
    weight = type_of(weight_of(kernel.weighted))
    if kernel.pack is not None:
        wanted, depth = kernel.interleave, weight.shape[-2]
    else:
        wanted, depth = kernel.packable, weight.shape[-2 if isinstance(kernel.root, ai.MatMulOp) else 1]
    return facts.dot and wanted and weight.element == _ELEMENT and depth % 2 == 0 and lanes in _LANES


def load_row_pair(buffer: ir.Value, position: Index, chunk: Chunk) -> ir.Value:
    """Two elements of a flat buffer in all lanes, rounded to bf16 where the buffer has f32."""
    pair = ir.VectorType.get([2], buffer.type.element_type)  # pyright: ignore[reportAttributeAccessIssue]
    loaded = vector.LoadOp(pair, buffer, [emit.index(position)]).result
    low = ir.VectorType.get([2], ir.BF16Type.get())
    rounded = loaded if pair == low else arith.truncf(low, loaded)
    word = ir.IntegerType.get_signless(32)
    single = vector.BitCastOp(ir.VectorType.get([1], word), rounded).result
    both = vector.BroadcastOp(ir.VectorType.get([chunk.lanes], word), vector.ExtractOp(single, [], [0]).result).result
    return vector.BitCastOp(_pairs(chunk), both).result


def load_column_pairs(buffer: ir.Value, position: Index, chunk: Chunk) -> ir.Value:
    """The pairs of a chunk's columns from packed weights."""
    return vector.LoadOp(_pairs(chunk), buffer, [emit.index(emit.add(position, 2 * chunk.offset))]).result


def add_pairs(row: ir.Value, columns: ir.Value, total: ir.Value) -> ir.Value:
    """total + the second products + the first ones, in this order (Intel SDM, VDPBF16PS)."""
    return ir.Operation.create(SUM_PAIRS, results=[total.type], operands=[total, row, columns]).result


def _pairs(chunk: Chunk) -> ir.VectorType:
    return ir.VectorType.get([2 * chunk.lanes], ir.BF16Type.get())
