"""Kernels that are products of two matrices, as their loops see them: matmuls and pointwise convolutions."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from mlir import ir

from aiopt.dialects import ai
from aiopt.passes.templates import emit
from aiopt.passes.templates.access import Access
from aiopt.passes.templates.emit import Index
from aiopt.passes.templates.epilogue import Axes, each_axis, folds
from aiopt.passes.templates.kernel import Contraction, is_pointwise, sees_pixels


@dataclass(frozen=True)
class Matrix:
    """An operand as the loops read it, and its strides (0: broadcast).

    lines: (rows, elements) if rows lie in groups of so many, which begin so many elements after one another.
    """

    value: ir.Value
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
    line: int = 1  # rows of the product in a row of what is computed in bands: pixels of a row of images


def covers_pointwise(kernel: Contraction) -> bool:
    """True for a pointwise convolution that is a matrix product: of pixels and filters, or the other way round.

    With channels last the pixels of all images are rows, and the filters columns, packed; pixels may lie apart by
    strides. With channels first filters are rows, and the pixels of an image columns.
    """
    root = kernel.root
    if not isinstance(root, ai.ConvOp) or kernel.turned or not folds(kernel, conv_axes(kernel.out.rank, root)):
        return False
    if root.layout is None:
        return is_pointwise(root) and root.pack is None
    return kernel.packable and (is_pointwise(root) or (sees_pixels(root) and _has_even_lines(kernel, root)))


def _has_even_lines(kernel: Contraction, root: ai.ConvOp) -> bool:
    """True if strided rows of pixels are as far apart from one image to the next as within one."""
    image, out = kernel.access(root.input), kernel.out.shape
    return len(out) == 4 and (out[0] == 1 or image.strides[0] == out[1] * root.strides[0] * image.strides[1])


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
        batch, count, axes = (), prod(lead) * m if kernel.rows is None else kernel.rows, rows
    else:
        batch, count, axes, row = tuple(lead), m, each_axis(out.rank), lhs.strides[-2]
    left = Matrix(root.lhs, _batch_strides(lhs, 2, len(batch)), row, lhs.strides[-1])
    right = Matrix(root.rhs, _batch_strides(rhs, trailing, len(batch)), rhs.strides[-2], rhs.strides[-1])
    return Product(batch, count, lhs.shape[-1], n, left, right, None, axes)


def _read_conv(kernel: Contraction, root: ai.ConvOp) -> Product:
    out, image = kernel.out, kernel.access(root.input)
    axes = conv_axes(out.rank, root)
    if root.layout is not None:
        line, channels = prod(out.shape[2:-1]), image.shape[-1]
        pixels = prod(out.shape[:-1]) if kernel.rows is None else kernel.rows * line
        row, lines = image.strides[-2], None  # pixels lie further apart in a slice of channels
        if not is_pointwise(root):
            row, lines = root.strides[1] * row, (line, root.strides[0] * image.strides[1])
        lhs, rhs = Matrix(root.input, [], row, 1, lines), Matrix(root.weight, [], out.shape[-1], 1)
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
