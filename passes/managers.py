"""Upstream's pass managers: parsing one and setting it up costs more than running most of them on a small net."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from mlir import ir
from mlir.passmanager import PassManager

_managers: WeakKeyDictionary[ir.Context, dict[str, PassManager]] = WeakKeyDictionary()


def pass_manager(context: ir.Context, text: str) -> PassManager:
    """The pass manager of a pipeline text, made at its first use in this context. Raises ValueError on a bad text.

    It does not verify the IR after each of its passes: who runs it verifies what comes out.
    """
    known = _managers.setdefault(context, {})
    if text not in known:
        known[text] = PassManager.parse(text, context)
        known[text].enable_verifier(False)
    return known[text]
