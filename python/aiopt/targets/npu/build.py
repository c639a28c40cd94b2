"""Kernels to programs: what the rest of the compiler needs of NPUs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import type_of
from aiopt.passes.base import functions
from aiopt.passes.rewrite import make_constant
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType
from aiopt.targets.npu.allocate import allocate
from aiopt.targets.npu.assign_semaphores import read_tiles
from aiopt.targets.npu.lower_kernels import lower_kernel
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program
from aiopt.targets.npu.rules import can_run
from aiopt.targets.npu.tile_blocks import argument_attributes
from aiopt.targets.npu.verify_tiles import verify_tiles

__all__ = ["build_kernel", "can_run", "check_kernel"]


def build_kernel(
    function: func.FuncOp | ir.Module,
    machine: Machine,
    depth: int = 2,
    constants: Mapping[int, np.ndarray] | None = None,
) -> Program:
    """The program of a kernel: a function of `ai` ops on tensors, of which `can_run` says None, or a module with one.

    `constants` has the values of arguments (by number) that are known; they are part of the program, in dram from the
    start. The other arguments are its inputs, in order, called by their `ai.name`, else arg0, arg1, ... by their
    number; its outputs are the results, in order: result0, result1, ... Each input and output is row-major and dense in
    dram, of the type it has in the function.

    `depth` buffers of each kind take turns; 1 does one thing after the other. Raises UnsupportedError that names the op
    that does not run, or says what the machine has too little of.
    """
    unit, tiled = _tile(function, machine, depth, constants)
    allocate(tiled, machine)
    verify_tiles(tiled, machine)
    return read_tiles(tiled, unit, machine)


def check_kernel(function: func.FuncOp, machine: Machine, constants: Mapping[int, np.ndarray]) -> None:
    """Raise UnsupportedError where `build_kernel` would; in a fraction of its time."""
    _tile(function, machine, 2, constants)


def _tile(
    function: func.FuncOp | ir.Module, machine: Machine, depth: int, constants: Mapping[int, np.ndarray] | None
) -> tuple[Unit, func.FuncOp]:
    """The kernel in tiles, and the unit it stands in."""
    kernel = _only_function(function) if isinstance(function, ir.Module) else function
    unit = Unit(ir.Module.create(ir.Location.unknown(kernel.context)))
    with kernel.context, kernel.location:
        copied = kernel.operation.clone(ip=ir.InsertionPoint(unit.module.body)).opview
        _fold_arguments(copied, constants or {}, unit)
    return unit, lower_kernel(copied, unit, machine, depth)


def _fold_arguments(kernel: func.FuncOp, constants: Mapping[int, np.ndarray], unit: Unit) -> None:
    """Name the arguments, and put constants in the place of those that are known."""
    named = [
        ir.DictAttr.get({"ai.name": attributes.get("ai.name", ir.StringAttr.get(f"arg{number}"))})
        for number, attributes in enumerate(argument_attributes(kernel))
    ]
    block = kernel.entry_block
    for number, array in sorted(constants.items(), reverse=True):
        argument = block.arguments[number]
        if TensorType.of(array) != type_of(argument):
            raise UnsupportedError(f"argument {number} is {type_of(argument)}, but its value {TensorType.of(array)}")
        made = make_constant(unit, array, f"arg{number}", kernel.location, ir.InsertionPoint.at_block_begin(block))
        argument.replace_all_uses_with(made)
        block.erase_argument(number)
    kernel.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get([argument.type for argument in block.arguments], kernel.type.results)
    )
    kernel.arg_attrs = [attributes for number, attributes in enumerate(named) if number not in constants]


def _only_function(module: ir.Module) -> func.FuncOp:
    found = functions(module)
    if len(found) != 1:
        raise UnsupportedError(f"a module to build must hold one kernel, but holds {len(found)}")
    return found[0]
