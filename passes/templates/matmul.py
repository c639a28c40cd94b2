"""Matrix products, pointwise convolutions among them: panels of columns that stay in cache, tiles in registers.

Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, TOMS 2008; without packing the rows,
which are read an element at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.blocking import (
    Block,
    choose_block,
    fetches_ahead,
    idle_part,
    register_blocks,
    split,
    step_cycles,
)
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Axes, Result, Tile, each_axis, folds
from aiopt.passes.templates.kernel import Contraction, is_pointwise
from aiopt.passes.templates.pairs import sums_pairs
from aiopt.passes.templates.reduce import Arithmetic, Columns, Rows, reduce_products
from aiopt.passes.templates.view import Places, View
from aiopt.support.errors import CompileError
from aiopt.support.types import TensorType, item_bytes

_TASKS_PER_CORE = 4
# The part of the L2 cache for a panel. Were it small enough for L1, sums would pass through memory more often: slower.
_PANEL_PART = 8
# Steps of a panel whose columns are not packed: each reads a line from elsewhere, and more of them fall out of L1.
_STRIDED_STEPS = 128
# So much longer the last core may take than the others: task sizes are not equal to the last row anyway.
_IDLE = 0.02


@dataclass(frozen=True)
class Product:
    """[*batch, m, k] x [*batch, k, n] with the strides of both operands along the batch axes (0: broadcast)."""

    batch: tuple[int, ...]
    m: int
    k: int
    n: int
    lhs: ir.Value
    rhs: ir.Value
    lhs_strides: list[int]
    rhs_strides: list[int]
    bias: ir.Value | None
    axes: Axes  # of the kernel's result
    line: int = 0  # pixels of a row of the images whose bands are computed


def covers_pointwise(kernel: Contraction) -> bool:
    """True for a pointwise convolution that is a matrix product: of pixels and filters, or the other way round.

    With channels last the pixels of all images are rows, and the filters columns, packed. With channels first filters
    are rows, and the pixels of an image columns.
    """
    root = kernel.root
    if (
        not isinstance(root, ai.ConvOp)
        or kernel.turned
        or not is_pointwise(root)
        or not folds(kernel, conv_axes(kernel.out.rank, root))
    ):
        return False
    return kernel.packable if root.layout is not None else root.pack is None


def conv_axes(rank: int, root: ai.ConvOp) -> Axes:
    """The axes of a pointwise convolution's result: pixels are one."""
    return [range(rank - 1), [rank - 1]] if root.layout is not None else [[0], [1], range(2, rank)]


def _matches(kernel: Contraction) -> bool:
    root = kernel.root
    if kernel.out.size == 0:
        return False
    return type_of(root.lhs).shape[-1] > 0 if isinstance(root, ai.MatMulOp) else covers_pointwise(kernel)


def read_product(kernel: Contraction) -> Product:
    """The product that a kernel which this template covers is."""
    root, out = kernel.weighted, kernel.out
    if isinstance(root, ai.ConvOp):
        return _read_conv(root, out, kernel.rows)
    *lead, m, n = out.shape
    lhs, rhs = type_of(root.lhs), type_of(root.rhs)
    trailing = 2 if root.pack is None else 3  # axes of a packed rhs: blocks, k, columns of a block
    rows: Axes = [range(out.rank - 1), [out.rank - 1]]
    if prod(rhs.shape[:-trailing]) == 1 and list(lhs.shape[:-2]) == lead and folds(kernel, rows):
        return Product((), prod(lead) * m, lhs.shape[-1], n, root.lhs, root.rhs, [], [], None, rows)
    return Product(
        tuple(lead),
        m,
        lhs.shape[-1],
        n,
        root.lhs,
        root.rhs,
        _batch_strides(lhs.shape, 2, len(lead)),
        _batch_strides(rhs.shape, trailing, len(lead)),
        None,
        each_axis(out.rank),
    )


def _read_conv(root: ai.ConvOp, out: TensorType, rows: int | None) -> Product:
    axes, image = conv_axes(out.rank, root), type_of(root.input)
    if root.layout is not None:
        line, channels = prod(out.shape[2:-1]), image.shape[-1]
        pixels = prod(out.shape[:-1]) if rows is None else rows * line
        return Product((), pixels, channels, out.shape[-1], root.input, root.weight, [], [], root.bias, axes, line)
    images, channels = image.shape[:2]
    pixels, filters = prod(out.shape[2:]), out.shape[1]
    strides = [0], [channels * pixels]
    return Product((images,), filters, channels, pixels, root.weight, root.input, *strides, root.bias, axes)


def _batch_strides(shape: Sequence[int], trailing: int, rank: int) -> list[int]:
    """Strides along the result's batch axes, 0 where the operand has one matrix for all."""
    lead = shape[:-trailing]
    strides = emit.row_major(shape)[: len(lead)]
    own = [0 if size == 1 else stride for size, stride in zip(lead, strides, strict=True)]
    return [0] * (rank - len(own)) + own


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    product, given = read_product(kernel), kernel.pack
    lanes = facts.lanes if given is None else gcd(facts.lanes, given)
    vectors = None if given is None else given // lanes
    block = choose_block(lambda rows: split(product.m, rows), product.n, facts.registers, lanes, vectors)
    mr, nr = block.rows, block.vectors * lanes
    reused = product.m > 2 * mr
    limit = product.k
    if reused and not kernel.has_low_result:
        limit = facts.l2_bytes // _PANEL_PART // (4 * nr)
        limit = limit if kernel.packable else min(limit, _STRIDED_STEPS)
    kc = -(-product.k // -(-product.k // max(limit, 1)))
    kc = min(kc + kc % 2, product.k)
    item = item_bytes(type_of(product.rhs).element)
    tiles, panels = -(-product.m // mr), -(-product.n // nr)
    tiles = min(tiles, max(1, facts.l2_bytes // 2 // (4 * kc * mr)))
    tasks = _TASKS_PER_CORE * facts.cores // prod(product.batch)
    while -(-product.m // (tiles * mr)) * -(-product.n // (panels * nr)) < tasks and (tiles > 1 or panels > 1):
        if tiles * mr > panels * nr or panels == 1:
            tiles = -(-tiles // 2)
        else:
            panels = -(-panels // 2)
    tiles = _even_tiles(product, mr, tiles, -(-product.n // (panels * nr)), facts.cores)
    return {
        "lanes": lanes,
        "fma": int(facts.fma),
        "dot": int(sums_pairs(kernel, facts, lanes)),
        "mr": mr,
        "nr": nr,
        "kc": kc,
        "tiles": tiles,
        "panels": panels,
        "ahead": int(
            reused
            and kernel.packable
            and fetches_ahead(product.m, item * product.k * product.n, item * kc * nr, facts.l2_bytes)
        ),
    }


def _cost(kernel: Contraction, facts: Facts) -> float:
    product, numbers = read_product(kernel), _parameters(kernel, facts)
    lanes = numbers["lanes"]
    full, rest = divmod(product.n, numbers["nr"])
    steps = sum(
        times
        * (
            full * step_cycles(Block(rows, numbers["nr"] // lanes))
            + (step_cycles(Block(rows, -(-rest // lanes))) if rest else 0)
        )
        for rows, times in split(product.m, numbers["mr"])
    )
    return prod(product.batch) * product.k * steps


def _even_tiles(product: Product, mr: int, tiles: int, across: int, cores: int) -> int:
    """Tiles of a task, fewer where that gives all cores as many tasks."""
    others, total = prod(product.batch) * across, -(-product.m // mr)
    down = -(-total // tiles)
    if idle_part(others * down, cores) <= _IDLE:
        return tiles
    even = next(count for count in range(down, down + cores) if others * count % cores == 0)
    return max(1, -(-total // even))


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    blocks = list(register_blocks(facts.registers))
    product = read_product(kernel)
    k = product.k
    return {
        "mr": sorted({block.rows for block in blocks}),
        "nr": sorted({block.vectors * facts.lanes for block in blocks}) if kernel.pack is None else [kernel.pack],
        "kc": [size for size in (64, 128, 192, 256, 384, 512, 1024, 2048) if size < k and not kernel.has_low_result]
        + [k],
        "tiles": range(1, product.m + 1),
        "panels": range(1, -(-product.n // facts.lanes) + 1),
        "ahead": (0, 1) if kernel.packable else (0,),
    }


@dataclass(frozen=True)
class _Emitter:
    product: Product
    numbers: Parameters
    result: Result
    lhs: View
    rhs: View
    packed: bool
    first: Index  # row of the result

    def task(self, *indices: ir.Value) -> None:
        """A part of the result, `tiles` by `panels`: all of its sums, a part of the reduction after the other."""
        *batch, across, down = indices
        product, kc = self.product, self.numbers["kc"]

        def part(start: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._panels(tuple(batch), across, down, start)
            return []

        emit.for_loop(0, product.k, kc, [], part)

    def _panels(self, batch: tuple[Index, ...], across: ir.Value, down: ir.Value, start: Index) -> None:
        n, nr = self.product.n, self.numbers["nr"]
        nc = self.numbers["panels"] * nr
        groups, full = -(-n // nc), n - n % nr
        first: Index = 0 if groups == 1 else emit.mul(across, nc)

        def panel(column: Index, _: list[ir.Value]) -> list[ir.Value]:
            self._rows(batch, column, nr, down, start)
            return []

        emit.for_loop(first, full if groups == 1 else emit.minimum(emit.add(first, nc), full), nr, [], panel)
        if n % nr:
            is_last = True if groups == 1 else emit.equal(across, groups - 1)
            emit.when(is_last, lambda: self._rows(batch, full, n - full, down, start))

    def _rows(self, batch: tuple[Index, ...], column: Index, width: int, down: ir.Value, start: Index) -> None:
        tiles, parts = self.numbers["tiles"], split(self.product.m, self.numbers["mr"])
        groups = -(-sum(times for _, times in parts) // tiles)
        chunks = emit.chunks(width, self.numbers["lanes"], single=bool(self.numbers["dot"]))
        first: Index = 0 if groups == 1 else emit.mul(down, tiles)
        tile = row = 0  # where a part starts
        for size, times in parts:

            def one(position: Index, _: list[ir.Value], size: int = size) -> list[ir.Value]:
                self._tile(Tile(batch, emit.add(position, self.first), column, size, chunks), start)
                return []

            lower: Index = emit.maximum(first, tile) if tile else first
            upper = tile + times if groups == 1 else emit.minimum(emit.add(first, tiles), tile + times)
            lower, upper = (emit.add(emit.mul(bound, size), row - tile * size) for bound in (lower, upper))
            emit.for_loop(lower, upper, size, [], one)
            tile, row = tile + times, row + size * times

    def _tile(self, tile: Tile, start: Index) -> None:
        product, nr, kc = self.product, self.numbers["nr"], self.numbers["kc"]
        steps = emit.minimum(kc, emit.add(product.k, emit.mul(start, -1))) if product.k % kc else kc
        whole = kc >= product.k
        line = self.lhs.strides[-2] if product.line else product.k  # pixels lie further apart in a slice of channels
        at = emit.add(emit.dot(tile.lead, product.lhs_strides), emit.add(emit.mul(tile.row, line), start))
        rows = Rows(self.lhs.buffer, emit.add(self.lhs.base, at), [row * line for row in range(tile.rows)])
        stride = nr if self.packed else product.n
        column = emit.mul(tile.column, product.k if self.packed else 1)
        place = emit.add(emit.dot(tile.lead, product.rhs_strides), emit.add(column, emit.mul(start, stride)))
        place = emit.add(self.rhs.base, place)
        columns = Columns(self.rhs.buffer, place, stride, self.packed, self._ahead(place), nr)
        sums = self.result.begin(tile, True if whole else emit.equal(start, 0))
        sums = reduce_products(
            tile,
            range(tile.rows),
            sums,
            product.k if whole else steps,
            rows,
            columns,
            Arithmetic.of(self.numbers),
        )
        self.result.end(tile, sums, True if whole else emit.equal(start, product.k - _rest(product.k, kc)))

    def _ahead(self, place: Index) -> Index | None:
        """The same part of the next panel."""
        if not self.numbers["ahead"] or not self.packed:
            return None
        panel = self.product.k * self.numbers["nr"]
        return emit.minimum(emit.add(place, panel), self.rhs.type.shape[0] - panel)  # pyright: ignore[reportAttributeAccessIssue]


def _rest(total: int, part: int) -> int:
    """How long the last part is."""
    return total % part or part


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    product = read_product(kernel)
    if kernel.has_low_result and parameters["kc"] < product.k:
        raise CompileError(
            f"the template 'matmul' keeps sums in a {type_of(kernel.result)} result: kc must be {product.k}"
        )
    result = Result.of(kernel, places, product.bias, product.axes)
    first = emit.mul(places.first, product.line)
    lhs, rhs = places[product.lhs], places[product.rhs]
    emitter = _Emitter(product, parameters, result, lhs, rhs, kernel.pack is not None, first)
    columns, rows = parameters["panels"] * parameters["nr"], parameters["tiles"] * parameters["mr"]
    trips = [-(-product.n // columns), -(-product.m // rows)]
    emit.forall([*product.batch, *trips], emitter.task)


TEMPLATE = Template(
    "matmul",
    ("lanes", "fma", "dot", "mr", "nr", "kc", "tiles", "panels", "ahead"),
    _matches,
    _cost,
    _parameters,
    _ranges,
    _emit,
)
