"""The two networks, compiled once per session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import aiopt
from aiopt.support.compare import run_onnxruntime
from e2e import models
from e2e.models import Network

if TYPE_CHECKING:
    from aiopt.runtime.net import CompiledNet


def _recogniser(_folder: Path) -> Network:
    path, inputs = models.recogniser(), models.recogniser_input()
    shapes = {"x": models.RECOGNISER_SHAPE}
    return Network("recogniser", path, shapes, inputs, run_onnxruntime(path, inputs))


def _resnet50(folder: Path) -> Network:
    path, inputs = folder / "resnet50.onnx", models.resnet50_input()
    path.write_bytes(models.resnet50_random())
    return Network("resnet50", path, {}, inputs, run_onnxruntime(path, inputs))


@pytest.fixture(scope="session", params=[_recogniser, _resnet50], ids=["recogniser", "resnet50"])
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Network:
    return request.param(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="session")
def nets() -> Iterator[Callable[[Path, dict[str, tuple[int, ...]]], CompiledNet]]:
    """Compiles a model for one thread, each only once."""
    known: dict[Path, CompiledNet] = {}

    def compiled(path: Path, shapes: dict[str, tuple[int, ...]]) -> CompiledNet:
        if path not in known:
            known[path] = aiopt.compile(path, shapes=shapes)
        return known[path]

    yield compiled
    for net in known.values():
        net.close()


@pytest.fixture
def net(nets: Callable[..., CompiledNet], network: Network) -> CompiledNet:
    """The network compiled for one thread."""
    return nets(network.path, network.shapes)


@pytest.fixture
def reader(nets: Callable[..., CompiledNet]) -> CompiledNet:
    """The recogniser, whatever `network` is."""
    return nets(models.recogniser(), {"x": models.RECOGNISER_SHAPE})
