"""`npu-lower-kernels`: kernels of matrix products to the high tier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import bufferization, func, memref

from aiopt.dialects.ai import ConstantOp
from aiopt.dialects.ext import type_of
from aiopt.dialects.npu import DRAM, NpuDialect
from aiopt.passes.base import FunctionPass
from aiopt.passes.rewrite import TARGET, constant_value
from aiopt.passes.unit import Unit
from aiopt.passes.walk import ops_named
from aiopt.support.errors import CompileError, UnsupportedError
from aiopt.support.types import TensorType
from aiopt.targets.npu.convert import mark_machine
from aiopt.targets.npu.kernel import Product, read_kernel
from aiopt.targets.npu.lower_product import Operands, ProductLowering
from aiopt.targets.npu.machine import Machine, find_machine
from aiopt.targets.npu.tile_blocks import TILES, argument_attributes
from aiopt.targets.npu.tiles import choose, problem_of


@dataclass(frozen=True)
class LowerKernels(FunctionPass):
    """Cut the products of kernels into tiles that go through the chip.

    Before: functions of `ai` ops on tensors that have `ai.target` = "npu" and that nothing calls; what is constant in
    them is an `ai.constant` or `arith.constant`. After: functions of the high tier on memrefs in dram, each result an
    argument behind the others (`ai.output`). Other functions stay as they are.
    Options: machine, a preset or a file; depth, how many buffers of each kind take turns.
    """

    name: ClassVar[str] = "npu-lower-kernels"

    machine: str = "edge16"
    depth: int = 2

    def run_on_function(self, function: func.FuncOp, unit: Unit) -> None:
        if TARGET not in function.attributes or ir.StringAttr(function.attributes[TARGET]).value != "npu":
            return
        name = function.name.value
        if any(
            ir.FlatSymbolRefAttr(op.attributes["callee"]).value == name
            for op in ops_named(unit.module, "func.call")  # pyright: ignore[reportArgumentType]
        ):
            raise CompileError(
                f"{self.name}: @{name} is called; programs are made from kernels in a module of their own"
            )
        lower_kernel(function, unit, find_machine(self.machine), self.depth)


def lower_kernel(kernel: func.FuncOp, unit: Unit, machine: Machine, depth: int) -> func.FuncOp:
    """Replace a kernel by a function of the high tier for this machine.

    Raises UnsupportedError that names the op that does not run on an NPU, or says what does not fit.
    """
    if depth < 1:
        raise UnsupportedError(f"depth must be 1 or more, but is {depth}")
    NpuDialect.load(kernel.context)
    products = read_kernel(kernel, unit)
    with kernel.context, kernel.location:
        function = _declare(kernel)
        mark_machine(function, machine)
        buffers = _Buffers(kernel, function, unit)
        with ir.InsertionPoint(function.entry_block):
            for product in products:
                with product.location:
                    problem = problem_of(product)
                    tiles = choose(problem, machine, depth)
                    ProductLowering(product, problem, tiles, machine, buffers.operands(product)).emit()
            func.ReturnOp([])
    name = kernel.name.value
    kernel.operation.erase()
    function.operation.attributes["sym_name"] = ir.StringAttr.get(name, function.context)
    return function


def _declare(kernel: func.FuncOp) -> func.FuncOp:
    """A function beside a kernel, with a memref for each argument and each result."""
    inputs, results = kernel.type.inputs, kernel.type.results
    arguments = [_in_dram(type_of(kind)) for kind in [*inputs, *results]]
    function = func.FuncOp(f"{kernel.name.value}.tiles", (arguments, []), ip=ir.InsertionPoint(kernel))
    function.add_entry_block()
    function.attributes[TILES] = ir.UnitAttr.get()
    named = [ir.DictAttr.get(attributes) for attributes in argument_attributes(kernel)]
    for number in range(len(results)):
        marks = {"ai.name": ir.StringAttr.get(f"result{number}"), "ai.output": ir.UnitAttr.get()}
        named.append(ir.DictAttr.get(marks))
    function.arg_attrs = named
    return function


def _in_dram(kind: TensorType) -> ir.MemRefType:
    return ir.MemRefType.get(list(kind.shape), ir.Type.parse(kind.element), None, ir.Attribute.parse(DRAM))


class _Buffers:
    """Where in dram the values of a kernel are: in arguments, in constants, or in buffers between two products."""

    def __init__(self, kernel: func.FuncOp, function: func.FuncOp, unit: Unit) -> None:
        self._unit = unit
        self._name = kernel.name.value
        arguments = list(function.arguments)
        count = len(kernel.arguments)
        self._known = dict(zip(kernel.arguments, arguments[:count], strict=True))
        *_, end = kernel.entry_block.operations
        for value, argument in zip(end.operands, arguments[count:], strict=True):
            if value in self._known or constant_value(value, unit) is not None:
                raise UnsupportedError(f"kernel @{self._name} returns an argument, a constant or a value twice")
            self._known[value] = argument

    def operands(self, product: Product) -> Operands:
        """The buffers of a product, as matrices and rows; from here on, others find its result."""
        m, n, k = product.shape
        scales = product.requantize.scale if product.requantize is not None else None
        return Operands(
            left=self._flat(product.left, (m, k)),
            right=self._flat(product.right, (k, n)),
            bias=None if product.bias is None else self._flat(product.bias, (n,)),
            scales=None if scales is None or scales.ndim == 0 else self._flat(scales, (n,)),
            result=self._flat(product.result, (m, n)),
        )

    def _flat(self, source: ir.Value | np.ndarray, shape: tuple[int, ...]) -> ir.Value:
        """The buffer of a value, viewed in a shape that has all leading dimensions in one."""
        buffer = self._buffer(source)
        have = ir.MemRefType(buffer.type)
        if tuple(have.shape) == shape:
            return buffer
        lead = len(have.shape) - len(shape) + 1
        groups = [list(range(lead)), *([d] for d in range(lead, len(have.shape)))]
        kind = ir.MemRefType.get(list(shape), have.element_type, None, have.memory_space)
        return memref.CollapseShapeOp(kind, buffer, groups).result

    def _buffer(self, source: ir.Value | np.ndarray) -> ir.Value:
        if isinstance(source, np.ndarray):
            return self._constant(source)
        if source not in self._known:
            array = constant_value(source, self._unit)
            made = memref.AllocOp(_in_dram(type_of(source)), [], []).memref if array is None else self._constant(array)
            self._known[source] = made
        return self._known[source]

    def _constant(self, array: np.ndarray) -> ir.Value:
        kind = TensorType.of(array)
        key = self._unit.weights.add(f"{self._name}.data", array)
        tensor = ConstantOp(key=key, results=[kind]).operation.results[0]
        return bufferization.ToBufferOp(_in_dram(kind), tensor, read_only=True).result
