"""GridSample: elements at computed positions, weighted by their distance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar, steps, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import flat_places, gather_rows
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import FLOATS

_MODES = {"bilinear": "linear", "bicubic": "cubic", "linear": "linear", "cubic": "cubic", "nearest": "nearest"}
_PADDINGS = ("zeros", "border", "reflection")
_CUBIC = -0.75  # Keys' coefficient, as in PyTorch: the operator's text names none


@onnx_op("GridSample", since=16)
def _grid_sample(node: Node) -> Value:
    """x [N, C, *spatial], grid [N, *out, r] of positions from -1 to 1, innermost dimension first -> [N, C, *out].

    Channels are moved last, so that a position takes a row.
    """
    x, grid, attributes = node.input(0), node.input(1), node.attributes
    depth = x.rank - 2
    if depth < 1 or grid.rank != x.rank or grid.shape[-1] != depth or grid.shape[0] != x.shape[0]:
        raise ModelError(f"grid {list(grid.shape)} does not fit the input {list(x.shape)}")
    mode, padding = attributes.get_string("mode", "linear"), attributes.get_string("padding_mode", "zeros")
    if mode not in _MODES or padding not in _PADDINGS:
        raise ModelError(f"mode '{mode}' or padding_mode '{padding}' is not one that ONNX has")
    if x.element not in FLOATS or grid.element not in FLOATS or 0 in x.shape:
        raise UnsupportedError("GridSample is for floats and inputs with elements only")
    centred = attributes.get_bool("align_corners", False)
    wide = "f64" if "f64" in (x.element, grid.element) else "f32"
    axes = [_Axis(node, n, padding, centred) for n in x.shape[2:]]
    taps = []
    for at, axis in enumerate(axes):
        part = take(node, grid, [*[0] * (depth + 1), depth - 1 - at], [*grid.shape[:-1], 1], [1] * grid.rank)
        position = cast(node, reshape(node, part, grid.shape[:-1]), wide)
        taps.append(axis.taps(position, _MODES[mode]))
    rows = cast(node, transpose(node, x, [0, *range(2, x.rank), 1]), wide)
    out = cast(node, _total(node, rows, taps), x.element)
    return transpose(node, out, [0, x.rank - 1, *range(1, x.rank - 1)])


@dataclass(frozen=True)
class _Tap:
    """An element that a position takes: its place, its weight (none: 1), whether it is there (none: always)."""

    place: Value
    weight: Value | None
    inside: Value | None


def _total(node: Node, rows: Value, taps: list[list[_Tap]]) -> Value:
    """The sum over all combinations of the taps of each dimension."""
    total: Value | None = None
    batch = steps(rows.shape[0], 0, rows.rank - 1)
    for chosen in product(*taps):
        term = gather_rows(
            node, rows, rows.rank - 1, flat_places(node, rows.shape[:-1], [batch, *(t.place for t in chosen)])
        )
        shape = (*term.shape[:-1], 1)
        for tap in chosen:
            if tap.inside is not None:
                term = node.emit(ai.SelectOp, reshape(node, tap.inside, shape), term, scalar(term, 0))
            if tap.weight is not None:
                term = node.emit(ai.MulOp, term, reshape(node, tap.weight, shape))
        total = term if total is None else node.emit(ai.AddOp, total, term)
    assert total is not None, "there is a dimension, and it has taps"
    return total


@dataclass(frozen=True)
class _Axis:
    """A spatial dimension of `size` elements; centred: -1 and 1 are the centres of its outer elements."""

    node: Node
    size: int
    padding: str
    centred: bool

    def taps(self, position: Value, mode: str) -> list[_Tap]:
        node = self.node
        unit = node.emit(ai.AddOp, position, scalar(position, 1))
        if self.centred:
            x = node.emit(ai.MulOp, unit, scalar(unit, (self.size - 1) / 2))
        else:
            x = node.emit(ai.MulOp, unit, scalar(unit, self.size / 2))
            x = node.emit(ai.SubOp, x, scalar(x, 0.5))
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
        a = _CUBIC
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

    def _tap(self, at: Value, weight: Value | None) -> _Tap:
        """The element at a whole number."""
        node, inside = self.node, None
        if self.padding == "zeros":
            low, high = scalar(at, 0), scalar(at, self.size - 1)
            inside = node.emit(ai.AndOp, node.emit(ai.LessEqualOp, low, at), node.emit(ai.LessEqualOp, at, high))
        elif self.padding == "reflection":
            at = self._reflected(at)
        return _Tap(cast(node, self._clamped(at), "i64"), weight, inside)

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
