"""Kernels of rows: elementwise ops around folds (softmax, norms, means), a few passes over a row that stays in cache.

Vectors lie along the row; where the folded axes have others inside them, along those, so that each lane is a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aiopt.passes.templates.base import Facts, Parameters, Template
from aiopt.passes.templates.row_program import plan
from aiopt.passes.templates.row_reader import RowKernel, read_rows
from aiopt.passes.templates.row_tasks import RowTasks
from aiopt.passes.templates.view import Places

_SHORTEST = 8  # elements of a row, or rows side by side, that pay for a loop over vectors
_VECTORS = 4  # of a row at a time: steps of elementary functions wait for each other
_WIDTH = 128  # rows side by side: eight cache lines of each step along them
_ROWS = 4  # that wait for the end of each other
_SHORT_ROW, _LONG_ROW = 64, 1024
_TASK_ELEMENTS = 16384
_TASKS_PER_CORE = 4
_KEPT_BYTES = 32768  # of what is kept of a row beside the result


def _matches(kernel: RowKernel) -> bool:
    """Rows of at least a vector, of which little is kept; elementwise kernels with a function that is a polynomial."""
    program = kernel.program
    if not program.axes and not any(step.is_costly for step in program.steps):
        return False
    return kernel.size(kernel.inner or kernel.row) >= _SHORTEST and _kept_bytes(kernel, 1) <= _KEPT_BYTES


def _kept_bytes(kernel: RowKernel, lanes: int) -> int:
    return 4 * kernel.size(kernel.row) * lanes * sum(len(sweep.kept) for sweep in plan(kernel.program))


def _parameters(kernel: RowKernel, facts: Facts) -> Parameters:
    row = kernel.size(kernel.row)
    rows = 1 if kernel.inner else kernel.count
    tasks = -(-_TASKS_PER_CORE * facts.cores // prod(map(kernel.size, kernel.lead[:-1])))
    part = max(1, min(_TASK_ELEMENTS // row, rows // tasks))
    wanted, vectors = _block(kernel)
    together = min(wanted, part)
    return {
        "lanes": facts.lanes,
        "fma": int(facts.fma),
        "vectors": _side_by_side(kernel, facts) if kernel.inner else vectors,
        "together": together,
        "rows": part // together * together,
        "columns": row if kernel.program.axes else min(row, _TASK_ELEMENTS),
    }


def _block(kernel: RowKernel) -> tuple[int, int]:
    """Rows at a time, and vectors of each.

    The lanes of a row are joined at its end, which takes as long as many steps along it. Rows of a cheap program wait
    for that together, unless so many do not stay in the L1 cache.
    """
    if kernel.inner or not kernel.program.axes:
        return 1, _VECTORS
    row = kernel.size(kernel.row)
    is_costly = any(step.is_costly for step in kernel.program.steps)
    if row <= _SHORT_ROW:
        return _ROWS, _VECTORS
    if row < _LONG_ROW:
        return (2, _VECTORS) if is_costly else (_ROWS, 2)
    return (1 if is_costly else 2), _VECTORS


def _side_by_side(kernel: RowKernel, facts: Facts) -> int:
    """Vectors of rows side by side, as many as what is kept of them has room for."""
    vectors = _WIDTH // facts.lanes
    while vectors > 1 and _kept_bytes(kernel, vectors * facts.lanes) > _KEPT_BYTES:
        vectors //= 2
    return vectors


def _ranges(kernel: RowKernel, facts: Facts) -> dict[str, Sequence[int]]:
    rows = 1 if kernel.inner else kernel.count
    together = _parameters(kernel, facts)["together"]
    return {"vectors": (1, 2, 4, 8), "rows": range(together, rows + 1, together)}


def _cost(kernel: RowKernel, facts: Facts) -> float:
    """Cycles: of each vector as many as the instructions of its steps."""
    *outer, _ = [kernel.size(axes) for axes in kernel.lead] or [1]
    elements = prod(outer) * kernel.count * kernel.size(kernel.row) * kernel.size(kernel.inner)
    steps = sum(step.cost for sweep in plan(kernel.program) for step in (*sweep.steps, *sweep.folds))
    return elements * steps / facts.lanes


def _emit(kernel: RowKernel, parameters: Parameters, places: Places) -> None:
    RowTasks.of(kernel, parameters, places).emit()


TEMPLATE = Template(
    "rows",
    ("lanes", "fma", "vectors", "together", "rows", "columns"),
    _matches,
    _cost,
    _parameters,
    _ranges,
    _emit,
    read_rows,
)
