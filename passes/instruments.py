"""What can be seen of a run: the IR around passes, the time they take, their statistics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from mlir import ir
from mlir.passmanager import PassDisplayMode

from aiopt.passes.manager import Built, build
from aiopt.passes.pipeline_text import Nest, Plain
from aiopt.passes.unit import Unit


@dataclass(frozen=True)
class Instruments:
    """What is to be seen; the fields are mlir-opt's flags of these names.

    statistics: "list", "pipeline" or nothing. around: runs each pass manager (default: it just runs).
    """

    before_all: bool = False
    after_all: bool = False
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    after_change: bool = False
    after_failure: bool = False
    module_scope: bool = False
    tree_dir: str | None = None
    statistics: str = ""
    timing: bool = False
    verify: bool = True
    around: Callable[[Built], None] = Built.run

    @property
    def wanted(self) -> bool:
        """True if anything is to be seen, or the verifier is not to run."""
        prints = self.before_all or self.after_all or self.after_failure or self.names_passes
        return bool(prints or self.statistics or self.timing or not self.verify)

    @property
    def names_passes(self) -> bool:
        """True if single passes are to be looked at, which upstream's bindings cannot do within a pass manager."""
        return bool(self.before or self.after)

    def prints(self, step: Plain) -> tuple[bool, bool]:
        """Whether to print the IR before and after one pass."""
        name = getattr(step, "name", "")
        before = self.before_all or name in self.before
        return before, self.after_all or self.after_failure or name in self.after


def run_instrumented(unit: Unit, nest: Nest, instruments: Instruments, implicit: bool) -> None:
    """Run a pipeline whose named pipelines have been expanded.

    implicit: passes for functions may stand where modules are worked on (`Manager`).
    """
    if not instruments.names_passes:
        built = build(nest, unit, implicit)
        instrument(built, instruments, instruments.before_all, instruments.after_all or instruments.after_failure)
        instruments.around(built)
        return
    for op, step, anchor in _leaves(unit.module.operation, nest):
        built = build(Nest(anchor, (step,)), unit, implicit)
        instrument(built, instruments, *instruments.prints(step))
        built.op = op
        instruments.around(built)


def instrument(built: Built, instruments: Instruments, before: bool, after: bool) -> None:
    """Let a pass manager show what is asked for."""
    manager = built.native.manager
    manager.enable_verifier(instruments.verify)
    if before or after:
        manager.enable_ir_printing(
            print_before_all=before,
            print_after_all=after,
            print_module_scope=instruments.module_scope,
            print_after_change=instruments.after_change,
            print_after_failure=instruments.after_failure,
            tree_printing_dir_path=instruments.tree_dir,
        )
    if instruments.statistics:
        manager.enable_statistics(PassDisplayMode[instruments.statistics.upper()])
    if instruments.timing:
        manager.enable_timing()


def _leaves(op: ir.Operation, nest: Nest) -> Iterator[tuple[ir.Operation, Plain, str]]:
    """Each pass with the op it runs on, in the order of a pass manager: nests that follow each other go op by op."""
    for is_nest, group in groupby(nest.items, lambda item: isinstance(item, Nest)):
        items = list(group)
        if not is_nest:
            yield from ((op, item, nest.anchor) for item in items if not isinstance(item, Nest))  # pyright: ignore[reportReturnType]
            continue
        for inner in _ops_in(op):
            for item in items:
                assert isinstance(item, Nest)
                if item.anchor in (inner.name, "any"):
                    yield from _leaves(inner, Nest(inner.name, item.items))


def _ops_in(op: ir.Operation) -> list[ir.Operation]:
    return [inner.operation for region in op.regions for block in region for inner in block.operations]
