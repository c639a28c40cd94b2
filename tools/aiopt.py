"""`aiopt`: run passes on IR of any level and print the result, as mlir-opt does.

Until the fork nothing heavy is imported: a process that has loaded MLIR must not be forked, and `--version` is quick.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import aiopt
from aiopt.support import catalogue, command
from aiopt.support.arguments import Parser, parse_shapes
from aiopt.support.errors import OptionError, OutputError
from aiopt.support.files import read_input, refuse_sources, write_output
from aiopt.support.isolate import Entry, Journal

if TYPE_CHECKING:
    from aiopt.passes.unit import Unit

STDIN = "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    given = _parser().parse(arguments)
    if given.version:
        return command.say(f"aiopt {aiopt.__version__}, LLVM {_llvm_version()}\n")
    if given.explain is not None:
        return _explain(given.explain)
    return command.run(partial(_work, given), save_reproducer)


def _explain(code: str) -> int:
    try:
        return command.say(catalogue.explain(code))
    except OptionError as error:
        return command.fail(error)


def save_reproducer(entry: Entry, path: Path) -> None:
    """Write what is left of a run that native code ended (called in a child of its own)."""
    from aiopt.passes.reproducer import write_reproducer

    write_reproducer(entry, path)


def _parser() -> Parser:
    parser = Parser("aiopt", "Run passes of aiopt and MLIR on a model or on MLIR text of any level.")
    add = parser.add_argument
    add("input", nargs="?", default=STDIN, metavar="FILE", help=".mlir, .mlirbc or .onnx; '-' or nothing: stdin")
    add("-p", "--pass-pipeline", metavar="TEXT", help="passes to run, in mlir-opt's syntax")
    add("-o", dest="output", default=STDIN, metavar="FILE", help="where the result goes; '-' (default): stdout")
    add("--emit", choices=["mlir", "llvm", "asm", "obj"], default="mlir", help="what to write (default: mlir)")
    add("--cpu", default="host", metavar="NAME", help="what --emit makes code for, as znver4 (default: host)")
    add("--shape", action="append", default=[], metavar="NAME=1x3x48x320", help="shape of an input of an ONNX model")
    add("--elide-weights", action="store_true", help="write no weights file; such text cannot be loaded again")
    add("--mlir-print-debuginfo", action="store_true", help="print locations")
    add("--list-passes", action="store_true", help="print all passes with their options")
    add("--emit-irdl", nargs="?", const="", metavar="DIALECT", help="print our dialects for mlir-opt --irdl-file=")
    add("--explain", nargs="?", const="", metavar="CODE", help="print what an error's code means, or all codes")
    add("--version", action="store_true", help="print the versions of aiopt and LLVM")
    return parser


def _work(given: argparse.Namespace, journal: Journal) -> int:
    journal.record("loading MLIR")
    from aiopt.dialects import registry as dialects
    from aiopt.passes import io, listing, pipeline, registry
    from aiopt.passes.reproducer import StepKeeper

    registry.add_package("aiopt.targets")
    output = None if given.output == STDIN else Path(given.output)
    if given.list_passes:
        write_output(output, listing.list_passes().encode())
        return 0
    if given.emit_irdl is not None:
        write_output(output, dialects.irdl(given.emit_irdl).encode())
        return 0
    with pipeline.observed(StepKeeper(journal)):
        steps = pipeline.parse(given.pass_pipeline) if given.pass_pipeline else None
        journal.record(f"reading '{given.input}'")
        unit = _read(given, parse_shapes(given.shape))
        _keep_sources(given, unit)
        if steps:
            pipeline.run(unit, steps)
        if given.emit == "mlir":
            journal.record("printing")
            io.write_unit(unit, output, given.elide_weights, given.mlir_print_debuginfo)
            return 0
        if given.emit == "obj" and output is None and os.isatty(1):
            raise OutputError("object code is not text: name a file with -o")
        write_output(output, _emit(unit, given.emit, given.cpu))
    return 0


def _emit(unit: Unit, kind: str, cpu: str) -> bytes:
    from aiopt import driver

    return driver.emit(unit, kind, machine=cpu)


def _keep_sources(given: argparse.Namespace, unit: Unit) -> None:
    """Raise OutputError if the output would replace what was read; MLIR text may take the place of its older self."""
    from aiopt.passes import io

    stays_mlir = given.emit == "mlir" and unit.sources and io.is_mlir(unit.sources[0])
    if given.output != STDIN:
        refuse_sources(Path(given.output), unit.sources[1:] if stays_mlir else unit.sources)


def _read(given: argparse.Namespace, shapes: dict[str, tuple[int, ...]]) -> Unit:
    from aiopt.passes import io

    context = io.new_context()
    model = read_input(STDIN) if given.input == STDIN else Path(given.input)
    if not io.is_mlir(model):
        from aiopt import driver  # brings onnx, which MLIR does not need

        return driver.load_unit(model, context, shapes)
    if shapes:
        raise OptionError("--shape is for ONNX models; MLIR has its shapes in the text")
    return io.read_unit(model, context)


def _llvm_version() -> str:
    """LLVM's version is that of the wheel, less the wheel's own last number."""
    return ".".join(importlib.metadata.version("xtc-mlir-python-bindings").split(".")[:3])
