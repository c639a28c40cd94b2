"""Kernels that are products of two matrices, as their loops see them: matmuls and pointwise convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mlir import ir

from aiopt.dialects import ai
from aiopt.dialects.ext import type_of
from aiopt.passes.templates import emit
from aiopt.passes.templates.access import Access
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Axes, each_axis, folds
from aiopt.passes.templates.kernel import Contraction, is_pointwise, sees_pixels


@dataclass(frozen=True)
class Matrix:
    """An operand as the loops read it: a buffer, the place of its first element, strides (0: broadcast).

    lines: (rows, elements) if rows lie in groups of so many, which begin so many elements after one another.
    """

    value: ir.Value
    offset: int
    lead: list[int]
    row: int
    column: int
    lines: tuple[int, int] | None = None

    def place(self, row: Index) -> Index:
        """Where a row begins, after the matrix's first element."""
        if self.lines is None:
            return emit.mul(row, self.row)
        rows, elements = self.lines
        line, rest = emit.divided(row, rows)
        return emit.add(emit.mul(line, elements), emit.mul(rest, self.row))


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


def covers_pointwise(kernel: Contraction) -> bool:
    """True for a pointwise convolution that is a matrix product: of pixels and filters, or the other way round.

    With channels last the pixels of all images are rows, and the filters columns, packed; pixels may lie apart by
    strides. With channels first filters are rows, and the pixels of an image columns.
    """
    root = kernel.root
    if not isinstance(root, ai.ConvOp) or not folds(kernel, conv_axes(kernel.out.rank, root)):
        return False
    if root.layout is None:
        return is_pointwise(root) and root.pack is None
    return kernel.packable and (is_pointwise(root) or (sees_pixels(root) and _has_even_lines(kernel, root)))


def _has_even_lines(kernel: Contraction, root: ai.ConvOp) -> bool:
    """True if strided rows of pixels are as far apart from one image to the next as within one."""
    shape, out = type_of(root.input).shape, kernel.out.shape
    return len(shape) == 4 and (shape[0] == 1 or shape[1] == root.strides[0] * out[1])


def conv_axes(rank: int, root: ai.ConvOp) -> Axes:
    """The axes of a pointwise convolution's result: pixels are one."""
    return [range(rank - 1), [rank - 1]] if root.layout is not None else [[0], [1], range(2, rank)]


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
        batch, count, axes = (), prod(lead) * m, rows
    else:
        batch, count, axes, row = tuple(lead), m, each_axis(out.rank), lhs.strides[-2]
    left = Matrix(lhs.argument, lhs.offset, _batch_strides(lhs, 2, len(batch)), row, lhs.strides[-1])
    right = Matrix(
        rhs.argument, rhs.offset, _batch_strides(rhs, trailing, len(batch)), rhs.strides[-2], rhs.strides[-1]
    )
    return Product(batch, count, lhs.shape[-1], n, left, right, None, axes)


def _read_conv(kernel: Contraction, root: ai.ConvOp) -> Product:
    out, weight, image = kernel.out, root.weight, type_of(root.input)
    axes, source = conv_axes(out.rank, root), kernel.source(root.input)
    if root.layout is not None:
        pixels, channels = prod(out.shape[:-1]), image.shape[-1]
        row, lines = channels, None
        if not is_pointwise(root):
            row, lines = root.strides[1] * channels, (out.shape[2], root.strides[0] * image.shape[2] * channels)
        lhs, rhs = Matrix(source, 0, [], row, 1, lines), Matrix(weight, 0, [], out.shape[-1], 1)
        return Product((), pixels, channels, out.shape[-1], lhs, rhs, root.bias, axes)
    images, channels = image.shape[:2]
    pixels, filters = prod(out.shape[2:]), out.shape[1]
    lhs = Matrix(kernel.source(weight), 0, [0], channels, 1)
    rhs = Matrix(source, 0, [channels * pixels], pixels, 1)
    return Product((images,), filters, channels, pixels, lhs, rhs, root.bias, axes)


def _batch_strides(access: Access, trailing: int, rank: int) -> list[int]:
    """Strides along the last `rank` batch axes of the result, 0 where the operand has one matrix for all."""
    lead = len(access.shape) - trailing
    own = [0 if access.shape[axis] == 1 else access.strides[axis] for axis in range(lead)]
    return ([0] * rank + own)[len(own) :] if len(own) <= rank else []
