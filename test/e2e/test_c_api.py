"""Nets in C programs: the example of docs/c-api.md, with a shared object and with an object."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from aiopt.support import linker
from aiopt.support.errors import CompileError, OptionError
from e2e.commands import command, error_of
from e2e.native import build, compile_c

DOCS = Path(__file__).resolve().parents[2] / "docs" / "c-api.md"


WEIGHT = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def _write(path: Path, rows: int | str, product: str, outputs: list[str]) -> Path:
    """y = relu(product), product = x @ WEIGHT for x of [rows, 3]."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, 3])
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [rows, 4]) for name in outputs]
    nodes = [helper.make_node("MatMul", ["x", "w"], [product]), helper.make_node("Relu", [product], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], results, [numpy_helper.from_array(WEIGHT, "w")])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString())
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With weights, and with the names the example uses."""
    return _write(tmp_path_factory.mktemp("model") / "model.onnx", 2, "product", ["y"])


def _compile(model: Path, folder: Path, kind: str, name: str) -> None:
    done = command("aiopt-compile", model, f"--emit={kind}", "-o", folder / name)
    assert (done.stdout, done.stderr, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("kind", ["so", "obj"])
@pytest.mark.parametrize("through_artifact", [False, True])
def test_the_example_of_the_documentation(model: Path, tmp_path: Path, kind: str, through_artifact: bool) -> None:
    if through_artifact:
        _compile(model, tmp_path, "aio", "model.aio")
        model = tmp_path / "model.aio"
    code = "model.so" if kind == "so" else "model.o"
    _compile(model, tmp_path, kind, code)
    _compile(model, tmp_path, "header", "model.h")
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".aio") == sorted(
        ["model.h", code, "model.weights"]
    )
    example = re.search(r"```c\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert example
    (tmp_path / "main.c").write_text(example[1])
    flags = command("aiopt-compile", "--c-flags").stdout.split()
    files = [tmp_path / "main.c", tmp_path / code]
    build("-std=gnu11", "-Wall", "-Wextra", "-Werror", *files, *flags, "-lm", "-o", tmp_path / "main")
    done = subprocess.run([tmp_path / "main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("0 0 3 6 \n", 0), done.stderr
    assert re.fullmatch(r"(\w+: \d+ ns\n)+", done.stderr)


def test_header_is_good_cpp(tmp_path: Path) -> None:
    """Of a net with names that are no C identifiers."""
    strange = "also/y*/:0"
    _compile(_write(tmp_path / "model.onnx", 2, strange, ["y", strange]), tmp_path, "header", "model.h")
    (tmp_path / "main.cpp").write_text(
        '#include "model.h"\nstatic const int64_t shape[] = AIOPT_MODEL_OUT_ALSO_Y_0_SHAPE;\n'
        "static_assert(AIOPT_MODEL_OUT_ALSO_Y_0 == 1 && AIOPT_MODEL_IN_X_BYTES == 24 && AIOPT_MODEL_OUTPUTS == 2);\n"
        "int main() { return shape[1] == 4 ? 0 : 1; }"
    )
    build("-std=c++17", "-Wall", "-Wextra", "-Werror", tmp_path / "main.cpp", "-o", tmp_path / "main", compiler="c++")
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def test_linking_by_ld_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = compile_c("#include <math.h>\nfloat f(float x) { return powf(x, 3); }", tmp_path)
    which = linker.shutil.which
    monkeypatch.setattr(linker.shutil, "which", lambda name: None if name == "cc" else which(name))
    (tmp_path / "f.so").write_bytes(linker.shared_object([code]))
    f = ctypes.CDLL(str(tmp_path / "f.so")).f
    f.restype, f.argtypes = ctypes.c_float, [ctypes.c_float]
    assert f(2) == 8


def test_no_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CompileError, match="cannot link the net: "):
        linker.shared_object([b"no object"])
    monkeypatch.setattr(linker.shutil, "which", lambda name: None)
    with pytest.raises(OptionError, match="linking needs cc or ld"):
        linker.shared_object([b""])
    assert linker.joined_object([b"one"]) == b"one"


def test_errors_of_the_command(model: Path, tmp_path: Path) -> None:
    assert "needs a MODEL" in error_of("aiopt-compile")
    assert "needs -o FILE" in error_of("aiopt-compile", model)
    assert "No space left on device" in error_of("aiopt-compile", model, "-o", "/dev/full")
    assert "cannot write" in error_of("aiopt-compile", model, "-o", tmp_path / "none" / "m.aio")
    open_model = _write(tmp_path / "open.onnx", "n", "product", ["y"])
    assert "give its shape" in error_of("aiopt-compile", open_model, "-o", tmp_path / "m.aio")
    assert "give its shape" in error_of("aiopt-run", open_model)
    (tmp_path / "x.aio").write_bytes(b"\x89AIO\r\n\x1a\n")
    for words in (("aiopt-run",), ("aiopt-run", "--info"), ("aiopt-compile", "-o", tmp_path / "m.aio")):
        assert "x.aio' is cut off" in error_of(*words, tmp_path / "x.aio")
    np.save(tmp_path / "x.npy", np.ones((5, 3), np.float32))
    done = command("aiopt-run", open_model, "--input", f"x={tmp_path / 'x.npy'}", "--compare", "onnxruntime")
    assert "output y: 5x4 float32" in done.stdout
    assert not (tmp_path / "m.aio").exists()
