"""Imports go one way through the layers; see ALLOWED."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"aiopt": "python/aiopt", "aiopt.dialects": "dialects", "aiopt.passes": "passes", "aiopt.tools": "tools"}

# What each layer may import beside itself. Files directly under python/aiopt (driver.py, backend.py) are the driver.
ALLOWED = {
    "support": set(),
    "runtime": {"support"},
    "dialects": {"support"},
    "frontend": {"support", "dialects"},
    "passes": {"support", "dialects"},
    "targets": {"support", "runtime", "dialects", "frontend", "passes"},
    "staged": {"support", "runtime", "dialects", "frontend", "passes"},
    "driver": {"support", "runtime", "dialects", "frontend", "passes", "targets", "staged"},
    "tools": {"support", "runtime", "dialects", "frontend", "passes", "targets", "staged", "driver"},
}
# The runtime must load where neither is installed.
WITHOUT_COMPILER = {"support", "runtime"}
COMPILER_PACKAGES = {"mlir", "onnx"}


@dataclass(frozen=True)
class Import:
    """One import statement; `names` are the modules it may mean."""

    line: int
    names: tuple[str, ...]
    level: int = 0
    is_star: bool = False
    is_top: bool = True


def _modules() -> dict[str, Path]:
    """All modules of the package by their dotted name."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in (ROOT / folder).rglob("*.py"):
            parts = path.relative_to(ROOT / folder).with_suffix("").parts
            found[".".join([package, *parts]).removesuffix(".__init__")] = path
    return found


MODULES = _modules()


def _layer(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in ALLOWED else "driver"


def _imports(source: str) -> Iterator[Import]:
    tree = ast.parse(source)
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield Import(node.lineno, tuple(alias.name for alias in node.names), is_top=id(node) in top)
        elif isinstance(node, ast.ImportFrom):
            base, names = node.module or "", [alias.name for alias in node.names]
            # `from aiopt.passes import spec` means the module aiopt.passes.spec where there is one.
            full = tuple(f"{base}.{name}" if f"{base}.{name}" in MODULES else base for name in names)
            yield Import(node.lineno, full, node.level, "*" in names, is_top=id(node) in top)


def _violations(module: str, source: str) -> list[str]:
    """What is wrong with the imports of a module, one text each."""
    layer, found = _layer(module), []
    for item in _imports(source):
        if item.level:
            found.append(f"line {item.line}: a relative import; write it from aiopt.")
        if item.is_star:
            found.append(f"line {item.line}: a star import")
        for name in item.names:
            package = name.split(".")[0]
            if package == "aiopt" and _layer(name) not in ALLOWED[layer] | {layer}:
                found.append(f"line {item.line}: {layer} must not import {_layer(name)} ({name})")
            if package in COMPILER_PACKAGES and layer in WITHOUT_COMPILER:
                found.append(f"line {item.line}: {layer} must load without {package}")
    return found


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_follow_the_layers(module: str) -> None:
    assert _violations(module, MODULES[module].read_text()) == []


def test_there_is_no_import_cycle() -> None:
    graph = {
        module: {name for item in _imports(path.read_text()) if item.is_top for name in item.names if name in MODULES}
        for module, path in MODULES.items()
    }
    for module, needed in graph.items():
        needed.discard(module)
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which shows the cycle


@pytest.mark.parametrize(
    ("module", "source", "word"),
    [
        ("aiopt.support.x", "from aiopt.dialects import ext", "support must not import dialects"),
        ("aiopt.passes.x", "import aiopt.frontend.onnx", "passes must not import frontend"),
        ("aiopt.frontend.x", "def f():\n    from aiopt.passes.unit import Unit", "line 2: frontend must not import"),
        ("aiopt.runtime.x", "from mlir import ir", "must load without mlir"),
        ("aiopt.targets.cpu.x", "import aiopt", "targets must not import driver"),
        ("aiopt.driver", "from aiopt.tools.aiopt import main", "driver must not import tools"),
        ("aiopt.passes.x", "from . import unit", "relative"),
        ("aiopt.passes.x", "from aiopt.dialects.ai import *", "star"),
    ],
)
def test_a_violation_is_found(module: str, source: str, word: str) -> None:
    assert word in "; ".join(_violations(module, source))


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("aiopt.driver", "from aiopt.runtime.net import CompiledNet"),
        ("aiopt.tools.x", "import aiopt\nimport onnx"),
        ("aiopt.passes.x", "from aiopt.passes.base import Pass\nfrom mlir import ir"),
    ],
)
def test_allowed_imports_are_no_violation(module: str, source: str) -> None:
    assert _violations(module, source) == []
