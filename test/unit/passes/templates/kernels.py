"""Nets of several kernels, built by hand, and both routes of running them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ai, ext
from aiopt.passes import pipeline
from aiopt.passes.interpret import interpret
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.types import TensorType
from aiopt.support.weights import WeightStore
from aiopt.targets import find_target

Build = Callable[..., ir.Value]
Adjust = Callable[[Unit], None]
GROUPED = "ai-group-kernels,ai-outline-kernels"


@dataclass
class Kernel:
    """The ops of one kernel, on its inputs and then its weights; the template that must take it."""

    template: str
    build: Build
    inputs: list[np.ndarray]
    weights: list[np.ndarray] = field(default_factory=list)


def splat(value: float) -> ir.Value:
    """A constant of equal elements."""
    kind = ext.to_ir(TensorType((), "f32"))
    attribute = ir.DenseElementsAttr.get_splat(kind, ir.FloatAttr.get(ir.F32Type.get(), value))
    return arith.ConstantOp(kind, attribute).result


def _leave(unit: Unit) -> None:
    """Change nothing."""


def unit_of(kernels: Sequence[Kernel]) -> tuple[Unit, dict[str, np.ndarray]]:
    """A unit at level GRAPH with the result of each kernel as an output, and its inputs."""
    arrays = [array for kernel in kernels for array in kernel.inputs]
    inputs = {f"x{i}": array for i, array in enumerate(arrays)}
    weights = WeightStore()
    with new_context(), ir.Location.unknown():
        kinds = [ext.to_ir(TensorType.of(array)) for array in arrays]
        module = ir.Module.create()
        module.operation.attributes["ai.level"] = ir.StringAttr.get("graph")
        module.operation.attributes["ai.net"] = ir.StringAttr.get("net")
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", (kinds, []))
            with ir.InsertionPoint(main.add_entry_block()):
                arguments = iter(main.arguments)
                results = [_build(kernel, arguments, weights) for kernel in kernels]
                func.ReturnOp(results)
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [r.type for r in results]))
        main.attributes["arg_attrs"] = _names("x", len(kinds))
        main.attributes["res_attrs"] = _names("y", len(results))
    return Unit(module, weights), inputs


def _build(kernel: Kernel, arguments, weights: WeightStore) -> ir.Value:
    inputs = [next(arguments) for _ in kernel.inputs]
    constants = [
        ai.ConstantOp(key=weights.add("w", array), results=[TensorType.of(array)]).results[0]
        for array in kernel.weights
    ]
    return kernel.build(*inputs, *constants)


def _names(prefix: str, count: int) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(f"{prefix}{i}")}) for i in range(count)])


def choices(unit: Unit) -> list[str]:
    """The template of each kernel in the order of the calls in @main, "structured" where it has none."""
    functions = {op.name.value: op for op in unit.module.body.operations}
    found = []
    for op in functions["main"].entry_block.operations:
        if isinstance(op, func.CallOp):
            attributes = functions[op.callee.value].attributes
            template = attributes["ai.template"]["name"].value if "ai.template" in attributes else "structured"
            found.append(template)
    return found


def check(
    kernels: Sequence[Kernel],
    facts: str | None = None,
    winograd: str = "off",
    grouped: str = GROUPED,
    adjust: Adjust = _leave,
) -> None:
    """Each kernel goes by its template and computes what the interpreter does; two threads give the same bits.

    facts: options of ai-select-route; None: those for this machine. grouped: the passes that make kernels.
    adjust: changes what was chosen for them.
    """
    unit, inputs = unit_of(kernels)
    expected = interpret(unit.module, unit.weights, inputs)
    single, double = run(unit, inputs, [kernel.template for kernel in kernels], facts, winograd, grouped, adjust)
    for name, want in expected.items():
        scale = np.abs(want[np.isfinite(want)]).max(initial=1e-6)
        np.testing.assert_allclose(single[name] / scale, want / scale, rtol=1e-5, atol=1e-5, err_msg=name)
        np.testing.assert_array_equal(single[name].view(np.uint32), double[name].view(np.uint32), err_msg=name)


def run(
    unit: Unit,
    inputs: dict[str, np.ndarray],
    templates: Sequence[str],
    facts: str | None,
    winograd: str,
    grouped: str = GROUPED,
    adjust: Adjust = _leave,
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Compile a unit of kernels that must go by these templates; the results on one thread and on two."""
    target = find_target("cpu")
    stages = target.stages()
    select, _, rest = stages[1].pipeline.partition(",")
    given = select.removeprefix("ai-select-route").strip("{}") if facts is None else facts
    pipeline.run(unit, f"{grouped},ai-select-route{{{given} winograd={winograd}}}")
    assert choices(unit) == list(templates)
    adjust(unit)
    for text in (rest, *(stage.pipeline for stage in stages[2:])):
        pipeline.run(unit, text)
    code = target.build(unit, KernelCache())
    single, double = (target.load(unit, code, threads, {}).run(inputs) for threads in (1, 2))
    return single, double
