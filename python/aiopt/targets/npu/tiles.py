"""Chooses tiles: how much of a matrix product is on the chip at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

from aiopt.dialects.ext import type_of
from aiopt.support.errors import UnsupportedError
from aiopt.targets.npu.isa import ELEMENTS, Element
from aiopt.targets.npu.kernel import Product
from aiopt.targets.npu.machine import Machine

ALIGNMENT = 64


@dataclass(frozen=True)
class Problem:
    """A product [m, k] x [k, n] with its element types, and the bytes that stay in the scratchpad throughout."""

    m: int
    n: int
    k: int
    element: Element
    result: Element
    resident_bytes: int
    vector_passes: int  # of the vector unit over each element of the result


def problem_of(product: Product) -> Problem:
    """What tiles are chosen for."""
    m, n, k = product.shape
    scales = product.requantize is not None and product.requantize.scale.ndim == 1
    rows = (product.bias is not None) + scales
    element = ELEMENTS[type_of(product.left).element]
    passes = max(1, (product.bias is not None) + product.relu) if element == Element.F32 else 1
    return Problem(m, n, k, element, ELEMENTS[type_of(product.result).element], rows * _aligned(4 * n), passes)


@dataclass(frozen=True)
class Tiles:
    """A result is made in tiles [m, n], their sums from chunks of k; `depth` buffers of each take turns."""

    m: int
    n: int
    k: int
    depth: int

    def left_bytes(self, problem: Problem) -> int:
        return _aligned(self.m * self.k * problem.element.bytes)

    def right_bytes(self, problem: Problem) -> int:
        return _aligned(self.k * self.n * problem.element.bytes)

    def out_bytes(self, problem: Problem) -> int:
        return _aligned(self.m * self.n * problem.result.bytes)

    def acc_bytes(self) -> int:
        return self.m * self.n * 4

    def spad_need(self, problem: Problem) -> int:
        """Bytes of scratchpad it all takes."""
        buffers = self.left_bytes(problem) + self.right_bytes(problem) + self.out_bytes(problem)
        return problem.resident_bytes + self.depth * buffers


def choose(problem: Problem, machine: Machine, depth: int) -> Tiles:
    """Of the tiles that are as fast as the fastest but for 3 cycles in 1000, those with the fewest instructions.

    Raises UnsupportedError if not even the smallest fit.
    """
    fitting = [
        (estimate(problem, tiles, machine), tiles)
        for tiles in _candidates(problem, machine, depth)
        if tiles.spad_need(problem) <= machine.spad_bytes and depth * tiles.acc_bytes() <= machine.acc_bytes
    ]
    if not fitting:
        smallest = next(_candidates(problem, machine, depth))
        raise UnsupportedError(
            f"matmul [{problem.m}, {problem.k}] x [{problem.k}, {problem.n}] does not fit machine '{machine.name}': "
            f"the smallest tiles need {smallest.spad_need(problem)} bytes of scratchpad and "
            f"{depth * smallest.acc_bytes()} of accumulators, but there are {machine.spad_bytes} and "
            f"{machine.acc_bytes}"
        )
    limit = 1.01 * min(cycles for cycles, _ in fitting)
    return min(
        (tiles for cycles, tiles in fitting if cycles <= limit), key=lambda t: _instructions(problem, t, machine)
    )


def _instructions(problem: Problem, tiles: Tiles, machine: Machine) -> int:
    """About how many there are."""
    count = math.prod(_counts(problem, tiles))
    return count * (2 + 2 * -(-tiles.k // machine.rows) * -(-tiles.n // machine.columns))


def _counts(problem: Problem, tiles: Tiles) -> tuple[int, int, int]:
    """Tiles along m, along n, and chunks of k."""
    return -(-problem.m // tiles.m), -(-problem.n // tiles.n), -(-problem.k // tiles.k)


def _candidates(problem: Problem, machine: Machine, depth: int) -> Iterator[Tiles]:
    """Sizes of the array times powers of two, smallest first; nothing larger than the problem."""
    sizes = ((problem.m, machine.rows), (problem.n, machine.columns), (problem.k, machine.rows))
    for m, n, k in itertools.product(*(_powers(whole, unit) for whole, unit in sizes)):
        yield Tiles(m, n, k, depth)


def _powers(whole: int, unit: int) -> list[int]:
    found = [min(unit, whole)]
    while found[-1] < whole:
        found.append(min(2 * found[-1], whole))
    return found


def estimate(problem: Problem, tiles: Tiles, machine: Machine) -> float:
    """Cycles if the queues overlap as far as the buffers allow: the slowest queue, and what nothing hides."""
    tiles_m, tiles_n, chunks = (
        -(-w // t) for w, t in ((problem.m, tiles.m), (problem.n, tiles.n), (problem.k, tiles.k))
    )
    size, per_cycle = problem.element.bytes, machine.dma_bytes_per_cycle
    left = machine.dma_latency + tiles.m * _run(tiles.k * size, machine) / per_cycle
    right = machine.dma_latency + tiles.k * _run(tiles.n * size, machine) / per_cycle
    store = machine.dma_latency + tiles.m * _run(tiles.n * problem.result.bytes, machine) / per_cycle
    rate = machine.f32_cycles if problem.element == Element.F32 else machine.int8_cycles
    folds = -(-tiles.k // machine.rows) * -(-tiles.n // machine.columns)
    matrix = folds * max(tiles.m * rate, machine.rows)
    vector = problem.vector_passes * tiles.m * -(-tiles.n // machine.lanes)
    count = tiles_m * tiles_n
    if tiles.depth == 1:
        return count * (chunks * (left + right + matrix) + vector + store)
    return (
        max(count * chunks * max(left + right, matrix), count * vector, count * store) + left + right + vector + store
    )


def _run(row_bytes: int, machine: Machine) -> int:
    """Bytes that move for a row of a tile."""
    return -(-row_bytes // machine.dma_burst) * machine.dma_burst


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
