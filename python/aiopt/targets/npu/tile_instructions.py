"""Ops of the high tier, whose buffers have addresses, as instructions without waits and signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mlir import ir

from aiopt.dialects.npu import (
    StartLoadOp,
    StartStoreOp,
    TileMatMulOp,
    TileOp,
    TileRequantOp,
    TileVecOp,
    WaitOp,
)
from aiopt.support.types import item_bytes
from aiopt.targets.npu.access import Memory
from aiopt.targets.npu.encoding import Instruction
from aiopt.targets.npu.isa import (
    ELEMENTS,
    DmaLoad,
    DmaStore,
    LoadWeights,
    MatMul,
    Requant,
    Space,
    Vec,
    VectorOp,
)
from aiopt.targets.npu.tile_blocks import Block, Blocks

_SPACES = {Memory.SPAD: Space.SPAD, Memory.ACC: Space.ACC}


def instructions_of(op: TileOp, known: Blocks, addresses: Mapping[ir.Value, int]) -> list[Instruction]:
    """The instructions of an op; `addresses` are those of the buffers."""
    blocks = known.of(op)
    places = {name: addresses[block.root] + block.start for name, block in blocks.items()}
    return _RULES[type(op)](blocks, places, op.python_attributes())


def _load(blocks: dict[str, Block], at: dict[str, int], attributes: dict[str, Any]) -> list[Instruction]:
    source, target = blocks["source"], blocks["target"]
    top, bottom, left, right = attributes.get("pad", (0, 0, 0, 0))
    size = item_bytes(source.kind.element)
    return [
        DmaLoad(
            dram=at["source"],
            spad=at["target"],
            rows=source.rows,
            row_bytes=source.row_bytes,
            dram_stride=source.stride,
            spad_stride=target.stride,
            top=top,
            bottom=bottom,
            left=left * size,
            right=right * size,
            fill=attributes.get("fill", 0),
        )
    ]


def _store(blocks: dict[str, Block], at: dict[str, int], attributes: dict[str, Any]) -> list[Instruction]:
    source, target = blocks["source"], blocks["target"]
    return [
        DmaStore(
            dram=at["target"],
            spad=at["source"],
            rows=source.rows,
            row_bytes=source.row_bytes,
            dram_stride=target.stride,
            spad_stride=source.stride,
        )
    ]


def _matmul(blocks: dict[str, Block], at: dict[str, int], attributes: dict[str, Any]) -> list[Instruction]:
    left, right, acc = blocks["left"], blocks["right"], blocks["acc"]
    inner, columns = right.kind.shape
    weights = LoadWeights(
        spad=at["right"], stride=right.stride, rows=inner, columns=columns, element=ELEMENTS[right.kind.element]
    )
    product = MatMul(
        spad=at["left"],
        stride=left.stride,
        acc=at["acc"],
        acc_stride=acc.stride,
        rows=left.rows,
        inner=inner,
        columns=columns,
        element=ELEMENTS[left.kind.element],
        accumulate=attributes.get("accumulate", False),
        swap=True,
    )
    return [weights, product]


def _requant(blocks: dict[str, Block], at: dict[str, int], attributes: dict[str, Any]) -> list[Instruction]:
    acc, out = blocks["acc"], blocks["out"]
    return [
        Requant(
            acc=at["acc"],
            acc_stride=acc.stride,
            out=at["out"],
            out_stride=out.stride,
            bias=at.get("bias", 0),
            scales=at.get("scales", 0),
            rows=acc.rows,
            columns=acc.kind.shape[1],
            scale=attributes.get("scale", 0.0),
            zero_point=attributes.get("zero_point", 0),
            element=ELEMENTS[out.kind.element],
            has_bias="bias" in blocks,
            per_column="scales" in blocks,
            relu=attributes.get("relu", False),
        )
    ]


def _vec(blocks: dict[str, Block], at: dict[str, int], attributes: dict[str, Any]) -> list[Instruction]:
    left, right, out = blocks["left"], blocks.get("right"), blocks["out"]
    return [
        Vec(
            out=at["out"],
            out_stride=out.stride,
            left=at["left"],
            left_stride=left.stride,
            right=at.get("right", 0),
            right_stride=right.stride if right is not None else 0,
            rows=out.rows,
            columns=out.kind.shape[1],
            immediate=attributes.get("immediate", 0.0),
            op=VectorOp[attributes["op"].upper()],
            element=ELEMENTS[out.kind.element],
            out_space=_SPACES[out.memory],
            left_space=_SPACES[left.memory],
            right_space=_SPACES[right.memory] if right is not None else Space.SPAD,
            constant="immediate" in attributes,
        )
    ]


def _wait(blocks: dict[str, Block], at: dict[str, int], attributes: dict[str, Any]) -> list[Instruction]:
    return []  # order is that of the accesses (npu-assign-semaphores)


_RULES: dict[type[TileOp], Callable[..., list[Instruction]]] = {
    StartLoadOp: _load,
    StartStoreOp: _store,
    TileMatMulOp: _matmul,
    TileRequantOp: _requant,
    TileVecOp: _vec,
    WaitOp: _wait,
}
