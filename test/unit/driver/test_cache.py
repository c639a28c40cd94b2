"""The cache of compiled nets: what makes a hit, what does not, and that it keeps within its bounds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import aiopt
from aiopt.cache import NetCache, cache_key
from aiopt.runtime.net import CompiledNet
from aiopt.source import read_source
from aiopt.support.errors import OptionError
from e2e import nets
from e2e.commands import command
from e2e.nets import X

Relu = Callable[..., Path]


def _state(net: object) -> str:
    assert isinstance(net, CompiledNet)
    return net.report()["cache"]


def test_second_time_is_a_hit(relu: Relu, cache_folder: Path) -> None:
    path = relu()
    first, second = aiopt.compile(path, threads=2), aiopt.compile(path, threads=3)
    assert (_state(first), _state(second)) == ("miss", "hit")
    assert second.threads == 3
    x = np.array([[-1, 0, 2], [3, -4, 5]], np.float32)
    assert first(x)[0].tobytes() == second(x)[0].tobytes()
    assert len(list(cache_folder.glob("*.aio"))) == 1


def test_a_net_for_one_thread_is_not_one_for_several(relu: Relu, cache_folder: Path) -> None:
    states = [_state(aiopt.compile(relu(), threads=threads)) for threads in (1, 2, 1, 2)]
    assert states == ["miss", "miss", "hit", "hit"]


def test_a_hit_loads_neither_mlir_nor_onnx(relu: Relu, cache_folder: Path) -> None:
    path = relu()
    aiopt.compile(path)
    code = (
        "import sys, aiopt; n = aiopt.compile(sys.argv[1]);"
        "print(n.report()['cache'], {'mlir', 'onnx', 'google'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "hit set()\n"
    assert cache_folder.is_dir()


def test_off(relu: Relu, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _state(aiopt.compile(relu(), cache=False)) == "off"
    monkeypatch.setenv("AIOPT_CACHE", "0")
    assert _state(aiopt.compile(relu())) == "off"
    assert not cache_folder.exists()


def test_what_makes_another_net(relu: Relu, cache_folder: Path) -> None:
    open_path = relu(("n", 3), "open.onnx")
    nets = [
        aiopt.compile(relu()),
        aiopt.compile(relu((2, 4))),
        aiopt.compile(relu((2, 3), "named.onnx")),  # the net is called after the file
        aiopt.compile(open_path, shapes={"x": (2, 3)}),
        aiopt.compile(open_path, shapes={"x": (5, 3)}),
        aiopt.compile(relu((2, 3)).read_bytes()),
    ]
    assert [_state(net) for net in nets] == ["miss"] * len(nets)
    assert len(list(cache_folder.glob("*.aio"))) == len(nets)
    again = [aiopt.compile(open_path, shapes={"x": [5, 3]}), aiopt.compile(onnx.load(relu()))]
    assert [_state(net) for net in again] == ["hit", "hit"]


def test_key_depends_on_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = {cache_key("d", "n", "cpu", None), cache_key("d", "n", "gpu", None), cache_key("e", "n", "cpu", None)}
    monkeypatch.setattr("aiopt.cache._compiler", lambda: ["edited"])
    keys.add(cache_key("d", "n", "cpu", None))
    monkeypatch.setattr("aiopt.cache._machine", lambda: ["another"])
    keys.add(cache_key("d", "n", "cpu", None))
    assert len(keys) == 5
    assert cache_key("d", "n", "cpu", {"x": 3}) is None


def test_external_data_is_part_of_the_key(tmp_path: Path) -> None:
    def write(value: float) -> None:
        (tmp_path / "w.bin").write_bytes(np.full(4, value, np.float32).tobytes())

    weight = numpy_helper.from_array(np.ones(4, np.float32), "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="w.bin")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weight])
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    missing = read_source(tmp_path / "m.onnx")
    write(1)
    one = read_source(tmp_path / "m.onnx")
    write(2)
    two = read_source(tmp_path / "m.onnx")
    assert (missing.is_whole, one.is_whole, two.is_whole) == (False, True, True)
    assert one.digest != two.digest


def test_damaged_entry_is_a_miss_and_is_replaced(relu: Relu, cache_folder: Path) -> None:
    path = relu()
    aiopt.compile(path)
    (entry,) = cache_folder.glob("*.aio")
    entry.write_bytes(entry.read_bytes()[:-100])
    assert _state(aiopt.compile(path)) == "miss"
    assert _state(aiopt.compile(path)) == "hit"


def test_a_cache_that_cannot_be_written_is_no_error(
    relu: Relu, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("AIOPT_CACHE", "1")
    monkeypatch.setenv("AIOPT_CACHE_DIR", str(tmp_path / "file" / "nets"))
    report = aiopt.compile(relu()).report()
    assert report["cache"] == "miss"
    assert "cannot make the cache" in report["cache_error"]


def test_errors_of_the_model_are_the_frontends(cache_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(aiopt.AioptError, match="cannot read"):
        aiopt.compile(tmp_path / "none.onnx")
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x07broken")
    with pytest.raises(aiopt.AioptError, match="not an ONNX model"):
        aiopt.compile(tmp_path / "broken.onnx")
    assert not cache_folder.exists()


def test_least_recently_used_goes_first(tmp_path: Path) -> None:
    with nets.affine(tmp_path) as net:
        net.save(tmp_path / "one.aio")
        size = (tmp_path / "one.aio").stat().st_size
        folder = tmp_path / "cache"
        cache = NetCache(folder, 3 * size + size // 2)
        for age, key in enumerate(("a", "b", "c")):
            cache.save(key, net)
            os.utime(folder / f"{key}.aio", (1e9 + age, 1e9 + age))
        (folder / "x.aio.1.part").write_bytes(b"being written")
        (folder / "y.aio.2.part").write_bytes(b"left by a process that died")
        os.utime(folder / "y.aio.2.part", (1e9, 1e9))
        hit = cache.load("a", 1)
        assert hit is not None
        cache.save("d", net)
        assert sorted(path.name for path in folder.iterdir()) == ["a.aio", "c.aio", "d.aio", "x.aio.1.part"]
        (folder / "a.aio").unlink()
        assert hit(X)[0].tobytes() == net(X)[0].tobytes(), "an evicted net stays usable"
        assert (folder / "c.aio").stat().st_mtime < time.time() - 1000


def test_a_net_larger_than_the_cache_is_not_kept(tmp_path: Path) -> None:
    with nets.affine(tmp_path) as net:
        cache = NetCache(tmp_path / "cache", 100)
        cache.save("a", net)
        assert list((tmp_path / "cache").iterdir()) == []


def test_many_at_once(relu: Relu, cache_folder: Path) -> None:
    path = relu()
    code = "import sys, aiopt, numpy; print(aiopt.compile(sys.argv[1])(numpy.ones((2, 3), 'f4'))[0].sum())"

    def work(_: int) -> str:
        return subprocess.run(
            [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
        ).stdout

    with ThreadPoolExecutor(3) as pool:
        assert set(pool.map(work, range(3))) == {"6.0\n"}
    assert [path.suffix for path in cache_folder.iterdir() if path.is_file()] == [".aio"]
    assert {path.suffix for path in (cache_folder / "kernels").iterdir()} == {".o"}


def test_bad_size(relu: Relu, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIOPT_CACHE_BYTES", "2GB")
    with pytest.raises(OptionError, match="AIOPT_CACHE_BYTES is a whole number of bytes, not '2GB'"):
        aiopt.compile(relu())
    assert not cache_folder.exists()


def test_the_command_says_where_a_net_is_from(relu: Relu, cache_folder: Path) -> None:
    path = relu()
    for words, text in (((), " s\n"), ((), " s (from the cache)\n"), (("--no-cache",), " s\n")):
        done = command("aiopt-run", path, "--repeat", "1", *words)
        assert done.stdout.endswith(text), done
    assert cache_folder.is_dir()
