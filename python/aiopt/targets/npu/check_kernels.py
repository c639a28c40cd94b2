"""npu-check-kernels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ai import Trait
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.base import Pass, functions, main_function
from aiopt.passes.rewrite import TARGET, WHY, constant_value, defining
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError, UnsupportedError
from aiopt.targets.npu.build import check_kernel
from aiopt.targets.npu.machine import Machine, find_machine


@dataclass(frozen=True)
class CheckKernels(Pass):
    """Leave to the NPU only what a program for this machine can be made of.

    Before: kernels of target "npu", as ai-assign-target placed their ops one by one. After: each call of one that the
    machine cannot run as a whole calls a kernel of the target `otherwise`, and says in `ai.why` what was in the way.
    Options: machine, a preset or a file *.toml; otherwise, a target, or nothing: that such a kernel is an error.
    """

    name: ClassVar[str] = "npu-check-kernels"
    requires: ClassVar[Level] = Level.KERNELS
    machine: str
    otherwise: str = "cpu"

    def run(self, unit: Unit) -> None:
        machine = find_machine(self.machine)
        if self.otherwise == "npu":
            raise OptionError(f"{self.name}: option 'otherwise' must name another target than npu")
        kernels = {function.name.value: function for function in functions(unit.module)}
        moved: dict[str, str] = {}
        main = main_function(unit.module, self.name)
        calls = [op for op in main.entry_block.operations if isinstance(op, func.CallOp)]
        for call in calls:
            if call.callee.value in kernels and is_on_npu(kernels[call.callee.value]):
                self._check(call, kernels, moved, machine, unit)
        called = {call.callee.value for call in calls}
        for name, function in kernels.items():
            if is_on_npu(function) and name not in called:
                function.operation.erase()

    def _check(
        self,
        call: func.CallOp,
        kernels: dict[str, func.FuncOp],
        moved: dict[str, str],
        machine: Machine,
        unit: Unit,
    ) -> None:
        """moved: the copies for the other target that were made so far."""
        try:
            check_kernel(kernels[call.callee.value], machine, known_operands(call, unit))
        except UnsupportedError as error:
            if not self.otherwise:
                raise
            old = call.callee.value
            if old not in moved:
                moved[old] = next(name for i in count() if (name := f"{old}_{self.otherwise}{'_' * i}") not in kernels)
                kernels[moved[old]] = _copy(kernels[old], moved[old], self.otherwise)
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(moved[old])
            call.attributes[WHY] = ir.StringAttr.get(f"npu: {error}")


def is_on_npu(kernel: func.FuncOp) -> bool:
    """True for a kernel that was placed on an NPU."""
    target = kernel.attributes.get(TARGET)
    return isinstance(target, ir.StringAttr) and target.value == "npu"


def known_operands(call: func.CallOp, unit: Unit) -> dict[int, np.ndarray]:
    """The values of the constants a call hands over, by the number of the operand."""
    values = ((number, _known(operand, unit)) for number, operand in enumerate(call.operands))
    return {number: value for number, value in values if value is not None}


def source_of(value: ir.Value) -> ir.Value:
    """What the value is a view of: the same bytes."""
    owner = defining(value)
    while isinstance(owner, Operation) and Trait.VIEW in owner.traits:
        value = owner.operation.operands[0]
        owner = defining(value)
    return value


def _known(value: ir.Value, unit: Unit) -> np.ndarray | None:
    array = constant_value(source_of(value), unit)
    return None if array is None else array.reshape(type_of(value).shape)


def _copy(kernel: func.FuncOp, name: str, target: str) -> func.FuncOp:
    copy = kernel.operation.clone(ir.InsertionPoint(kernel))
    copy.attributes["sym_name"] = ir.StringAttr.get(name)
    copy.attributes[TARGET] = ir.StringAttr.get(target)
    found = copy.opview
    assert isinstance(found, func.FuncOp)
    return found
