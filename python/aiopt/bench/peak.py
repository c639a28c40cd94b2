"""The multiply-add peak of a core, by a loop that stays in registers, compiled by aiopt itself."""

from __future__ import annotations

import time

import numpy as np
from mlir import ir

from aiopt.passes import pipeline
from aiopt.passes.unit import Unit
from aiopt.runtime.base import Net
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.weights import WeightStore
from aiopt.targets import find_target
from aiopt.targets.cpu.record import host

_STEPS, _VECTORS = 1 << 18, 12


def fma_peak() -> float:
    """flop/s, a multiply-add counted as two."""
    lanes = host().vector_bits // 32
    unit, target = Unit(ir.Module.parse(_text(lanes), ir.Context()), WeightStore()), find_target("cpu")
    pipeline.run(unit, "ai-plan-memory")
    pipeline.run(unit, target.stages()[-1].pipeline)
    net = target.load(unit, target.build(unit, KernelCache()), 1, {})
    return 2 * lanes * _VECTORS * _STEPS / least_seconds(net, {"x": np.full(lanes, 1e-3, np.float32)}, 0.3)


def least_seconds(net: Net, inputs: dict[str, np.ndarray], budget: float) -> float:
    """The least CPU time of a run among those that fit in `budget` seconds (at least three)."""
    least, spent, runs = float("inf"), 0.0, 0
    while spent < budget or runs < 3:
        start = time.thread_time()
        net.run(inputs)
        seconds = time.thread_time() - start
        least, spent, runs = min(least, seconds), spent + seconds, runs + 1
    return least


def _text(lanes: int) -> str:
    kind, buffer = f"vector<{lanes}xf32>", f"memref<{lanes}xf32>"
    names = [f"%a{i}" for i in range(_VECTORS)]
    carried = ", ".join(f"{name} = %x" for name in names)
    kinds = ", ".join([kind] * _VECTORS)
    body = "\n".join(f"%b{i} = vector.fma %x, %x, {name} : {kind}" for i, name in enumerate(names))
    sums = "\n".join(f"%s{i + 1} = arith.addf %s{i}, %l#{i} : {kind}" for i in range(_VECTORS))
    return f"""module attributes {{ai.level = "tensor", ai.net = "net"}} {{
      func.func @main(%i: {buffer} {{ai.name = "x"}}, %o: {buffer} {{ai.name = "y", ai.output}}) {{
        call @k(%i, %o) : ({buffer}, {buffer}) -> ()
        return
      }}
      func.func private @k(%i: {buffer}, %o: {buffer}) attributes {{ai.kernel}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %n = arith.constant {_STEPS} : index
        %x = vector.load %i[%c0] : {buffer}, {kind}
        %l:{_VECTORS} = scf.for %k = %c0 to %n step %c1 iter_args({carried}) -> ({kinds}) {{
          {body}
          scf.yield {", ".join(f"%b{i}" for i in range(_VECTORS))} : {kinds}
        }}
        %s0 = arith.constant dense<0.0> : {kind}
        {sums}
        vector.store %s{_VECTORS}, %o[%c0] : {buffer}, {kind}
        return
      }}
    }}"""
