"""What holds after every pass: the verifier, our dialects' rules, the spec of the level."""

from __future__ import annotations

from mlir import ir

from aiopt.dialects import ext
from aiopt.passes import spec
from aiopt.passes.diagnostics import error_text
from aiopt.passes.unit import Unit
from aiopt.support.errors import AioptError, CompileError


def check(unit: Unit, step: str) -> None:
    """Verify a unit and hold it against its level's spec. Raises CompileError or SpecError naming the step."""
    try:
        unit.module.operation.verify()
        level = unit.level
        if level not in spec.UPSTREAM_ONLY:
            ext.verify(unit.module)
        if level is not None:
            spec.check(unit.module, level)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise CompileError(f"{step} left invalid IR: {error_text(error)}") from error
    except AioptError as error:
        raise type(error)(f"after {step}: {error}") from error
