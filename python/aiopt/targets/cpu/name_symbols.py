"""cpu-name-symbols: names of kernels and tasks that nothing else can have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from mlir import ir
from mlir.dialects import func, memref

from aiopt.passes.base import Pass
from aiopt.passes.spec.base import Level
from aiopt.passes.unit import Unit
from aiopt.passes.walk import ops_named

PREFIX = "kernel."  # no name of C has a dot, none of LLVM's begins so
_REFERENCES = {"func.call": "callee", "memref.get_global": "name"}


@dataclass(frozen=True)
class NameSymbols(Pass):
    """Before: functions and constants named by whoever wrote the module. After: all but @main are `kernel.<name>`.

    Later passes and LLVM call functions by name (`exp` of libm, `memcpy`, `llvm.fma.f64`, `aiopt_<net>_run`): a kernel
    that happens to be called so would be taken for them. In `<name>` all but letters, digits and underscores become
    underscores. Functions without a body are of others and keep their names.
    """

    name: ClassVar[str] = "cpu-name-symbols"
    requires: ClassVar[Level | None] = Level.CPU

    def run(self, unit: Unit) -> None:
        new: dict[str, str] = {}
        for op in unit.module.body.operations:
            if isinstance(op, memref.GlobalOp) or (isinstance(op, func.FuncOp) and not op.is_external):
                old = ir.StringAttr(op.attributes["sym_name"]).value
                if old != "main":
                    new[old] = _free_name(old, new.values())
                    op.attributes["sym_name"] = ir.StringAttr.get(new[old])
        for op in ops_named(unit.module.operation, *_REFERENCES):
            key = _REFERENCES[op.name]
            target = ir.FlatSymbolRefAttr(op.attributes[key]).value
            op.attributes[key] = ir.FlatSymbolRefAttr.get(new.get(target, target))


def _free_name(name: str, taken: Iterable[str]) -> str:
    clean = PREFIX + re.sub(r"\W", "_", name.removeprefix(PREFIX), flags=re.ASCII)
    known = set(taken)
    return next(text for i in count() if (text := f"{clean}_{i}" if i else clean) not in known)
