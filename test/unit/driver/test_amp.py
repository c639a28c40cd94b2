"""`aiopt.compile(amp=...)`: what it says, and that the cache tells precisions apart. Oracle: the same net in f32."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import aiopt
from aiopt.support.compare import LEAST_SQNR, likeness
from aiopt.support.errors import OptionError

SIZE = 128  # of products that are large enough to gain from 16 bits


def _model(scale: float = 1.0) -> onnx.ModelProto:
    """Two layers; with a large scale the first one's sums are beyond f16."""
    generator = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array((generator.standard_normal((SIZE, SIZE)) * scale).astype(np.float32), f"w{i}")
        for i in range(2)
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["r"]),
        helper.make_node("MatMul", ["r", "w1"], ["y"], name="second"),
    ]
    border = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [SIZE, SIZE]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "net", border[:1], border[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _input() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(1).standard_normal((SIZE, SIZE)).astype(np.float32)}


@pytest.mark.parametrize("amp", ["bf16", "f16"])
def test_near_f32_with_half_the_weights(amp: str) -> None:
    plain = aiopt.compile(_model(), cache=False)
    net = aiopt.compile(_model(), amp=amp, calibration=_input(), cache=False)
    found, want = net.run(_input())["y"], plain.run(_input())["y"]
    assert found.dtype == np.float32
    assert LEAST_SQNR < likeness(found, want).sqnr < np.inf
    report = net.report()["amp"]
    assert (report["type"], report["contractions"], report["low"], report["casts"]) == (amp, 2, 2, 2)
    assert report["remarks"] == [f"ai-amp: 2 of 2 contractions and 2 of 3 ops in {amp}, 2 casts"]
    assert net.report()["weights_bytes"] * 2 == plain.report()["weights_bytes"]
    assert "amp" not in plain.report()


def test_what_overflows_f16_stays_finite() -> None:
    net = aiopt.compile(_model(1e3), amp="f16", calibration=_input(), cache=False)
    plain = aiopt.compile(_model(1e3), cache=False)
    found = net.run(_input())["y"]
    assert np.isfinite(found).all()
    assert likeness(found, plain.run(_input())["y"]).sqnr > LEAST_SQNR
    report = net.report()["amp"]
    assert report["low"] < report["contractions"]
    assert any("second stays f32: a value reaches" in remark for remark in report["remarks"])


def test_the_cache_tells_precisions_apart(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIOPT_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("AIOPT_CACHE", "1")
    bytes_ = _model().SerializeToString()
    kinds = [{}, {"amp": "bf16"}, {"amp": "f16", "calibration": _input()}]
    kinds.append({"amp": "f16", "calibration": {"x": 2 * _input()["x"]}})
    assert [aiopt.compile(bytes_, **kind).report()["cache"] for kind in kinds] == ["miss"] * 4
    assert [aiopt.compile(bytes_, **kind).report()["cache"] for kind in kinds] == ["hit"] * 4


def test_options_that_do_not_fit() -> None:
    with pytest.raises(OptionError, match="amp is one of none, bf16, f16, not 'fp8'"):
        aiopt.compile(_model(), amp="fp8")
    with pytest.raises(OptionError, match="f16 needs to know how large values get"):
        aiopt.compile(_model(), amp="f16", cache=False)


def test_likeness() -> None:
    x = np.array([3.0, 4.0])
    assert likeness(x, x) == likeness(np.array([np.inf, 1]), np.array([np.inf, 1]))
    assert likeness(x, x).sqnr == np.inf
    near = likeness(np.array([3.0, 4.05]), x)
    assert near.sqnr == pytest.approx(40.0)
    assert near.difference == pytest.approx(0.05)
    assert 0.999 < near.cosine < 1
    for other in (np.array([3.0]), np.array([3.0, np.nan])):
        assert likeness(other, x).sqnr == -np.inf
    assert likeness(x, np.zeros(2)).sqnr == -np.inf
