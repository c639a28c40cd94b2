"""Modules of many `ai` ops, to see how the time of passes grows with them."""

from __future__ import annotations

from collections.abc import Iterator

_IMAGE, _ROW, _WEIGHT = "tensor<1x8x6x6xf32>", "tensor<1x8x1x1xf32>", "tensor<8x8x3x3xf32>"
_BLOCK = 12  # ops of a block


def many_ops(count: int) -> str:
    """MLIR text of about `count` ops: blocks of two branches that join, with convolutions, constants to fold, chains of
    elementwise ops, ops that are there twice, and movement that cancels."""
    lines = [f'  %v0 = "ai.relu"(%x) : ({_IMAGE}) -> {_IMAGE}']
    for block in range(count // _BLOCK):
        lines += _block(block)
    body = "\n".join(lines)
    return f"""module attributes {{ai.level = "graph", ai.net = "net"}} {{
func.func @main(%x: {_IMAGE} {{ai.name = "x"}}, %w: {_WEIGHT} {{ai.name = "w"}}) -> ({_IMAGE} {{ai.name = "y"}}) {{
{body}
  return %v{count // _BLOCK} : {_IMAGE}
}}
}}
"""


def _block(i: int) -> Iterator[str]:
    def op(name: str, result: str, operands: list[str], kinds: list[str], to: str, attributes: str = "") -> str:
        read = ", ".join(f"%{operand}" for operand in operands)
        return f'  %{result} = "ai.{name}"({read}) {{{attributes}}} : ({", ".join(kinds)}) -> {to} loc("{name}_{i}")'

    swapped = "tensor<1x6x6x8xf32>"
    conv = "acc = f32, dilations = array<i64: 1, 1>, group = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>, "
    conv += "pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>"
    yield op("conv", f"c{i}", [f"v{i}", "w"], [_IMAGE, _WEIGHT], _IMAGE, conv)
    yield op("relu", f"r{i}", [f"c{i}"], [_IMAGE], _IMAGE)
    yield op("transpose", f"t{i}", [f"v{i}"], [_IMAGE], swapped, "permutation = array<i64: 0, 2, 3, 1>")
    yield op("sigmoid", f"s{i}", [f"t{i}"], [swapped], swapped)
    yield op("transpose", f"b{i}", [f"s{i}"], [swapped], _IMAGE, "permutation = array<i64: 0, 3, 1, 2>")
    yield op("mul", f"m{i}", [f"r{i}", f"b{i}"], [_IMAGE] * 2, _IMAGE)
    yield op("relu", f"d{i}", [f"c{i}"], [_IMAGE], _IMAGE)  # the same as r: one of them goes
    yield op("sub", f"e{i}", [f"m{i}", f"d{i}"], [_IMAGE] * 2, _IMAGE)
    yield f"  %k{i} = arith.constant dense<{i}.0> : {_ROW}"
    yield op("tanh", f"g{i}", [f"k{i}"], [_ROW], _ROW)  # a constant
    yield op("mul", f"h{i}", [f"e{i}", f"g{i}"], [_IMAGE, _ROW], _IMAGE)
    yield op("add", f"v{i + 1}", [f"h{i}", f"v{i}"], [_IMAGE] * 2, _IMAGE)
