"""The base classes of passes and named pipelines. Their fields are their options."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Self, get_type_hints

from mlir import ir

from aiopt.passes.level import Level
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError, PipelineError

if TYPE_CHECKING:
    from mlir.dialects import func


@dataclass(frozen=True)
class Configurable(ABC):
    """Something named that can stand in a pipeline; subclasses are frozen dataclasses of int, bool, float or str."""

    name: ClassVar[str]

    @classmethod
    def from_options(cls, options: dict[str, str]) -> Self:
        """Build from option texts. Raises OptionError on an unknown name, a bad value or a missing one."""
        hints = _type_hints(cls)
        declared = {f.name.replace("_", "-"): f for f in fields(cls)}
        values = {}
        for key, text in options.items():
            if key not in declared:
                known = f"it has: {', '.join(sorted(declared))}" if declared else "it has none"
                raise PipelineError(f"{cls.name} has no option '{key}' ({known})")
            values[declared[key].name] = _parse_value(cls.name, key, hints[declared[key].name], text)
        for key, f in declared.items():
            if f.default is MISSING and f.name not in values:
                raise PipelineError(f"{cls.name} needs the option '{key}'")
        return cls(**values)

    def __str__(self) -> str:
        """The pipeline text that builds this again; options at their default are left out."""
        given = [(f, getattr(self, f.name)) for f in fields(self)]
        parts = [f"{f.name.replace('_', '-')}={_print_value(value)}" for f, value in given if value != f.default]
        return self.name + (f"{{{' '.join(parts)}}}" if parts else "")


@dataclass(frozen=True)
class Pass(Configurable):
    """A step from IR to IR. The docstring says `Before: ... After: ...`."""

    requires: ClassVar[Level | None] = None  # the level the module must be at, None: any
    statistics: ClassVar[Mapping[str, str]] = {}  # what `run` counts in `unit.counts`, with a description
    ensures: ClassVar[Level | None] = None  # the level it is at afterwards, None: the same as before

    @abstractmethod
    def run(self, unit: Unit) -> bool | None:
        """Rewrite `unit.module` in place. False says that it is as it was, so that it need not be checked again."""


@dataclass(frozen=True)
class FunctionPass(Pass):
    """A pass that looks at one function at a time, so that it may also stand inside `func.func(...)`."""

    def run(self, unit: Unit) -> bool:
        changed = [self.run_on_function(function, unit) is not False for function in functions(unit.module)]
        return any(changed)

    @abstractmethod
    def run_on_function(self, function: func.FuncOp, unit: Unit) -> bool | None:
        """Rewrite one function in place. False says that it is as it was."""


@dataclass(frozen=True)
class NamedPipeline(Configurable):
    """A name for a list of passes."""

    @abstractmethod
    def passes(self) -> list[str]:
        """The pipeline texts it stands for, in order."""


def functions(module: ir.Module) -> list[func.FuncOp]:
    """The functions of a module that have a body."""
    from mlir.dialects import func  # as above: what runs no pass of ours does not load it

    found = [op for op in module.body.operations if isinstance(op, func.FuncOp)]
    return [function for function in found if not function.is_external]


def main_function(module: ir.Module, user: str) -> func.FuncOp:
    """@main. Raises CompileError, which names its user, if there is none."""
    for function in functions(module):
        if function.name.value == "main":
            return function
    raise CompileError(f"{user} needs a function @main")


@cache
def _type_hints(cls: type[Configurable]) -> dict[str, type]:
    return get_type_hints(cls)  # slow: it evaluates the texts of annotations


def _parse_value(owner: str, key: str, kind: type, text: str) -> int | bool | float | str:
    try:
        if kind is bool:
            return {"true": True, "1": True, "false": False, "0": False}[text]
        return kind(text)
    except (KeyError, ValueError):
        raise PipelineError(f"{owner}: option '{key}' takes {_KINDS[kind]}, not '{text}'") from None


def _print_value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a word"}
