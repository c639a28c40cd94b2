"""Diagnostics of MLIR: caught as text for an error line, or left to whoever shows them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mlir import ir

from aiopt.support.errors import AioptError, ShownError


@contextmanager
def caught(context: ir.Context, kind: type[AioptError], what: str) -> Iterator[None]:
    """Give an AioptError raised inside the block the text of the diagnostics: `what: <error>; <error>`.

    Where the context's owner shows diagnostics himself (`emit_error_diagnostics`), it becomes a ShownError.
    """
    shows = context.emit_error_diagnostics
    errors: list[str] = []

    def keep(diagnostic: ir.Diagnostic) -> bool:
        if diagnostic.severity != ir.DiagnosticSeverity.ERROR:
            return False
        errors.append(f"{_place(diagnostic.location)}{diagnostic.message}")
        return not shows

    handler = context.attach_diagnostic_handler(keep)
    try:
        yield
    except NativeFailure as failure:
        if shows and errors:
            raise ShownError(what) from failure
        text = "; ".join(" ".join(error.split()) for error in errors)
        raise kind(f"{what}: {text or 'it failed and gave no reason'}") from failure
    finally:
        handler.detach()  # pyright: ignore[reportAttributeAccessIssue]


class NativeFailure(Exception):
    """Native code failed; why is in the diagnostics."""


def error_text(error: Exception) -> str:
    """The diagnostics of an MLIR error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    shown = [line for line in lines if line.startswith("error:")] or lines[:1]
    return "; ".join(line.removeprefix("error: ") for line in shown)


def _place(location: ir.Location) -> str:
    return "" if location == ir.Location.unknown(location.context) else f"{str(location)[4:-1]}: "
