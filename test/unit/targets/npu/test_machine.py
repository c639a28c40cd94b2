"""Machine files."""

from pathlib import Path

import pytest

from aiopt.support.errors import OptionError
from aiopt.targets.npu import machine
from aiopt.targets.npu.machine import find_by_hash, find_machine, parse_machine

EDGE = (Path(machine.__file__).parent / "machines" / "edge16.toml").read_text()


def test_presets_have_the_documented_sizes() -> None:
    edge, mid = find_machine("edge16"), find_machine("mid32")
    assert (edge.rows, edge.columns, edge.spad_bytes, edge.acc_bytes) == (16, 16, 256 << 10, 64 << 10)
    assert (edge.dma_bytes_per_cycle, edge.dma_latency) == (16, 100)
    assert (mid.rows, mid.columns, mid.spad_bytes, mid.acc_bytes) == (32, 32, 512 << 10, 128 << 10)
    assert (mid.dma_bytes_per_cycle, mid.dma_latency) == (64, 150)


def test_the_hash_is_that_of_the_numbers() -> None:
    edge = find_machine("edge16")
    renamed = parse_machine(EDGE.replace('"edge16"', '"other"'), "x.toml")
    slower = parse_machine(EDGE.replace("latency = 100", "latency = 101"), "x.toml")
    assert renamed.hash() == edge.hash() != slower.hash()
    assert find_by_hash(edge.hash()) == edge
    assert find_by_hash(slower.hash()) is None


def test_a_file_is_a_machine(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(EDGE)
    assert find_machine(str(path)) == find_machine("edge16")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rows = 16", "rows = 0", "x.toml': array.rows must be a whole number from 1 to 512, but is 0"),
        ("rows = 16", "rows = 16.5", "array.rows must be a whole number"),
        ("rows = 16", "rows = true", "array.rows must be a whole number"),
        ("rows = 16", "rowz = 16", "unknown key 'array.rowz', did you mean 'array.rows'?"),
        ("lanes = 16", "", "has no key 'vector.lanes'"),
        ("[dma]", "[dmas]", "unknown key 'dmas.bytes_per_cycle'"),
        ("[array]", "array = 3\n[other]", "'array' must be a table"),
        ('name = "edge16"', "name = 3", "name must be a word"),
        ('name = "edge16"', "name", "is not TOML"),
    ],
)
def test_a_bad_file_is_an_error(old: str, new: str, message: str) -> None:
    assert old in EDGE
    with pytest.raises(OptionError, match=message.replace("[", r"\[").replace("?", r"\?")):
        parse_machine(EDGE.replace(old, new), "x.toml")


@pytest.mark.parametrize(
    ("name", "message"),
    [("edge61", "no machine 'edge61', did you mean 'edge16'"), ("/nowhere/m.toml", "cannot read machine file")],
)
def test_an_unknown_machine_is_an_error(name: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        find_machine(name)
