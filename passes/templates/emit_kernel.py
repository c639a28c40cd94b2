"""The body of a kernel of the route "template", by the templates it was given."""

from __future__ import annotations

from collections.abc import Mapping

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import type_of
from aiopt.passes.templates.base import Buffers
from aiopt.passes.templates.kernel import Contraction
from aiopt.passes.templates.read_kernel import read_contraction, read_stages
from aiopt.passes.templates.registry import Choice
from aiopt.passes.templates.stages import emit_stages
from aiopt.passes.templates.view import Places, View
from aiopt.support.errors import CompileError


def emit_kernel(function: func.FuncOp, choice: Choice, buffers: Buffers) -> None:
    """Emit the body of a kernel that `function` has on tensors. Raises CompileError if the templates do not fit."""
    name = function.name.value
    template, numbers = choice.stages[0]
    if template.read is not read_contraction:
        kernel = template.read(function, frozenset())
        if kernel is None or not template.matches(kernel):
            raise CompileError(f"the template '{template.name}' does not cover @{name}: {_HINT}")
        template.emit(kernel, numbers, buffers)
        return
    stages = read_stages(function, frozenset())
    if stages is None or len(stages) != len(choice.stages):
        raise CompileError(f"the template '{choice.stages[0][0].name}' does not cover @{name}: {_HINT}")
    for stage, (own, numbers) in zip(stages, choice.stages, strict=True):
        if own.read is not read_contraction or not own.matches(stage):
            raise CompileError(f"the template '{own.name}' does not cover @{name}: {_HINT}")
        if stage.pack not in (None, numbers["nr"]):
            raise CompileError(f"@{name}: nr is {numbers['nr']}, but the weight is packed by {stage.pack}")
        if stage.interleave != bool(numbers.get("dot")):
            raise CompileError(f"@{name}: the weight is packed in pairs if and only if dot is 1")
    views = _views(stages, buffers)
    if choice.bands is not None:
        emit_stages(stages, choice.bands, choice.stages, views)
        return
    template.emit(stages[0], choice.stages[0][1], Places(views))


_HINT = "run ai-select-route, ai-pack-weights"


def _views(stages: list[Contraction], buffers: Buffers) -> Mapping[ir.Value, View]:
    """Views of the arguments, of what is loaded from them, and of the result."""
    views = {value: View.dense(buffer, type_of(value).shape) for value, buffer in buffers.items()}
    last = stages[-1]
    if last.insertion is not None:
        insertion, shape = last.insertion, type_of(last.result).shape
        _, *into = insertion.operation.operands
        views |= {value: views[insertion.out] for value in into if isinstance(value, ir.BlockArgument)}
        views[last.result] = views[insertion.out].part(shape, insertion.axis.value, insertion.start.value)
    for kernel in (*stages, *(stage.scores for stage in stages if stage.scores is not None)):
        views |= {value: views[access.argument].seen(access) for value, access in kernel.loads.items()}
    return views
