"""The exports that the suite of models builds: their sizes, and their numbers in small. Oracle: ONNX Runtime."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest

import aiopt
from aiopt.support.compare import run_onnxruntime
from bench import transformers
from bench.mobilenet import mobilenetv3_large
from bench.models import MODELS
from e2e.models import compare, normal

SMALL = {
    "mobilenetv3": (lambda: mobilenetv3_large(32, 10), lambda: normal("x", (1, 3, 32, 32))),
    "gpt2": (lambda: transformers.gpt2_block(8, 24, 3), lambda: transformers.gpt2_input(8, 24)),
    "bert": (lambda: transformers.bert(8, 2, 24, 3, 50), lambda: transformers.bert_inputs(8, 50)),
}


def test_there_are_eleven() -> None:
    assert len(MODELS) == 11


@pytest.mark.parametrize("name", SMALL)
def test_numbers_of_small_ones(name: str) -> None:
    model, inputs = (make() for make in SMALL[name])
    onnx.checker.check_model(model, full_check=True)
    with aiopt.compile(model, cache=False) as net:
        compare(net.run(inputs), run_onnxruntime(model, inputs))


def test_a_small_one_depends_on_every_input() -> None:
    model, inputs = (make() for make in SMALL["bert"])
    before = run_onnxruntime(model, inputs)["last_hidden_state"]
    for name, array in inputs.items():
        after = run_onnxruntime(model, {**inputs, name: 1 - np.minimum(array, 1)})["last_hidden_state"]
        assert not np.allclose(before, after, atol=1e-3), name


def test_causal_tokens_do_not_see_later_ones() -> None:
    model, inputs = (make() for make in SMALL["gpt2"])
    before = run_onnxruntime(model, inputs)["output"]
    inputs["hidden_states"][0, 5] += 1
    after = run_onnxruntime(model, inputs)["output"]
    assert np.array_equal(before[0, :5], after[0, :5])
    assert not np.allclose(before[0, 6:], after[0, 6:])


@pytest.mark.parametrize(
    ("name", "kind", "count", "least_millions"),
    [("mobilenetv3", "Conv", 63, 5.4), ("gpt2-block", "Gemm", 4, 7.0)],
)
def test_sizes(name: str, kind: str, count: int, least_millions: float) -> None:
    model = onnx.ModelProto.FromString(bytes(MODELS[name].model()))
    assert Counter(node.op_type for node in model.graph.node)[kind] == count
    parameters = sum(int(np.prod(weight.dims)) for weight in model.graph.initializer)
    assert least_millions < parameters / 1e6 < least_millions + 0.2
