"""Small ONNX models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper


def relu_model(dims: Sequence[int | str] | None) -> onnx.ModelProto:
    """y = relu(x) for x of these dimensions."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None if dims is None else list(dims))
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture
def relu(tmp_path: Path) -> Callable[..., Path]:
    """Writes relu_model to a file."""

    def write(dims: Sequence[int | str] | None = (2, 3), name: str = "relu.onnx") -> Path:
        (tmp_path / name).write_bytes(relu_model(dims).SerializeToString())
        return tmp_path / name

    return write


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache, turned on, in a folder of its own that does not exist yet."""
    monkeypatch.setenv("AIOPT_CACHE", "1")
    monkeypatch.setenv("AIOPT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"
