"""Figures of single kernels: the models they are measured on, and how calls are told apart."""

from __future__ import annotations

import aiopt
from aiopt.support.compare import run_onnxruntime
from bench import kernels
from bench.networks import moving_kernels
from e2e.models import compare


def test_the_slowest_call_of_each_convolution_counts() -> None:
    entries = [{"ops": ["ai.conv"], "n": n} for n in range(2)] + [{"ops": ["ai.relu"]}, {"ops": ["ai.conv", "ai.relu"]}]
    profile = [("a", 1.0), ("a", 2.0), ("b", 9.0), ("c", 3.0)]
    assert kernels._slowest(profile, entries) == {"a": (2.0, entries[1]), "c": (3.0, entries[3])}


def test_kernels_that_only_move() -> None:
    ops = {
        "a": ["ai.transpose"],
        "b": ["ai.conv", "ai.relu"],
        "c": ["ai.pad", "ai.relayout"],
        "d": ["ai.pad", "ai.add"],
    }
    kernels = [{"kernel": name, "ops": names, "nodes": ["n"]} for name, names in ops.items()]
    kernels.append({"kernel": "e", "ops": ["ai.identity"], "nodes": []})  # an input that the model returns
    assert moving_kernels(kernels) == ["a", "c"]


def test_attention_is_computed_alike() -> None:
    model, inputs = kernels._attention_model(8), kernels._attention_inputs(8)
    with aiopt.compile(model, cache=False) as net:
        compare(net.run(inputs), run_onnxruntime(model, inputs))


def test_every_section_is_one_of_figures() -> None:
    from bench import figures

    assert set(kernels.SECTIONS) < set(figures.SECTIONS)
    assert len(set(figures.SECTIONS)) == len(figures.SECTIONS)
