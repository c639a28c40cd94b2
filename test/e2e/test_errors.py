"""What a user can do wrong, through the commands: one `error:` line that says where and what to do, status 1."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from e2e.commands import command, error_of


def _save(path: Path, op_type: str = "Relu", domain: str = "", shape: tuple[int | str, ...] = (2, 3)) -> Path:
    """A model of one node `node_7` from "x" to "y"."""
    node = helper.make_node(op_type, ["x"], ["y"], name="node_7", domain=domain)
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("x", "y")]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.example", 1)]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:])
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), path)
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return _save(tmp_path / "good.onnx")


def _npy(path: Path, array: np.ndarray) -> Path:
    np.save(path, array)
    return path


def test_the_model_itself_is_good(model: Path) -> None:
    done = command("aiopt-run", model)
    assert done.returncode == 0, done.stderr
    assert "y" in done.stdout


@pytest.mark.parametrize("kind", ["llvm", "asm", "obj"])
def test_code_of_a_good_model_comes_without_a_word(model: Path, tmp_path: Path, kind: str) -> None:
    done = command("aiopt", model, f"--emit={kind}", "-o", tmp_path / "code")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("program", ["aiopt", "aiopt-run"])
def test_unknown_operator(tmp_path: Path, program: str) -> None:
    error = error_of(program, _save(tmp_path / "m.onnx", "Frobnicate", "com.example"))
    assert "node_7" in error
    assert "Frobnicate" in error
    assert "com.example" in error


@pytest.mark.parametrize("program", ["aiopt", "aiopt-run"])
@pytest.mark.parametrize("kind", ["missing", "empty", "garbage", "truncated", "folder"])
def test_broken_file(tmp_path: Path, program: str, kind: str) -> None:
    path = tmp_path / "broken.onnx"
    if kind == "folder":
        path.mkdir()
    elif kind != "missing":
        whole = _save(path).read_bytes()
        path.write_bytes({"empty": b"", "garbage": b"\xff" * 64, "truncated": whole[: len(whole) // 2]}[kind])
    if program == "aiopt" and kind in ("missing", "folder"):  # in mlir-opt's words
        done = command(program, path)
        reason = "No such file or directory" if kind == "missing" else "Is a directory"
        assert (done.returncode, done.stderr) == (1, f"cannot open input file '{path}': {reason}\n")
    else:
        assert "broken.onnx" in error_of(program, path)


def test_wrong_input_name(tmp_path: Path, model: Path) -> None:
    array = _npy(tmp_path / "a.npy", np.zeros((2, 3), np.float32))
    error = error_of("aiopt-run", model, "--input", f"z={array}")
    assert "'z'" in error
    assert "x" in error


def test_wrong_input_shape(tmp_path: Path, model: Path) -> None:
    array = _npy(tmp_path / "a.npy", np.zeros((3, 2), np.float32))
    error = error_of("aiopt-run", model, "--input", f"x={array}")
    assert "x" in error
    assert "2x3" in error or "(2, 3)" in error
    assert "3x2" in error or "(3, 2)" in error


def test_wrong_input_type(tmp_path: Path, model: Path) -> None:
    array = _npy(tmp_path / "a.npy", np.zeros((2, 3), np.float64))
    error = error_of("aiopt-run", model, "--input", f"x={array}")
    assert "float64" in error or "f64" in error
    assert "float32" in error or "f32" in error


def test_missing_input_file(tmp_path: Path, model: Path) -> None:
    assert "none.npy" in error_of("aiopt-run", model, "--input", f"x={tmp_path / 'none.npy'}")


def test_a_symbolic_dimension_needs_a_shape(tmp_path: Path) -> None:
    path = _save(tmp_path / "m.onnx", shape=("batch", 3))
    error = error_of("aiopt-run", path)
    assert "input x" in error
    assert "--shape" in error
    assert command("aiopt-run", path, "--shape", "x=2x3").returncode == 0


def test_broken_text(tmp_path: Path) -> None:
    path = tmp_path / "broken.mlir"
    path.write_text("module {\n  func.func @main( {\n}\n")
    done = command("aiopt", path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"{path}:2:19: error: expected non-function type\n")  # and the line, as in mlir-opt


def test_unknown_pass(model: Path) -> None:
    assert "no-such-pass" in error_of("aiopt", "-p", "no-such-pass", model)


def test_unknown_option(model: Path) -> None:
    assert "--thread" in error_of("aiopt-run", model, "--thread", "2")


def test_llvm_abort_is_an_error(tmp_path: Path) -> None:
    """LLVM's assertions are on in the wheels: tiles of size 0 end the process of a tool."""
    path = tmp_path / "loop.mlir"
    path.write_text(LOOP)
    error = error_of("aiopt", "-p", "func.func(affine-loop-tile{tile-sizes=0})", path)
    assert "LLVM aborted in func.func(affine-loop-tile{tile-sizes=0}): Assertion" in error
    reproducer = Path(error.split()[-2])
    done = command("mlir-opt", "--run-reproducer", reproducer)
    reproducer.unlink()
    assert "Assertion `step > 0" in done.stderr


LOOP = """
func.func @f(%a: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    %0 = affine.load %a[%i] : memref<64xf32>
    affine.store %0, %a[%i] : memref<64xf32>
  }
  return
}
"""
