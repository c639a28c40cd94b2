"""3x3 convolutions with channels last by Winograd's algorithm: tiles of 2x2 or 4x4 pixels from fewer products.

Tiles of the input are transformed into one matrix [tiles, channels] for each of their n x n positions; each is
multiplied with the weights transformed for that position, and the products are transformed back into pixels, on which
the kernel's elementwise ops follow. What one task works on stays in the L2 cache.
Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from aiopt.dialects import ai
from aiopt.dialects.ai.winograd import TAPS
from aiopt.dialects.ext import type_of
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.blocking import Block, choose_block, register_blocks, step_cycles
from aiopt.passes.templates.geometry import Geometry, read_geometry
from aiopt.passes.templates.kernel import ACCUMULATOR, Contraction
from aiopt.passes.templates.sweep import BLOCKS, ROWS
from aiopt.passes.templates.tile_transform import instructions
from aiopt.passes.templates.view import Places
from aiopt.passes.templates.winograd_tasks import Tasks
from aiopt.passes.templates.winograd_tiles import Tiles, divides_tiles
from aiopt.support.cost import BYTES_PER_CYCLE

_WHOLE_PART = 0.6  # of the L2 cache that the transformed tiles of all images may fill beside a block of weights
_PRODUCT_BYTES = 56 << 10  # of a task that all threads may have on their stack
_INSTRUCTIONS_PER_CYCLE = 2.5  # of the transforms
_GATHER_INSTRUCTIONS = 8  # for each pixel of a tile at the edge of the image
_TILE_CYCLES = 60.0  # of loops and addresses, beside what grows with channels


def _matches(kernel: Contraction) -> bool:
    geometry = read_geometry(kernel)
    if geometry is None or not kernel.packable or (kernel.pack is not None and kernel.winograd is None):
        return False
    if kernel.turned or kernel.casts:
        return False
    root = kernel.root
    assert isinstance(root, ai.ConvOp), "read_geometry has asked"
    kinds = [type_of(value).element for value in (root.input, root.weight, root.operation.results[0])]
    axes = [(axis.taps, axis.stride, axis.dilation) for axis in (geometry.y, geometry.x)]
    return geometry.group == 1 and set(kinds) == {ACCUMULATOR} and set(axes) == {(TAPS, 1, 1)}


def _geometry(kernel: Contraction) -> Geometry:
    geometry = read_geometry(kernel)
    assert geometry is not None, "_matches has asked"
    return geometry


def _size(kernel: Contraction, facts: Facts) -> tuple[float, int]:
    """The least cost, and the size of tiles that has it: inf where tiles would reach beyond a band."""
    sizes = facts.winograd if kernel.winograd is None else (kernel.winograd,)
    geometry = _geometry(kernel)
    fitting = [size for size in sizes if geometry.rows in (geometry.y.count, geometry.rows // size * size)]
    costs = [(_cycles(Tiles(geometry, size), _block(kernel, size, facts), facts), size) for size in fitting]
    return min(costs, default=(inf, sizes[0]))


def _block(kernel: Contraction, size: int, facts: Facts) -> Block:
    geometry = _geometry(kernel)
    total, given = Tiles(geometry, size).total, kernel.pack
    lanes = facts.lanes
    vectors = None if given is None else max(1, given // lanes)
    return choose_block(lambda rows: [(rows, -(-total // rows))], geometry.filters, facts.registers, lanes, vectors)


def _cycles(tiles: Tiles, block: Block, facts: Facts) -> float:
    geometry, lanes = tiles.geometry, facts.lanes
    before, after = instructions(tiles.size)
    nr = block.vectors * lanes
    full, rest = divmod(geometry.filters, nr)
    steps = full * step_cycles(block) + (step_cycles(Block(block.rows, -(-rest // lanes))) if rest else 0)
    positions = tiles.extent**2
    products = -(-tiles.total // block.rows) * positions * geometry.channels * steps
    vectors = before * -(-geometry.channels // lanes) + after * -(-geometry.filters // lanes)
    vectors += _GATHER_INSTRUCTIONS * positions * -(-geometry.channels // lanes) * (1 - tiles.inside / tiles.total)
    weights = (
        4 * positions * geometry.channels * geometry.filters / BYTES_PER_CYCLE["memory"]
    )  # a net has more than a cache holds
    return max(products, weights) + tiles.total * (vectors / _INSTRUCTIONS_PER_CYCLE + _TILE_CYCLES)


def _cost(kernel: Contraction, facts: Facts) -> float:
    if kernel.winograd is None and not facts.winograd:
        return inf
    cost, _ = _size(kernel, facts)
    return cost if len(facts.winograd) > 1 or cost == inf else 0.0


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    _, size = _size(kernel, facts)
    geometry, block = _geometry(kernel), _block(kernel, size, facts)
    tiles, nr = Tiles(geometry, size), block.vectors * facts.lanes if kernel.pack is None else kernel.pack
    position_bytes = 4 * tiles.extent**2
    register_tiles = -(-tiles.total // block.rows)
    whole = position_bytes * tiles.total * geometry.channels
    if facts.parallel and whole <= _WHOLE_PART * facts.l2_bytes:
        order = BLOCKS
        most = _PRODUCT_BYTES // (position_bytes * nr)
        least = min(register_tiles, facts.cores) if divides_tiles(tiles, block.rows, facts.lanes) else 1
    else:
        order, least = ROWS, min(register_tiles, facts.cores)
        most = facts.l2_bytes // 2 // (position_bytes * (geometry.channels + nr))
    chunks = least * -(-register_tiles // (least * max(1, most // block.rows)))
    in_chunk = -(-register_tiles // chunks) * block.rows
    return {
        "size": size,
        "lanes": facts.lanes,
        "fma": int(facts.fma),
        "mr": block.rows,
        "nr": nr,
        "tiles": in_chunk,
        "parts": in_chunk if order == BLOCKS else min(register_tiles, facts.cores),
        "order": order,
    }


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    blocks = list(register_blocks(facts.registers))
    return {
        "size": facts.winograd if kernel.winograd is None else (kernel.winograd,),
        "mr": sorted({block.rows for block in blocks}),
        "nr": sorted({block.vectors * facts.lanes for block in blocks}) if kernel.pack is None else [kernel.pack],
        "tiles": range(1, 65),
        "parts": range(1, 17),
        "order": (BLOCKS, ROWS),
    }


def _emit(kernel: Contraction, parameters: Parameters, places: Places) -> None:
    tiles = Tiles(_geometry(kernel), parameters["size"], places.first)
    Tasks.of(kernel, tiles, parameters, places).emit()


TEMPLATE = Template(
    "winograd",
    ("size", "lanes", "fma", "mr", "nr", "tiles", "parts", "order"),
    _matches,
    _cost,
    _parameters,
    _ranges,
    _emit,
)
