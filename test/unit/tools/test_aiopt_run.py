"""`aiopt-run` and `aiopt` on ONNX models; what they do with MLIR is in test/lit/tools."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from aiopt.support.errors import CompileError
from aiopt.tools import aiopt_run
from e2e.commands import command, error_of

pytest.importorskip("onnxruntime")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = log(x) * w with a free first dimension, n = -k on int64: random x gives NaN."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])
    k = helper.make_tensor_value_info("k", TensorProto.INT64, [4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3])
    n = helper.make_tensor_value_info("n", TensorProto.INT64, [4])
    w = helper.make_tensor("w", TensorProto.FLOAT, [3], [1.0, 2.0, 3.0])
    nodes = [
        helper.make_node("Log", ["x"], ["l"], "log"),
        helper.make_node("Mul", ["l", "w"], ["y"], "mul"),
        helper.make_node("Neg", ["k"], ["n"], "neg"),
    ]
    graph = helper.make_graph(nodes, "small", [x, k], [y, n], [w])
    path = tmp_path_factory.mktemp("model") / "small.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)
    return path


@pytest.mark.parametrize("oracle", ["onnxruntime", "reference"])
def test_compares_with_an_oracle(model: Path, oracle: str, tmp_path: Path):
    np.save(tmp_path / "x.npy", np.linspace(1, 2, 6, dtype=np.float32).reshape(2, 3))
    done = command(
        "aiopt-run", model, "--shape", "x=2x3", "--input", f"x={tmp_path}/x.npy", "--compare", oracle, "--json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["compare"] == oracle
    y, n = facts["outputs"]
    assert (y["name"], y["shape"], y["dtype"]) == ("y", [2, 3], "float32")
    assert y["difference"] < 1e-6
    assert y["max"] == pytest.approx(3 * np.log(2), rel=1e-6)
    assert (n["dtype"], n["difference"]) == ("int64", 0)
    assert -1 <= n["min"] <= n["max"] <= 0  # random integers of 64 bits are 0 or 1


def test_nan_is_null_in_json_and_equal_to_nan(model: Path):
    done = command("aiopt-run", model, "--shape", "x=8x3", "--compare", "onnxruntime", "--json", "--repeat", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["outputs"][0]["mean"] is None


def test_the_seed_decides(model: Path):
    def integers(seed: int) -> float:
        done = command("aiopt-run", model, "--shape", "x=1x3", "--seed", str(seed), "--json", "--repeat", "1")
        return json.loads(done.stdout)["outputs"][1]["mean"]

    assert integers(1) == integers(1)
    assert len({integers(seed) for seed in (1, 2, 3)}) > 1


def test_a_wrong_result_is_an_error(model: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """The oracle is given another weight than the compiler."""
    other = onnx.load(model)
    other.graph.initializer[0].float_data[1] = 2.001
    onnx.save(other, tmp_path / "other.onnx")
    facts = {"outputs": [{"name": "y"}]}
    x = {"x": np.full((1, 3), np.e, np.float32), "k": np.zeros(4, np.int64)}
    outputs = {"y": np.array([[1, 2, 3]], np.float32)}
    aiopt_run.compare(facts, "onnxruntime", tmp_path / "other.onnx", x, outputs)
    assert facts["outputs"][0]["difference"] == pytest.approx(0.001 / 3, rel=1e-3)
    with pytest.raises(CompileError, match="output 'y' differs from onnxruntime by 0.000333 of the largest"):
        aiopt_run.check(facts)


def test_mistakes_are_one_line(model: Path, tmp_path: Path):
    np.save(tmp_path / "d.npy", np.zeros((1, 3)))
    (tmp_path / "text.npy").write_text("1 2 3")
    shape = ("--shape", "x=1x3")
    assert "--shape x=1x3" in error_of("aiopt-run", model)
    assert "z" in error_of("aiopt-run", model, *shape, "--input", f"z={tmp_path}/d.npy")
    assert "float64" in error_of("aiopt-run", model, *shape, "--input", f"x={tmp_path}/d.npy")
    assert "cannot read" in error_of("aiopt-run", model, *shape, "--input", f"x={tmp_path}/text.npy")
    absent = error_of("aiopt-run", model, *shape, "--input", f"x={tmp_path}/absent.npy")
    assert absent == f"error: input 'x': cannot read '{tmp_path}/absent.npy': No such file or directory [AI0301]"
    twice = error_of("aiopt-run", model, "--input", "x=a.npy", "--input", "x=b.npy")
    assert twice == "error: --input gives 'x' twice [AI0401]"
    assert "--threads: '0' is not a whole number" in error_of("aiopt-run", model, "--threads", "0")
    assert error_of("aiopt-run").startswith("error: the following arguments are required: MODEL")
    assert "cannot read" in error_of("aiopt-run", tmp_path / "absent.onnx")
    (tmp_path / "m.mlir").write_text("module {}")
    assert "takes an ONNX model" in error_of("aiopt-run", tmp_path / "m.mlir", "--compare", "onnxruntime")
    assert "--shape is for ONNX" in error_of("aiopt-run", tmp_path / "m.mlir", *shape)


def test_aiopt_takes_onnx(model: Path, tmp_path: Path):
    """As a file and from stdin, to text that runs."""
    done = command("aiopt", model, "--shape", "x=1x3", "-o", tmp_path / "g.mlir", "--mlir-print-debuginfo")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
    text = (tmp_path / "g.mlir").read_text()
    assert 'ai.level = "graph"' in text
    assert 'loc("log")' in text
    done = command("aiopt-run", tmp_path / "g.mlir", "--compare", "reference", "--json", "--repeat", "1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "--shape x=1x3" in error_of("aiopt", model)


def test_mixed_precision_is_held_against_40_db(tmp_path: Path):
    text = """module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<64x64xf32> {ai.name = "x"}) -> (tensor<64x64xf32> {ai.name = "y"}) {
    %r = "ai.relu"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32> loc("first")
    %p = "ai.matmul"(%r, %x) {acc = f32} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> loc("second")
    return %p : tensor<64x64xf32>
  }
}"""
    good = tmp_path / "good.mlir"
    good.write_text(text)
    for amp in ("bf16", "f16"):
        done = command("aiopt-run", good, f"--amp={amp}", "--compare", "reference", "--per-layer")
        assert (done.returncode, done.stderr) == (0, "")
        assert "to reference: cosine " in done.stdout
        assert f"kernel relu_cast_0 (first, {amp}): cosine " in done.stdout
        assert "kernel matmul_1 (second, f32): cosine " in done.stdout
    facts = json.loads(command("aiopt-run", good, "--amp=bf16", "--compare", "reference", "--json").stdout)
    assert facts["amp"] == "bf16"
    assert 40 < facts["outputs"][0]["sqnr"] < 70


def test_too_few_decibels_are_an_error(tmp_path: Path):
    """x . x - x . x, of which one is rounded and the other is not, has nothing but noise."""
    path = tmp_path / "noise.mlir"
    path.write_text("""module attributes {ai.level = "graph", ai.net = "small"} {
  func.func @main(%x: tensor<64x64xf32> {ai.name = "x"}) -> (tensor<64x64xf32> {ai.name = "y"}) {
    %c = arith.constant dense<1.000000e+05> : tensor<f32>
    %b = "ai.add"(%x, %c) : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
    %i = "ai.matmul"(%b, %x) {acc = f32} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = "ai.reduce_sum"(%x) {axes = array<i64: 0>, keepdims = true} : (tensor<64x64xf32>) -> tensor<1x64xf32>
    %m = "ai.mul"(%s, %c) : (tensor<1x64xf32>, tensor<f32>) -> tensor<1x64xf32>
    %y = "ai.sub"(%i, %m) : (tensor<64x64xf32>, tensor<1x64xf32>) -> tensor<64x64xf32>
    return %y : tensor<64x64xf32>
  }
}""")
    done = command("aiopt-run", path, "--amp=bf16", "--compare", "reference")
    assert done.returncode == 1
    assert "output 'y' has an SQNR of" in done.stderr
    assert "at least 40 dB are wanted with --amp=bf16" in done.stderr


def test_amp_options_that_do_not_fit(model: Path):
    assert "--per-layer goes with --amp" in error_of("aiopt-run", model, "--shape", "x=2x3", "--per-layer")
