"""`npu-verify-programs`: hold programs against their machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir.dialects import func

from aiopt.passes.base import FunctionPass
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.targets.npu.convert import is_program, machine_of, read_function
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
        if problems := verify(program, machine_of(function, self.machine, self.name)):
            more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
            raise IRError(f"program '{function.name.value}': {problems[0]}{more}")
