"""The eleven models that speed is judged by: eight of the end-to-end tests, and three exports that are built here."""

from __future__ import annotations

from functools import partial

from aiopt.support.wheels import fetch
from bench.mobilenet import mobilenetv3_large
from bench.transformers import bert, bert_inputs, gpt2_block, gpt2_input
from e2e import models
from e2e.cases import CASES, Case

_TESTED = ("resnet50-random", "squeezenet-random", "shufflenet-random", "densenet121-random")

MODELS = {
    **{name.removesuffix("-random"): CASES[name] for name in _TESTED},
    # As shipped: the tests' detector has a second output, which would keep all engines from fusing its last layer.
    "detector": Case(partial(fetch, models.DETECTOR), CASES["detector-page"].inputs),
    "recogniser": CASES["recogniser-320"],
    "nudenet": CASES["nudenet"],
    "minilm": CASES["minilm-128"],
    "mobilenetv3": Case(mobilenetv3_large, partial(models.normal, "x", (1, 3, 224, 224))),
    "gpt2-block": Case(gpt2_block, gpt2_input),
    "bert-base": Case(bert, bert_inputs),
}
