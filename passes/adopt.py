"""IR from elsewhere: find out its level and fill in what the street needs to know."""

from __future__ import annotations

from itertools import count

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import tensor_namespaces
from aiopt.passes import pipeline, spec
from aiopt.passes.base import functions
from aiopt.passes.pipelines import LinalgPipeline
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.passes.walk import find_op
from aiopt.support.errors import AioptError, IRError

# Not LLVM and the way there: what a module of those levels needs beside its ops, only aiopt's own passes write.
_FOREIGN = frozenset({"linalg", "tosa", "tensor"})
_ADOPTED = (Level.GRAPH, Level.KERNELS, Level.PARTS, Level.TENSOR)


def adopt(unit: Unit) -> None:
    """Set `ai.level`, `ai.net` and the `ai.name` of @main's inputs and outputs where the module does not have them.

    The level is the first one whose spec the module meets; unnamed inputs are x0, x1 ..., outputs y0, y1 ..., with
    underscores after it where such a name is taken.
    A function on tensors of linalg or tosa goes through ai-linalg-pipeline first, to level tensor.
    Raises IRError if the module is of no level.
    """
    with unit.module.context, ir.Location.unknown():
        if unit.level is None and _is_foreign(unit.module):
            pipeline.run(unit, LinalgPipeline.name)
        if unit.level is None:
            unit.level = _infer_level(unit.module)
        attributes = unit.module.operation.attributes
        if "ai.net" not in attributes:
            attributes["ai.net"] = ir.StringAttr.get("net")
        for function in functions(unit.module):
            if function.name.value == "main" and unit.level in _ADOPTED:
                _name_arguments(function)


def _is_foreign(module: ir.Module) -> bool:
    """True for functions on tensors that hold no op of ours: what front ends that know nothing of aiopt write."""
    kinds = [kind for function in functions(module) for kind in (*function.type.inputs, *function.type.results)]
    ours = tensor_namespaces()
    return (
        bool(kinds)
        and all(isinstance(kind, ir.RankedTensorType) for kind in kinds)
        and find_op(module.operation, lambda name: name.partition(".")[0] in ours) is None
        and find_op(module.operation, lambda name: name.partition(".")[0] in _FOREIGN) is not None
    )


def _infer_level(module: ir.Module) -> Level:
    if not any(function.name.value == "main" for function in functions(module)):
        raise IRError("the module has no function @main, so there is nothing to run")
    reasons = []
    for level in _ADOPTED:
        try:
            spec.check(module, level)
            return level
        except AioptError as error:
            reasons.append(str(error))
    raise IRError(f"the module is of no level aiopt knows: {'; '.join(reasons)}")


def _name_arguments(main: func.FuncOp) -> None:
    inputs = [_entries(main, "arg_attrs", len(main.type.inputs)), _entries(main, "res_attrs", len(main.type.results))]
    destinations = [entry for entry in inputs[0] if "ai.output" in entry]
    sources = [entry for entry in inputs[0] if "ai.output" not in entry]
    for prefix, entries in (("x", sources), ("y", destinations + inputs[1])):
        taken = {entry["ai.name"] for entry in entries if "ai.name" in entry}
        for number, entry in enumerate(entries):
            wanted = (f"{prefix}{number}{'_' * tries}" for tries in count())
            free = (name for text in wanted if (name := ir.StringAttr.get(text)) not in taken)
            taken.add(entry.setdefault("ai.name", next(free)))
    for key, entries in zip(("arg_attrs", "res_attrs"), inputs, strict=True):
        if entries:
            main.attributes[key] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in entries])


def _entries(main: func.FuncOp, key: str, count: int) -> list[dict[str, ir.Attribute]]:
    if key not in main.attributes:
        return [{} for _ in range(count)]
    return [{item.name: item.attr for item in entry} for entry in main.attributes[key]]
