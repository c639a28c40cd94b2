"""Nets of models that leave dimensions open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aiopt
from aiopt.runtime.net import CompiledNet
from aiopt.specialize import Shapes, SpecializingNet
from aiopt.support.errors import AioptError, CompileError, InputError, ModelError, OptionError


class FakeNet:
    """Adds its inputs."""

    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.closed = False

    def run(self, inputs: dict[str, np.ndarray]) -> dict[str, Any]:
        return {"y": [array.shape for array in inputs.values()]}

    def __call__(self, *inputs: np.ndarray) -> list[Any]:
        return [[array.shape for array in inputs]]

    def bind(self, inputs: dict[str, np.ndarray], outputs: dict[str, np.ndarray]) -> Any:
        return self.shapes, inputs, outputs

    def report(self) -> dict[str, Any]:
        return {"launches": 1}

    def close(self) -> None:
        self.closed = True


class Compiler:
    """Makes fake nets and remembers for what."""

    def __init__(self) -> None:
        self.made: list[FakeNet] = []

    def __call__(self, shapes: Shapes) -> Any:
        self.made.append(FakeNet(shapes))
        return self.made[-1]


DIMS = {"ids": ("batch", "length"), "mask": ("batch", "length"), "image": (None, 3, None), "any": None}


def _inputs(batch: int, length: int, **changes: np.ndarray) -> dict[str, np.ndarray]:
    inputs = {"ids": np.zeros((batch, length)), "mask": np.zeros((batch, length))}
    return {**inputs, "image": np.zeros((4, 3, 5)), "any": np.zeros(7), **changes}


def test_one_net_per_shape() -> None:
    made = Compiler()
    net = SpecializingNet("n", DIMS, made, 8)
    for batch, length in ((1, 2), (1, 3), (1, 2)):
        assert net.run(_inputs(batch, length))["y"][0] == (batch, length)
    assert [fake.shapes["ids"] for fake in made.made] == [(1, 2), (1, 3)]
    assert net.report()["shapes"]["ids"] == (1, 2), "of the last call"
    assert [report["shapes"]["ids"] for report in net.reports()] == [(1, 3), (1, 2)]
    assert net(*_inputs(1, 2).values()) == [[(1, 2), (1, 2), (4, 3, 5), (7,)]]


def test_bind_is_that_of_the_net_for_the_shapes() -> None:
    net, inputs, outputs = SpecializingNet("n", DIMS, Compiler(), 8), _inputs(1, 2), {"y": np.zeros(3)}
    shapes, *arrays = net.bind(inputs, outputs)  # pyright: ignore[reportGeneralTypeIssues]
    assert shapes["ids"] == (1, 2)
    assert arrays == [inputs, outputs]


def test_the_last_used_are_kept() -> None:
    made = Compiler()
    net = SpecializingNet("n", DIMS, made, 2)
    for length in (1, 2, 1, 3, 1, 2):
        net.run(_inputs(1, length))
    assert [fake.shapes["ids"][1] for fake in made.made] == [1, 2, 3, 2]
    assert len(net.reports()) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mask": np.zeros((1, 5))}, "dimension 'length' must have one size, but the inputs make it 2 .'ids'. and 5"),
        ({"image": np.zeros((4, 4, 5))}, r"input 'image' has shape \(4, 4, 5\), expected \[\?, 3, \?\]"),
        ({"ids": np.zeros(3)}, r"input 'ids' has shape \(3,\), expected \[batch, length\]"),
        ({"ids": np.zeros((1, 0))}, "dimension 'length' must have one size, but the inputs make it 0 .'ids'. and 2"),
        ({"ids": [[1, 2]]}, "input 'ids' is a list, expected a numpy array"),
        ({"mosk": np.zeros(1)}, "no input 'mosk', did you mean 'mask'"),
    ],
)
def test_inputs_that_do_not_fit(changes: dict[str, Any], message: str) -> None:
    made = Compiler()
    with pytest.raises(InputError, match=message):
        SpecializingNet("n", DIMS, made, 8).run(_inputs(1, 2, **changes))
    assert made.made == []


def test_number_of_inputs_and_of_nets() -> None:
    with pytest.raises(InputError, match="was given 1 inputs, expected 4"):
        SpecializingNet("n", DIMS, Compiler(), 8)(np.zeros(1))
    with pytest.raises(OptionError, match="keep must be at least 1"):
        SpecializingNet("n", DIMS, Compiler(), 0)
    with pytest.raises(AioptError, match="has no report yet"):
        SpecializingNet("n", DIMS, Compiler(), 1).report()


def test_a_failed_compilation_is_tried_again() -> None:
    attempts: list[Shapes] = []

    def fail_once(shapes: Shapes) -> Any:
        attempts.append(shapes)
        if len(attempts) == 1:
            raise CompileError("no luck")
        return FakeNet(shapes)

    net = SpecializingNet("n", DIMS, fail_once, 8)
    with pytest.raises(CompileError, match="no luck"):
        net.run(_inputs(1, 2))
    net.run(_inputs(1, 2))
    assert len(attempts) == 2


def test_callers_of_one_shape_share_one_compilation() -> None:
    made, begun, go = Compiler(), threading.Event(), threading.Event()

    def slow(shapes: Shapes) -> Any:
        begun.set()
        assert go.wait(10)
        return made(shapes)

    net = SpecializingNet("n", DIMS, slow, 8)
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(net.run, _inputs(1, 2)) for _ in range(4)]
        assert begun.wait(10)
        go.set()
        assert len({str(call.result()) for call in calls}) == 1
    assert len(made.made) == 1


def test_close() -> None:
    made = Compiler()
    with SpecializingNet("n", DIMS, made, 8) as net:
        net.run(_inputs(1, 2))
    assert made.made[0].closed
    with pytest.raises(AioptError, match="has been closed"):
        net.run(_inputs(1, 2))


def test_model_with_an_open_dimension(relu: Callable[..., Path], cache_folder: Path) -> None:
    """Compiled at the first call of each shape, and found in the cache by the next process."""
    path = relu(("n", 3))
    with aiopt.compile(path) as net:
        assert isinstance(net, SpecializingNet)
        for rows in (2, 5):
            x = np.linspace(-1, 1, 3 * rows, dtype=np.float32).reshape(rows, 3)
            np.testing.assert_array_equal(net(x)[0], np.maximum(x, 0))
            assert net.report()["cache"] == "miss"
            assert net.profile({"x": x})
        with pytest.raises(InputError, match=r"input 'x' has dtype float64"):
            net(np.zeros((2, 3)))
    with aiopt.compile(path) as again:
        again(np.zeros((5, 3), np.float32))
        assert again.report()["cache"] == "hit"
    assert len(list(cache_folder.glob("*.aio"))) == 2
    assert isinstance(aiopt.compile(path, shapes={"x": (2, 3)}), CompiledNet)


def test_model_that_changes_under_it(relu: Callable[..., Path]) -> None:
    net = aiopt.compile(relu(("n", 3)))
    relu(("n", 4))
    with pytest.raises(ModelError, match="has changed since it was opened"):
        net(np.zeros((2, 3), np.float32))
