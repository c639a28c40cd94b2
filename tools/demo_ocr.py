"""aiopt-demo-ocr: render a line of text, read it with a compiled recogniser, hold the result against ONNX Runtime.

The model is PP-OCRv4's text recogniser: [n, 3, 48, w] in, [n, w/8, 6625] out, a softmax over an alphabet per column.
Source: Du et al., "PP-OCR: A Practical Ultra Lightweight OCR System", 2020; decoding: Graves et al., "Connectionist
Temporal Classification", 2006.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aiopt.support import command
from aiopt.support.arguments import Parser
from aiopt.support.compare import TOLERANCE, relative_difference, run_onnxruntime
from aiopt.support.errors import ComparisonError, InputError, MissingPackageError, OptionError
from aiopt.support.isolate import Journal
from aiopt.support.wheels import WheelFile, fetch
from aiopt.tools.aiopt import save_reproducer

if TYPE_CHECKING:
    from PIL.Image import Image

    from aiopt.runtime.base import Net
    from aiopt.staged import StagedNet

RECOGNISER = WheelFile(
    project="rapidocr-onnxruntime",
    version="1.4.4",
    member="rapidocr_onnxruntime/models/ch_PP-OCRv4_rec_infer.onnx",
    sha256="48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
)
TEXT = "aiopt: 3 x 14 = 42"
HEIGHT, MIN_WIDTH, WIDTH_STEP = 48, 320, 32
MARGIN = 4  # blank columns before and after the text
MIN_SIZE, MAX_SIZE = 16, 34  # font sizes that fit into HEIGHT and can be read


def render_line(text: str, size: int = 28) -> Image:
    """Black text on white in Pillow's built-in font: a grey image HEIGHT high and as wide as the text.

    Raises InputError for a text without a visible character or of several lines, OptionError for a size out of range.
    """
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError as error:
        raise MissingPackageError("Pillow is not installed: pip install 'aiopt[demo]'") from error
    if not text.strip() or not text.isprintable():
        raise InputError("the text must be one line of printable characters, not empty")
    if not MIN_SIZE <= size <= MAX_SIZE:
        raise OptionError(f"the font size must be from {MIN_SIZE} to {MAX_SIZE}, not {size}")
    font = ImageFont.load_default(size)
    right = font.getbbox(text)[2]
    ascent, descent = font.getmetrics()  # pyright: ignore[reportAttributeAccessIssue]
    image = Image.new("L", (int(right) + 2 * MARGIN, HEIGHT), color=255)
    ImageDraw.Draw(image).text((MARGIN, (HEIGHT - ascent - descent) // 2), text, fill=0, font=font)
    return image


def to_input(image: Image) -> np.ndarray:
    """A grey image [HEIGHT, w] as the recogniser takes it: f32 [1, 3, HEIGHT, W], (x / 255 - 0.5) / 0.5.

    W is MIN_WIDTH or, for a longer line, the next multiple of WIDTH_STEP. What is right of the image is 0, as in
    training: white there is taken for a part of the line and adds characters to it.
    """
    pixels = (np.asarray(image, np.float32) / 255 - 0.5) / 0.5
    width = max(MIN_WIDTH, -(-pixels.shape[1] // WIDTH_STEP) * WIDTH_STEP)
    padded = np.zeros((HEIGHT, width), np.float32)
    padded[:, : pixels.shape[1]] = pixels
    return np.ascontiguousarray(np.broadcast_to(padded, (1, 3, HEIGHT, width)))


def alphabet(model: Path) -> list[str]:
    """The character of each class: the blank, the lines of the metadata entry `character`, the space.

    Raises InputError if the model has no such entry.
    """
    import onnx

    metadata = {entry.key: entry.value for entry in onnx.load(model, load_external_data=False).metadata_props}
    if "character" not in metadata:
        raise InputError(f"'{model}' has no metadata entry 'character', so its classes have no letters")
    return ["", *metadata["character"].splitlines(), " "]


def decode_ctc(probabilities: np.ndarray, letters: Sequence[str]) -> str:
    """Greedy decoding of [columns, classes]: the likeliest class per column, repeats merged, blanks (0) dropped."""
    if probabilities.shape[-1] != len(letters):
        raise InputError(f"the model has {probabilities.shape[-1]} classes, its alphabet {len(letters)} letters")
    best = probabilities.argmax(axis=-1)
    is_new = np.concatenate([[True], best[1:] != best[:-1]])
    return "".join(str(letters[index]) for index in best[is_new & (best != 0)])


@dataclass(frozen=True)
class Options:
    """The command line."""

    text: str
    size: int
    threads: int
    repeat: int
    image: Path | None


def demo(options: Options, compile_model: Callable[..., Net | StagedNet]) -> None:
    """Render, compile, run, compare and print. Raises CompileError if the numbers are not ONNX Runtime's."""
    image = render_line(options.text, options.size)
    if options.image:
        _save(image, options.image)
    array = to_input(image)
    model = fetch(RECOGNISER)
    letters = alphabet(model)
    (expected,) = run_onnxruntime(model, {"x": array}).values()
    print(f"text        {options.text}")
    print(f"image       {'x'.join(map(str, array.shape))}, font size {options.size}", flush=True)
    start = time.perf_counter()
    net = compile_model(model, threads=options.threads, shapes={"x": array.shape})
    print(f"compiled    in {time.perf_counter() - start:.1f} s", flush=True)
    output, seconds = _time(net, array, options.repeat)
    report = net.report()
    difference = relative_difference(output, expected)
    print(f"read        {decode_ctc(output[0], letters)}")
    print(f"time        {seconds * 1e3:.2f} ms per run (median of {options.repeat}, {options.threads} thread(s))")
    print(f"launches    {report['launches']}")
    print(f"arena       {report['arena_bytes']} bytes (lower bound {report['arena_lower_bound_bytes']})")
    print(f"difference  {difference:.1e} of the largest value, to ONNX Runtime with its optimisations off")
    if not difference <= TOLERANCE:
        raise ComparisonError(
            f"the outputs differ from ONNX Runtime's by more than {TOLERANCE:.0e}: please report this"
        )


def _time(net: Net | StagedNet, array: np.ndarray, repeat: int) -> tuple[np.ndarray, float]:
    """One output and the median seconds per run; the first run is not counted."""
    output = net(array)[0]
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        net(array)
        seconds.append(time.perf_counter() - start)
    return output, statistics.median(seconds)


def _save(image: Image, path: Path) -> None:
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise OptionError(f"cannot write the image '{path}': {error}") from error


def _parser() -> Parser:
    parser = Parser("aiopt-demo-ocr", "Render a line of text and read it with a compiled network.")
    parser.add_argument("text", nargs="?", default=TEXT, metavar="TEXT", help=f"the line (default: {TEXT!r})")
    parser.add_argument("--size", type=int, default=28, help=f"font size, {MIN_SIZE} to {MAX_SIZE} (default: 28)")
    parser.add_argument("--threads", type=_positive, default=1, help="threads of a run (default: 1)")
    parser.add_argument("--repeat", type=_positive, default=20, help="timed runs (default: 20)")
    parser.add_argument("--image", type=Path, metavar="FILE", help="also write the rendered image, e.g. line.png")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = Options(**vars(_parser().parse(arguments)))
    return command.run(partial(_work, options), save_reproducer)


def _work(options: Options, journal: Journal) -> int:
    journal.record("loading MLIR")
    from aiopt import driver
    from aiopt.passes import pipeline
    from aiopt.passes.reproducer import StepKeeper

    with pipeline.observed(StepKeeper(journal)):
        demo(options, driver.compile)
    return 0


if __name__ == "__main__":
    sys.exit(main())
