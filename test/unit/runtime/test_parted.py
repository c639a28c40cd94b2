"""Nets in parts on parts made for the test: what reaches which part, and what is kept for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from aiopt.runtime import artifact
from aiopt.runtime.parted import Loader, PartedNet, Step, from_artifact
from aiopt.runtime.stored_part import StoredPart
from aiopt.support.errors import AioptError, ModelError, OptionError, UnsupportedError
from aiopt.support.types import TensorType

VECTOR = TensorType((2,), "f32")


@dataclass
class Affine:
    """factor * (sum of what it is given) + each of `shifts`: one result for each."""

    factor: float
    shifts: Sequence[float]
    closed: list[bool] = field(default_factory=list)
    features = "fma"

    @property
    def launches(self) -> list[str]:
        return [f"affine_{self.factor}"]

    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        total = self.factor * np.sum(inputs, axis=0)
        return [(total + shift).astype(np.float32) for shift in self.shifts], [self.factor]

    def stored(self) -> StoredPart:
        facts = {"factor": self.factor, "shifts": list(self.shifts)}
        return StoredPart("test", facts, [b"object", b"x" * int(self.factor)], np.full(3, self.factor, np.uint8))

    def close(self) -> None:
        self.closed.append(True)


def _load(stored: StoredPart, threads: int) -> Affine:
    factor = stored.facts["factor"]
    assert list(stored.objects) == [b"object", b"x" * int(factor)]
    assert stored.weights.tolist() == [factor] * 3
    return Affine(factor, stored.facts["shifts"])


LOADERS: dict[str, Loader] = {"test": _load}


def _net(threads: int = 1) -> tuple[PartedNet, list[Affine]]:
    """a, b -> c, d = 2(a + b) + 0, 1; e = 3(c + a) + 0; outputs d, e."""
    parts = [Affine(2.0, [0.0, 1.0]), Affine(3.0, [0.0])]
    steps = [Step(parts[0], (0, 1), (2, 3)), Step(parts[1], (2, 0), (4,))]
    types = dict.fromkeys("ab", VECTOR), dict.fromkeys("de", VECTOR)
    return PartedNet("net", types, steps, [3, 4], {"kernels": []}, threads), parts


def test_values_go_where_they_are_read() -> None:
    net, _ = _net()
    a, b = np.float32([1, 2]), np.float32([10, 20])
    assert {name: value.tolist() for name, value in net.run({"a": a, "b": b}).items()} == {
        "d": [23, 45],
        "e": [69, 138],
    }
    assert net.profile({"a": a, "b": b}) == [("affine_2.0", 2.0), ("affine_3.0", 3.0)]
    assert net.features == "fma"
    assert repr(net) == "PartedNet(net: a: 2xf32, b: 2xf32 -> d: 2xf32, e: 2xf32)"


def test_close_closes_all_parts() -> None:
    net, parts = _net()
    with net:
        pass
    assert [part.closed for part in parts] == [[True], [True]]
    with pytest.raises(AioptError, match="net 'net' has been closed"):
        net(np.zeros(2, np.float32), np.zeros(2, np.float32))


def test_it_cannot_be_bound() -> None:
    net, _ = _net()
    with pytest.raises(UnsupportedError, match="net 'net' runs in parts and cannot be bound to arrays: call net.run"):
        net.bind({}, {})


def test_a_thread_count_is_a_count() -> None:
    with pytest.raises(OptionError, match="threads must be from 1"):
        _net(threads=0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    net, _ = _net()
    net.save(tmp_path / "net.aio")
    return tmp_path / "net.aio"


def test_parts_come_back_from_a_file(path: Path) -> None:
    loaded = from_artifact(artifact.read_artifact(path), {}, 1, LOADERS)
    a, b = np.float32([1, 2]), np.float32([10, 20])
    assert [value.tolist() for value in loaded(a, b)] == [[23, 45], [69, 138]]


def test_a_part_of_an_unknown_target_is_refused(path: Path) -> None:
    with pytest.raises(ModelError, match="'net' has a part for 'test', which this aiopt does not have"):
        from_artifact(artifact.read_artifact(path), {}, 1, {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"objects": 9}, "a part lies outside the file"),
        ({"weights": [0, 999]}, "a part lies outside the file"),
        ({"weights": 3}, "damaged"),
        ({"facts": {}}, "damaged .'factor'"),
        ({"reads": 1}, "damaged"),
    ],
)
def test_what_no_net_wrote_is_one_error(path: Path, change: dict, message: str) -> None:
    stored = artifact.read_artifact(path)
    stored.header["parts"][1].update(change)
    with pytest.raises(ModelError, match=message):
        from_artifact(stored, {}, 1, LOADERS)
