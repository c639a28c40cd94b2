"""What a compiled net consists of, read off its LOOPS-level module."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir import ir
from mlir.dialects import func, scf

from aiopt.dialects.ext import operations
from aiopt.passes.base import functions
from aiopt.passes.lower.allocate_scratch import buffer_bytes
from aiopt.passes.rewrite import WHY
from aiopt.passes.spec.base import REGION, SERIAL
from aiopt.passes.templates.base import LIBRARY_ROUTE
from aiopt.passes.templates.registry import CHOICE

_OF_CALL = {"why": WHY, "region": REGION}
_PICKS = {"ai.gather", "ai.slice"}  # ops that read some elements of a tensor
_SIZES = ("arena_bytes", "arena_lower_bound_bytes", "temporaries_bytes", "weights_bytes")


def sizes(module: ir.Module) -> dict[str, int]:
    """Bytes of arena, its lower bound, temporaries and weights, as `ai-plan-memory` left them on the module."""
    attributes: Any = module.operation.attributes
    return {key: attributes[f"ai.{key}"].value for key in _SIZES if f"ai.{key}" in attributes}


def amp(module: ir.Module, remarks: Sequence[str]) -> dict[str, Any]:
    """What ai-amp did: type, contractions, how many of them are low, casts, and its remarks."""
    entries: Any = module.operation.attributes["ai.amp"]
    numbers = {entry.name: entry.attr.value for entry in entries}
    return {**numbers, "remarks": [str(remark) for remark in remarks if remark.startswith("ai-amp: ")]}


def kernels(module: ir.Module) -> list[dict[str, Any]]:
    """One entry per call of @main: the kernel, its ops, ONNX nodes, flops, bytes, bytes of its result, launches, and
    how it runs: an estimate of its nanoseconds on one core, whether it is serial, and its region (ai-plan-threads).

    `weight_bytes` are those of constants, in the order in which the kernel reads them, `activation_bytes` all others it
    reads or writes once, and `scratch_bytes` what it has in the arena for itself.
    A call is one launch; where a kernel writes an intermediate as large as its result to the arena and reads it back,
    each of its loop nests is one.
    """
    named = {function.name.value: function for function in functions(module)}
    described = {name: _describe(function) for name, function in named.items()}
    return [
        {**of_call(op), **described[op.callee.value], **_traffic(op, function, named[op.callee.value])}
        for function in functions(module)
        if function.name.value == "main"
        for op in operations(function)
        if isinstance(op, func.CallOp)
    ]


def _traffic(call: func.CallOp, main: func.FuncOp, kernel: func.FuncOp) -> dict[str, int]:
    """Bytes that a call's kernel reads and writes; one buffer that is handed over twice counts once.

    Of what it picks elements from, it reads no more than it gives.
    """
    blob, weights, activations = _blob(main), 0, 0
    operands = list(call.operands)[: len(call.operands) - _scratch(kernel)]
    most = buffer_bytes(operands[-1].type) if _PICKS & set(_strings(kernel, "ai.ops")) else math.inf
    for value in dict.fromkeys(operands):
        size = int(min(buffer_bytes(value.type), most))
        if blob is not None and _source(value) == blob:
            weights += size
        else:
            activations += size
    return {"weight_bytes": weights, "activation_bytes": activations}


def _blob(main: func.FuncOp) -> ir.Value | None:
    """The argument of @main that holds the weights: what ai-plan-memory adds, weights and arena, has no name."""
    names: Any = main.attributes.get("arg_attrs", [])
    unnamed = [
        value for value, entry in zip(main.arguments, names, strict=False) if "ai.name" not in ir.DictAttr(entry)
    ]
    return unnamed[0] if unnamed else None


def _source(value: ir.Value) -> ir.Value:
    """What a view is of."""
    while isinstance(value, ir.OpResult):
        value = value.owner.operands[0]
    return value


def of_call(call: func.CallOp) -> dict[str, Any]:
    """What a call of a kernel says, at any level: the kernel, ONNX nodes, why its target is not a preferred one, and
    the region of calls that run at the same time."""
    more = {key: call.attributes[name].value for key, name in _OF_CALL.items() if name in call.attributes}
    return {"kernel": call.callee.value, "nodes": _strings(call, "ai.nodes"), **more}


def of_kernel(kernel: func.FuncOp) -> dict[str, Any]:
    """What a kernel says of itself, at any level: its ops, flops, bytes, the route it takes and the template it has."""
    numbers = {
        key: kernel.attributes[f"ai.{key}"].value for key in ("flops", "bytes") if f"ai.{key}" in kernel.attributes
    }
    template = {"template": _template(kernel)} if CHOICE in kernel.attributes else {}
    route = {"route": kernel.attributes["ai.route"].value} if "ai.route" in kernel.attributes else {}
    library = {"library": template["template"]["name"]} if route.get("route") == LIBRARY_ROUTE else {}
    return {"ops": _strings(kernel, "ai.ops"), **numbers, **route, **library, **template}


def _describe(kernel: func.FuncOp) -> dict[str, Any]:
    nests = [op for op in kernel.entry_block.operations if isinstance(op, (scf.ForOp, scf.ForallOp))]
    *_, result = kernel.type.inputs[: len(kernel.type.inputs) - _scratch(kernel)]
    scratch = kernel.type.inputs[len(kernel.type.inputs) - _scratch(kernel) :]
    scratch_bytes = sum(buffer_bytes(kind) for kind in scratch)
    full_size = any(buffer_bytes(kind) >= buffer_bytes(result) for kind in scratch)
    launches = max(1, len(nests)) if full_size else 1
    facts = {"nanoseconds": kernel.attributes["ai.nanoseconds"].value} if "ai.nanoseconds" in kernel.attributes else {}
    facts["serial"] = SERIAL in kernel.attributes
    sizes = {"result_bytes": buffer_bytes(result), "scratch_bytes": scratch_bytes}
    return {**of_kernel(kernel), **facts, **sizes, "launches": launches}


def _template(kernel: func.FuncOp) -> dict[str, Any]:
    """Its name and numbers."""
    entries: Any = kernel.attributes[CHOICE]
    return {entry.name: entry.attr.value for entry in entries}


def _scratch(kernel: func.FuncOp) -> int:
    return kernel.attributes["ai.scratch"].value if "ai.scratch" in kernel.attributes else 0


def _strings(op: ir.OpView, key: str) -> list[str]:
    """The strings of an attribute, none where it is not there."""
    entries: Any = op.attributes.get(key, [])
    return [entry.value for entry in entries]
