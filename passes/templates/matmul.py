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
from aiopt.passes.templates.epilogue import Result, Tile
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.pairs import sums_pairs
from aiopt.passes.templates.product import Product, covers_pointwise, read_product
from aiopt.passes.templates.reduce import Arithmetic, Columns, Rows, reduce_products
from aiopt.passes.templates.turn import Lines, copy_columns, turn_columns
from aiopt.passes.templates.view import Places, View
from aiopt.support.cost import MULTIPLY_ADDS
from aiopt.support.errors import CompileError
from aiopt.support.types import item_bytes

_TASKS_PER_CORE = 4
# The part of the L2 cache for a panel. Were it small enough for L1, sums would pass through memory more often: slower.
_PANEL_PART = 8
# The part of it for the rows of a task. Those of strided pixels are in part of its sets only; where all columns stay in
# the L2 cache, fewer rows cost nothing.
_ROWS_PART, _APART_PART = 2, 16
# Steps of a panel whose columns are not packed: each reads a line from elsewhere, and more of them fall out of L1.
_STRIDED_STEPS = 128
# Such a panel is copied for the rows that come if they are at least so many tiles, and if it has more steps than the L1
# cache has room for one line of each; so many steps at a time.
_COPIED_TILES, _LINES, _COPIED_STEPS = 4, 64, 256
# So much longer the last core may take than the others: task sizes are not equal to the last row anyway.
_IDLE = 0.02
_MANY_ROWS = 2  # tiles of rows from which on a panel stays in the L2 cache for the next


def _matches(kernel: Contraction) -> bool:
    root = kernel.root
    if kernel.out.size == 0 or kernel.scores is not None:
        return False
    return type_of(root.lhs).shape[-1] > 0 if isinstance(root, ai.MatMulOp) else covers_pointwise(kernel)


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    product, given = read_product(kernel), kernel.pack
    lanes = facts.lanes if given is None else gcd(facts.lanes, given)
    vectors = None if given is None else given // lanes
    block = choose_block(lambda rows: split(product.m, rows), product.n, facts.registers, lanes, vectors)
    mr, nr = block.rows, block.vectors * lanes
    reused = product.m > _MANY_ROWS * mr
    is_strided = _is_strided(kernel, product)
    copies = (
        is_strided
        and product.rhs.row > nr
        and product.m >= _COPIED_TILES * mr
        and product.k > _LINES
        and not kernel.has_low_result
    )
    limit = product.k
    if reused and not kernel.has_low_result:
        limit = facts.l2_bytes // _PANEL_PART // (4 * nr)
        limit = min(limit, _COPIED_STEPS if copies else _STRIDED_STEPS) if is_strided else limit
    kc = -(-product.k // -(-product.k // max(limit, 1)))
    kc = min(kc + kc % 2, product.k)
    item = item_bytes(type_of(kernel.source(product.rhs.value)).element)
    weight_bytes = item * product.k * product.n
    tiles, panels = -(-product.m // mr), -(-product.n // nr)
    is_apart = product.lhs.lines is not None and weight_bytes <= facts.l2_bytes // 2
    tiles = min(tiles, max(1, facts.l2_bytes // (_APART_PART if is_apart else _ROWS_PART) // (4 * kc * mr)))
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
        "copy": int(copies),
        "ahead": int(
            reused and kernel.packable and fetches_ahead(product.m, weight_bytes, item * kc * nr, facts.l2_bytes)
        ),
    }


def _is_strided(kernel: Contraction, product: Product) -> bool:
    """True if a panel's rows are vectors that lie apart in memory."""
    return not kernel.packable and product.rhs.column == 1


def _divides_rows(kernel: Contraction, product: Product, mr: int, lanes: int) -> bool:
    """Whether threads divide the rows of the result or its columns. Of several matrices each thread has some.

    Around products that are no convolutions stand others, whose arithmetic hides what goes from core to core; reading
    all weights on each core is not hidden there.
    """
    if prod(product.batch) > 1 or not kernel.packable or not isinstance(kernel.root, ai.ConvOp):
        return False
    item = item_bytes(type_of(kernel.source(product.rhs.value)).element)
    work = product.m * product.k * product.n / (MULTIPLY_ADDS * lanes)
    moved = product.m * (item * product.k + 4 * product.n)
    return divides_rows(item * product.k * product.n, moved, -(-product.m // mr), work)


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
        "copy": (0, 1) if _is_strided(kernel, product) else (0,),
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
    panel: ir.Value | None = None  # those of a task, turned or copied

    def task(self, *indices: ir.Value) -> None:
        """A part of the result, `tiles` by `panels`: all of its sums, a part of the reduction after the other."""
        *batch, across, down = indices
        product, kc = self.product, self.numbers["kc"]
        gathers = self.turned or self.numbers["copy"]
        panel = emit.scratch(min(kc, product.k) * self.numbers["nr"]) if gathers else None
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
        """A panel of the right operand; where its rows are no vectors in memory, or lie apart, it is made here."""
        rhs, k, nr, lanes = self.product.rhs, self.product.k, self.numbers["nr"], self.numbers["lanes"]
        first = emit.add(self.rhs.base, emit.dot(batch, rhs.lead))
        if self.packed:
            place = emit.add(first, emit.add(emit.mul(column, k), emit.mul(start, nr)))
            return Columns(self.rhs.buffer, place, nr, True, self._ahead(place), nr)
        place = emit.add(first, emit.add(emit.mul(column, rhs.column), emit.mul(start, rhs.row)))
        if self.panel is None:
            return Columns(self.rhs.buffer, place, rhs.row, False)
        gather, stride = (turn_columns, rhs.column) if self.turned else (copy_columns, rhs.row)
        gather(Lines(self.rhs.buffer, place, stride, width), self._steps(start), self.panel, 0, nr, lanes)
        return Columns(self.panel, 0, nr, True)

    def _steps(self, start: Index) -> Index:
        """How long the part of the reduction is that begins at `start`."""
        k, kc = self.product.k, self.numbers["kc"]
        return min(kc, k) if k % kc == 0 or kc >= k else emit.minimum(kc, emit.add(k, emit.mul(start, -1)))

    def _tile(self, tile: Tile, columns: Columns, start: Index) -> None:
        product, kc, lhs = self.product, self.numbers["kc"], self.product.lhs
        whole = kc >= product.k
        at = emit.add(self.lhs.base, emit.add(emit.dot(tile.lead, lhs.lead), emit.mul(start, lhs.column)))
        if lhs.lines is None:
            at, offsets = emit.add(at, lhs.place(tile.row)), [row * lhs.row for row in range(tile.rows)]
            rows = Rows(self.lhs.buffer, at, offsets, lhs.column)
        else:
            places = [emit.add(at, lhs.place(emit.add(tile.row, i))) for i in range(tile.rows)]
            rows = Rows(self.lhs.buffer, 0, places, lhs.column)
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
    ("lanes", "fma", "dot", "mr", "nr", "kc", "tiles", "panels", "copy", "ahead"),
    _matches,
    _cost,
    _parameters,
    _ranges,
    _emit,
)
