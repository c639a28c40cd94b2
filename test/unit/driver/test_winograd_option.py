"""The option that says which convolutions Winograd's algorithm computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import aiopt
from aiopt.specialize import SpecializingNet
from aiopt.support.compare import relative_difference, run_onnxruntime
from aiopt.support.errors import OptionError


@pytest.fixture
def model() -> bytes:
    """A 3x3 convolution of 32 channels in 56x56."""
    weight = np.random.default_rng(0).standard_normal((32, 32, 3, 3), np.float32)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 32, 56, 56]) for name in "xy")
    node = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1] * 4)
    graph = helper.make_graph([node], "net", [x], [y], [numpy_helper.from_array(weight, "w")])
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, ir_version=8, opset_imports=[opset]).SerializeToString()


@pytest.mark.parametrize(
    ("winograd", "template", "most"),
    [("off", ("conv", None), 1e-6), ("2", ("winograd", 2), 2e-6), ("4", ("winograd", 4), 1e-5)],
)
def test_what_computes_a_convolution_and_how_exactly(
    model: bytes, winograd: str, template: tuple[str, int | None], most: float
) -> None:
    x = {"x": np.random.default_rng(1).standard_normal((1, 32, 56, 56), np.float32)}
    with aiopt.compile(model, winograd=winograd, cache=False) as net:
        (entry,) = [kernel for kernel in net.report()["kernels"] if "ai.conv" in kernel["ops"]]
        assert (entry["template"]["name"], entry["template"].get("size")) == template
        assert relative_difference(net.run(x)["y"], run_onnxruntime(model, x)["y"]) <= most


def test_the_cache_tells_them_apart(model: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AIOPT_CACHE", "1")
    monkeypatch.setenv("AIOPT_CACHE_DIR", str(tmp_path))
    found = []
    for winograd in ("off", "4", "off"):
        with aiopt.compile(model, winograd=winograd) as net:
            found.append(net.report()["cache"])
    assert found == ["miss", "miss", "hit"]


def test_nets_of_open_shapes_keep_it(model: bytes) -> None:
    proto = onnx.ModelProto.FromString(model)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    net = aiopt.compile(proto, winograd="2", cache=False)
    assert isinstance(net, SpecializingNet)
    net.run({"x": np.ones((1, 32, 56, 56), np.float32)})
    assert "winograd=2" in str(net.report())


@pytest.mark.parametrize("value", ["3", "", "on"])
def test_other_values_are_an_error(model: bytes, value: str) -> None:
    with pytest.raises(OptionError, match=f"^winograd is one of auto, off, 2, 4, not '{value}'"):
        aiopt.compile(model, winograd=value)
