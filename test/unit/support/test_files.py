"""aiopt.support.files: files that appear whole or not at all."""

import os
from pathlib import Path

import pytest

from aiopt.support.errors import ModelError, OutputError
from aiopt.support.files import read_input, write_output


def test_writes_and_replaces(tmp_path: Path):
    path = tmp_path / "out"
    write_output(path, b"old")
    write_output(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


def test_the_mode_follows_the_umask(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write_output(tmp_path / "out", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_output(tmp_path / "link", b"data")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"data"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "out"
    path.write_bytes(b"old")

    def full(_self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OutputError, match=r"cannot write '.*out': No space left on device"):
        write_output(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_places_that_cannot_be_written(tmp_path: Path):
    with pytest.raises(OutputError, match="No such file or directory"):
        write_output(tmp_path / "absent" / "out", b"")
    with pytest.raises(OutputError, match="it is a directory"):
        write_output(tmp_path, b"")
    with pytest.raises(OutputError, match="No space left on device"):
        write_output(Path("/dev/full"), b"x" * 10)
    write_output(Path("/dev/null"), b"x")
    assert Path("/dev/null").is_char_device()


def test_files_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(ModelError, match=r"cannot read '.*absent': No such file or directory"):
        read_input(tmp_path / "absent")
    with pytest.raises(ModelError, match="Is a directory"):
        read_input(str(tmp_path))
