"""IR of every level, as text: `aiopt` prints it, it parses again, and goes on to the same numbers, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import aiopt
from aiopt.targets import find_target
from e2e import models
from e2e.commands import command
from e2e.models import Network

if TYPE_CHECKING:
    from aiopt.runtime.net import CompiledNet

STAGES = find_target("cpu").stages()
LEVELS = ["graph", *(stage.target.value for stage in STAGES)]


def _aiopt(*words: str | Path) -> None:
    done = command("aiopt", *words)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.fixture(scope="module")
def texts(network: Network, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The network's IR at each of LEVELS; each file is made from the one before."""
    folder = tmp_path_factory.mktemp(network.name)
    paths = [folder / "0" / "net.mlir"]
    paths[0].parent.mkdir()
    _aiopt(network.path, *network.shape_options, "-o", paths[0])
    for number, stage in enumerate(STAGES, start=1):
        path = folder / str(number) / "net.mlir"
        path.parent.mkdir()
        _aiopt(paths[-1], "-p", stage.pipeline, "-o", path)
        paths.append(path)
    return paths


def test_all_levels_are_there(texts: list[Path]) -> None:
    assert {"graph", "kernels", "tensor", "loops", "llvm"} <= set(LEVELS)
    for path, level in zip(texts, LEVELS, strict=True):
        assert f'ai.level = "{level}"' in path.read_text()


@pytest.mark.parametrize("level", range(len(LEVELS)), ids=LEVELS)
def test_printing_again_gives_the_same_text(texts: list[Path], level: int, tmp_path: Path) -> None:
    _aiopt(texts[level], "-o", tmp_path / "net.mlir")
    assert (tmp_path / "net.mlir").read_text() == texts[level].read_text()
    weights = texts[level].with_suffix(".safetensors")
    assert (tmp_path / "net.safetensors").read_bytes() == weights.read_bytes()


@pytest.mark.parametrize("level", range(len(LEVELS)), ids=LEVELS)
def test_the_text_goes_on_to_the_same_numbers(
    network: Network, net: CompiledNet, texts: list[Path], level: int
) -> None:
    """The last of the texts came through all the others."""
    compiled = aiopt.compile(texts[level])
    outputs = compiled.run(dict(network.inputs))
    compiled.close()
    models.compare(outputs, network.references)
    expected = net.run(dict(network.inputs))
    assert all(np.array_equal(outputs[name], expected[name]) for name in expected)


def test_elided_text_is_refused(texts: list[Path]) -> None:
    done = command("aiopt", texts[0], "--elide-weights")
    assert done.returncode == 0
    assert 'ai.weights = "elided"' in done.stdout
    elided = texts[0].with_name("elided.mlir")
    elided.write_text(done.stdout)
    refused = command("aiopt-run", elided)
    assert refused.returncode == 1
    assert "elided" in refused.stderr
