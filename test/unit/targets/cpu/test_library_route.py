"""Products sent to libraries of other packages; the oracle is onnx's reference in f64."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, reference

import aiopt
from aiopt.runtime import cpu_library
from aiopt.support.errors import ArtifactMachineError, MissingPackageError, OptionError


def _is_installed(package: str) -> bool:
    try:
        return bool(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return False


LIBRARIES = [
    "openblas",  # of the extra `test`
    pytest.param(
        "onednn",
        marks=pytest.mark.skipif(not _is_installed("onednn-cpu-gomp"), reason="onednn-cpu-gomp is not installed"),
    ),
]


def _model(nodes: list[onnx.NodeProto], weights: dict[str, tuple[int, ...]], x: list[int]) -> onnx.ModelProto:
    rng = np.random.default_rng(0)
    values = [numpy_helper.from_array(rng.normal(0, 0.3, s).astype(np.float32), name) for name, s in weights.items()]
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape) for name, shape in (("x", x), ("y", None))
    ]
    graph = helper.make_graph(nodes, "net", ends[:1], ends[1:], values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


node = helper.make_node
MODELS = {
    "matmul": _model([node("MatMul", ["x", "w"], ["y"])], {"w": (40, 33)}, [75, 40]),
    "row": _model([node("MatMul", ["x", "w"], ["y"])], {"w": (40, 33)}, [1, 40]),
    "batch": _model([node("MatMul", ["x", "w"], ["y"])], {"w": (3, 40, 17)}, [3, 70, 40]),
    "shared": _model([node("MatMul", ["x", "w"], ["y"])], {"w": (40, 17)}, [2, 3, 50, 40]),
    "computed": _model([node("Relu", ["x"], ["r"]), node("MatMul", ["x", "r"], ["y"])], {}, [4, 37, 37]),
    "epilogue": _model(
        [
            node("MatMul", ["x", "w"], ["m"]),
            node("Add", ["m", "b"], ["a"]),
            node("Relu", ["a"], ["r"]),
            node("Mul", ["r", "s"], ["y"]),
        ],
        {"w": (40, 33), "b": (33,), "s": (75, 1)},
        [75, 40],
    ),
    "conv": _model(
        [
            node("Conv", ["x", "u"], ["c"], pads=[1, 1, 1, 1]),
            node("Conv", ["c", "v", "b"], ["d"]),
            node("Relu", ["d"], ["y"]),
        ],
        {"u": (16, 8, 3, 3), "v": (24, 16, 1, 1), "b": (24,)},
        [2, 8, 14, 14],
    ),
    "channels_first": _model([node("Conv", ["x", "v", "b"], ["y"])], {"v": (24, 16, 1, 1), "b": (24,)}, [2, 16, 5, 5]),
}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", MODELS)
def test_numbers(name: str, library: str, tmp_path: Path) -> None:
    model = MODELS[name]
    shape = [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).normal(0, 1, shape).astype(np.float32)
    (wanted,) = reference.ReferenceEvaluator(model).run(None, {"x": x})
    net = aiopt.compile(model, cpu_library=library, threads=1, cache=False)
    sent = [entry for entry in net.report()["kernels"] if entry["route"] == "library"]
    assert {entry["library"] for entry in sent} == {library}
    assert all(set(entry["ops"]) & {"ai.matmul", "ai.conv"} for entry in sent)
    assert f"library-{library}" in net.features.split(",")
    found = net.run({"x": x})["y"]
    assert np.abs(found - wanted).max() <= 1e-5 * np.abs(wanted).max()
    net.save(tmp_path / "net.aio")
    with aiopt.load(tmp_path / "net.aio", 2) as loaded:
        assert np.array_equal(loaded.run({"x": x})["y"], found), "bits do not depend on threads"


def test_nan_goes_through() -> None:
    x = np.ones((75, 40), np.float32)
    x[3, 5] = np.nan
    found = aiopt.compile(MODELS["epilogue"], cpu_library="openblas", cache=False).run({"x": x})["y"]
    assert np.isnan(found[3]).all()
    assert not np.isnan(np.delete(found, 3, 0)).any()


def test_what_is_not_f32_and_what_is_no_product_stays() -> None:
    graph = _model([node("Softmax", ["x"], ["y"])], {}, [4, 8])
    net = aiopt.compile(graph, cpu_library="openblas", cache=False)
    assert "library" not in {entry["route"] for entry in net.report()["kernels"]}
    assert "library" not in net.features


def test_unknown_library() -> None:
    with pytest.raises(OptionError, match=r"^cpu_library is one of none, onednn, openblas, not 'mkl'$"):
        aiopt.compile(MODELS["matmul"], cpu_library="mkl")


def test_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cpu_library._PACKAGES, "openblas", ("no-such-package", "libno.so"))
    wanted = r"^CPU library 'openblas' needs a package that is not installed: pip install no-such-package$"
    with pytest.raises(MissingPackageError, match=wanted):
        aiopt.compile(MODELS["matmul"], cpu_library="openblas", cache=False)


def test_broken_library_is_one_line() -> None:
    program = (
        "from aiopt.runtime import cpu_library\nfrom pathlib import Path\n"
        "cpu_library._find = lambda *_: Path('/no/such/library.so')\ncpu_library.open_library('onednn')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "MissingPackageError: CPU library 'onednn' cannot be loaded (/no/such/library.so: cannot open" in done.stderr


def test_artifact_asks_for_its_library(tmp_path: Path) -> None:
    """In a process where the package is not to be found."""
    path = tmp_path / "net.aio"
    aiopt.compile(MODELS["matmul"], cpu_library="openblas", cache=False).save(path)
    program = (
        "import sys, aiopt\nfrom aiopt.runtime import cpu_library\ncpu_library._find = lambda *_: None\n"
        "aiopt.load(sys.argv[1])"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert "MissingPackageError: CPU library 'openblas' needs a package" in done.stderr
    program = program.replace("cpu_library._find = lambda *_: None", "cpu_library._PACKAGES.clear()")
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=False)
    assert f"{ArtifactMachineError.__name__}: " in done.stderr
    assert "'library-openblas'" in done.stderr
