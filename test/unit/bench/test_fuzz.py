"""The fuzzer: the same seed makes the same models, and what goes wrong in one is found."""

from __future__ import annotations

import random

import onnx
import pytest

from bench import fuzz, seeds
from bench.mutate import mutate

MODELS = [model.SerializeToString() for model in (seeds._convolution(), seeds._loop(), seeds._function())]


def mutants(seed: int, count: int) -> list[bytes]:
    return [mutate(MODELS[n % 3], MODELS, random.Random(f"{seed}/{n}")) for n in range(count)]


def test_a_seed_makes_the_same_models() -> None:
    assert mutants(1, 60) == mutants(1, 60)
    assert mutants(1, 60) != mutants(2, 60)


def test_nearly_all_differ_from_what_they_came_from() -> None:
    changed = [mutant not in MODELS for mutant in mutants(3, 200)]
    assert sum(changed) > 180


def test_half_of_them_are_still_messages() -> None:
    whole = 0
    for mutant in mutants(4, 200):
        try:
            onnx.ModelProto.FromString(mutant)
            whole += 1
        except Exception:  # protobuf's DecodeError: what a third of them are made for
            continue
    assert whole > 100


@pytest.mark.parametrize(
    ("raised", "found"), [(KeyError("x"), "KeyError at "), (ZeroDivisionError("y"), "ZeroDivisionError at ")]
)
def test_an_exception_that_is_no_error_is_found(raised: Exception, found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def use(_model: bytes) -> None:
        raise raised

    monkeypatch.setattr(fuzz, "_use", use)
    monkeypatch.setattr(fuzz.resource, "setrlimit", lambda *_: None)
    assert (fuzz.try_model(b"") or "").startswith(found)


def test_an_error_of_aiopt_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz.resource, "setrlimit", lambda *_: None)
    assert fuzz.try_model(b"garbage") is None
    assert fuzz.try_model(MODELS[0]) is None
