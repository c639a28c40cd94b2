"""Runs IR of the upper levels on numpy, op by op, by the ops' references: the oracle behind compare and bisect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects.ai import ConstantOp
from aiopt.dialects.ext import Operation, dense_array, describe, type_of
from aiopt.support.errors import InputNameError, InputShapeError, SpecError, WeightsError
from aiopt.support.types import TensorType, has_element
from aiopt.support.weights import WeightStore

Observer = Callable[[ir.Value, np.ndarray], None]


def interpret(
    module: ir.Module, weights: WeightStore, inputs: Mapping[str, np.ndarray], observe: Observer | None = None
) -> dict[str, np.ndarray]:
    """Evaluate @main of a module at level GRAPH or KERNELS.

    inputs and the returned arrays go by the model's names (`ai.name`). A value is freed after its last use.
    observe: told of each value as it is computed, the results of kernels and of the ops in them alike, and first of the
    arguments of each function that is called. A value that is handed on is handed on as the same array.
    Errors: InputError if inputs are missing, unknown or of another shape or type, ModelError for a constant whose
    value is not known, SpecError for an op that has no reference.
    """
    functions = {op.name.value: op for op in module.body.operations if isinstance(op, func.FuncOp)}
    if "main" not in functions:
        raise SpecError("the module has no function @main to run")
    main = functions["main"]
    arguments = _arguments(main, inputs)
    with module.context, ir.Location.unknown(), np.errstate(all="ignore"):
        results = _call(main, arguments, _Program(functions, weights, observe))
    names = _names(main, "res_attrs", len(results))
    return {name: np.array(result) for name, result in zip(names, results, strict=True)}


class _Program:
    """What a function body may refer to."""

    def __init__(self, functions: Mapping[str, func.FuncOp], weights: WeightStore, observe: Observer | None) -> None:
        self.functions = functions
        self.weights = weights
        self.observe = observe


def _call(function: func.FuncOp, arguments: Sequence[np.ndarray], program: _Program) -> list[np.ndarray]:
    block = function.entry_block
    ops = list(block.operations)
    last = {operand: index for index, op in enumerate(ops) for operand in op.operation.operands}
    values: dict[ir.Value, np.ndarray] = dict(zip(block.arguments, arguments, strict=True))
    if program.observe is not None:
        for argument, array in values.items():
            program.observe(argument, array)
    for index, op in enumerate(ops):
        if isinstance(op, func.ReturnOp):
            return [values[operand] for operand in op.operation.operands]
        for result, array in zip(op.results, _evaluate(op, values, program), strict=True):
            if program.observe is not None:
                program.observe(result, array)
            if result in last:
                values[result] = array
        for operand in set(op.operation.operands):
            if last[operand] == index:
                del values[operand]
    raise SpecError(f"@{function.name.value} does not return")


def _evaluate(op: ir.OpView, values: Mapping[ir.Value, np.ndarray], program: _Program) -> list[np.ndarray]:
    if isinstance(op, ConstantOp):
        return [_weight(op, program.weights)]
    if isinstance(op, arith.ConstantOp):
        return [_dense(op)]
    if isinstance(op, func.CallOp):
        callee = program.functions[ir.FlatSymbolRefAttr(op.attributes["callee"]).value]
        return _call(callee, [values[operand] for operand in op.operation.operands], program)
    if not isinstance(op, Operation):
        raise SpecError(f"'{op.operation.name}' has no reference to run (at {describe(op.location)})")
    groups = [
        [values[value] for value in group] if isinstance(group, list) else None if group is None else values[group]
        for group in op.operand_groups()
    ]
    return [np.asarray(array) for array in op.evaluate(groups)]


def _weight(op: ConstantOp, weights: WeightStore) -> np.ndarray:
    key, kind = op.python_attributes()["key"], type_of(op.operation.results[0])
    if (have := TensorType.of(weights[key])) != kind:
        raise WeightsError(f"constant '{key}' is a tensor of {kind} in the IR, but its value is one of {have}")
    return weights[key]


def _dense(op: arith.ConstantOp) -> np.ndarray:
    kind, attribute = type_of(op.result), op.operation.attributes["value"]
    return dense_array(ir.DenseElementsAttr(attribute), kind)


def input_types(module: ir.Module) -> dict[str, TensorType]:
    """The types of the inputs of @main by name. Raises SpecError if there is no @main."""
    return _argument_types(_main(module))


def output_types(module: ir.Module) -> dict[str, TensorType]:
    """The types of the outputs of @main by name. Raises SpecError if there is no @main."""
    main = _main(module)
    *_, terminator = main.entry_block.operations
    results = list(terminator.operands)
    return dict(zip(_names(main, "res_attrs", len(results)), map(type_of, results), strict=True))


def _main(module: ir.Module) -> func.FuncOp:
    for op in module.body.operations:
        if isinstance(op, func.FuncOp) and op.name.value == "main":
            return op
    raise SpecError("the module has no function @main")


def _argument_types(main: func.FuncOp) -> dict[str, TensorType]:
    names = _names(main, "arg_attrs", len(main.arguments))
    return {name: type_of(argument) for name, argument in zip(names, main.arguments, strict=True)}


def _arguments(main: func.FuncOp, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    types = _argument_types(main)
    if set(types) != set(inputs):
        listed = ", ".join(f"{name}: {kind}" for name, kind in types.items()) or "none"
        raise InputNameError(f"the inputs are {listed}; given were {', '.join(inputs) or 'none'}")
    return [_checked(name, kind, np.asarray(inputs[name])) for name, kind in types.items()]


def _checked(name: str, kind: TensorType, array: np.ndarray) -> np.ndarray:
    if not has_element(array.dtype) or TensorType.of(array) != kind:
        given = "x".join([*map(str, array.shape), str(array.dtype)])
        raise InputShapeError(f"input '{name}' must be a tensor of {kind}, but is {given}")
    return array


def _names(main: func.FuncOp, attribute: str, count: int) -> list[str]:
    """The names of arguments or results; those without one go by their number."""
    dictionaries = list(main.attributes[attribute]) if attribute in main.attributes else [None] * count
    named = [d["ai.name"].value if d is not None and "ai.name" in d else str(i) for i, d in enumerate(dictionaries)]
    return named
