"""A pass that says it has changed nothing has changed nothing: the module is not checked after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from mlir import ir

from aiopt.passes import pipeline
from aiopt.passes.base import Pass
from aiopt.passes.io import new_context
from aiopt.passes.pipeline_text import Nest
from aiopt.passes.unit import Unit
from aiopt.support.errors import SpecError
from aiopt.targets import find_target
from unit.passes.graph.graphs import random_unit


@pytest.mark.parametrize("seed", range(6))
def test_passes_that_say_so_leave_the_text_as_it_was(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    said: dict[str, bool] = {}
    run = pipeline.run_ours

    def compare(unit: Unit, step: Pass) -> bool:
        before = _text(unit)
        changed = run(unit, step)
        assert changed or _text(unit) == before, step
        said[step.name] = changed
        return changed

    monkeypatch.setattr(pipeline, "run_ours", compare)
    with new_context(), ir.Location.unknown():
        unit = random_unit(seed)
        unit.module.operation.attributes["ai.net"] = ir.StringAttr.get("net")
        for stage in find_target("cpu").stages("bf16" if seed % 2 else "none"):
            pipeline.run(unit, stage.pipeline)
    assert not said["ai-dce"]
    assert said["convert-ai-to-linalg"]  # which says nothing


def _text(unit: Unit) -> str:
    return str(unit.module.operation.get_asm(enable_debug_info=True))


@dataclass(frozen=True)
class _Idle(Pass):
    """Does nothing."""

    name: ClassVar[str] = "test-idle"

    def run(self, unit: Unit) -> bool:
        return False


@dataclass(frozen=True)
class _Spoil(Pass):
    """Adds what level graph does not allow, and reports as told."""

    name: ClassVar[str] = "test-spoil"
    says: bool = True

    def run(self, unit: Unit) -> bool:
        with ir.InsertionPoint.at_block_begin(unit.module.body):
            ir.Operation.create("llvm.mlir.global", attributes=_attributes(), regions=1)
        return self.says


def _attributes() -> dict[str, ir.Attribute]:
    texts = {"sym_name": '"g"', "global_type": "i32", "linkage": "#llvm.linkage<internal>", "addr_space": "0 : i32"}
    return {key: ir.Attribute.parse(text) for key, text in texts.items()}


@pytest.mark.parametrize("spoilers", [(_Spoil(True),), (_Spoil(False),), (_Idle(), _Spoil(True))])
def test_what_changed_is_checked_and_so_is_the_first(spoilers: tuple[Pass, ...]) -> None:
    with new_context(), ir.Location.unknown(), pytest.raises(SpecError, match="after test-spoil"):
        pipeline.run(random_unit(0), Nest("builtin.module", spoilers))


def test_what_did_not_change_is_not_checked_again() -> None:
    with new_context(), ir.Location.unknown():
        pipeline.run(random_unit(0), Nest("builtin.module", (_Idle(), _Spoil(False))))
