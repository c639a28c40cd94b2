"""The window attributes of convolution and pooling: auto_pad, ceil_mode and absent ones made explicit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from aiopt.frontend.onnx.node import Node
from aiopt.support.errors import ModelError


@dataclass(frozen=True)
class Window:
    """One number per spatial dimension; `pads` all begins, then all ends."""

    kernel: list[int]
    strides: list[int]
    pads: list[int]
    dilations: list[int]

    def extents(self) -> list[int]:
        """Elements a window spans."""
        return [(size - 1) * dilation + 1 for size, dilation in zip(self.kernel, self.dilations, strict=True)]


def read_window(node: Node, spatial: Sequence[int], kernel: Sequence[int] | None = None) -> Window:
    """Read the attributes for an input of these spatial sizes; `kernel` is what the weight says, if there is one.

    Errors: ModelError for lengths or values that make no sense, or a kernel_shape that contradicts the weight.
    Source: ONNX Conv-11, MaxPool-12, AveragePool-19.
    """
    rank, attributes = len(spatial), node.attributes
    given = attributes.get_ints("kernel_shape", None)
    if kernel is None:
        kernel = attributes.require("kernel_shape", given)
    elif given is not None and list(kernel) != given:
        raise ModelError(f"kernel_shape {given} contradicts the weight's {list(kernel)}")
    strides = attributes.get_ints("strides", [1] * rank)
    dilations = attributes.get_ints("dilations", [1] * rank)
    pads = attributes.get_ints("pads", [0] * (2 * rank))
    _check("kernel_shape", kernel, rank, 1)
    _check("strides", strides, rank, 1)
    _check("dilations", dilations, rank, 1)
    _check("pads", pads, 2 * rank, 0)
    window = Window(list(kernel), strides, pads, dilations)
    return _auto_pad(window, spatial, attributes.get_string("auto_pad", "NOTSET"))


def round_up(window: Window, spatial: Sequence[int]) -> Window:
    """The window with so much more padding at the ends that the number of windows is rounded up, not down.

    A window that would start behind the input and its padding at the start is left out.
    """
    rank, pads = len(spatial), list(window.pads)
    for axis, (size, extent, stride) in enumerate(zip(spatial, window.extents(), window.strides, strict=True)):
        begin, end = pads[axis], pads[rank + axis]
        count = max(-(-(begin + size + end - extent) // stride) + 1, 1)
        if (count - 1) * stride >= begin + size:
            count -= 1
        pads[rank + axis] = max((count - 1) * stride + extent - size - begin, end)
    return replace(window, pads=pads)


def _auto_pad(window: Window, spatial: Sequence[int], mode: str) -> Window:
    """SAME_*: as many windows as strides fit into the input, the odd element at the end (UPPER) or start (LOWER)."""
    if mode == "NOTSET":
        return window
    if any(window.pads):
        raise ModelError(f"auto_pad={mode} and pads={window.pads} exclude each other")
    if mode == "VALID":
        return window
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        raise ModelError(f"auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, not '{mode}'")
    smaller, larger = [], []
    for size, extent, stride in zip(spatial, window.extents(), window.strides, strict=True):
        total = max(((size + stride - 1) // stride - 1) * stride + extent - size, 0)
        smaller.append(total // 2)
        larger.append(total - total // 2)
    pads = smaller + larger if mode == "SAME_UPPER" else larger + smaller
    return Window(window.kernel, window.strides, pads, window.dilations)


def _check(name: str, values: Sequence[int], length: int, least: int) -> None:
    if len(values) != length or any(value < least for value in values):
        raise ModelError(f"{name} must be {length} numbers of {least} or more, but is {list(values)}")
