"""The reference pages are what docs/generate.py writes now."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import onnx
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _generator():
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PAGES = _generator().pages()


def test_the_pages_are_up_to_date() -> None:
    written = {path.name: path.read_text() for path in (DOCS / "reference").glob("*.md")}
    if f" of onnx {onnx.__version__} " not in written["operators.md"]:  # another onnx has other operators and cases
        written["operators.md"] = PAGES["operators.md"]
    stale = [name for name in {**PAGES, **written} if PAGES.get(name) != written.get(name)]
    assert stale == [], "run: python docs/generate.py"


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        (
            "ai.md",
            [
                "## ai.matmul",
                "- Source: ONNX MatMul-13 (operands of rank 1 are the importer's work).",
                "| `bias` | optional; a tensor of floats: bf16, f16, f32, f64 |",
                "| `layout` | optional; StringAttr |",
            ],
        ),
        ("passes.md", ["## ai-fold-batch-norm", "| `max-ops` | int | `32` |", "Levels: takes level graph."]),
        ("errors.md", ["## AI0105"]),
        ("operators.md", ["# Operators of ONNX"]),
        ("pipelines.md", ["## ai-kernels-pipeline", "ai-group-kernels,"]),
    ],
)
def test_a_page_says_what_the_code_does(page: str, lines: list[str]) -> None:
    assert [line for line in lines if line not in PAGES[page].splitlines()] == []


def test_every_op_of_ai_tells_its_shapes_types_and_source() -> None:
    sections = PAGES["ai.md"].split("\n## ")[1:]
    for section in sections:
        missing = [key for key in ("Shapes", "Types", "Source") if f"\n- {key}: " not in section]
        assert missing == [], section.splitlines()[0]


def test_every_pass_tells_before_and_after() -> None:
    for section in PAGES["passes.md"].split("\n## ")[1:]:
        assert "- Before: " in section, section.splitlines()[0]
        assert "- After: " in section, section.splitlines()[0]
