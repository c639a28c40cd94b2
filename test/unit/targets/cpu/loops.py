"""Hand-written LOOPS modules and a way to run them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mlir import ir

from aiopt.passes import pipeline
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.unit import Unit
from aiopt.runtime.net import CompiledNet
from aiopt.support.weights import WeightStore
from aiopt.targets.cpu import codegen
from aiopt.targets.cpu.record import host


def unit_of(text: str, serial: bool = False) -> Unit:
    """serial: its kernels run on one thread."""
    text = text.replace("attributes {ai.kernel}", "attributes {ai.kernel, ai.serial}") if serial else text
    return Unit(ir.Module.parse(text, ir.Context()), WeightStore())


def lower(text: str, serial: bool = False) -> str:
    """LLVM IR of a module at level LOOPS or, with allocs and constants in @main, before its memory is planned."""
    unit = unit_of(text, serial)
    if "memref.view" not in text:
        pipeline.run(unit, "ai-plan-memory")
    pipeline.run(unit, "ai-cpu-lower-pipeline")
    return codegen.to_llvm_ir(unit)


def run(text: str, inputs: Mapping[str, np.ndarray], threads: int = 1, serial: bool = False) -> dict[str, np.ndarray]:
    """Plan, lower, compile for this machine, load and run."""
    unit = unit_of(text, serial)
    pipeline.run(unit, "ai-plan-memory,ai-cpu-lower-pipeline")
    code = codegen.to_object(codegen.to_llvm_ir(unit), host())
    with CompiledNet("net", [code], pack_weights(unit.module, unit.weights), {}, threads) as net:
        return net.run(inputs)


def module(kernel: str, inputs: Mapping[str, str], outputs: Mapping[str, str]) -> str:
    """A net of one kernel, given as the body of a function of %<input>... and %<output>..., in this order."""
    arguments = {**inputs, **outputs}
    marks = dict.fromkeys(inputs, "") | dict.fromkeys(outputs, ", ai.output")
    outside = ", ".join(f'%{name}: {kind} {{ai.name = "{name}"{marks[name]}}}' for name, kind in arguments.items())
    inside = ", ".join(f"%{name}: {kind}" for name, kind in arguments.items())
    return f"""module attributes {{ai.level = "tensor", ai.net = "net"}} {{
      func.func @main({outside}) {{
        call @kernel({", ".join(f"%{name}" for name in arguments)}) : ({", ".join(arguments.values())}) -> ()
        return
      }}
      func.func private @kernel({inside}) attributes {{ai.kernel}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %zero = arith.constant 0.0 : f32
        {kernel}
        return
      }}
    }}"""
