"""Matrix products by a library's sgemm, a part of the rows in each task, then the kernel's elementwise ops on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import inf, prod

from mlir import ir
from mlir.dialects import arith, func, memref

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.spec.base import LIBRARY
from aiopt.passes.templates import emit
from aiopt.passes.templates.base import LIBRARY_ROUTE, Facts, Parameters, Template
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Result, Tile, folds
from aiopt.passes.templates.kernel import ACCUMULATOR, Contraction, Weighted, is_pointwise
from aiopt.passes.templates.matmul import Product, conv_axes, read_product
from aiopt.passes.templates.view import Places, View

_TASKS_PER_CORE, _LEAST_ROWS = 2, 32  # a library packs the columns for each task again
_BYTES = 4
_ARGUMENTS = 7  # a, b, c, m, n, k, columns_first: see aiopt_openblas_sgemm of aiopt.h


def library_template(name: str) -> Template:
    """The template of a library that the runtime knows by this name."""
    emitter, cost = partial(_emit, name), partial(_cost, name)
    return Template(name, ("lanes", "nr", "rows"), _matches, cost, _parameters, _ranges, emitter, route=LIBRARY_ROUTE)


def _matches(kernel: Contraction) -> bool:
    root = kernel.root
    if not isinstance(root, Weighted):
        return False
    values = [*root.operation.operands, kernel.result]
    is_plain = (
        not (kernel.loads or kernel.scores or kernel.turn or kernel.insertion)
        and root.pack is None
        and {type_of(v).element for v in values} == {ACCUMULATOR}
    )
    if not is_plain or any(type_of(v).size == 0 for v in values):
        return False
    return isinstance(root, ai.MatMulOp) or (is_pointwise(root) and folds(kernel, conv_axes(kernel.out.rank, root)))


def _cost(name: str, kernel: Contraction, facts: Facts) -> float:
    """Below all others if it was asked for."""
    return -1.0 if facts.library == name else inf


def _parameters(kernel: Contraction, facts: Facts) -> Parameters:
    product = read_product(kernel)
    tasks = max(1, _TASKS_PER_CORE * facts.cores // prod(product.batch))
    rows = min(product.m, max(_LEAST_ROWS, -(-product.m // tasks)))
    return {"lanes": facts.lanes, "nr": 2 * facts.lanes, "rows": rows}


def _ranges(kernel: Contraction, facts: Facts) -> dict[str, Sequence[int]]:
    return {"nr": (facts.lanes, 2 * facts.lanes), "rows": range(1, read_product(kernel).m + 1)}


@dataclass(frozen=True)
class _Emitter:
    product: Product
    numbers: Parameters
    result: Result
    callee: str
    lhs: View
    rhs: View
    out: View
    columns_first: bool  # the rhs is [n, k]

    def task(self, *indices: ir.Value) -> None:
        *batch, part = indices
        product, rows = self.product, self.numbers["rows"]
        first = emit.mul(part, rows)
        count = emit.minimum(rows, emit.add(product.m, emit.mul(first, -1))) if product.m % rows else rows
        places = [
            _address(self.lhs, emit.add(emit.dot(batch, product.lhs.lead), emit.mul(first, product.lhs.row))),
            _address(self.rhs, emit.dot(batch, product.rhs.lead)),
            _address(self.out, emit.dot([*batch, first], self.result.stored.strides[:-1])),
        ]
        sizes = [count, product.n, product.k, int(self.columns_first)]
        func.CallOp([], self.callee, [*places, *map(emit.index, sizes)])
        if self.result.kernel.epilogue or self.result.bias is not None:
            self._finish(tuple(batch), first, emit.add(first, count))

    def _finish(self, batch: tuple[Index, ...], first: Index, last: Index) -> None:
        """Bias and elementwise ops on rows that the library has just written."""
        n, nr = self.product.n, self.numbers["nr"]

        def row(position: Index, _: list[ir.Value]) -> list[ir.Value]:
            def columns(column: Index, width: int) -> list[ir.Value]:
                self._finish_tile(Tile(batch, position, column, 1, emit.chunks(width, self.numbers["lanes"])))
                return []

            emit.for_loop(0, n - n % nr, nr, [], lambda column, _: columns(column, nr))
            if n % nr:
                columns(n - n % nr, n % nr)
            return []

        emit.for_loop(first, last, 1, [], row)

    def _finish_tile(self, tile: Tile) -> None:
        sums = self.result.begin(tile, False)
        if self.result.bias is not None:
            sums = [arith.addf(a, b) for a, b in zip(sums, self.result.begin(tile, True), strict=True)]
        self.result.end(tile, sums, True)


def _address(view: View, element: Index) -> ir.Value:
    start = memref.ExtractAlignedPointerAsIndexOp(view.buffer).result
    return arith.addi(start, emit.index(emit.mul(emit.add(view.base, element), _BYTES)))


def _declare(callee: str, library: str) -> None:
    """Say in the module that this function is a library's."""
    op = ir.InsertionPoint.current.block.owner.operation
    while op.parent is not None:
        op = op.parent.operation
    body = op.regions[0].blocks[0]
    if any(isinstance(f, func.FuncOp) and f.name.value == callee for f in body.operations):
        return
    kinds = [ir.IndexType.get()] * _ARGUMENTS
    with ir.InsertionPoint.at_block_begin(body), ir.Location.unknown():
        declared = func.FuncOp(callee, (kinds, []), visibility="private")
    declared.attributes[LIBRARY] = ir.StringAttr.get(library)


def _emit(name: str, kernel: Contraction, parameters: Parameters, places: Places) -> None:
    product, callee = read_product(kernel), f"aiopt_{name}_sgemm"
    _declare(callee, name)
    lhs, rhs, out = (places[value] for value in (product.lhs.value, product.rhs.value, kernel.result))
    result = Result.of(kernel, places, product.bias, product.axes)
    columns_first = isinstance(kernel.root, ai.ConvOp) and kernel.root.layout is not None
    emitter = _Emitter(product, parameters, result, callee, lhs, rhs, out, columns_first)
    emit.forall([*product.batch, -(-product.m // parameters["rows"])], emitter.task)
