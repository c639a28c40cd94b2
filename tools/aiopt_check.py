"""`aiopt-check`: say of every node of a model whether it is compiled, before compiling it.

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiopt.support import command
from aiopt.support.arguments import Parser, parse_shapes
from aiopt.support.errors import AioptError, one_line
from aiopt.support.files import read_input, write_output
from aiopt.support.isolate import Journal
from aiopt.tools.aiopt_run import save_reproducer

if TYPE_CHECKING:
    from aiopt.check import Report

STDIN = "-"
_MOST_TEXT = 100  # characters of a cell


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 1 if a node is not supported, or on an error."""
    return command.run(partial(_work, _parser().parse(arguments)), save_reproducer)


def _parser() -> Parser:
    parser = Parser(
        "aiopt-check",
        "List the nodes of a model that are not compiled: those that break a rule, those nobody can run, those on the "
        "slow route, and those that are compiled when a run knows what they depend on. Exit status: 0 if "
        "all can be run, else 1.",
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help=".onnx; '-': stdin")
    add("--shape", action="append", default=[], metavar="NAME=1x3x48x320", help="shape of an input (else 1 where open)")
    add("--json", action="store_true", help="print one JSON object")
    return parser


def _work(given: argparse.Namespace, journal: Journal) -> int:
    journal.record("loading MLIR")
    from aiopt.check import check_model

    journal.record(f"checking '{given.model}'")
    model = read_input(STDIN) if given.model == STDIN else Path(given.model)
    try:
        report = check_model(model, parse_shapes(given.shape))
    except AioptError as error:
        if given.json:
            failed = {"model": given.model, "supported": False, "error": str(error), "code": error.code}
            write_output(None, (json.dumps(failed) + "\n").encode())
        raise
    text = json.dumps(_as_json(given.model, report)) + "\n" if given.json else _as_text(given.model, report)
    write_output(None, text.encode())
    return 0 if report.is_supported else 1


def _counts(report: Report) -> dict[str, int]:
    from aiopt.check import BROKEN, LATE, SLOW, UNSUPPORTED

    counts = {status: report.count(status) for status in (LATE, SLOW, UNSUPPORTED, BROKEN)}
    listed = len({finding.node for finding in report.findings})
    return {"compiled": max(report.nodes - listed, 0), **counts}


def _as_json(model: str, report: Report) -> dict[str, Any]:
    return {
        "model": model,
        "supported": report.is_supported,
        "nodes": report.nodes,
        "assumed_shapes": {name: list(shape) for name, shape in report.assumed.items()},
        **{status.replace(" ", "_"): count for status, count in _counts(report).items()},
        "findings": [vars(finding) for finding in report.findings],
    }


def _as_text(model: str, report: Report) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in _counts(report).items() if count)
    lines = [f"{model}: {report.nodes} nodes: {counts or 'nothing to do'}"]
    for name, shape in report.assumed.items():
        lines.append(
            f"assumed: input {_cut(name)} has shape {'x'.join(map(str, shape)) or 'of a scalar'} (--shape says others)"
        )
    return "\n".join([*lines, *_table(_rows(report))]) + "\n"


def _rows(report: Report) -> Iterator[tuple[str, ...]]:
    if report.findings:
        yield "status", "node", "operator", "opset", "inputs", "code", "why"
    for found in report.findings:
        operator = f"{found.domain}.{found.operator}" if found.domain else found.operator
        inputs = ", ".join(f"{name}: {kind}" for name, kind in found.inputs.items())
        why = found.reason.rpartition("): ")[2]
        yield found.status, found.node, operator, str(found.opset), inputs, found.code, why


def _table(rows: Iterator[tuple[str, ...]]) -> list[str]:
    cells = [[_cut(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _cut(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 3] + "..."
