"""IR without aiopt's attributes gets them."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

import aiopt
from aiopt.passes.io import new_context
from aiopt.support.errors import IRError

GRAPH = """
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ai.sub"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TENSOR = """
func.func @main(%a: memref<4xf32>, %y: memref<4xf32> {ai.output}) {
  call @double(%a, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}
func.func private @double(%a: memref<4xf32>, %y: memref<4xf32>) attributes {ai.kernel, ai.ops = []} {
  %0 = bufferization.to_tensor %a restrict : memref<4xf32> to tensor<4xf32>
  %1 = tensor.empty() : tensor<4xf32>
  %2 = linalg.add ins(%0, %0 : tensor<4xf32>, tensor<4xf32>) outs(%1 : tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %2 in restrict writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
"""


@pytest.mark.parametrize("as_module", [True, False])
def test_graph_without_attributes_runs(as_module: bool) -> None:
    with new_context():
        net = aiopt.compile(ir.Module.parse(GRAPH) if as_module else GRAPH.encode())
    a, b = np.float32([1, 2, 3, 4]), np.float32([4, 3, 2, 9])
    assert list(net.run({"x0": a, "x1": b})["y0"]) == [-3, -1, 1, -5]
    assert net.report()["launches"] == 1


def test_tensor_level_is_recognised() -> None:
    net = aiopt.compile(TENSOR.encode())
    assert list(net(np.float32([1, 2, 3, 4]))[0]) == [2, 4, 6, 8]


@pytest.mark.parametrize(
    ("name", "message"), [("main", "of no level aiopt knows: .*level graph"), ("f", "has no function @main")]
)
def test_module_of_no_level_is_refused(name: str, message: str) -> None:
    with pytest.raises(IRError, match=message):
        aiopt.compile(f"func.func @{name}(%x: index) -> index {{ return %x : index }}".encode())
