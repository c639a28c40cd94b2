"""`npu-verify-programs`: hold programs against their machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir.dialects import func

from aiopt.passes.base import FunctionPass
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.targets.npu.convert import is_program, read_function
from aiopt.targets.npu.machine import find_by_hash, find_machine
from aiopt.targets.npu.verify import verify


@dataclass(frozen=True)
class VerifyPrograms(FunctionPass):
    """Before: any IR. After: the same; a program that its machine cannot run is an error.

    `machine` names the machine, a preset or a file; without it, it is the preset with the hash of the program.
    """

    name: ClassVar[str] = "npu-verify-programs"

    machine: str = ""

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if not is_program(function):
            return
        program = read_function(function, unit)
        machine = find_machine(self.machine) if self.machine else find_by_hash(program.machine_hash)
        where = f"program '{function.name.value}'"
        if machine is None:
            raise IRError(
                f"{where} is for machine '{program.machine}', which is no preset: npu-verify-programs{{machine=FILE}}"
            )
        if problems := verify(program, machine):
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise IRError(f"{where}: {problems[0]}{more}")
