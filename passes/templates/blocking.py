"""How many rows and columns of a result a kernel keeps in registers, decided by a model of one core (no mlir here)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from aiopt.support.cost import BYTES_PER_CYCLE, MULTIPLY_ADDS

# A core of the last ten years: two multiply-adds and two vector loads a cycle, results after four cycles, five ops
# issued a cycle.
_LOADS, _LATENCY, _ISSUE = 2, 4, 5
_MAX_ROWS, _MAX_VECTORS = 16, 8
_FEW_ROWS = 512
# Cycles that a byte costs if threads divide columns: lines are read on cores that did not write them, and who writes to
# a line next that two caches share waits for 30 ns (90 cycles) where these are far apart, for 9 where they are near.
_CYCLES_TO_CROSS = 0.7
_FEWEST_THREADS = 2  # on which it matters how a loop is divided


@dataclass(frozen=True)
class Block:
    """A register block: `rows` x `vectors` accumulators."""

    rows: int
    vectors: int


def register_blocks(registers: int) -> Iterator[Block]:
    """Blocks that fit: accumulators, one vector of each column and one broadcast element at a time."""
    for vectors in range(1, _MAX_VECTORS + 1):
        for rows in range(1, _MAX_ROWS + 1):
            if rows * vectors + vectors + 1 <= registers:
                yield Block(rows, vectors)


def step_cycles(block: Block) -> float:
    """Cycles of one step of the reduction: each accumulator gets one product. Traffic decides between equal ones."""
    products, loads = block.rows * block.vectors, block.rows + block.vectors
    traffic = (block.rows + 3 * block.vectors) / 40  # vectors are new memory at each step, elements seldom
    return max(products / MULTIPLY_ADDS, loads / _LOADS, (products + loads + 3) / _ISSUE, _LATENCY) + traffic


def split(count: int, limit: int) -> list[tuple[int, int]]:
    """`count` in the fewest parts of at most `limit`, as even as possible: (size, how many), larger ones first."""
    parts = -(-count // limit)
    small, larger = divmod(count, parts)
    return [(size, times) for size, times in ((small + 1, larger), (small, parts - larger)) if times]


def cut(count: int, size: int) -> list[tuple[int, int]]:
    """`count` in parts of `size` and one of what is left: (size, how many)."""
    full, rest = divmod(count, size)
    return [(part, times) for part, times in ((size, full), (rest, 1)) if part and times]


def fetches_ahead(rows: int, weight_bytes: int, block_bytes: int, l2_bytes: int) -> int:
    """1 if it pays to fetch weights a block ahead, and two blocks fit in L2.

    They are in no near cache, as a net has more of them than one holds. How long that takes grows with the weights, the
    price with the rows that are multiplied with them.
    """
    pays = weight_bytes > l2_bytes // (2 if rows > _FEW_ROWS else 64)
    return int(pays and block_bytes <= l2_bytes // 4)


def idle_part(tasks: int, cores: int) -> float:
    """How much longer the last of some cores takes for equal tasks than if they were cut evenly: 0 for a multiple."""
    return -(-tasks // cores) * cores / tasks - 1


def divides_rows(weight_bytes: int, moved_bytes: int, rows: int = 2, work: float = 0.0) -> bool:
    """True if threads are to divide the rows of a result (pixels, say) among them, not its columns.

    Rows then stay in the cache of the core that goes on with them, as most kernels divide them. Each core reads all
    weights for it, in place of its part of them, and waits for one that has more of the rows that cannot be cut.
    moved_bytes: read and written beside the weights. work: cycles of all rows.
    """
    waiting = idle_part(rows, _FEWEST_THREADS) * work / _FEWEST_THREADS
    return weight_bytes / 2 / BYTES_PER_CYCLE["memory"] + waiting < _CYCLES_TO_CROSS * moved_bytes


def choose_block(
    rows_of: Callable[[int], list[tuple[int, int]]],
    columns: int,
    registers: int,
    lanes: int,
    vectors: int | None = None,
) -> Block:
    """The block of least cost; of equal ones the one of the fewest parts.

    rows_of: the parts (size, how many) that the rows are cut into, given the most rows of a block. vectors: given
    where the weights are packed already.
    """

    def cost(block: Block) -> tuple[float, int]:
        parts = rows_of(block.rows)
        full, rest = divmod(columns, block.vectors * lanes)
        cycles = sum(times * step_cycles(Block(size, block.vectors)) for size, times in parts) * full
        if rest:
            cycles += sum(times * step_cycles(Block(size, -(-rest // lanes))) for size, times in parts)
        return cycles, sum(times for _, times in parts) * -(-columns // (block.vectors * lanes))

    widest = max(1, -(-columns // lanes))
    fitting = [b for b in register_blocks(registers) if b.vectors == (vectors or b.vectors)]
    return min([b for b in fitting if b.vectors <= (vectors or widest)], key=cost)
