"""Remarks: what a pass did to a program, or did not and why, for people who want it faster."""

from __future__ import annotations

from typing import Self

from mlir import ir

PASSED, MISSED, FAILED, ANALYSIS = "Passed", "Missed", "Failure", "Analysis"


class Remark(str):
    """The text of a remark, with its kind, a short name, and where it belongs.

    location: of the op it is about; function: the name of the function around that op.
    """

    kind: str
    name: str
    location: ir.Location | None
    function: str

    def __new__(
        cls, text: str, kind: str = ANALYSIS, name: str = "", op: ir.Operation | ir.OpView | None = None
    ) -> Self:
        made = super().__new__(cls, text)
        made.kind, made.name = kind, name or kind.lower()
        made.location = op.location if op is not None else None
        made.function = _function_around(op.operation) if op is not None else ""
        return made


def _function_around(op: ir.Operation | None) -> str:
    while op is not None:
        if op.name == "func.func":
            return ir.StringAttr(op.attributes["sym_name"]).value
        op = op.parent.operation if op.parent is not None else None
    return ""
