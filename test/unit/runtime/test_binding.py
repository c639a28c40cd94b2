"""CompiledNet.bind: what is read and written where it is, and what cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from aiopt.runtime.binding import check_bindable
from aiopt.runtime.net import CompiledNet
from aiopt.support.errors import AioptError, InputError
from aiopt.support.types import TensorType
from e2e import nets
from e2e.nets import X, Y

OUT = np.zeros_like(Y)
READ_ONLY = np.zeros_like(Y)
READ_ONLY.flags.writeable = False
MISALIGNED = np.zeros(Y.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(Y.shape)
WIDE = np.zeros((*Y.shape[:-1], 2 * Y.shape[-1]), np.float32)
SHARED = np.zeros(X.size + 1, np.float32)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompiledNet]:
    with nets.affine(tmp_path_factory.mktemp("affine")) as net:
        yield net


def test_each_call_reads_and_writes_the_arrays(net: CompiledNet) -> None:
    x, y = X.copy(), np.full_like(Y, np.nan)
    bound = net.bind({"x": x}, {"y": y})
    assert np.isnan(y).all()
    bound()
    assert y.tobytes() == net(X)[0].tobytes()
    x[:] = -X
    bound()
    assert y.tobytes() == net(-X)[0].tobytes()
    assert bound.inputs["x"] is x
    assert bound.outputs["y"] is y


def test_a_binding_keeps_net_and_arrays(tmp_path: Path) -> None:
    y = np.zeros_like(Y)
    bound = nets.affine(tmp_path).bind({"x": X.copy()}, {"y": y})
    bound()
    np.testing.assert_allclose(y, Y, rtol=1e-6)


def test_scalars_and_empty_tensors(tmp_path: Path) -> None:
    with nets.mixed(tmp_path) as net:
        total, none = np.zeros((), np.float64), np.zeros(0, np.int64)
        net.bind({"a": np.array(1.5, np.float32), "flag": np.array([True, True])}, {"sum": total, "none": none})()
        assert total == 3.5


def test_a_closed_net_is_not_run(tmp_path: Path) -> None:
    net = nets.affine(tmp_path)
    bound = net.bind({"x": X}, {"y": np.zeros_like(Y)})
    net.close()
    with pytest.raises(AioptError, match="net 'affine' has been closed"):
        bound()


def test_a_status_becomes_an_error(tmp_path: Path) -> None:
    with nets.affine(tmp_path, STATUS="AIOPT_ERROR_CPU") as net:
        bound = net.bind({"x": X}, {"y": np.zeros_like(Y)})
        with pytest.raises(AioptError, match="net 'affine' failed: this CPU lacks a feature"):
            bound()


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ({}, {"y": OUT}, r"net 'affine' was not given 'x' \(it takes x: 100x3xf32\)"),
        ({"x": X}, {}, r"net 'affine' was not given 'y' \(it gives y: 100x3xf32\)"),
        ({"x": X}, {"yy": OUT}, r"has no output 'yy', did you mean 'y'\?"),
        ({"x": X}, OUT, r"takes a dict of arrays by output name \(y: 100x3xf32\), not a ndarray"),
        ({"x": X}, {"y": OUT.tolist()}, "output 'y' is a list"),
        ({"x": X}, {"y": OUT.astype(np.float64)}, "output 'y' has dtype float64, expected float32$"),
        ({"x": X}, {"y": OUT.T}, "output 'y' has shape"),
        ({"x": X}, {"y": READ_ONLY}, "output 'y' is read-only"),
        ({"x": X}, {"y": MISALIGNED}, "output 'y' is not dense, row-major and aligned"),
        ({"x": WIDE[:, ::2]}, {"y": OUT}, "input 'x' is not dense, row-major and aligned"),
        ({"x": X}, {"y": WIDE[:, ::2]}, "output 'y' is not dense, row-major and aligned"),
        ({"x": OUT}, {"y": OUT}, "output 'y' shares memory with input 'x'"),
        ({"x": SHARED[1:].reshape(X.shape)}, {"y": SHARED[:-1].reshape(X.shape)}, "output 'y' shares memory with"),
    ],
)
def test_what_cannot_be_bound(net: CompiledNet, inputs: dict, outputs: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        net.bind(inputs, outputs)


def test_outputs_share_no_memory_with_each_other() -> None:
    memory = np.zeros(6, np.float32)
    kinds = {"first": TensorType((3,), "f32"), "second": TensorType((3,), "f32")}
    check_bindable("two", {}, kinds, {}, {"first": memory[:3], "second": memory[3:]})
    with pytest.raises(InputError, match="output 'second' shares memory with output 'first'"):
        check_bindable("two", {}, kinds, {}, {"first": memory[:3], "second": memory[2:5]})
