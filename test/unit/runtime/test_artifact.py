"""Artifacts: what is written is read back, and whatever is wrong with a file is one line."""

from __future__ import annotations

import hashlib
import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aiopt
from aiopt.runtime import artifact
from aiopt.support.errors import AioptError, CompileError, ModelError, OptionError, OutputError
from e2e import nets
from e2e.native import aligned
from e2e.nets import X

PREAMBLE = 64


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    with nets.affine(tmp_path, threads=2) as net:
        net.save(tmp_path / "net.aio")
    return tmp_path / "net.aio"


def _rewrite(path: Path, **changes: Any) -> None:
    """Change the header and make its checksum right again."""
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:24], "little")
    text = json.dumps({**json.loads(data[PREAMBLE : PREAMBLE + size]), **changes}).encode()
    room = -(-(PREAMBLE + size) // 64) * 64 - PREAMBLE
    assert len(text) <= room
    text = text.ljust(size if len(text) <= size else room)  # blanks after JSON are JSON
    data[PREAMBLE : PREAMBLE + len(text)] = text
    data[16:24] = len(text).to_bytes(8, "little")
    data[32:64] = hashlib.sha256(text).digest()
    path.write_bytes(data)


@pytest.mark.parametrize("key", ["name", "report", "threads", "features", "inputs", "launches", "objects", "weights"])
def test_header_without_a_key_is_refused(saved: Path, key: str) -> None:
    _rewrite(saved, **{key: None})
    for read in (aiopt.load, artifact.read_header):
        with pytest.raises(ModelError, match=f"is damaged .header without {key}."):
            read(saved)


def test_round_trip(saved: Path, tmp_path: Path) -> None:
    with nets.affine(tmp_path) as net, aiopt.load(saved) as loaded:
        assert dict(loaded.inputs) == dict(net.inputs)
        assert dict(loaded.outputs) == dict(net.outputs)
        assert loaded.report() == net.report()
        assert loaded.threads == 2, "as it was saved"
        assert loaded(X)[0].tobytes() == net(X)[0].tobytes()
        assert not loaded.weights.flags.writeable
        assert loaded.weights.ctypes.data % 64 == 0
        loaded.save(tmp_path / "again.aio")
    assert (tmp_path / "again.aio").read_bytes() == saved.read_bytes()


def test_net_without_weights(tmp_path: Path) -> None:
    with nets.mixed(tmp_path) as net:
        net.save(tmp_path / "mixed.aio")
    with aiopt.load(tmp_path / "mixed.aio", threads=1) as loaded:
        assert loaded(np.array(1, np.float32), np.array([True, False]))[0] == 2


def test_header(saved: Path) -> None:
    header = artifact.read_header(saved)
    assert header["name"] == "affine"
    assert header["inputs"] == [["x", [100, 3], "f32"]]
    assert header["weights"]["bytes"] == 8
    assert [section["offset"] % 64 for section in (*header["objects"], header["weights"])] == [0, 0]


def test_wrong_threads(saved: Path) -> None:
    with pytest.raises(OptionError, match="threads must be from 1"):
        aiopt.load(saved, threads=0)


def test_not_an_artifact(tmp_path: Path) -> None:
    (tmp_path / "x.aio").write_bytes(b"ONNX or whatever")
    for path, message in (("x.aio", "is not a compiled net"), ("none.aio", "cannot read"), (".", "cannot read")):
        with pytest.raises(ModelError, match=message):
            aiopt.load(tmp_path / path)
    with pytest.raises(ModelError, match="no regular file"):
        aiopt.load("/dev/null")


def test_truncated_at_every_length(saved: Path) -> None:
    data = saved.read_bytes()
    for size in (*range(0, PREAMBLE * 3, 5), *range(0, len(data), 97), len(data) - 1):
        saved.write_bytes(data[:size])
        with pytest.raises(ModelError, match="cut off" if size >= 8 else "is not a compiled net"):
            aiopt.load(saved)
    saved.write_bytes(data + b"\0")
    with pytest.raises(ModelError, match="cut off"):
        aiopt.load(saved)


def test_a_changed_byte_anywhere_is_seen(saved: Path) -> None:
    """But in the gaps between the parts, which nobody reads."""
    data = saved.read_bytes()
    header = artifact.read_header(saved)
    size = int.from_bytes(data[16:24], "little")
    start = -(-(PREAMBLE + size) // 64) * 64
    ends = [(0, 12), (16, PREAMBLE + size)]
    ends += [(start + part["offset"], start + part["offset"] + part["bytes"]) for part in header["objects"]]
    ends.append((start + header["weights"]["offset"], len(data)))
    for begin, end in ends:
        for place in range(begin, end, 1 if end - begin < 20 else 61):
            broken = bytearray(data)
            broken[place] ^= 0x10
            saved.write_bytes(broken)
            with pytest.raises(ModelError):
                aiopt.load(saved)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"machine": "sparc"}, "is for sparc, this machine is"),
        ({"abi": 1}, "is for ABI version 1, this aiopt has 4"),
        ({"features": "qua"}, "needs a CPU with 'qua', which this one lacks: compile the model again"),
    ],
)
def test_made_for_something_else(saved: Path, changes: dict[str, Any], message: str) -> None:
    _rewrite(saved, **changes)
    with pytest.raises(CompileError, match=message):
        aiopt.load(saved)
    assert artifact.read_header(saved)["name"] == "affine", "what it is can still be asked"


def test_another_format(saved: Path) -> None:
    data = bytearray(saved.read_bytes())
    data[8] = 9
    saved.write_bytes(data)
    with pytest.raises(ModelError, match="is of format 9, this aiopt reads format 1"):
        aiopt.load(saved)


@pytest.mark.parametrize("changes", [{"weights": 3}, {"weights": {"offset": -64, "bytes": 8}}, {"objects": [{}]}])
def test_nonsense_in_the_header(saved: Path, changes: dict[str, Any]) -> None:
    _rewrite(saved, **changes)
    with pytest.raises(ModelError, match="is damaged"):
        aiopt.load(saved)


@contextmanager
def _file_limit(size: int) -> Iterator[None]:
    """Writing beyond `size` fails, as on a full disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN, "Python's default"
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def test_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "old.aio").write_bytes(b"older")
    with nets.affine(tmp_path) as net:
        net.weights = aligned(np.zeros(1 << 18, np.float32))
        for name in ("old.aio", "new.aio"):
            with _file_limit(1 << 16), pytest.raises(OutputError, match=f"cannot write '.*{name}'"):
                net.save(folder / name)
        with pytest.raises(OutputError, match="No space left"):
            net.save("/dev/full")
        with pytest.raises(OutputError, match="cannot write '.*missing/net.aio'"):
            net.save(folder / "missing" / "net.aio")
    assert [path.name for path in folder.iterdir()] == ["old.aio"]
    assert (folder / "old.aio").read_bytes() == b"older"


ALONE = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("mlir", "llvm", "onnx", "safetensors", "google", "ml_dtypes"):
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked())
import numpy as np
import aiopt
net = aiopt.load(sys.argv[1])
out = net.run({"x": np.zeros((100, 3), np.float32)})
print(out["y"][0, 0], len(net.profile({"x": np.zeros((100, 3), np.float32)})))
"""


def test_loads_with_numpy_alone(saved: Path) -> None:
    done = subprocess.run([sys.executable, "-c", ALONE, str(saved)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("3.0 1\n", 0), done.stderr


def test_importing_aiopt_loads_nothing_heavy() -> None:
    code = "import sys, aiopt; print({'mlir', 'onnx', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_errors_are_one_line(saved: Path) -> None:
    saved.write_bytes(b"\x89AIO\r\n\x1a\n")
    with pytest.raises(AioptError) as caught:
        aiopt.load(saved)
    assert "\n" not in str(caught.value)
