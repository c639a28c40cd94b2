"""MobileNetV3-Large as timm's export writes it: batch norms folded into convolutions, random weights.

Source: Howard et al., "Searching for MobileNetV3", ICCV 2019, table 1; timm's mobilenetv3_large_100.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench.graph_builder import GraphBuilder

_GAIN = 1.5  # of convolutions before an activation, which cuts off or damps half of what comes in
_DIVISOR = 8  # numbers of channels are multiples of it


@dataclass(frozen=True)
class _Block:
    """An inverted residual: wide channels between narrow ones, and a squeeze-and-excite where there is `excite`."""

    taps: int
    stride: int
    wide: int
    out: int
    excite: bool
    activation: str


_BLOCKS = (
    _Block(3, 1, 16, 16, False, "Relu"),
    _Block(3, 2, 64, 24, False, "Relu"),
    _Block(3, 1, 72, 24, False, "Relu"),
    _Block(5, 2, 72, 40, True, "Relu"),
    _Block(5, 1, 120, 40, True, "Relu"),
    _Block(5, 1, 120, 40, True, "Relu"),
    _Block(3, 2, 240, 80, False, "HardSwish"),
    _Block(3, 1, 200, 80, False, "HardSwish"),
    _Block(3, 1, 184, 80, False, "HardSwish"),
    _Block(3, 1, 184, 80, False, "HardSwish"),
    _Block(3, 1, 480, 112, True, "HardSwish"),
    _Block(3, 1, 672, 112, True, "HardSwish"),
    _Block(5, 2, 672, 160, True, "HardSwish"),
    _Block(5, 1, 960, 160, True, "HardSwish"),
    _Block(5, 1, 960, 160, True, "HardSwish"),
)


def mobilenetv3_large(size: int = 224, classes: int = 1000) -> bytes:
    """Input `x`: an image [1, 3, size, size]; output `logits` [1, classes]."""
    graph = GraphBuilder(seed=3)
    x = _conv(graph, graph.input("x", (1, 3, size, size)), 3, 16, 3, 2, activation="HardSwish")
    channels = 16
    for number, block in enumerate(_BLOCKS):
        x = _residual(graph, x, channels, block, expands=number > 0)
        channels = block.out
    x = _conv(graph, x, channels, 960, activation="HardSwish")
    x = graph.node("GlobalAveragePool", x)
    x = _conv(graph, x, 960, 1280, activation="HardSwish")
    x = graph.node("Flatten", x, axis=1)
    weight, bias = graph.normal((classes, 1280), (1 / 1280) ** 0.5), graph.normal((classes,), 0.1, "bias")
    x = graph.node("Gemm", x, weight, bias, alpha=1.0, beta=1.0, transB=1)
    return graph.model("mobilenetv3_large_100", {"logits": (x, (1, classes))})


def _residual(graph: GraphBuilder, x: str, channels: int, block: _Block, expands: bool) -> str:
    y = _conv(graph, x, channels, block.wide, activation=block.activation) if expands else x
    y = _conv(graph, y, block.wide, block.wide, block.taps, block.stride, block.wide, block.activation)
    if block.excite:
        y = _squeeze_excite(graph, y, block.wide)
    y = _conv(graph, y, block.wide, block.out)
    return graph.node("Add", y, x) if block.stride == 1 and channels == block.out else y


def _squeeze_excite(graph: GraphBuilder, x: str, channels: int) -> str:
    """Channels scaled by what a small network makes of their means."""
    fewer = -(-channels // 4 // _DIVISOR) * _DIVISOR
    y = graph.node("ReduceMean", x, axes=[2, 3], keepdims=1)
    y = _conv(graph, y, channels, fewer, activation="Relu")
    y = _conv(graph, y, fewer, channels)
    return graph.node("Mul", x, graph.node("HardSigmoid", y, alpha=1 / 6))


def _conv(
    graph: GraphBuilder,
    x: str,
    channels: int,
    filters: int,
    taps: int = 1,
    stride: int = 1,
    group: int = 1,
    activation: str = "",
) -> str:
    depth = channels // group
    gain = _GAIN if activation else 1.0
    weight = graph.normal((filters, depth, taps, taps), gain / (depth * taps * taps) ** 0.5)
    bias = graph.normal((filters,), 0.1, "bias")
    y = graph.node(
        "Conv",
        x,
        weight,
        bias,
        dilations=[1, 1],
        group=group,
        kernel_shape=[taps] * 2,
        pads=[taps // 2] * 4,
        strides=[stride] * 2,
    )
    return graph.node(activation, y) if activation else y
