"""The cache of compiled kernels: what makes a hit, what does not, and what happens when it fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aiopt
from aiopt.runtime.net import CompiledNet
from aiopt.support.errors import OptionError
from aiopt.support.file_cache import FileCache
from aiopt.support.kernel_cache import KernelCache

X = np.random.default_rng(0).standard_normal((64, 64), np.float32)


def _model(ops: Sequence[str], name: str = "g") -> bytes:
    """A row of reductions and such that stay kernels of their own."""
    names = ["x", *(f"v{i}" for i in range(1, len(ops))), "y"]
    nodes = [helper.make_node(op, [a], [b]) for op, a, b in zip(ops, names, names[1:], strict=False)]
    x, y = (helper.make_tensor_value_info(value, TensorProto.FLOAT, [64, 64]) for value in "xy")
    graph = helper.make_graph(nodes, name, [x], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]).SerializeToString()


def _compile(ops: Sequence[str], name: str = "g") -> CompiledNet:
    net = aiopt.compile(_model(ops, name))
    assert isinstance(net, CompiledNet)
    return net


def _counts(net: CompiledNet) -> tuple[int, int]:
    found = net.report()["kernel_cache"]
    assert "error" not in found
    return found["hits"], found["misses"]


def test_a_changed_graph_compiles_what_changed(cache_folder: Path) -> None:
    first = _compile(["Softmax", "Transpose"])
    assert _counts(first) == (0, 3)  # the entry is compiled too
    longer = _compile(["Transpose", "Softmax", "Transpose", "Relu"])
    hits, _ = _counts(longer)
    assert hits >= 1
    transposed = first(X)[0].T
    np.testing.assert_allclose(np.exp(X) / np.exp(X).sum(1, keepdims=True), transposed, atol=1e-6)


def test_kernels_of_nets_with_other_names_are_shared(cache_folder: Path) -> None:
    one, two = _compile(["Softmax"], "one"), _compile(["Softmax"], "two")
    assert (_counts(one), _counts(two)) == ((0, 2), (1, 1))
    assert one(X)[0].tobytes() == two(X)[0].tobytes()


def test_a_net_from_the_cache_asks_for_no_kernels(cache_folder: Path) -> None:
    nets = [_compile(["Softmax"]) for _ in range(2)]
    assert [_counts(net) for net in nets] == [(0, 2), (0, 0)]


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:40] + b"?" + data[41:], lambda _: b""])
def test_a_damaged_entry_is_a_miss_and_is_replaced(cache_folder: Path, damage: Callable[[bytes], bytes]) -> None:
    want = _compile(["Softmax"])(X)[0]
    for file in (cache_folder / "kernels").iterdir():
        file.write_bytes(damage(file.read_bytes()))
    for expected in ((0, 2), (2, 0)):
        for net in cache_folder.glob("*.aio"):
            net.unlink()
        again = _compile(["Softmax"])
        assert _counts(again) == expected
        assert again(X)[0].tobytes() == want.tobytes()


def test_another_machine_or_llvm_is_a_miss(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _compile(["Softmax"], "one")
    monkeypatch.setattr("aiopt.targets.cpu.codegen._code_generator", lambda: ["another"])
    assert _counts(_compile(["Softmax"], "two")) == (0, 2)


def test_off(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nets = [aiopt.compile(_model(["Softmax"]), cache=False)]
    monkeypatch.setenv("AIOPT_CACHE", "0")
    nets.append(_compile(["Softmax"]))
    assert [_counts(net) for net in nets if isinstance(net, CompiledNet)] == [(0, 0), (0, 0)]
    assert not cache_folder.exists()


def test_writers_at_once(tmp_path: Path) -> None:
    """Threads that all miss write one file after the other, each of them whole."""
    code = bytes(range(256)) * 4096
    caches = [KernelCache(FileCache(tmp_path / "kernels", ".o", 1 << 30)) for _ in range(4)]

    def work(number: int) -> bytes:
        return caches[number % 4].get_or_make(["one", number % 3], lambda: code)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(64))) == {code}
    found = [cache.finish() for cache in caches]
    assert sum(counts["hits"] + counts["misses"] for counts in found) == 64
    assert not any("error" in counts for counts in found)
    assert len(list((tmp_path / "kernels").iterdir())) == 3


def test_a_folder_that_cannot_be_made_is_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = KernelCache(FileCache(tmp_path / "file" / "kernels", ".o", 1 << 30))
    assert cache.get_or_make(["facts"], lambda: b"code") == b"code"
    assert "cannot make the cache" in cache.finish()["error"]


def test_it_keeps_within_its_bound(tmp_path: Path) -> None:
    cache = KernelCache(FileCache(tmp_path / "kernels", ".o", 3000))
    for number in range(5):
        cache.get_or_make([number], lambda: bytes(1000))
    cache.finish()
    assert len(list((tmp_path / "kernels").iterdir())) == 2


def test_bad_size(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIOPT_CACHE_BYTES", "much")
    with pytest.raises(OptionError, match="AIOPT_CACHE_BYTES"):
        aiopt.compile(onnx.load_from_string(_model(["Softmax"])))
