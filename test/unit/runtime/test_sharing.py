"""Threads that share one compiled net, seen by ThreadSanitizer, the code of the kernels included."""

from __future__ import annotations

import os
import re
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from aiopt import driver
from aiopt.passes import io
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.targets import find_target
from aiopt.targets.cpu import codegen, llvmc
from aiopt.targets.cpu.record import host
from unit.runtime.sanitizer import build_sanitized

# Reads and writes of one element each, since those of vectors go unwatched; then the calls that report them.
WATCHED = "default<O1>,function(scalarizer<load-store>,tsan)"


def _residual_net() -> onnx.ModelProto:
    """Convolutions with stride, a residual connection, pooling, a fully connected layer: ResNet in small."""
    rng = np.random.default_rng(0)
    shapes = {"w0": (16, 3, 3, 3), "w1": (16, 16, 3, 3), "w2": (16, 16, 3, 3), "w3": (16, 10)}
    weights = [numpy_helper.from_array(rng.normal(0, 0.2, s).astype(np.float32), name) for name, s in shapes.items()]
    nodes = [
        helper.make_node("Conv", ["x", "w0"], ["a"], pads=[1, 1, 1, 1], strides=[2, 2]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["d"]),
        helper.make_node("Conv", ["d", "w2"], ["e"], pads=[1, 1, 1, 1]),
        helper.make_node("Add", ["e", "b"], ["f"]),
        helper.make_node("Relu", ["f"], ["g"]),
        helper.make_node("GlobalAveragePool", ["g"], ["h"]),
        helper.make_node("Flatten", ["h"], ["i"]),
        helper.make_node("MatMul", ["i", "w3"], ["j"]),
        helper.make_node("Softmax", ["j"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 36, 36])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])
    return helper.make_model(
        helper.make_graph(nodes, "net", [x], [y], weights), opset_imports=[helper.make_opsetid("", 17)]
    )


@pytest.fixture(scope="module")
def arguments(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The program and what it takes: an object, its net's name, a file of weights."""
    folder = tmp_path_factory.mktemp("sharing")
    program = build_sanitized("share.cpp", folder)
    unit = driver.load_unit(_residual_net(), io.new_context())
    driver.lower(unit, find_target("cpu"))
    text = codegen.to_llvm_ir(unit)
    assert len(set(re.findall(r"@([\w.]+_task_\d+)\.launch\(", text))) >= 3, "the net has parallel kernels"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llvmc, "PASSES", WATCHED)
        watched = codegen.to_object(re.sub(r"^(define .*?)( \{)$", r"\1 sanitize_thread\2", text, flags=re.M), host())
    assert b"__tsan_write4" in watched
    (folder / "net.o").write_bytes(watched)
    (folder / "weights.bin").write_bytes(pack_weights(unit.module, unit.weights).tobytes())
    return [program, folder / "net.o", "net", folder / "weights.bin"]


def _run(arguments: list[object], contexts: str) -> subprocess.CompletedProcess[str]:
    command = [*map(str, arguments), contexts]
    environment = {**os.environ, "TSAN_OPTIONS": "halt_on_error=1"}  # there are thousands more of the first race
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)


def test_eight_threads_share_a_net(arguments: list[object]) -> None:
    """Each has a context of two threads; all get the numbers of one thread alone, and nothing races."""
    done = _run(arguments, "own")
    assert (done.stdout, done.stderr, done.returncode) == ("right\n", "", 0)


def test_calls_that_share_a_context_race(arguments: list[object]) -> None:
    """What is not allowed is seen: else the test above would show nothing."""
    done = _run(arguments, "shared")
    assert "WARNING: ThreadSanitizer: data race" in done.stderr
    assert done.returncode != 0
