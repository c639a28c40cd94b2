"""Arguments of aiopt.compile and aiopt.load that are not what the annotations say: one line, never a TypeError."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aiopt
from aiopt import driver
from aiopt.support.errors import AioptError, ModelError, OptionError

TEXT = b"""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = "ai.relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}"""


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"threads": "2"}, "threads must be a whole number from 1 to 1024, not '2'"),
        ({"threads": 2.5}, "threads must be a whole number from 1 to 1024, not 2.5"),
        ({"threads": None}, "threads must be a whole number from 1 to 1024, not None"),
        ({"threads": True}, "threads must be a whole number from 1 to 1024, not True"),
        ({"threads": 0}, "threads must be from 1 to 1024, not 0"),
        ({"threads": 1025}, "threads must be from 1 to 1024, not 1025"),
    ],
)
@pytest.mark.parametrize("compile_model", [aiopt.compile, driver.compile])
def test_wrong_arguments(compile_model: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{message}$"):
        compile_model(TEXT, **keywords)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"keep": "8"}, "keep must be a whole number of at least 1, not '8'"),
        ({"keep": 0}, "keep must be at least 1, not 0"),
        ({"target": 3}, "target must be a str, not 3"),
        ({"shapes": 3}, "shapes must be a dict, not 3"),
        ({"shapes": [1]}, r"shapes must be a dict, not \[1\]"),
    ],
)
def test_wrong_arguments_of_compile(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{message}$"):
        aiopt.compile(TEXT, **keywords)


def test_wrong_arguments_of_load(tmp_path: Path) -> None:
    net = aiopt.compile(TEXT, threads=np.int64(2))
    assert net.threads == 2
    net.save(tmp_path / "net.aio")
    with pytest.raises(OptionError, match="threads must be a whole number from 1 to 1024, not '2'"):
        aiopt.load(tmp_path / "net.aio", "2")  # pyright: ignore[reportArgumentType]
    for path in (3, None, b"net.aio"):
        with pytest.raises(ModelError, match="a compiled net is loaded from a path, not from"):
            aiopt.load(path)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("model", [3, None, "", "a\0b", b"\0", ["m.onnx"]])
def test_what_is_no_model(model: Any) -> None:
    with pytest.raises(AioptError) as caught:
        aiopt.compile(model)
    assert "\n" not in str(caught.value)
