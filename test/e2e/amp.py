"""The networks that mixed precision is measured on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx

from aiopt.support.wheels import fetch
from e2e import models
from e2e.lines import LINES
from e2e.models import MINILM, NUDENET
from e2e.weights import promote_input


@dataclass(frozen=True)
class Case:
    """A model, its inputs, and whether only its last output counts: what is before the last softmax or sigmoid."""

    model: Callable[[], bytes | Path]
    inputs: Callable[[], dict[str, np.ndarray]]
    only_last: bool = False

    def compared(self, outputs: Iterable[str]) -> list[str]:
        """The names of the outputs that count."""
        names = list(outputs)
        return names[-1:] if self.only_last else names


def _recogniser() -> bytes:
    """With the last softmax's input as an output, as `models.detector` has the last sigmoid's."""
    model = onnx.load(models.recogniser())
    promote_input(model, "Softmax")
    return model.SerializeToString()


def _page() -> dict[str, np.ndarray]:
    return models.page_input(models.render_page(LINES[:10], 28, (640, 640)))


CASES = {
    "minilm": Case(partial(fetch, MINILM), partial(models.tokens, 128)),
    "nudenet": Case(partial(fetch, NUDENET), partial(models.normal, "images", (1, 3, 320, 320))),
    "detector": Case(models.detector, _page, only_last=True),
    "recogniser": Case(_recogniser, models.recogniser_input, only_last=True),
}
