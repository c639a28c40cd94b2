"""NPUs as a target: kernels become one program for each part of a net."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from mlir.dialects import func

from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.base import functions
from aiopt.passes.report import of_call, of_kernel
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from aiopt.support.kernel_cache import KernelCache
from aiopt.targets.base import BuiltPart, Device
from aiopt.targets.npu.build import build_kernel, can_run
from aiopt.targets.npu.check_kernels import CheckKernels, known_operands, source_of
from aiopt.targets.npu.device import NpuPart
from aiopt.targets.npu.link import Call, link
from aiopt.targets.npu.machine import Machine, find_machine, presets


@dataclass(frozen=True)
class NpuTarget(Device):
    """The NPU of a machine file; `machine` is the name of a preset or a file."""

    name = "npu"
    has_machines: ClassVar[bool] = True
    machine: str = ""

    def choose_machine(self, machine: str | None) -> NpuTarget:
        if machine is None:
            raise OptionError(f"target npu needs a machine (there are: {', '.join(presets())}, and any file *.toml)")
        if any(character.isspace() or character in "{}" for character in machine):
            raise OptionError(
                f"machine '{machine}': a pipeline has no way to say spaces and braces; give it another name"
            )
        find_machine(machine)
        return NpuTarget(machine)

    def refusal(self, op: Operation, unit: Unit) -> str | None:
        return can_run(op, unit)

    def check_kernels(self, otherwise: str) -> list[str]:
        return [str(CheckKernels(machine=self.machine, otherwise=otherwise))]

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "machine": asdict(self._found)}

    def build_part(self, unit: Unit, kernels: KernelCache) -> BuiltPart:
        machine = self._found
        called = {function.name.value: function for function in functions(unit.module)}
        main = called["main"]
        ops = list(main.entry_block.operations)
        calls = [op for op in ops if isinstance(op, func.CallOp)]
        programs = [_call(op, called[op.callee.value], machine, unit) for op in calls]
        inputs: dict[Hashable, Any] = {value: type_of(value) for value in main.arguments}
        linked = link(programs, inputs, {value: type_of(value) for value in ops[-1].operands}, machine)
        part = NpuPart.build(linked.program, linked.fences, [op.callee.value for op in calls], machine)
        cycles = zip(calls, part.cycles, strict=True)
        entries = [_entry(op, called[op.callee.value], count, machine) for op, count in cycles]
        report = {"kernels": entries, "launches": len(entries), "dram_bytes": part.program.dram_bytes}
        report["machine"] = self.machine
        return BuiltPart(lambda threads: part, report)

    @property
    def _found(self) -> Machine:
        return find_machine(self.machine)


def _call(op: func.CallOp, kernel: func.FuncOp, machine: Machine, unit: Unit) -> Call:
    known = known_operands(op, unit)
    inputs = [source_of(value) for number, value in enumerate(op.operands) if number not in known]
    return Call(build_kernel(kernel, machine, constants=known), inputs, list(op.results))


def _entry(op: func.CallOp, kernel: func.FuncOp, cycles: int, machine: Machine) -> dict[str, Any]:
    """What the report says of a call."""
    result_bytes = sum(type_of(value).nbytes for value in op.results)
    timing = {"cycles": cycles, "seconds": cycles / (machine.mhz * 1e6)}
    return {**of_call(op), **of_kernel(kernel), "result_bytes": result_bytes, "launches": 1, **timing}


TARGET = NpuTarget()
