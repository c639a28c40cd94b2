"""Einsum: products of two operands after the other, each a matrix product between transposes."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import broadcast_to, reshape, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError
from aiopt.support.types import FLOATS

_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*")


@dataclass(frozen=True)
class Term:
    """A tensor and the label of each of its dimensions; those of an ellipsis are numbers, counted from its end."""

    value: Value
    labels: tuple[str, ...]

    def size(self, label: str) -> int:
        """Of a dimension; 1 if there is none, as it broadcasts."""
        return self.value.shape[self.labels.index(label)] if label in self.labels else 1


@onnx_op("Einsum", since=12)
def _einsum(node: Node) -> Value:
    if "equation" not in node.attributes:
        raise ModelError("the attribute 'equation' is missing")
    equation = node.attributes.get_string("equation", "")
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts, values = left.split(","), node.variadic()
    if len(texts) != len(values):
        raise ModelError(f"the equation '{equation}' has {len(texts)} terms, but the node {len(values)} inputs")
    terms = [Term(x, _labels(text, x.rank)) for text, x in zip(texts, values, strict=True)]
    ellipsis = max((_ellipsis(term) for term in terms), key=len)
    wanted = _expand(right, ellipsis) if arrow else _implied(terms, ellipsis)
    known = {label for term in terms for label in term.labels}
    if len(set(wanted)) != len(wanted) or not set(wanted) <= known:
        raise ModelError(f"the result of the equation '{equation}' must have labels of its terms, each once")
    total = _diagonal(node, terms[0])
    for index, other in enumerate(terms[1:], 2):
        later = {label for term in terms[index:] for label in term.labels}
        total = _product(node, total, _diagonal(node, other), {*wanted, *later})
    total = _summed(node, total, wanted)
    return transpose(node, total.value, [total.labels.index(label) for label in wanted])


def _labels(text: str, rank: int) -> tuple[str, ...]:
    """Errors: ModelError if the term is none, or names another number of dimensions."""
    if not _TERM.fullmatch(text):
        raise ModelError(f"'{text}' is no term of an equation")
    dots = rank - len(text.replace("...", ""))
    if dots < 0 or (dots > 0 and "..." not in text):
        raise ModelError(f"the term '{text}' does not fit a tensor of rank {rank}")
    return _expand(text, tuple(str(dots - 1 - at) for at in range(dots)))


def _expand(text: str, ellipsis: Sequence[str]) -> tuple[str, ...]:
    if not _TERM.fullmatch(text):
        raise ModelError(f"'{text}' is no term of an equation")
    before, dots, after = text.partition("...")
    return (*before, *(ellipsis if dots else ()), *after)


def _ellipsis(term: Term) -> tuple[str, ...]:
    return tuple(label for label in term.labels if label.isdigit())


def _implied(terms: Sequence[Term], ellipsis: Sequence[str]) -> tuple[str, ...]:
    """Without an arrow: the ellipsis, then the labels that stand once, in the order of the alphabet."""
    counts = Counter(label for term in terms for label in term.labels if not label.isdigit())
    return (*ellipsis, *sorted(label for label, count in counts.items() if count == 1))


def _diagonal(node: Node, term: Term) -> Term:
    """A label that stands twice is walked once, along the diagonal."""
    value, labels = term.value, list(term.labels)
    while (double := next((label for label in labels if labels.count(label) > 1), None)) is not None:
        first = labels.index(double)
        second = labels.index(double, first + 1)
        size = value.shape[first]
        if value.shape[second] != size:
            raise ModelError(f"the label '{double}' stands for sizes {size} and {value.shape[second]}")
        rest = [at for at in range(value.rank) if at not in (first, second)]
        moved = transpose(node, value, [*rest, first, second])
        flat = reshape(node, moved, (*moved.shape[:-2], size * size))
        steps, starts = [1] * len(rest) + [size + 1], [0] * flat.rank
        value = node.emit(ai.SliceOp, flat, starts=starts, sizes=[*flat.shape[:-1], size], steps=steps)
        labels = [labels[at] for at in rest] + [double]
    return Term(value, tuple(labels))


def _summed(node: Node, term: Term, kept: Collection[str]) -> Term:
    """Without the dimensions nobody needs."""
    axes = [axis for axis, label in enumerate(term.labels) if label not in kept]
    if not axes:
        return term
    total = node.emit(ai.ReduceSumOp, term.value, axes=axes, keepdims=False)
    return Term(total, tuple(label for label in term.labels if label in kept))


def _product(node: Node, lhs: Term, rhs: Term, needed: Collection[str]) -> Term:
    """The sum of products over the labels of both that are not needed any more."""
    lhs = _summed(node, lhs, {*needed, *rhs.labels})
    rhs = _summed(node, rhs, {*needed, *lhs.labels})
    shared = [label for label in lhs.labels if label in rhs.labels]
    summed = [label for label in shared if label not in needed]
    batch = [label for label in shared if label in needed]
    rows = [label for label in lhs.labels if label not in shared]
    columns = [label for label in rhs.labels if label not in shared]
    sizes = {label: _size(label, lhs, rhs) for label in (*shared, *rows, *columns)}
    labels = (*batch, *rows, *columns)
    if not summed or lhs.value.element not in FLOATS:
        parts = [_aligned(node, term, (*labels, *summed)) for term in (lhs, rhs)]
        return _summed(node, Term(node.emit(ai.MulOp, *parts), (*labels, *summed)), labels)
    count = [math.prod(sizes[label] for label in group) for group in (batch, rows, summed, columns)]
    left = reshape(node, _ordered(node, lhs, (*batch, *rows, *summed), sizes), (count[0], count[1], count[2]))
    right = reshape(node, _ordered(node, rhs, (*batch, *summed, *columns), sizes), (count[0], count[2], count[3]))
    product = node.emit(ai.MatMulOp, left, right)
    return Term(reshape(node, product, [sizes[label] for label in labels]), labels)


def _size(label: str, lhs: Term, rhs: Term) -> int:
    """Of a dimension; 1 broadcasts. Errors: ModelError if the operands do not agree."""
    sizes = {term.size(label) for term in (lhs, rhs) if label in term.labels}
    if len(sizes - {1}) > 1:
        raise ModelError(f"the label '{label}' stands for sizes {' and '.join(map(str, sorted(sizes)))}")
    return max(sizes) if 0 not in sizes else 0


def _aligned(node: Node, term: Term, labels: Sequence[str]) -> Value:
    """With all of these dimensions in this order, those it does not have of size 1."""
    have = [label for label in labels if label in term.labels]
    moved = transpose(node, term.value, [term.labels.index(label) for label in have])
    return reshape(node, moved, [term.size(label) for label in labels])


def _ordered(node: Node, term: Term, labels: Sequence[str], sizes: dict[str, int]) -> Value:
    """Its dimensions in this order, broadcast to their sizes."""
    moved = transpose(node, term.value, [term.labels.index(label) for label in labels])
    return broadcast_to(node, moved, [sizes[label] for label in labels])
