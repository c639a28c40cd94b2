"""Kernel by kernel: values of compiled nets, f32 against mixed precision."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aiopt.accuracy import per_kernel

_NET = """module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<64x64xf32> {ai.name = "x"}) -> (tensor<64x64xf32> {ai.name = "y"}) {
    %a = "ai.relu"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("a")
    %b = "ai.matmul"(%a, %a) {acc = f32} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("b")
    %c = "ai.softmax"(%b) {axis = 1 : i64} : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("c")
    return %c : tensor<64x64xf32>
  }
}"""


def test_each_kernel_is_compared(tmp_path: Path) -> None:
    """The relu is stored in bf16: half a unit in the last place of 8 bits. The softmax is further off."""
    path = tmp_path / "net.mlir"
    path.write_text(_NET)
    inputs = {"x": np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)}
    first, second, third = per_kernel(path, "bf16", inputs)
    assert [one.nodes for one in (first, second, third)] == ["a", "b", "c"]
    assert [one.element for one in (first, second, third)] == ["bf16", "f32", "f32"]
    want = np.maximum(inputs["x"], 0)
    assert 0 < first.likeness.difference <= 2.0**-8 * want.max()
    assert 50 < first.likeness.sqnr < 65
    assert 50 < second.likeness.sqnr < 70
    assert third.likeness.sqnr < second.likeness.sqnr


def test_the_same_net_is_equal(tmp_path: Path) -> None:
    """Nothing to gain in so small a product, so nothing is rounded."""
    path = tmp_path / "net.mlir"
    path.write_text(_NET.replace("64x64", "8x8"))
    inputs = {"x": np.ones((8, 8), np.float32)}
    assert [one.likeness.difference for one in per_kernel(path, "bf16", inputs)] == [0, 0, 0]
