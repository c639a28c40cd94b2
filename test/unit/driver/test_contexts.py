"""Contexts and pass managers are used again, but not what something failed in."""

from __future__ import annotations

import gc
import weakref

import pytest
from mlir import ir

from aiopt import driver
from aiopt.passes import io, managers
from aiopt.passes.io import borrowed_context, new_context
from aiopt.passes.managers import pass_manager
from aiopt.support.errors import AioptError

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


def test_a_pass_manager_is_made_once_and_goes_with_its_context() -> None:
    context = new_context()
    made = pass_manager(context, "builtin.module(cse)")
    assert pass_manager(context, "builtin.module(cse)") is made
    assert pass_manager(new_context(), "builtin.module(cse)") is not made
    module = ir.Module.parse("module {}", context)
    made.run(module.operation)
    gone = weakref.ref(context)
    del context, made, module
    gc.collect()
    assert gone() is None
    assert not any(gone() is known for known in managers._managers)


def test_a_text_that_is_no_pipeline_is_refused_each_time() -> None:
    context = new_context()
    for _ in range(2):
        with pytest.raises(ValueError, match="no-such-pass"):
            pass_manager(context, "builtin.module(no-such-pass)")
