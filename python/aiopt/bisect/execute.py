"""Running IR of any level on an input, with every value it computes on the way.

Levels with `ai` ops run on numpy. Below them each kernel is compiled from where it stands by the shortest way to LLVM,
upstream's passes alone, so that no later pass of the street has a part in the result.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import func
from mlir.execution_engine import ExecutionEngine
from mlir.passmanager import PassManager

from aiopt.bisect.calls import Memory, Plan, fill, sources
from aiopt.bisect.values import Run, Value
from aiopt.dialects import ext
from aiopt.passes.base import functions
from aiopt.passes.interpret import interpret
from aiopt.passes.lower.allocate_scratch import convert_copies
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError
from aiopt.targets.cpu.pipeline import TO_LLVM, WIDEN

_TO_BUFFERS = [
    "eliminate-empty-tensors",
    "one-shot-bufferize{allow-unknown-ops bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}",
]
_TO_LOOPS = ["func.func(convert-linalg-to-loops)", *WIDEN, "func.func(arith-expand{include-bf16=true})"]


def run_on_numpy(unit: Unit, inputs: Mapping[str, np.ndarray]) -> Run:
    """Run a module of level GRAPH or KERNELS by the ops' references."""
    values: list[Value] = []
    calls: list[list[Value]] = []
    numbers: dict[int, int] = {}  # an array's id -> the number of its value; `values` keeps the arrays alive
    first_nodes: dict[str, list[str]] = {}  # of each kernel, at its first call
    begin = 0

    def observe(value: ir.Value, array: np.ndarray) -> None:
        nonlocal begin
        if not isinstance(value, ir.OpResult):
            begin = len(values)  # an argument: a kernel begins
            return
        op = value.owner.operation.opview
        if not isinstance(op, func.CallOp):
            numbers[id(array)] = len(values)
            arrays = [latest[operand] for operand in op.operation.operands if operand in latest]
            known = tuple(numbers[id(a)] for a in arrays if id(a) in numbers)
            values.append(Value(op.operation.name, tuple(ext.node_names(op.location)), array, known))
            return
        nodes = [entry.value for entry in op.attributes["ai.nodes"]] if "ai.nodes" in op.attributes else []
        if value.result_number == 0:
            _rename_nodes(values[begin:], first_nodes.setdefault(op.callee.value, nodes), nodes)
            calls.append([])
        if array.size:
            calls[-1].append(Value(op.callee.value, tuple(nodes), array))

    latest: dict[ir.Value, np.ndarray] = {}

    def observe_all(value: ir.Value, array: np.ndarray) -> None:
        latest[value] = array
        observe(value, array)

    outputs = interpret(unit.module, unit.weights, inputs, observe_all)
    return Run(outputs, values, [results for results in calls if results])


def _rename_nodes(members: Sequence[Value], first: Sequence[str], nodes: Sequence[str]) -> None:
    """Equal kernels are one function, whose locations are those of its first call: name the nodes of this call."""
    names = dict(zip(first, nodes, strict=False))
    for member in members:
        member.nodes = tuple(dict.fromkeys(names.get(node, node) for node in member.nodes))


class Kernels:
    """The functions of a module, compiled; @main is left out."""

    def __init__(self, module: ir.Module) -> None:
        copy = ir.Module.parse(_bytecode(module), module.context)
        for function in functions(copy):
            if function.name.value == "main":
                function.operation.erase()
            elif "sym_visibility" in function.attributes:
                del function.attributes["sym_visibility"]
        with copy.context, ir.Location.unknown():
            _lower(copy, _TO_BUFFERS)
            for function in functions(copy):
                convert_copies(function)
            _lower(copy, _TO_LOOPS + TO_LLVM)
            self._engine = ExecutionEngine(copy, opt_level=2)

    def call(self, name: str, addresses: Sequence[int]) -> None:
        """Call a kernel on bare pointers. Raises CompileError if there is no such function."""
        found = self._engine.raw_lookup(name)
        if not found:
            raise CompileError(f"the function @{name} is not there when the kernels are run")
        pointers = [ctypes.c_void_p(address) for address in addresses]
        packed = (ctypes.c_void_p * len(pointers))(*(ctypes.addressof(pointer) for pointer in pointers))
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(found)(ctypes.addressof(packed))


def run_calls(plan: Plan, kernels: Kernels, results: Sequence[int], inputs: Mapping[str, np.ndarray]) -> Run:
    """Run the calls of a plan in order; `results` says how many operands each call writes."""
    memory = Memory(plan)
    fill(memory, plan, inputs)
    run = Run({})
    written: dict[Any, int] = {}
    for call, count in zip(plan.calls, results, strict=True):
        kernels.call(call.kernel, [memory.address(place) for place in call.operands])
        read = sources(call.operands, written)
        run.calls.append([])
        for place in call.results(count):
            written[place] = len(run.values)
            run.values.append(Value(call.kernel, call.nodes, memory.array(place).copy(), read))
            run.calls[-1].append(run.values[-1])
    run.outputs = {name: memory.array(place).copy() for name, place in plan.outputs.items()}
    return run


def _lower(module: ir.Module, passes: Sequence[str]) -> None:
    try:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise CompileError(f"the kernels cannot be run: {error}") from error


def _bytecode(module: ir.Module) -> Any:
    return module.operation.get_asm(binary=True, enable_debug_info=True)
