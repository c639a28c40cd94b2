"""GridSample: elements at computed positions, weighted by their distance."""

from __future__ import annotations

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import cast, reshape, scalar, steps, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.sampling import PADDINGS, Axis, sample
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import FLOATS

_MODES = {"bilinear": "linear", "bicubic": "cubic", "linear": "linear", "cubic": "cubic", "nearest": "nearest"}


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
    if mode not in _MODES or padding not in PADDINGS:
        raise ModelError(f"mode '{mode}' or padding_mode '{padding}' is not one that ONNX has")
    if x.element not in FLOATS or grid.element not in FLOATS or 0 in x.shape:
        raise UnsupportedError("GridSample is for floats and inputs with elements only")
    centred = attributes.get_bool("align_corners", False)
    wide = "f64" if "f64" in (x.element, grid.element) else "f32"
    axes = [Axis(node, n, padding, centred) for n in x.shape[2:]]
    taps = []
    for at, axis in enumerate(axes):
        part = take(node, grid, [*[0] * (depth + 1), depth - 1 - at], [*grid.shape[:-1], 1], [1] * grid.rank)
        position = cast(node, reshape(node, part, grid.shape[:-1]), wide)
        taps.append(axis.taps(_in_elements(node, position, axis.size, centred), _MODES[mode]))
    rows = cast(node, transpose(node, x, [0, *range(2, x.rank), 1]), wide)
    batch = steps(x.shape[0], 0, depth + 1)
    out = cast(node, sample(node, rows, batch, taps), x.element)
    return transpose(node, out, [0, x.rank - 1, *range(1, x.rank - 1)])


def _in_elements(node: Node, position: Value, size: int, centred: bool) -> Value:
    """Positions from -1 to 1 counted in elements; centred: -1 and 1 are the centres of the outer elements."""
    unit = node.emit(ai.AddOp, position, scalar(position, 1))
    if centred:
        return node.emit(ai.MulOp, unit, scalar(unit, (size - 1) / 2))
    x = node.emit(ai.MulOp, unit, scalar(unit, size / 2))
    return node.emit(ai.SubOp, x, scalar(x, 0.5))
