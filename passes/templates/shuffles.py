"""Rearranging the elements of several vectors in registers."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import vector

Vectors = list[ir.Value]
_QUARTER = 4  # elements of 128 bits, within which shuffles are cheapest


def transposed(rows: Sequence[ir.Value]) -> Vectors:
    """As many vectors as each has lanes, a power of two from 4 on, as a square matrix: its columns.

    First within each 128 bits, as two steps of interleaving, then these blocks change places.
    """
    size = len(rows)
    blocks: list[Vectors] = []
    for first in range(0, size, _QUARTER):
        r = rows[first : first + _QUARTER]
        low, high = _interleave(r[0], r[1], 1), _interleave(r[2], r[3], 1)
        blocks.append([part for a, b in zip(low, high, strict=True) for part in _interleave(a, b, 2)])
    columns = [_block_columns([block[c] for block in blocks]) for c in range(_QUARTER)]
    return [columns[at % _QUARTER][at // _QUARTER] for at in range(size)]


def _interleave(x: ir.Value, y: ir.Value, run: int) -> Vectors:
    """The lower and the upper halves of each 128 bits of two vectors, in turns of `run` elements."""
    (lanes,) = ir.VectorType(x.type).shape

    def mask(half: int) -> list[int]:
        turns = [(half * 2 + at, source) for at in range(0, 2, run) for source in (0, 1)]
        inside = [start + i + source * lanes for start, source in turns for i in range(run)]
        return [place + base for base in range(0, lanes, _QUARTER) for place in inside]

    return [vector.ShuffleOp(x, y, mask(half)).result for half in (0, 1)]


def _block_columns(rows: Vectors) -> Vectors:
    """Vectors of as many blocks of 128 bits as they are: the columns of this matrix of blocks."""
    count, step = len(rows), 1
    while step < count:
        for at in range(count):
            if at & step:
                continue
            x, y = rows[at], rows[at + step]
            low = [b if not b & step else count + b - step for b in range(count)]
            high = [b + step if not b & step else count + b for b in range(count)]
            rows[at], rows[at + step] = (vector.ShuffleOp(x, y, _elements(places)).result for places in (low, high))
        step *= 2
    return rows


def _elements(blocks: Sequence[int]) -> list[int]:
    return [block * _QUARTER + i for block in blocks for i in range(_QUARTER)]


def gather(sources: Sequence[ir.Value], wanted: Sequence[tuple[int, int]]) -> ir.Value:
    """A vector whose lanes are those of several: (which one, which of its lanes)."""
    (lanes,) = ir.VectorType(sources[0].type).shape
    used = sorted({number for number, _ in wanted})
    result = sources[used[0]]
    mask = [lane if number == used[0] else 0 for number, lane in wanted]
    if len(used) == 1:
        return vector.ShuffleOp(result, result, mask).result
    for at, number in enumerate(used[1:]):
        own = mask if at == 0 else list(range(lanes))
        places = [lanes + lane if n == number else own[i] for i, (n, lane) in enumerate(wanted)]
        result = vector.ShuffleOp(result, sources[number], places).result
    return result
