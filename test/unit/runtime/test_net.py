"""CompiledNet: signature, checks, outputs, life cycle."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from aiopt.runtime.library import Context
from aiopt.runtime.net import CompiledNet
from aiopt.support.errors import AioptError, CompileError, InputError, OptionError
from aiopt.support.types import TensorType
from e2e import nets
from e2e.native import aligned, compile_c
from e2e.nets import AFFINE, WEIGHTS, X, Y


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompiledNet]:
    with nets.affine(tmp_path_factory.mktemp("affine")) as net:
        yield net


def test_signature_and_report(net: CompiledNet) -> None:
    assert dict(net.inputs) == {"x": TensorType((100, 3), "f32")}
    assert dict(net.outputs) == {"y": TensorType((100, 3), "f32")}
    assert (net.name, net.threads) == ("affine", 1)
    report = net.report()
    report["kernels"][0]["ops"].append("changed")
    assert net.report() == {"launches": 1, "kernels": [{"ops": ["ai.exp"]}]}
    with pytest.raises(TypeError):
        net.inputs["z"] = TensorType((), "f32")  # pyright: ignore[reportIndexIssue]


def test_numbers(net: CompiledNet) -> None:
    np.testing.assert_allclose(net.run({"x": X})["y"], Y, rtol=1e-6)
    (y,) = net(X)
    np.testing.assert_allclose(y, Y, rtol=1e-6)


def test_outputs_are_new_aligned_arrays(net: CompiledNet) -> None:
    first, second = net(X)[0], net(-X)[0]
    assert first.ctypes.data % 64 == second.ctypes.data % 64 == 0
    assert not np.shares_memory(first, second)
    assert first.flags.writeable
    assert first.flags.c_contiguous
    np.testing.assert_allclose(first, Y, rtol=1e-6)


def test_scalars_bools_and_empty_tensors(tmp_path: Path) -> None:
    with nets.mixed(tmp_path) as net:
        out = net.run({"a": np.array(1.5, np.float32), "flag": np.array([True, True])})
        assert list(out) == ["sum", "none"]
        assert [TensorType.of(array) for array in out.values()] == [TensorType((), "f64"), TensorType((0,), "i64")]
        assert out["sum"] == 3.5


def test_input_layouts(net: CompiledNet) -> None:
    """Strided, transposed, read-only and misaligned arrays hold the same values."""
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    fixed = X.copy()
    fixed.flags.writeable = False
    odd = np.zeros(X.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(X.shape)
    odd[:] = X
    assert not odd.flags.aligned
    for x in (strided, np.asfortranarray(X), fixed, odd):
        assert net(x)[0].tobytes() == net(X)[0].tobytes()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, r"net 'affine' was not given 'x' \(it takes x: 100x3xf32\)"),
        ({"x": X, "z": X}, r"net 'affine' has no input 'z' \(it takes x: 100x3xf32\)"),
        ({"xx": X}, r"has no input 'xx', did you mean 'x'\?"),
        ({"x": X.astype(np.float64)}, r"input 'x' has dtype float64, expected float32"),
        ({"x": X.astype(">f4")}, r"input 'x' has dtype float32 of the other byte order, expected float32"),
        ({"x": X.T}, r"input 'x' has shape \(3, 100\), expected \(100, 3\)"),
        ({"x": X.tolist()}, r"input 'x' is a list, expected a numpy array \(100x3xf32\)"),
        ({"x": None}, r"input 'x' is a NoneType"),
        ([X], r"takes a dict of arrays by input name \(x: 100x3xf32\), not a list"),
    ],
)
def test_wrong_inputs(net: CompiledNet, inputs: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        net.run(inputs)  # pyright: ignore[reportArgumentType]


def test_wrong_number_of_positional_inputs(net: CompiledNet) -> None:
    with pytest.raises(InputError, match="was given 2 inputs, expected 1"):
        net(X, X)


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_wrong_thread_count(threads: int) -> None:
    with pytest.raises(OptionError, match=f"threads must be from 1 to 1024, not {threads}"):
        CompiledNet("affine", [b""], aligned(WEIGHTS), {}, threads)


def test_object_without_the_net(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match="aiopt_other_info"):
        CompiledNet("other", [compile_c(AFFINE, tmp_path)], aligned(WEIGHTS), {})


@pytest.mark.parametrize(
    ("macros", "message"),
    [
        ({"ABI": 7}, "was compiled for ABI version 7, this aiopt has 4"),
        ({"FEATURES": '"quantum"'}, "was compiled for a CPU with 'quantum', which this one lacks"),
        ({"ARENA": "(1LL << 60)"}, r"needs 1152921504606846976 bytes .* this machine does not give"),
    ],
)
def test_object_that_does_not_fit(tmp_path: Path, macros: dict[str, object], message: str) -> None:
    with pytest.raises(AioptError, match=message):
        nets.affine(tmp_path, **macros)


def test_status_of_a_run_becomes_an_error(tmp_path: Path) -> None:
    with (
        nets.affine(tmp_path, STATUS="AIOPT_ERROR_CPU") as net,
        pytest.raises(AioptError, match="net 'affine' failed: this CPU lacks a feature"),
    ):
        net(X)


@pytest.mark.parametrize("role", ["input", "output"])
def test_names_that_come_twice(tmp_path: Path, role: str) -> None:
    """Not a crash, though there are fewer arrays than the code takes."""
    two = {"input": ('{"flag"', '{"a"'), "output": ('{"none"', '{"sum"')}[role]
    code = compile_c(nets.MIXED.replace(*two), tmp_path)
    with pytest.raises(CompileError, match="two inputs or two outputs of a net are called '(a|sum)'"):
        CompiledNet("mixed", [code], aligned(), {})


def test_an_element_type_that_is_unknown(tmp_path: Path) -> None:
    code = compile_c(nets.MIXED.replace("AIOPT_F64", "99"), tmp_path)
    with pytest.raises(CompileError, match="'sum' has the element type 99"):
        CompiledNet("mixed", [code], aligned(), {})


def test_wrong_weights(tmp_path: Path) -> None:
    code = compile_c(AFFINE, tmp_path)
    with pytest.raises(CompileError, match="was compiled for 8 bytes of weights, but has 0: compile it again"):
        CompiledNet("affine", [code], aligned(), {})
    with pytest.raises(AssertionError, match="not aligned"):
        CompiledNet("affine", [code], aligned(WEIGHTS, WEIGHTS)[8:], {})


def test_closed(tmp_path: Path) -> None:
    net = nets.affine(tmp_path)
    net.close()
    net.close()
    with pytest.raises(AioptError, match="net 'affine' has been closed"):
        net(X)


def test_close_waits_for_calls_in_flight(tmp_path: Path) -> None:
    net = nets.affine(tmp_path)
    context = net._contexts.take()
    closing = threading.Thread(target=net.close)
    closing.start()
    closing.join(0.05)
    assert closing.is_alive()
    net._contexts.give(context)
    closing.join(10)
    assert not closing.is_alive()


def test_forgotten_net_is_freed(tmp_path: Path) -> None:
    net = nets.affine(tmp_path)
    contexts = weakref.ref(net._contexts)
    del net
    gc.collect()
    assert contexts() is None


def test_many_threads_on_one_net(tmp_path: Path) -> None:
    """Bit-equal to one thread's result, whoever gets the pool."""
    with nets.affine(tmp_path, threads=2) as net:
        inputs = [X * (1 - i / 8) for i in range(8)]
        expected = [net(x)[0].tobytes() for x in inputs]

        def work(position: int) -> bool:
            return all(net(inputs[position])[0].tobytes() == expected[position] for _ in range(100))

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(8)))


def test_profile(net: CompiledNet) -> None:
    """One entry per launch, and the hook is gone afterwards."""
    assert net.launches == ["affine_exp"]
    ((kernel, seconds),) = net.profile({"x": X})
    assert kernel == "affine_exp"
    assert 0 < seconds < 1
    context = net._contexts.take()
    assert not Context.from_address(context).hook
    net._contexts.give(context)
    with pytest.raises(InputError, match="has no input 'z'"):
        net.profile({"z": X})


def test_thread_count_changes_no_bit(tmp_path: Path) -> None:
    results = set()
    for threads in (1, 2, 3, 7):
        with nets.affine(tmp_path, threads=threads) as net:
            results.add(net(X)[0].tobytes())
    assert len(results) == 1
