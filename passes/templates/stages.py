"""Kernels of several contractions: bands of rows pass through all of them in buffers that stay in cache.

Source: Alwani et al., Fused-Layer CNN Accelerators, MICRO 2016.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from mlir import ir
from mlir.dialects import arith, memref

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.lower.linalg.builder import element_type
from aiopt.passes.templates import emit
from aiopt.passes.templates.access import row_major
from aiopt.passes.templates.bands import Layer, Part, Read, cut, heights
from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.geometry import read_geometry
from aiopt.passes.templates.kernel import Contraction, weight_of
from aiopt.passes.templates.matmul import read_product
from aiopt.passes.templates.registry import BANDS, choose_stage, least_cost
from aiopt.passes.templates.view import Places, View
from aiopt.support.errors import CompileError
from aiopt.support.types import item_bytes

IMAGE_RANK = 4

_BAND_CYCLES = 500.0  # of the loops around a stage
_PARALLEL_COST = 1.1  # at most so many times the cycles for parallel tasks
_WEIGHT_BYTES_PER_CYCLE = 7.0  # where they come from beyond the L2 cache


@dataclass(frozen=True)
class Banded:
    """How stages are computed: the rows of the last one in a band, images (a matrix is one), parallel tasks of each and
    cycles in one of them.

    buffer_bytes: what a task needs between stages. repeated: the cycles spent on what another band computes, too.
    """

    rows: int
    images: int
    tasks: int
    cycles: float
    buffer_bytes: int
    repeated: float


def read_layers(stages: Sequence[Contraction]) -> list[Layer] | None:
    """What planning must know of the stages; None if they are not all convolutions of images with channels last, or all
    products of one matrix with known ones."""
    made: dict[ir.Value, int] = {}
    layers: list[Layer] = []
    for stage in stages:
        rows = _rows_read(stage)
        if rows is None or stage.casts or type(stage.root) is not type(stages[0].root):
            return None
        reads = [Read(made[value]) for value in stage.side_operands() if value in made]
        if stage.root.operation.operands[0] in made:
            reads.append(replace(rows, layer=made[stage.root.operation.operands[0]]))
        count, line = _lines(stage)
        layers.append(Layer(count, line * item_bytes(type_of(stage.result).element), tuple(reads)))
        made[stage.result] = len(layers) - 1
    return layers


def _rows_read(stage: Contraction) -> Read | None:
    """Which rows of its operand a stage needs for one; None if it is nothing that is computed in bands."""
    if isinstance(stage.root, ai.MatMulOp):
        is_one = stage.scores is None and stage.packable and not read_product(stage).batch
        return Read(0) if is_one else None
    geometry = read_geometry(stage)
    if geometry is None or not isinstance(stage.root, ai.ConvOp):
        return None
    return Read(0, geometry.y.stride, geometry.y.pad, (geometry.y.taps - 1) * geometry.y.dilation + 1)


def _images(stage: Contraction) -> int:
    return 1 if isinstance(stage.root, ai.MatMulOp) else stage.out.shape[0]


def _lines(stage: Contraction) -> tuple[int, int]:
    """The rows of an image or the matrix, and the elements of each."""
    shape = type_of(stage.result).shape
    is_matrix = isinstance(stage.root, ai.MatMulOp)
    return (prod(shape[:-1]), shape[-1]) if is_matrix else (shape[1], prod(shape[2:]))


def plan_bands(stages: Sequence[Contraction], facts: Facts, most_bytes: int) -> Banded | None:
    """The fastest way through all stages whose buffers take so many bytes at most; None if there is none."""
    layers = read_layers(stages)
    if layers is None or any(_cost(stage, facts) is None for stage in stages):
        return None
    images = _images(stages[-1])
    alone = sum(_cost(stage, facts) or 0.0 for stage in stages)
    found: list[Banded] = []
    for height in heights(layers[-1].rows):
        bands = cut(layers, height)
        if bands is None or bands.buffer_bytes(layers) > most_bytes:
            continue
        parts = zip(stages, bands.parts, strict=True)
        costs = [_cost(replace(stage, rows=part.count), facts) for stage, part in parts]
        if None in costs:
            continue
        work = images * bands.number * sum(cost for cost in costs if cost is not None)
        cycles = work + images * bands.number * len(stages) * _BAND_CYCLES
        tasks = min(bands.number, facts.cores)
        found.append(Banded(height, images, tasks, cycles, bands.buffer_bytes(layers), work - alone))
    least = min((banded.cycles for banded in found), default=0.0)
    # Nobody knows how many threads there will be: as many as cores, but what that costs one thread is bounded.
    good = [banded for banded in found if banded.cycles <= _PARALLEL_COST * least]
    return min(good, key=lambda banded: banded.cycles / min(facts.cores, images * banded.tasks), default=None)


def _cost(stage: Contraction, facts: Facts) -> float | None:
    """Cycles of a stage on one core; None if no template covers it."""
    cost = least_cost(stage, replace(facts, cores=1))
    if cost is None:
        return None
    weight = type_of(weight_of(stage.weighted))
    return max(cost, weight.nbytes / _WEIGHT_BYTES_PER_CYCLE if weight.nbytes > facts.l2_bytes // 2 else 0.0)


def choose_stages(stages: Sequence[Contraction], facts: Facts) -> list[tuple[str, Parameters]]:
    """The numbers of the bands, and the template of each stage with its own; none where templates do not do."""
    planned = plan_bands(stages, facts, facts.l2_bytes)
    layers = read_layers(stages)
    if planned is None or layers is None:
        return []
    bands = cut(layers, planned.rows)
    assert bands is not None, "it was planned"
    one = replace(facts, cores=1)
    parts = zip(stages, bands.parts, strict=True)
    choices = [choose_stage(replace(stage, rows=part.count), one) for stage, part in parts]
    return [(BANDS, {"rows": planned.rows, "tasks": planned.tasks}), *(c for c in choices if c is not None)]


def emit_stages(
    stages: Sequence[Contraction],
    numbers: Parameters,
    chosen: Sequence[tuple[Template, Parameters]],
    arguments: Mapping[ir.Value, View],
) -> None:
    """The loops of a kernel of several stages: a parallel one over images and tasks, in which bands follow bands."""
    layers = read_layers(stages)
    bands = cut(layers, numbers["rows"]) if layers is not None else None
    if bands is None or bands.number * numbers["rows"] != bands.parts[-1].rows:
        raise CompileError(f"stages cannot be computed in bands of {numbers['rows']} rows")
    parts = [replace(stage, rows=part.count) for stage, part in zip(stages, bands.parts, strict=True)]
    each, images = -(-bands.number // numbers["tasks"]), _images(stages[-1])

    def task(image: ir.Value, number: ir.Value) -> None:
        places = {value: _of_image(view, image) if images > 1 else view for value, view in arguments.items()}
        buffers = [_allocate(stage) for stage in parts[:-1]]

        def band(position: Index, _: list[ir.Value]) -> list[ir.Value]:
            views = dict(places)
            for index, (stage, part) in enumerate(zip(parts, bands.parts, strict=True)):
                first = _first_row(part, position, bands.number)
                if index < len(buffers):
                    views[stage.result] = _in_band(buffers[index], stage, first)
                template, own = chosen[index]
                template.emit(stage, own, Places(views, first))
            return []

        begin = emit.mul(number, each)
        emit.for_loop(begin, emit.minimum(emit.add(begin, each), bands.number), 1, [], band)

    emit.forall([images, numbers["tasks"]], task)


def _of_image(view: View, image: ir.Value) -> View:
    """What a task on an image sees of a buffer: where it has several, this one. Weights stay whole."""
    if len(view.shape) != IMAGE_RANK or view.shape[0] == 1:
        return view
    return view.shifted(emit.mul(image, view.strides[0]))


def _allocate(stage: Contraction) -> ir.Value:
    assert stage.rows is not None, "stages are cut into bands"
    size = stage.rows * _lines(stage)[1]
    return memref.AllocOp(ir.MemRefType.get([size], element_type(type_of(stage.result))), [], []).result


def _in_band(buffer: ir.Value, stage: Contraction, first: Index) -> View:
    """A stage's result as if all rows were there, of one image."""
    shape = type_of(stage.result).shape
    shape = shape if isinstance(stage.root, ai.MatMulOp) else (1, *shape[1:])
    return View(buffer, shape, row_major(shape), emit.mul(first, -_lines(stage)[1]))


def _first_row(part: Part, band: Index, number: int) -> Index:
    if number == 1:
        return part.first(0)
    start = emit.add(emit.mul(band, part.step), -part.before)
    if part.before:
        start = arith.maxsi(emit.index(start), emit.index(0))
    is_inside = (number - 1) * part.step - part.before <= part.rows - part.count
    return start if is_inside else emit.minimum(start, part.rows - part.count)
