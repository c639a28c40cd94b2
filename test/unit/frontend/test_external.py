"""Large tensors in files beside the model: mapped, and refused where they must not lie."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from mlir import ir

from aiopt.frontend.onnx import external, import_model, mapping
from aiopt.frontend.onnx.load import load
from aiopt.passes.interpret import interpret
from aiopt.support.errors import ModelError
from unit.frontend.single_node import equal, f32, node_model, run

X, W, B = f32(3, 200), f32(200, 100), f32(100)
assert W.nbytes >= mapping.MAPPED_BYTES > B.nbytes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """x W + b, with W and b in net.data."""
    folder = tmp_path / "inner"
    folder.mkdir()
    onnx.save(_model(), folder / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    return folder / "net.onnx"


def _model() -> onnx.ModelProto:
    return node_model("Gemm", {"x": X, "w": W, "b": B}, 13, known=["w", "b"])


def _change(path: Path, key: str, change: Callable[[str], str]) -> None:
    """Change what the model says of the place of its weight."""
    proto = onnx.load(path, load_external_data=False)
    (tensor,) = [tensor for tensor in proto.graph.initializer if tensor.name == "w"]
    entry = next(entry for entry in tensor.external_data if entry.key == key)
    entry.value = change(entry.value)
    path.write_bytes(proto.SerializeToString())


def test_large_initializers_are_mapped(path: Path) -> None:
    proto, _, mapped = load(path)
    assert list(mapped) == ["w"]
    np.testing.assert_array_equal(mapped["w"], W)
    assert not mapped["w"].flags.writeable
    assert not any(len(tensor.raw_data) > B.nbytes for tensor in proto.graph.initializer)
    module, weights = import_model(path, ir.Context())
    equal(interpret(module, weights, {"x": X}), run(_model(), {"x": X}), 1e-5)


def test_what_is_mapped_is_not_a_copy(path: Path) -> None:
    module, weights = import_model(path, ir.Context())
    with open(path.with_name("net.data"), "r+b") as file:  # as nobody should while a model is compiled
        file.write(bytes(W.nbytes))
    assert not any(weights[key].any() for key in weights if weights[key].shape == W.shape)
    del module


@pytest.mark.parametrize(("chunk", "mappings"), [(1 << 22, 1), (1, 2)])
def test_neighbours_share_a_mapping(path: Path, chunk: int, mappings: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapping, "MAPPED_BYTES", 1)
    monkeypatch.setattr(external, "_CHUNK_BYTES", chunk)
    made: list[object] = []
    monkeypatch.setattr(external, "_map", lambda group, make=external._map: (made.append(group), make(group))[1])
    _, _, mapped = load(path)
    assert len(made) == mappings
    np.testing.assert_array_equal(mapped["w"], W)
    np.testing.assert_array_equal(mapped["b"], B)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("location", lambda name: f"../{name}"),
        ("location", lambda name: f"/tmp/{name}"),
        ("location", lambda _: "link.data"),
        ("location", lambda _: "missing.data"),
        ("location", lambda _: "."),
        ("offset", lambda offset: str(int(offset) + (1 << 20))),
        ("length", lambda length: str(int(length) - 4)),
    ],
)
def test_places_that_are_wrong(path: Path, key: str, change: Callable[[str], str]) -> None:
    data = path.with_name("net.data")
    (path.parent.parent / "net.data").write_bytes(data.read_bytes())
    path.with_name("link.data").symlink_to(path.parent.parent / "net.data")
    _change(path, key, change)
    with pytest.raises(ModelError):
        import_model(path, ir.Context())


def test_a_file_that_ends_too_early(path: Path) -> None:
    data = path.with_name("net.data")
    data.write_bytes(data.read_bytes()[: W.nbytes // 2])
    with pytest.raises(ModelError):
        import_model(path, ir.Context())
