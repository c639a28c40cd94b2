"""The demo's own parts: rendering, the input array, decoding, options. The whole of it is test/e2e's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from aiopt.support.errors import InputError, OptionError
from aiopt.tools.demo_ocr import HEIGHT, alphabet, decode_ctc, render_line, to_input
from e2e.commands import error_of


@pytest.mark.parametrize("size", [16, 28, 34])
def test_a_line_fits_its_image(size: int) -> None:
    pixels = np.asarray(render_line("Agjpqy()|", size))
    assert pixels.shape[0] == HEIGHT
    assert pixels.min() == 0
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    assert (border == 255).all()


@pytest.mark.parametrize("text", ["", "   ", "two\nlines", "tab\t"])
def test_a_text_that_is_no_line(text: str) -> None:
    with pytest.raises(InputError, match="one line"):
        render_line(text)


@pytest.mark.parametrize("size", [0, 15, 35])
def test_a_size_out_of_range(size: int) -> None:
    with pytest.raises(OptionError, match="from 16 to 34"):
        render_line("a", size)


def test_input_is_normalised_and_padded_with_zero() -> None:
    image = render_line("ab")
    array = to_input(image)
    assert array.shape == (1, 3, 48, 320)
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    assert array[..., : image.width].min() == -1
    assert array[..., : image.width].max() == 1
    assert (array[..., image.width :] == 0).all()
    assert (array[0, 0] == array[0, 2]).all()


def test_a_long_line_takes_the_next_multiple_of_the_step() -> None:
    image = render_line("a rather long line of text, far too long")
    width = to_input(image).shape[-1]
    assert width % 32 == 0
    assert 0 <= width - image.width < 32


def test_decoding_merges_repeats_and_drops_blanks() -> None:
    best = [0, 1, 1, 0, 1, 2, 2, 3, 0]
    assert decode_ctc(np.eye(4, dtype=np.float32)[best], ["", "a", "b", " "]) == "aab "


def test_decoding_blanks_only() -> None:
    assert decode_ctc(np.eye(3)[[0, 0]], ["", "a", "b"]) == ""


def test_an_alphabet_of_another_size() -> None:
    with pytest.raises(InputError, match="3 classes, its alphabet 2"):
        decode_ctc(np.eye(3), ["", "a"])


def _model(path: Path, **metadata: str) -> Path:
    model = onnx.helper.make_model(onnx.helper.make_graph([], "g", [], []))
    onnx.helper.set_model_props(model, metadata)
    onnx.save(model, path)
    return path


def test_alphabet_of_a_model(tmp_path: Path) -> None:
    assert alphabet(_model(tmp_path / "m.onnx", character="x\ny\n")) == ["", "x", "y", " "]
    with pytest.raises(InputError, match="no metadata entry 'character'"):
        alphabet(_model(tmp_path / "n.onnx", author="x"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "99"], "font size must be from 16 to 34"),
        (["--threads", "0"], "'0' is not a number above 0"),
        (["--unknown"], "unknown option '--unknown'"),
        ([""], "one line of printable characters"),
        (["a", "--image", "/nowhere/a.png"], "cannot write the image"),
    ],
)
def test_command_line_errors(arguments: list[str], words: str) -> None:
    assert words in error_of("aiopt-demo-ocr", *arguments)
