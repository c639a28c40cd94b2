"""bf16 on CPUs that convert it and on those that do not: what LLVM makes of it. Nothing is run here."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mlir import ir

from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from aiopt.targets.cpu.codegen import converts_bf16, lower_pipeline, to_assembly, to_llvm_ir
from aiopt.targets.cpu.record import cpu_record

_TEXT = """
module attributes {ai.level = "loops", ai.net = "net", ai.arena_bytes = 0 : i64, ai.weights_bytes = 0 : i64} {
  func.func @main(%x: memref<64xbf16> {ai.name = "x"}, %y: memref<64xbf16> {ai.name = "y", ai.output},
                  %weights: memref<64xi8>, %arena: memref<64xi8>) {
    call @kernel(%x, %y) {ai.nodes = ["Mul_0"]} : (memref<64xbf16>, memref<64xbf16>) -> ()
    return
  }
  func.func private @kernel(%a: memref<64xbf16>, %b: memref<64xbf16>) attributes {ai.kernel} {
    %c0 = arith.constant 0 : index
    %u = vector.load %a[%c0] : memref<64xbf16>, vector<16xbf16>
    %p = arith.mulf %u, %u : vector<16xbf16>
    vector.store %p, %b[%c0] : memref<64xbf16>, vector<16xbf16>
    %s = memref.load %a[%c0] : memref<64xbf16>
    %t = arith.addf %s, %s : bf16
    memref.store %t, %b[%c0] : memref<64xbf16>
    return
  }
}
"""


@pytest.mark.parametrize("native", [False, True])
def test_conversions(native: bool) -> None:
    record = cpu_record("x86-64-v4")
    if native:
        record = replace(record, features=(*record.features, "avx512bf16"))
    assert converts_bf16(record) == native
    with new_context() as context:
        unit = Unit(ir.Module.parse(_TEXT, context))
        pipeline.run(unit, lower_pipeline(record))
        assembly = to_assembly(to_llvm_ir(unit), record)
    assert ("vcvtneps2bf16" in assembly) == native
    assert "bf2" not in assembly, "libgcc's conversions end so"
