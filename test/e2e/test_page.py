"""A page of ten lines, read end to end: the detector finds the lines, the recogniser reads them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

import aiopt
from aiopt.tools.demo_ocr import HEIGHT, alphabet, decode_ctc, to_input
from e2e import models
from e2e.lines import LINES

PAGE = (640, 640)
FONT_SIZE = 28
THRESHOLD = 0.3  # of the detector's probability map, as its authors have it
GROW = 0.8  # the detector marks a line's core: so much of its height is added on each side
WIDTH = 480  # what the recogniser is compiled for


@pytest.mark.parametrize("amp", ["none", "bf16"])
def test_reads_a_page_of_ten_lines(amp: str) -> None:
    """No character wrong, spaces aside."""
    page = models.render_page(LINES[:10], FONT_SIZE, PAGE)
    detector = aiopt.compile(models.detector(), shapes={"x": (1, 3, *PAGE)}, amp=amp)
    reader = aiopt.compile(models.recogniser(), shapes={"x": (1, 3, HEIGHT, WIDTH)}, amp=amp)
    try:
        probability = detector(*models.page_input(page).values())[0][0, 0]
        boxes = find_lines(probability)
        assert len(boxes) == 10
        letters = alphabet(models.recogniser())
        read = [decode_ctc(reader(_line_input(page.crop(box)))[0][0], letters) for box in boxes]
    finally:
        detector.close()
        reader.close()
    assert [line.replace(" ", "") for line in read] == [line.replace(" ", "") for line in LINES[:10]]


def find_lines(probability: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Boxes (left, top, right, bottom) of the lines on a page whose lines stand one below the other, from top down."""
    marked = probability > THRESHOLD
    rows = np.flatnonzero(np.diff(np.concatenate([[False], marked.any(axis=1), [False]])))
    boxes = []
    for top, bottom in rows.reshape(-1, 2):
        columns = np.flatnonzero(marked[top:bottom].any(axis=0))
        grow = round(GROW * (bottom - top))
        height, width = probability.shape
        boxes.append(
            (
                max(int(columns[0]) - grow, 0),
                max(int(top) - grow, 0),
                min(int(columns[-1]) + grow, width),
                min(int(bottom) + grow, height),
            )
        )
    return boxes


def _line_input(line: Image.Image) -> np.ndarray:
    """A line as the recogniser takes it, scaled to its height, in WIDTH columns."""
    width = min(round(line.width * HEIGHT / line.height), WIDTH)
    array = to_input(line.resize((width, HEIGHT), Image.Resampling.BICUBIC))
    return np.ascontiguousarray(np.pad(array, [(0, 0), (0, 0), (0, 0), (0, WIDTH - array.shape[3])]))


def test_lines_are_found_from_top_down() -> None:
    """The helper the test above rests on."""
    probability = np.zeros((40, 60), np.float32)
    probability[10:14, 20:30] = probability[11:13, 40:50] = 0.9
    probability[30:34, 0:59] = 0.4
    assert find_lines(probability) == [(17, 7, 52, 17), (0, 27, 60, 37)]
    assert find_lines(np.zeros((4, 4), np.float32)) == []
