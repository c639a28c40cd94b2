"""Elements at computed positions, weighted by their distance: what samples images at places that data decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import flat_places, gather_rows
from aiopt.frontend.onnx.values import Value

PADDINGS = ("zeros", "border", "reflection")
CUBIC = -0.75  # Keys' coefficient, as in PyTorch: the text of GridSample names none


@dataclass(frozen=True)
class Tap:
    """An element that a position takes: its place, its weight (none: 1), whether it is there (none: always)."""

    place: Value
    weight: Value | None
    inside: Value | None = None


def terms(node: Node, rows: Value, batch: Value, taps: Sequence[Sequence[Tap]]) -> Iterator[Value]:
    """What each combination of the taps of each dimension takes, weighted: [*places, C].

    rows: [N, *spatial, C]. batch: which of the N a position is in. It, and the places of the taps, broadcast.
    """
    for chosen in product(*taps):
        places = flat_places(node, rows.shape[:-1], [batch, *(tap.place for tap in chosen)])
        term = gather_rows(node, rows, rows.rank - 1, places)
        for tap in chosen:
            if tap.inside is not None:
                inside = reshape(node, tap.inside, (*tap.inside.shape, 1))
                term = node.emit(ai.SelectOp, inside, term, scalar(term, 0))
            if tap.weight is not None:
                term = node.emit(ai.MulOp, term, reshape(node, tap.weight, (*tap.weight.shape, 1)))
        yield term


def sample(node: Node, rows: Value, batch: Value, taps: Sequence[Sequence[Tap]]) -> Value:
    """The sum of the terms."""
    return reduce(lambda total, term: node.emit(ai.AddOp, total, term), terms(node, rows, batch, taps))


@dataclass(frozen=True)
class Axis:
    """A spatial dimension of `size` elements.

    padding: what there is beyond its borders, one of PADDINGS. centred: the borders are the centres of its outer
    elements.
    """

    node: Node
    size: int
    padding: str = "zeros"
    centred: bool = True

    def taps(self, x: Value, mode: str) -> list[Tap]:
        """Those of positions counted in elements; mode: nearest, linear or cubic."""
        node = self.node
        if mode == "nearest":
            return [self._tap(self._within(node.emit(ai.RoundOp, x)), None)]
        x = self._within(x)
        low = node.emit(ai.FloorOp, x)
        part = node.emit(ai.SubOp, x, low)
        offsets = (0, 1) if mode == "linear" else (-1, 0, 1, 2)
        return [self._tap(node.emit(ai.AddOp, low, scalar(low, at)), self._weight(part, at, mode)) for at in offsets]

    def _weight(self, part: Value, offset: int, mode: str) -> Value:
        """That of the element `offset` after the one before the position, which lies `part` behind that."""
        node = self.node
        distance = (
            node.emit(ai.SubOp, scalar(part, offset), part)
            if offset > 0
            else node.emit(ai.SubOp, part, scalar(part, offset))
        )
        if mode == "linear":
            return node.emit(ai.SubOp, scalar(part, 1), distance)
        a = CUBIC
        factors = (a + 2, -(a + 3), 0, 1) if offset in (0, 1) else (a, -5 * a, 8 * a, -4 * a)
        value = scalar(part, factors[0])
        for factor in factors[1:]:
            value = node.emit(ai.AddOp, node.emit(ai.MulOp, value, distance), scalar(part, factor))
        return value

    def _within(self, x: Value) -> Value:
        """Positions beyond the borders moved in, by the rule of these: of the outer elements, or of their centres."""
        if self.padding == "zeros":
            return x
        return self._if_beyond(x, self._clamped(x)) if self.padding == "border" else self._reflected(x)

    def _borders(self) -> tuple[float, float]:
        return (0.0, self.size - 1.0) if self.centred else (-0.5, self.size - 0.5)

    def _if_beyond(self, x: Value, other: Value) -> Value:
        """x, but `other` beyond the borders."""
        node, (low, high) = self.node, (scalar(x, border) for border in self._borders())
        inside = node.emit(ai.AndOp, node.emit(ai.LessEqualOp, low, x), node.emit(ai.LessEqualOp, x, high))
        return node.emit(ai.SelectOp, inside, x, other)

    def _tap(self, at: Value, weight: Value | None) -> Tap:
        """The element at a whole number."""
        node, inside = self.node, None
        if self.padding == "zeros":
            low, high = scalar(at, 0), scalar(at, self.size - 1)
            inside = node.emit(ai.AndOp, node.emit(ai.LessEqualOp, low, at), node.emit(ai.LessEqualOp, at, high))
        elif self.padding == "reflection":
            at = self._reflected(at)
        return Tap(cast(node, self._clamped(at), "i64"), weight, inside)

    def _clamped(self, x: Value) -> Value:
        node = self.node
        return node.emit(ai.MinimumOp, node.emit(ai.MaximumOp, x, scalar(x, 0)), scalar(x, self.size - 1))

    def _reflected(self, x: Value) -> Value:
        """Thrown back by the borders until it is between them: a triangle wave, and x itself where it is inside."""
        node, (low, high) = self.node, self._borders()
        span = high - low
        if span == 0:
            return self._clamped(x)
        beyond = node.emit(ai.SubOp, x, scalar(x, low))
        turns = node.emit(ai.FloorOp, node.emit(ai.DivOp, beyond, scalar(x, 2 * span)))
        phase = node.emit(ai.SubOp, beyond, node.emit(ai.MulOp, turns, scalar(x, 2 * span)))
        wave = node.emit(ai.AbsOp, node.emit(ai.SubOp, phase, scalar(x, span)))
        thrown = node.emit(ai.SubOp, scalar(x, low + span), wave)
        return self._if_beyond(x, thrown)
