"""Programs as IR and back; the dialect and the ISA say the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects.npu import Instruction as InstructionOp
from aiopt.dialects.npu import NpuDialect
from aiopt.passes import io
from aiopt.passes.unit import Unit
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType
from aiopt.targets.npu import convert
from aiopt.targets.npu.asm import parse_program
from aiopt.targets.npu.encoding import Instruction, numbers_of
from aiopt.targets.npu.isa import INSTRUCTIONS
from aiopt.targets.npu.program import Program
from unit.targets.npu.kernels import Dense, chain_program
from unit.targets.npu.programs import SMALL, TINY


def _unit() -> Unit:
    with io.new_context(), ir.Location.unknown():
        return Unit(ir.Module.create())


def _kind(item: dataclasses.Field) -> type:
    if item.metadata["enum"]:
        return ir.StringAttr
    return {"flag": ir.BoolAttr, "f32": ir.FloatAttr}.get(item.metadata["kind"], ir.IntegerAttr)


@pytest.mark.parametrize("cls", INSTRUCTIONS)
def test_each_instruction_has_its_op(cls: type[Instruction]) -> None:
    op = NpuDialect.operations[cls.mnemonic]
    expected = {item.name: _kind(item) for item in numbers_of(cls)}
    if cls().runs_on() is not None:
        expected |= dict.fromkeys(("waits", "signals"), ir.DenseI64ArrayAttr)
    assert {name: slot.kind for name, slot in op.attribute_slots.items()} == expected
    assert all(slot.optional for slot in op.attribute_slots.values())
    assert op.__name__ == f"{cls.__name__}Op"


def test_there_is_no_other_op_of_the_low_tier() -> None:
    low = {name for name, op in NpuDialect.operations.items() if issubclass(op, InstructionOp)}
    assert low == {cls.mnemonic for cls in INSTRUCTIONS}


def _programs() -> list[Program]:
    pick = np.random.default_rng(0)
    layer = Dense(pick.standard_normal((12, 20), np.float32), pick.standard_normal(20, np.float32), relu=True)
    return [
        parse_program(SMALL + ".data 0xa00 00ff", "small.s"),
        chain_program(TensorType((30, 12), "f32"), [layer], TINY),
    ]


@pytest.mark.parametrize("program", _programs(), ids=["small", "lowered"])
def test_a_program_goes_through_the_dialect(program: Program) -> None:
    unit = _unit()
    convert.build_function(program, unit, "net")
    unit.module.operation.verify()
    assert convert.only_program(unit, "x.mlir") == program


def test_a_module_must_hold_one_program() -> None:
    unit = _unit()
    with pytest.raises(IRError, match="'x.mlir' must hold one program .* but holds 0"):
        convert.only_program(unit, "x.mlir")
    for name in ("a", "b"):
        convert.build_function(_programs()[0], unit, name)
    with pytest.raises(IRError, match="but holds 2"):
        convert.only_program(unit, "x.mlir")
