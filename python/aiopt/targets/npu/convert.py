"""Between programs and the low tier of the dialect `npu`.

A program is a function without arguments, with the attributes `npu.machine` (name), `npu.machine_hash` (hexadecimal),
`npu.dram_bytes`, `npu.inputs` and `npu.outputs` ([{name, address, type}]). It holds an `ai.constant` with the attribute
`npu.address` for what dram holds from the start, one op for each instruction, and a return.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ai import ConstantOp
from aiopt.dialects.ext import describe, from_attribute, to_ir, type_of
from aiopt.dialects.npu import Instruction as InstructionOp
from aiopt.dialects.npu import NpuDialect
from aiopt.passes.base import functions
from aiopt.passes.unit import Unit
from aiopt.support.errors import AioptError, IRError
from aiopt.support.types import TensorType
from aiopt.targets.npu.encoding import Instruction, Token, numbers_of
from aiopt.targets.npu.isa import BY_MNEMONIC
from aiopt.targets.npu.machine import Machine, find_by_hash, find_machine
from aiopt.targets.npu.program import Program, Tensor
from aiopt.targets.npu.tile_blocks import ADDRESS, is_tiled

MACHINE, _HASH = "npu.machine", "npu.machine_hash"
_TOKENS = ("waits", "signals")


def is_program(function: func.FuncOp) -> bool:
    """True for a function that is a program."""
    return MACHINE in function.attributes and not is_tiled(function)


def mark_machine(function: func.FuncOp, machine: Machine) -> None:
    """Say on a function which machine it is for."""
    function.attributes[MACHINE] = ir.StringAttr.get(machine.name)
    function.attributes[_HASH] = ir.StringAttr.get(machine.hash().hex())


def machine_of(function: func.FuncOp, option: str, owner: str) -> Machine:
    """The machine that the option of a pass (`owner`) names, else the preset a function says it is for.

    Raises IRError if the function says nothing, or is for no preset.
    """
    if option:
        return find_machine(option)
    where, attributes = f"function '{function.name.value}'", function.attributes
    try:
        name, digest = attributes[MACHINE].value, bytes.fromhex(attributes[_HASH].value)
    except (KeyError, AttributeError, ValueError):
        raise IRError(f"{where} has no attributes {MACHINE} and {_HASH}: {owner}{{machine=NAME}}") from None
    machine = find_by_hash(digest)
    if machine is None:
        raise IRError(f"{where} is for machine '{name}', which is no preset: {owner}{{machine=FILE}}")
    return machine


def build_op(instruction: Instruction, loc: ir.Location | None = None) -> InstructionOp:
    """The op of an instruction, at the current insertion point."""
    attributes: dict[str, Any] = {}
    for item in numbers_of(type(instruction)):
        value = getattr(instruction, item.name)
        if item.metadata["enum"]:
            attributes[item.name] = value.name.lower()
        elif value != item.default or str(value) == "-0.0":
            attributes[item.name] = value
    for key in _TOKENS:
        if tokens := getattr(instruction, key):
            attributes[key] = [number for token in tokens for number in (token.semaphore, token.count)]
    op = NpuDialect.operations[instruction.mnemonic](loc=loc, **attributes)
    assert isinstance(op, InstructionOp)
    return op


def read_op(op: InstructionOp) -> Instruction:
    """The instruction of an op. Raises IRError that names the op if no instruction is like that."""
    cls = BY_MNEMONIC[op.OPERATION_NAME.partition(".")[2]]
    try:
        op.verify_op()
        given = op.python_attributes()
        waits, signals = (_read_tokens(key, given.pop(key, [])) for key in _TOKENS)
        fields = {item.name: item for item in numbers_of(cls)}
        values = {key: _read_value(key, fields[key], value) for key, value in given.items()}
        instruction = cls(waits=waits, signals=signals, **values)
        instruction.encode()
        return instruction
    except AioptError as error:
        raise IRError(f"{error} (at {describe(op.location)})") from error


def _read_value(key: str, item: dataclasses.Field[Any], value: Any) -> Any:
    if enum := item.metadata["enum"]:
        names = {member.name.lower(): member for member in enum}
        if value not in names:
            raise IRError(f"{key} must be one of {', '.join(names)}, but is '{value}'")
        return names[value]
    return float(np.float32(value)) if item.metadata["kind"] == "f32" else value


def _read_tokens(key: str, numbers: list[int]) -> tuple[Token, ...]:
    if len(numbers) % 2:
        raise IRError(f"{key} must be pairs of semaphore and count, but is {numbers}")
    return tuple(Token(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True))


def build_function(program: Program, unit: Unit, name: str) -> func.FuncOp:
    """Add a program to a module as a function; its data goes to the unit's weights."""
    with unit.module.context, ir.Location.unknown():
        with ir.InsertionPoint(unit.module.body):
            function = func.FuncOp(name, ([], []))
        attributes = function.attributes
        attributes[MACHINE] = ir.StringAttr.get(program.machine)
        attributes[_HASH] = ir.StringAttr.get(program.machine_hash.hex())
        attributes["npu.dram_bytes"] = _integer(program.dram_bytes)
        attributes["npu.inputs"] = ir.ArrayAttr.get([_build_tensor(tensor) for tensor in program.inputs])
        attributes["npu.outputs"] = ir.ArrayAttr.get([_build_tensor(tensor) for tensor in program.outputs])
        with ir.InsertionPoint(function.add_entry_block()):
            for address, content in sorted(program.data.items()):
                array = np.frombuffer(content, np.uint8)
                key = unit.weights.add(f"{name}.data", array)
                ConstantOp(key=key, results=[TensorType.of(array)]).operation.attributes[ADDRESS] = _integer(address)
            for instruction in program.instructions:
                build_op(instruction)
            func.ReturnOp([])
    return function


def read_function(function: func.FuncOp, unit: Unit) -> Program:
    """The program a function holds. Raises IRError if it holds anything else, ModelError if its data is not known."""
    where = f"program '{function.name.value}'"
    attributes = function.attributes
    for key in (MACHINE, _HASH, "npu.dram_bytes", "npu.inputs", "npu.outputs"):
        if key not in attributes:
            raise IRError(f"{where} has no attribute {key}")
    *body, end = function.entry_block.operations
    if function.arguments or not isinstance(end, func.ReturnOp):
        raise IRError(f"{where} must have no arguments and end with a return")
    instructions: list[Instruction] = []
    data: dict[int, bytes] = {}
    try:
        for op in body:
            if isinstance(op, InstructionOp):
                instructions.append(read_op(op))
            elif isinstance(op, ConstantOp):
                address = from_attribute(op.operation.attributes[ADDRESS])
                data[address] = unit.weights[op.python_attributes()["key"]].tobytes()
            else:
                raise IRError(f"{where} holds {op.operation.name}, which is no instruction ({describe(op.location)})")
        return Program(
            machine=attributes[MACHINE].value,
            machine_hash=bytes.fromhex(attributes[_HASH].value),
            dram_bytes=attributes["npu.dram_bytes"].value,
            instructions=instructions,
            inputs=[_read_tensor(item) for item in attributes["npu.inputs"]],
            outputs=[_read_tensor(item) for item in attributes["npu.outputs"]],
            data=data,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise IRError(f"{where}: an attribute npu.* is not there or does not have its form ({error})") from error


def only_program(unit: Unit, origin: str) -> Program:
    """The program of a module that holds one; `origin` names it in errors. Raises IRError."""
    found = [function for function in functions(unit.module) if is_program(function)]
    if len(found) != 1:
        raise IRError(f"'{origin}' must hold one program (a function with {MACHINE}), but holds {len(found)}")
    return read_function(found[0], unit)


def _integer(value: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def _build_tensor(tensor: Tensor) -> ir.Attribute:
    kind = ir.TypeAttr.get(to_ir(tensor.type))
    return ir.DictAttr.get({"name": ir.StringAttr.get(tensor.name), "address": _integer(tensor.address), "type": kind})


def _read_tensor(item: Any) -> Tensor:
    return Tensor(item["name"].value, item["address"].value, type_of(item["type"].value))
