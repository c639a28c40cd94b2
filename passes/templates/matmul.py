"""Matrix products, pointwise convolutions among them: panels of columns that stay in cache, tiles in registers.

Source: Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, TOMS 2008; without packing the rows,
which are read an element at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, prod

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.access import Access
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.blocking import (
    Block,
    choose_block,
    divides_rows,
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
from aiopt.passes.templates.turn import Lines, turn_columns
from aiopt.passes.templates.view import Places, View
from aiopt.support.cost import MULTIPLY_ADDS
from aiopt.support.errors import CompileError
from aiopt.support.types import item_bytes

_TASKS_PER_CORE = 4
# The part of the L2 cache for a panel. Were it small enough for L1, sums would pass through memory more often: slower.
_PANEL_PART = 8
# Steps of a panel whose columns are not packed: each reads a line from elsewhere, and more of them fall out of L1.
_STRIDED_STEPS = 128
# So much longer the last core may take than the others: task sizes are not equal to the last row anyway.
_IDLE = 0.02
_FEWEST_THREADS = 2  # on which it matters how a loop is divided
_MANY_ROWS = 2  # tiles of rows from which on a panel stays in the L2 cache for the next


@dataclass(frozen=True)
class Matrix:
    """An operand as the loops read it, and its strides (0: broadcast)."""

    value: ir.Value
    lead: list[int]
    row: int
    column: int


@dataclass(frozen=True)
class Product:
    """[*batch, m, k] x [*batch, k, n]."""

    batch: tuple[int, ...]
    m: int
    k: int
    n: int
    lhs: Matrix
    rhs: Matrix
    bias: ir.Value | None
    axes: Axes  # of the kernel's result
    line: int = 1  # rows of the product in a row of what is computed in bands: pixels of a row of images


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
    if kernel.out.size == 0 or kernel.scores is not None:
        return False
    return type_of(root.lhs).shape[-1] > 0 if isinstance(root, ai.MatMulOp) else covers_pointwise(kernel)


def read_product(kernel: Contraction) -> Product:
    """The product that a kernel which this template covers is."""
    root, out = kernel.weighted, kernel.out
    if isinstance(root, ai.ConvOp):
        return _read_conv(kernel, root)
    *lead, m, n = out.shape
    lhs, rhs = kernel.access(root.lhs), kernel.access(root.rhs)
    trailing = 2 if root.pack is None else 3  # axes of a packed rhs: blocks, k, columns of a block
    rows: Axes = [range(out.rank - 1), [out.rank - 1]]
    row = lhs.joined(0, out.rank - 1) if list(lhs.shape[:-2]) == lead else None
    if prod(rhs.shape[:-trailing]) == 1 and row is not None and kernel.turn is None and folds(kernel, rows):
        batch, count, axes = (), prod(lead) * m if kernel.rows is None else kernel.rows, rows
    else:
        batch, count, axes, row = tuple(lead), m, each_axis(out.rank), lhs.strides[-2]
    left = Matrix(root.lhs, _batch_strides(lhs, 2, len(batch)), row, lhs.strides[-1])
    right = Matrix(root.rhs, _batch_strides(rhs, trailing, len(batch)), *rhs.strides[-2:])
    return Product(batch, count, lhs.shape[-1], n, left, right, None, axes)


def _read_conv(kernel: Contraction, root: ai.ConvOp) -> Product:
    out, image = kernel.out, kernel.access(root.input)
    axes = conv_axes(out.rank, root)
    if root.layout is not None:
        line, channels = prod(out.shape[2:-1]), image.shape[-1]
        pixels = prod(out.shape[:-1]) if kernel.rows is None else kernel.rows * line
        lhs = Matrix(root.input, [], image.strides[-2], 1)  # pixels lie further apart in a slice of channels
        rhs = Matrix(root.weight, [], out.shape[-1], 1)
        return Product((), pixels, channels, out.shape[-1], lhs, rhs, root.bias, axes, line)
    images, channels = image.shape[:2]
    pixels, filters = prod(out.shape[2:]), out.shape[1]
    lhs, rhs = Matrix(root.weight, [0], channels, 1), Matrix(root.input, [channels * pixels], pixels, 1)
    return Product((images,), filters, channels, pixels, lhs, rhs, root.bias, axes)


def _batch_strides(access: Access, trailing: int, rank: int) -> list[int]:
    """Strides along the last `rank` batch axes of the result, 0 where the operand has one matrix for all."""
    lead = len(access.shape) - trailing
    own = [0 if access.shape[axis] == 1 else access.strides[axis] for axis in range(lead)]
    return ([0] * rank + own)[len(own) :] if len(own) <= rank else []


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    product, given = read_product(kernel), kernel.pack
    lanes = facts.lanes if given is None else gcd(facts.lanes, given)
    vectors = None if given is None else given // lanes
    block = choose_block(lambda rows: split(product.m, rows), product.n, facts.registers, lanes, vectors)
    mr, nr = block.rows, block.vectors * lanes
    reused = product.m > _MANY_ROWS * mr
    limit = product.k
    if reused and not kernel.has_low_result:
        limit = facts.l2_bytes // _PANEL_PART // (4 * nr)
        limit = limit if kernel.packable or product.rhs.column != 1 else min(limit, _STRIDED_STEPS)
    kc = -(-product.k // -(-product.k // max(limit, 1)))
    kc = min(kc + kc % 2, product.k)
    item = item_bytes(type_of(kernel.source(product.rhs.value)).element)
    tiles, panels = -(-product.m // mr), -(-product.n // nr)
    tiles = min(tiles, max(1, facts.l2_bytes // 2 // (4 * kc * mr)))
    tasks = _TASKS_PER_CORE * facts.cores // prod(product.batch)
    while -(-product.m // (tiles * mr)) * -(-product.n // (panels * nr)) < tasks and (tiles > 1 or panels > 1):
        if tiles * mr > panels * nr or panels == 1:
            tiles = -(-tiles // 2)
        else:
            panels = -(-panels // 2)
    across = 1 if _divides_rows(kernel, product, mr, lanes) else -(-product.n // (panels * nr))
    tiles = _even_tiles(product, mr, tiles, across, facts.cores)
    return {
        "lanes": lanes,
        "fma": int(facts.fma),
        "dot": int(product.lhs.column == 1 and sums_pairs(kernel, facts, lanes)),
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


def _divides_rows(kernel: Contraction, product: Product, mr: int, lanes: int) -> bool:
    """Whether threads divide the rows of the result or its columns. Of several matrices each thread has some.

    Around products that are no convolutions stand others, whose arithmetic hides what goes from core to core; reading
    all weights on each core is not hidden there.
    """
    if prod(product.batch) > 1 or not kernel.packable or not isinstance(kernel.root, ai.ConvOp):
        return False
    item = item_bytes(type_of(kernel.source(product.rhs.value)).element)
    work = product.m * product.k * product.n / (MULTIPLY_ADDS * lanes)
    waiting = idle_part(-(-product.m // mr), _FEWEST_THREADS) * work / _FEWEST_THREADS
    return divides_rows(item * product.k * product.n, product.m * (item * product.k + 4 * product.n), waiting)


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
    turned: bool  # the columns of the right operand are vectors in memory, not its rows
    panel: ir.Value | None = None  # those of a task, turned

    def task(self, *indices: ir.Value) -> None:
        """A part of the result, `tiles` by `panels`: all of its sums, a part of the reduction after the other."""
        *batch, across, down = indices
        product, kc = self.product, self.numbers["kc"]
        panel = emit.scratch(min(kc, product.k) * self.numbers["nr"]) if self.turned else None
        emitter = replace(self, panel=panel)

        def part(start: Index, _: list[ir.Value]) -> list[ir.Value]:
            emitter._panels(tuple(batch), across, down, start)
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
        columns = self._columns(batch, column, width, start)
        first: Index = 0 if groups == 1 else emit.mul(down, tiles)
        tile = row = 0  # where a part starts
        for size, times in parts:

            def one(position: Index, _: list[ir.Value], size: int = size) -> list[ir.Value]:
                self._tile(Tile(batch, emit.add(position, self.first), column, size, chunks), columns, start)
                return []

            lower: Index = emit.maximum(first, tile) if tile else first
            upper = tile + times if groups == 1 else emit.minimum(emit.add(first, tiles), tile + times)
            lower, upper = (emit.add(emit.mul(bound, size), row - tile * size) for bound in (lower, upper))
            emit.for_loop(lower, upper, size, [], one)
            tile, row = tile + times, row + size * times

    def _columns(self, batch: tuple[Index, ...], column: Index, width: int, start: Index) -> Columns:
        """A panel of the right operand; where its rows are no vectors in memory, they are made here."""
        rhs, k, nr, lanes = self.product.rhs, self.product.k, self.numbers["nr"], self.numbers["lanes"]
        first = emit.add(self.rhs.base, emit.dot(batch, rhs.lead))
        if self.packed:
            place = emit.add(first, emit.add(emit.mul(column, k), emit.mul(start, nr)))
            return Columns(self.rhs.buffer, place, nr, True, self._ahead(place), nr)
        place = emit.add(first, emit.add(emit.mul(column, rhs.column), emit.mul(start, rhs.row)))
        if self.panel is None:
            return Columns(self.rhs.buffer, place, rhs.row, False)
        lines = Lines(self.rhs.buffer, place, rhs.column, width)
        turn_columns(lines, self._steps(start), self.panel, 0, nr, lanes)
        return Columns(self.panel, 0, nr, True)

    def _steps(self, start: Index) -> Index:
        """How long the part of the reduction is that begins at `start`."""
        k, kc = self.product.k, self.numbers["kc"]
        return min(kc, k) if k % kc == 0 or kc >= k else emit.minimum(kc, emit.add(k, emit.mul(start, -1)))

    def _tile(self, tile: Tile, columns: Columns, start: Index) -> None:
        product, kc, lhs = self.product, self.numbers["kc"], self.product.lhs
        whole = kc >= product.k
        at = emit.add(self.lhs.base, emit.add(emit.dot(tile.lead, lhs.lead), emit.mul(tile.row, lhs.row)))
        at = emit.add(at, emit.mul(start, lhs.column))
        rows = Rows(self.lhs.buffer, at, [row * lhs.row for row in range(tile.rows)], lhs.column)
        sums = self.result.begin(tile, True if whole else emit.equal(start, 0))
        arithmetic = Arithmetic.of(self.numbers)
        sums = reduce_products(tile, range(tile.rows), sums, self._steps(start), rows, columns, arithmetic)
        self.result.end(tile, sums, True if whole else emit.equal(start, product.k - _rest(product.k, kc)))

    def _ahead(self, place: Index) -> Index | None:
        """The same part of the next panel."""
        if not self.numbers["ahead"] or not self.packed:
            return None
        panel = self.product.k * self.numbers["nr"]
        return emit.minimum(emit.add(place, panel), self.rhs.buffer.type.shape[0] - panel)  # pyright: ignore[reportAttributeAccessIssue]


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
    lhs, rhs = places[product.lhs.value], places[product.rhs.value]
    turned = kernel.pack is None and product.rhs.column != 1 and product.n > 1
    emitter = _Emitter(product, parameters, result, lhs, rhs, kernel.pack is not None, first, turned)
    columns, rows = parameters["panels"] * parameters["nr"], parameters["tiles"] * parameters["mr"]
    trips = [-(-product.n // columns), -(-product.m // rows)]
    rows = _divides_rows(kernel, product, parameters["mr"], parameters["lanes"])
    emit.forall([*product.batch, *trips], emitter.task, along=len(product.batch) + int(rows))


TEMPLATE = Template(
    "matmul",
    ("lanes", "fma", "dot", "mr", "nr", "kc", "tiles", "panels", "ahead"),
    _matches,
    _cost,
    _parameters,
    _ranges,
    _emit,
)
