"""Where mixed precision loses digits: what each compiled kernel of a net gives, held against the net in f32."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt import driver
from aiopt.passes import io, pipeline
from aiopt.passes.adopt import adopt
from aiopt.passes.base import functions
from aiopt.passes.unit import Unit
from aiopt.support.compare import Likeness, likeness
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.target import TargetChoice
from aiopt.support.types import element_of, is_float
from aiopt.targets import find_target

CPU = TargetChoice()
_Key = tuple[str, int]


@dataclass(frozen=True)
class KernelLikeness:
    """A call of a kernel with the ONNX nodes it computes, the type of its result, and how near that is to f32's."""

    kernel: str
    nodes: str
    element: str
    likeness: Likeness


@dataclass(frozen=True)
class _Call:
    kernel: str
    nodes: list[str]
    output: str


def per_kernel(
    model: Any, amp: str, inputs: Mapping[str, np.ndarray], choice: TargetChoice = CPU
) -> list[KernelLikeness]:
    """Compile and run a model twice, in f32 and in mixed precision, with each kernel's result as an output.

    Kernels are matched by the node whose value they give; one whose value the f32 net has in no kernel, or in another
    layout, is left out. Raises what compiling does.
    """
    expected = {key: array for key, (_, array) in _values(model, "none", inputs, choice).items()}
    return [
        KernelLikeness(call.kernel, "+".join(call.nodes), element_of(have.dtype), likeness(have, expected[key]))
        for key, (call, have) in _values(model, amp, inputs, choice).items()
        if key in expected and expected[key].shape == have.shape and is_float(have.dtype)
    ]


def _values(
    model: Any, amp: str, inputs: Mapping[str, np.ndarray], choice: TargetChoice
) -> dict[_Key, tuple[_Call, np.ndarray]]:
    """What the kernels give, by the last node each computes and its number among those of that node; in order."""
    chosen = find_target(choice.names, choice.machine, choice.options)
    unit = driver.load_unit(model, io.new_context(), {name: array.shape for name, array in inputs.items()})
    unit.calibration = inputs
    adopt(unit)
    pipeline.run(unit, f"{chosen.stages(amp)[0].pipeline},ai-expose-kernels")
    calls = _calls(unit)
    driver.lower(unit, chosen)
    with chosen.load(unit, chosen.build(unit, KernelCache()), 1, {}) as net:
        outputs = net.run(dict(inputs))
    found: dict[_Key, tuple[_Call, np.ndarray]] = {}
    for call in calls:
        node = call.nodes[-1] if call.nodes else ""
        number = sum(key[0] == node for key in found)
        found[node, number] = call, outputs[call.output]
    return found


def _calls(unit: Unit) -> list[_Call]:
    (main,) = [function for function in functions(unit.module) if function.name.value == "main"]
    *ops, end = main.entry_block.operations
    names = [ir.StringAttr(ir.DictAttr(entry)["ai.name"]).value for entry in ir.ArrayAttr(main.attributes["res_attrs"])]
    output = dict(zip(end.operation.operands, names, strict=True))
    return [
        _Call(
            op.callee.value,
            [ir.StringAttr(name).value for name in ir.ArrayAttr(op.attributes["ai.nodes"])],
            output[op.results[0]],
        )
        for op in ops
        if isinstance(op, func.CallOp)
    ]
