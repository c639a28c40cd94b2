"""Contexts and pass managers are used again, but not what something failed in."""

from __future__ import annotations

import gc
import weakref

import pytest
from mlir import ir

from aiopt import driver
from aiopt.passes import io, manager
from aiopt.passes.io import borrowed_context, new_context
from aiopt.passes.pipeline_text import Nest, Upstream
from aiopt.passes.unit import Unit
from aiopt.support.errors import AioptError, OptionError

GRAPH = b"""
module attributes {ai.level = "graph"} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = "ai.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
"""


@pytest.fixture(autouse=True)
def no_spare_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "_spare", [])


def test_a_context_is_used_again() -> None:
    with borrowed_context() as first:
        pass
    with borrowed_context() as second:
        assert second is first
        with borrowed_context() as other:
            assert other is not first


def test_a_context_is_given_up_after_many_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io, "_USES", 2)
    seen = []
    for _ in range(3):
        with borrowed_context() as context:
            seen.append(context)
    assert seen[1] is seen[0]
    assert seen[2] is not seen[0]


def test_a_context_in_which_something_failed_is_not_used_again() -> None:
    with borrowed_context() as first:
        pass
    with pytest.raises(AioptError):
        driver.compile(GRAPH.replace(b"ai.relu", b"ai.rule"))
    with borrowed_context() as second:
        assert second is not first


def test_nets_compiled_in_one_context_are_equal() -> None:
    first, second = driver.compile(GRAPH), driver.compile(GRAPH)
    assert first.objects == second.objects
    assert len(io._spare) == 1


CSE = Nest("builtin.module", (Upstream("cse"),))


def test_a_pass_manager_is_made_once_and_goes_with_its_context() -> None:
    unit, other = (Unit(ir.Module.parse("module {}", new_context())) for _ in range(2))
    with unit.module.context:
        made = manager.ready(CSE, unit)
        assert manager.ready(CSE, unit).native is made.native
        made.run()
    with other.module.context:
        assert manager.ready(CSE, other).native is not made.native
    gone = weakref.ref(unit.module.context)
    del made, unit
    gc.collect()
    assert gone() is None
    assert not any(gone() is known for known in manager._known)


def test_a_text_that_is_no_pipeline_is_refused_each_time() -> None:
    unit = Unit(ir.Module.parse("module {}", new_context()))
    for _ in range(2):
        with unit.module.context, pytest.raises(OptionError, match="no-such-pass"):
            manager.ready(Nest("builtin.module", (Upstream("no-such-pass"),)), unit)
