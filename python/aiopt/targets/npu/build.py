"""Kernels to programs: what the rest of the compiler needs of NPUs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import type_of
from aiopt.passes.base import functions
from aiopt.passes.unit import Unit
from aiopt.support.errors import UnsupportedError
from aiopt.targets.npu.chain import lower_chain
from aiopt.targets.npu.kernel import can_run, known_constant, read_kernel
from aiopt.targets.npu.layer import MatMul
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program, Tensor

__all__ = ["build_kernel", "can_run"]


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
    kernel = _only_function(function) if isinstance(function, ir.Module) else function
    values = constants or {}
    names = [_name(kernel, number) for number in range(len(kernel.arguments))]
    known = {kernel.arguments[number]: array for number, array in values.items()}
    unit = Unit(ir.Module.create(ir.Location.unknown(kernel.context)))
    layers, current = [], None
    for product in read_kernel(kernel):
        if current is not None and product.left != current:
            raise UnsupportedError("products of a kernel must follow one another")
        weight, bias = (
            None if value is None else known.get(value, known_constant(value, unit))
            for value in (product.right, product.bias)
        )
        if weight is None or (product.bias is not None and bias is None):
            raise UnsupportedError("weights and biases of a kernel must be known")
        layers.append(MatMul(weight, bias, relu=product.relu))
        current = product.result
    start = next(product.left for product in read_kernel(kernel))
    program = lower_chain(type_of(start), layers, machine, depth)
    x, y = program.inputs[0], program.outputs[0]
    inputs = [Tensor(names[start.arg_number], x.address, x.type)]  # pyright: ignore[reportAttributeAccessIssue]
    return dataclasses.replace(program, inputs=inputs, outputs=[Tensor("result0", y.address, y.type)])


def _only_function(module: ir.Module) -> func.FuncOp:
    found = functions(module)
    if len(found) != 1:
        raise UnsupportedError(f"a module to build must hold one kernel, but holds {len(found)}")
    return found[0]


def _name(kernel: func.FuncOp, number: int) -> str:
    attributes = kernel.arg_attrs[number] if "arg_attrs" in kernel.attributes else {}
    return attributes["ai.name"].value if "ai.name" in attributes else f"arg{number}"
