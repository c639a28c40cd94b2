"""One object per kernel computes what one object for all computes, bit for bit."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from mlir.dialects import llvm

from aiopt import driver
from aiopt.passes import io
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.runtime.net import CompiledNet
from aiopt.support import libllvm
from aiopt.support.errors import CompileError
from aiopt.support.kernel_cache import KernelCache
from aiopt.targets import find_target
from aiopt.targets.cpu import llvmc
from aiopt.targets.cpu.codegen import to_llvm_ir, to_object, to_objects
from aiopt.targets.cpu.llvmc import Code
from aiopt.targets.cpu.record import host
from aiopt.targets.cpu.split import split_kernels

LLVM_NM = libllvm.path().parents[1] / "bin" / "llvm-nm"

# Two kernels that share libm's functions, one of them called twice and large enough for tasks.
GRAPH = b"""
func.func @main(%x: tensor<64x512xf32>) -> (tensor<64x512xf32>, tensor<64x512xf32>) {
  %0 = "ai.softmax"(%x) {axis = 1 : i64} : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %1 = "ai.softmax"(%0) {axis = 1 : i64} : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %2 = "ai.transpose"(%1) {permutation = array<i64: 1, 0>} : (tensor<64x512xf32>) -> tensor<512x64xf32>
  %3 = "ai.reshape"(%2) {shape = array<i64: 64, 512>} : (tensor<512x64xf32>) -> tensor<64x512xf32>
  %4 = "ai.erf"(%3) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  return %1, %4 : tensor<64x512xf32>, tensor<64x512xf32>
}
"""


def test_objects_by_kernel_equal_one_object() -> None:
    unit = driver.load_unit(GRAPH, io.new_context())
    driver.lower(unit, find_target("cpu"))
    weights = pack_weights(unit.module, unit.weights)
    objects = to_objects(unit, host(), KernelCache())
    assert len(objects) == 3  # the entry, softmax, transpose with erf
    x = np.random.default_rng(0).standard_normal((64, 512)).astype(np.float32)
    with (
        CompiledNet("net", objects, weights, {}, threads=2) as apart,
        CompiledNet("net", [to_object(to_llvm_ir(unit), host())], weights, {}) as whole,
    ):
        for got, want in zip(apart(x), whole(x), strict=True):
            np.testing.assert_array_equal(got, want)


TEMPLATES = b"""
func.func @main(%x: tensor<40x70xf32>, %y: tensor<70x90xf32>) -> (tensor<40x90xf32>, tensor<40x70xf32>) {
  %0 = "ai.matmul"(%x, %y) {acc = f32} : (tensor<40x70xf32>, tensor<70x90xf32>) -> tensor<40x90xf32>
  %1 = "ai.sigmoid"(%0) : (tensor<40x90xf32>) -> tensor<40x90xf32>
  %2 = "ai.relu"(%x) : (tensor<40x70xf32>) -> tensor<40x70xf32>
  return %1, %2 : tensor<40x90xf32>, tensor<40x70xf32>
}
"""


def test_templates_get_passes_of_their_own_and_compute_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = driver.load_unit(TEMPLATES, io.new_context())
    driver.lower(unit, find_target("cpu"))
    assert [part.code for part in split_kernels(unit.module)] == [Code.ENTRY, Code.TEMPLATE, Code.LOOPS]
    weights = pack_weights(unit.module, unit.weights)
    objects = to_objects(unit, host(), KernelCache())
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(shape).astype(np.float32) for shape in ((40, 70), (70, 90)))
    with (
        CompiledNet("net", objects, weights, {}) as apart,
        CompiledNet("net", [to_object(to_llvm_ir(unit), host())], weights, {}) as whole,
    ):
        for got, want in zip(apart(x, y), whole(x, y), strict=True):
            np.testing.assert_array_equal(got, want)
    monkeypatch.setattr(llvmc, "TEMPLATE_PASSES", "no-such-pass")
    with pytest.raises(CompileError, match="no-such-pass"):
        to_objects(unit, host(), KernelCache())


def test_kernels_have_names_of_their_net() -> None:
    unit = driver.load_unit(GRAPH, io.new_context())
    driver.lower(unit, find_target("cpu"))
    entry, *kernels = split_kernels(unit.module)
    defined = [part.symbols["kernel"] for part in kernels]
    assert all(name.startswith("aiopt_net_") for name in defined)
    assert all(f"@{name}(" in str(entry.module) for name in defined)
    assert "softmax_0_task" not in str(entry.module)
    texts = [llvm.translate_module_to_llvmir(part.module.operation) for part in kernels]
    assert not any("softmax" in text or "aiopt" in text for text in texts)


def test_objects_have_the_symbols_of_the_net() -> None:
    unit = driver.load_unit(GRAPH, io.new_context())
    driver.lower(unit, find_target("cpu"))
    _, softmax, *_ = to_objects(unit, host(), KernelCache())
    kernel = next(name for name in _symbols(softmax) if name.startswith("aiopt_net_"))
    assert f"{kernel.removeprefix('aiopt_net_')}_task_0" in _symbols(softmax)
    assert not [name for name in _symbols(softmax) if name == "kernel" or name.startswith("kernel_")]


def _symbols(code: bytes) -> set[str]:
    """What LLVM's own reader finds in an object."""
    read = [LLVM_NM, "--format=just-symbols", "-"]
    return set(subprocess.run(read, input=code, capture_output=True, check=True).stdout.decode().split())
