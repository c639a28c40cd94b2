"""aiopt-compile writes over nothing that it did not write itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import aiopt
from aiopt.runtime.c_header import c_header


def _model(inputs: list[str]) -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3]) for name in inputs]
    weight = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(3, 4), "w")
    nodes = [helper.make_node("Sum", inputs, ["s"]), helper.make_node("MatMul", ["s", "w"], ["y"])]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 4])
    graph = helper.make_graph(nodes, "small", values, [result], [weight])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


def _compile(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "import sys; from aiopt.tools.aiopt_compile import main; sys.exit(main())"]
    return subprocess.run([*command, *map(str, arguments)], check=False, capture_output=True, text=True)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    onnx.save(_model(["x"]), tmp_path / "model.onnx")
    return tmp_path / "model.onnx"


def test_a_pipe_is_not_replaced(model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    result = _compile(model, "--emit=obj", "-o", tmp_path / "pipe")
    assert result.returncode == 1
    assert "the weights go into a file beside it" in result.stderr
    assert (tmp_path / "pipe").is_fifo()


def test_external_data_beside_older_code_is_kept(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    onnx.save(_model(["x"]), model, save_as_external_data=True, location="model.weights", size_threshold=0)
    (tmp_path / "model.o").touch()
    before = (tmp_path / "model.weights").read_bytes()
    result = _compile(model, "--emit=obj", "-o", tmp_path / "model.o")
    assert result.returncode == 1
    assert "the model is read from it" in result.stderr
    assert (tmp_path / "model.weights").read_bytes() == before


def test_other_weights_are_kept_and_own_ones_replaced(model: Path, tmp_path: Path) -> None:
    output, weights = tmp_path / "net.o", tmp_path / "net.weights"
    weights.write_bytes(b"something else")
    output.write_bytes(b"no object")
    result = _compile(model, "--emit=obj", "-o", output)
    assert result.returncode == 1
    assert "another file of that name is there" in result.stderr
    assert weights.read_bytes() == b"something else"
    weights.unlink()
    assert _compile(model, "--emit=obj", "-o", output).returncode == 0
    weights.write_bytes(b"older weights")
    assert _compile(model, "--emit=obj", "-o", output).returncode == 0, "an older self may be replaced"
    assert weights.read_bytes() != b"older weights"


def test_macros_of_the_header_do_not_collide() -> None:
    with aiopt.compile(_model(["x", "x_TYPE", "x_SIZE", "x_type_rank"]), cache=False) as net:
        defined = re.findall(r"^#define (\w+)", c_header(net, "0"), re.MULTILINE)
    assert len(defined) == len(set(defined))
