"""`aiopt-bisect`: find the pass that makes a net's numbers wrong, and the op and ONNX node it goes wrong at.

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aiopt.support import command, plugins
from aiopt.support.arguments import Parser, parse_shapes
from aiopt.support.errors import OptionError
from aiopt.support.files import read_input, write_output
from aiopt.support.isolate import Journal
from aiopt.tools.aiopt_run import fill_inputs, load_inputs, reject_shapes, save_reproducer, seed

if TYPE_CHECKING:
    from aiopt.bisect import Culprit, Finding, Search

STDIN = "-"
FOUND = 2  # the exit status where a pass is at fault


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 if all is right, 2 if a pass is at fault, 1 on an error."""
    return command.run(partial(_work, _parser().parse(arguments)), save_reproducer)


def _parser() -> Parser:
    parser = Parser(
        "aiopt-bisect",
        "Run one input after every pass and name the first pass that makes the numbers wrong. "
        "Exit status: 0 if all is right, 2 if a pass is at fault, 1 on an error.",
    )
    add = parser.add_argument
    add("model", metavar="MODEL", help=".onnx, or .mlir of any level above llvm; '-': stdin")
    add("--input", action="append", default=[], metavar="NAME=FILE.npy", help="value of an input (else random)")
    add("--shape", action="append", default=[], metavar="NAME=1x3x48x320", help="shape of an input of an ONNX model")
    add("--seed", type=seed, default=0, metavar="N", help="seed of the random inputs (default: 0)")
    add("--oracle", choices=["onnxruntime", "reference"], help="what is right (default: reference, the ops on numpy)")
    add("--tolerance", type=tolerance, default=1e-4, metavar="X", help="of the largest reference value (default: 1e-4)")
    add("-p", "--pass-pipeline", default="", metavar="TEXT", help="passes to run before the stages that remain")
    add(
        "--load-python", action="append", default=[], metavar="MODULE", help="a module with passes, dialects or targets"
    )
    add(
        "--reproducer",
        type=Path,
        metavar="FILE.mlir",
        help="where to write the IR before the pass (default: a new folder)",
    )
    return parser


def tolerance(text: str) -> float:
    """A number above 0, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def _work(given: argparse.Namespace, journal: Journal) -> int:
    journal.record("loading MLIR")
    for name in given.load_python:
        plugins.load(name)
    from aiopt import bisect, driver
    from aiopt.bisect import oracle
    from aiopt.passes import io
    from aiopt.passes.adopt import adopt
    from aiopt.source import read_source
    from aiopt.support.compare import run_onnxruntime
    from aiopt.targets import find_target

    def progress(text: str) -> None:
        journal.record(text.removesuffix(" ..."))
        command.progress(text)

    model = read_input(STDIN) if given.model == STDIN else Path(given.model)
    arrays, shapes = load_inputs(given.input), parse_shapes(given.shape)
    if io.is_mlir(model):
        reject_shapes(shapes, "MLIR")
        if given.oracle == "onnxruntime":
            raise OptionError("--oracle onnxruntime takes an ONNX model; for MLIR there is --oracle reference")
    open_inputs = read_source(model).open_inputs
    shapes = {name: arrays[name].shape for name in open_inputs if name in arrays} | shapes
    unit = driver.load_unit(model, io.new_context(), shapes)
    adopt(unit)
    inputs = fill_inputs(bisect.input_types(unit), arrays, given.seed)
    search = bisect.Search(unit, inputs, {}, bisect.Tolerance(given.tolerance), find_target("cpu"), progress)
    known = []
    if given.oracle == "onnxruntime":
        search.expected = run_onnxruntime(model, inputs)
    else:
        search.expected = oracle.reference(search)
    finding = bisect.bisect(search, given.pass_pipeline)
    if finding is None:
        command.progress("")
        write_output(None, f"no pass is at fault: {len(search.steps)} steps, all within {given.tolerance:g}\n".encode())
        return 0
    if finding.before is None:
        known = oracle.node_values(model, inputs)
    progress("looking for the op ...")
    culprit = bisect.narrow(search, finding, known)
    command.progress("")
    write_output(None, _report(search, finding, culprit, _write_reproducer(given.reproducer, search, finding)).encode())
    return FOUND


def _report(search: Search, finding: Finding, culprit: Culprit | None, reproducer: Path | None) -> str:
    lines = [f"first wrong after: {finding.after.step} (level {finding.after.level.value})"]
    found = finding.after.run.outputs if finding.after.run else {}
    for name in finding.outputs if found else []:
        difference = search.tolerance.difference(found[name], search.expected[name])
        lines.append(f"output {name}: off by {difference:.3g} of its largest value")
    if culprit is None:
        lines.append("op: not found")
    else:
        off = f", off by {culprit.difference:.3g} of its largest value" if culprit.difference is not None else ""
        lines.append(f"op: {culprit.op}{off}" + (f"; {culprit.note}" if culprit.note else ""))
        lines.append(f"ONNX node: {', '.join(culprit.nodes) or 'unknown'}")
    if reproducer is not None:
        lines.append(f"reproducer: {reproducer}")
    return "\n".join(lines) + "\n"


def _write_reproducer(given: Path | None, search: Search, finding: Finding) -> Path | None:
    """The IR before the pass, with its weights beside and the pass as its pipeline; none if the import is at fault."""
    from aiopt.passes import io
    from aiopt.passes.reproducer import reproducer

    if finding.before is None:
        return None
    path = given or Path(tempfile.mkdtemp(prefix="aiopt-bisect-")) / "reproducer.mlir"
    io.write_unit(search.unit_at(finding.before), path, debug_info=True)
    text = reproducer(path.read_text(), f"builtin.module({finding.after.step})")
    note = f"// {finding.after.step} makes the numbers wrong. Run it with: aiopt --run-reproducer FILE\n"
    write_output(path, (note + text).encode())
    return path
