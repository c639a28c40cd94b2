"""Reading models: paths, bytes, protos, external data, and what is no model."""

import contextlib
from pathlib import Path

import numpy as np
import onnx
import pytest
from mlir import ir
from onnx import helper, numpy_helper

from aiopt.frontend.onnx import import_model
from aiopt.frontend.onnx.load import net_name
from aiopt.passes.interpret import interpret
from aiopt.support.errors import AioptError, ModelError, UnsupportedError
from unit.frontend.single_node import equal, f32, imported, node_model, run

X, W = f32(3, 64), f32(64, 5)


@pytest.fixture
def model() -> onnx.ModelProto:
    return node_model("MatMul", {"x": X, "w": W}, 13, known=["w"])


def _outputs(model: str | Path | bytes | onnx.ModelProto) -> dict[str, np.ndarray]:
    module, weights = import_model(model, ir.Context())
    return interpret(module, weights, {"x": X})


def test_path_text_bytes_and_proto_are_one(model: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(model, path)
    for source in (path, str(path), path.read_bytes(), model):
        equal(_outputs(source), run(model, {"x": X}), 0)


def test_external_data(model: onnx.ModelProto, tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    onnx.save(model, path, save_as_external_data=True, location="net.data", size_threshold=0)
    want = run(node_model("MatMul", {"x": X, "w": W}, 13, known=["w"]), {"x": X})
    equal(_outputs(path), want, 0)
    with pytest.raises(
        ModelError, match="tensor 'w' of the given bytes lies in an external file: give the model's path"
    ):
        _outputs(path.read_bytes())
    (tmp_path / "net.data").unlink()
    with pytest.raises(ModelError, match=r"cannot read the external data of '.*net\.onnx'"):
        _outputs(path)


def test_external_data_outside_the_folder_is_refused(model: onnx.ModelProto, tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    onnx.save(model, folder / "net.onnx", save_as_external_data=True, location="net.data", size_threshold=0)
    (folder / "net.data").rename(tmp_path / "net.data")
    broken = onnx.load(folder / "net.onnx", load_external_data=False)
    next(e for e in broken.graph.initializer[0].external_data if e.key == "location").value = "../net.data"
    (folder / "net.onnx").write_bytes(broken.SerializeToString())
    with pytest.raises(ModelError, match="only files in the model.s folder are read"):
        _outputs(folder / "net.onnx")


def test_no_such_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot read '.*/none\.onnx': No such file"):
        _outputs(tmp_path / "none.onnx")
    with pytest.raises(ModelError, match="is a folder: give the .onnx file inside it"):
        _outputs(tmp_path)
    with pytest.raises(ModelError, match="a model is a path, bytes or an onnx.ModelProto, not int"):
        _outputs(3)  # pyright: ignore[reportArgumentType]


def test_empty_garbage_and_other_files(tmp_path: Path) -> None:
    for content, text in ((b"", "is empty"), (b"\xff" * 100, "is not an ONNX model"), (b"\x08\x08", "no graph")):
        path = tmp_path / "broken.onnx"
        path.write_bytes(content)
        with pytest.raises(ModelError, match=rf"'.*/broken\.onnx' .*{text}|'.*/broken\.onnx' {text}"):
            _outputs(path)
        with pytest.raises(ModelError, match="the given bytes"):
            _outputs(content)


def test_a_file_cut_off_anywhere_is_one_error(model: onnx.ModelProto, tmp_path: Path) -> None:
    data, path = model.SerializeToString(), tmp_path / "cut.onnx"
    for length in [*range(0, 200), *range(200, len(data) - 1, 97), len(data) - 1]:
        path.write_bytes(data[:length])
        with pytest.raises(ModelError) as caught:
            _outputs(path)
        assert "\n" not in str(caught.value)


def test_opset_is_named_and_in_range(model: onnx.ModelProto) -> None:
    for version in (0, 99):
        model.opset_import[0].version = version
        with pytest.raises(
            UnsupportedError, match=rf"uses opset {version} of ONNX's operators, but aiopt reads 1 to 28"
        ):
            _outputs(model)
    del model.opset_import[:]
    with pytest.raises(ModelError, match="must name one opset of ONNX's operators, but names none"):
        _outputs(model)
    model.opset_import.append(helper.make_opsetid("ai.onnx", 13))
    assert list(_outputs(model)) == ["y0"]


@pytest.mark.parametrize(
    ("source", "graph", "name"),
    [
        ("/a/b/ch_PP-OCRv4 rec.onnx", "g", "ch_PP_OCRv4_rec"),
        (b"", "main graph", "main_graph"),
        ("50.onnx", "", "net_50"),
        (b"", "", "net"),
        ("日本.onnx", "", "net"),
        ("x" * 300, "", "x" * 64),
    ],
)
def test_net_name_is_a_c_identifier(source: str | bytes, graph: str, name: str) -> None:
    assert net_name(source, graph) == name


def test_names_that_are_not_utf8(model: onnx.ModelProto) -> None:
    data = model.SerializeToString().replace(b"the_node", b"the\xff\xfeode")
    with pytest.raises(ModelError, match=r"the given bytes is broken: the name b'the\\xff\\xfeode' in it is not UTF-8"):
        _outputs(data)


def test_names_with_nul() -> None:
    def relu(x: str, w: str, y: str) -> onnx.ModelProto:
        made = helper.make_graph(
            [helper.make_node("Mul", [x, w], [y])],
            "g",
            [helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, [2])],
            [onnx.ValueInfoProto(name=y)],
            [numpy_helper.from_array(np.array([1, 2], np.float32), w)],
        )
        return helper.make_model(made, opset_imports=[helper.make_opsetid("", 13)])

    module, weights = imported(relu("x", "w\0z", "y"))
    assert list(weights) == ["w_z"]
    assert 'key = "w_z"' in str(module)
    for x, y in (("x\0", "y"), ("x", "y\0")):
        with pytest.raises(ModelError, match=r"the name '[xy].x00' of an input or output holds NUL"):
            imported(relu(x, "w", y))


def test_random_bytes_in_a_model_are_at_worst_an_error(model: onnx.ModelProto) -> None:
    data, random, context = model.SerializeToString(), np.random.default_rng(0), ir.Context()
    places = [at for at in range(len(data)) if not data.find(W.tobytes()) <= at < data.find(W.tobytes()) + W.nbytes]
    for _ in range(300):
        broken = bytearray(data)
        for at in random.choice(places, size=2):
            broken[int(at)] = int(random.integers(0, 256))
        with contextlib.suppress(AioptError):
            import_model(bytes(broken), context)
