"""What counts as met and as missed in test/bench/figures.py."""

from __future__ import annotations

import math

import pytest

from bench.figure import at_least, at_most, failed


@pytest.mark.parametrize(
    ("measured", "met"), [(0, True), (2, True), (2.001, False), (math.inf, False), (math.nan, False)]
)
def test_a_figure_is_met_up_to_its_limit(measured: float, met: bool) -> None:
    assert at_most("latency", measured, 2).met is met


def test_lines() -> None:
    assert str(at_most("compile", 1.23456, 12, "s")) == "compile: 1.235 s (asked: <= 12 s)"
    assert str(at_most("compile", 13, 12, "s")) == "compile: 13 s (asked: <= 12 s) MISSED"


def test_what_cannot_be_measured_is_missed() -> None:
    assert str(failed("vgg19", ValueError("no\nmemory"))) == "vgg19: no memory (asked: a measurement) MISSED"
    assert str(failed("vgg19", AssertionError())) == "vgg19: AssertionError (asked: a measurement) MISSED"


@pytest.mark.parametrize(("measured", "met"), [(0.9, True), (1, True), (0.8999, False), (math.nan, False)])
def test_a_figure_is_met_from_its_limit_on(measured: float, met: bool) -> None:
    assert at_least("utilisation", measured, 0.9).met is met
