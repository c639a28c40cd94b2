"""`aiopt`: run passes on IR of any level and print the result, as mlir-opt does.

Until the fork nothing heavy is imported: a process that has loaded MLIR must not be forked, and `--version` is quick.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import aiopt
from aiopt.support import command
from aiopt.support.errors import OptionError
from aiopt.support.isolate import Entry, Journal
from aiopt.tools.opt.command_line import Given, UsageError, help_list, help_text, parse

STDIN = "-"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    try:
        given = parse(sys.argv[1:] if arguments is None else arguments)
    except UsageError as error:
        sys.stderr.write(str(error))
        return 1
    values = given.values
    if values.version:
        return command.say(f"aiopt {aiopt.__version__}, LLVM {_llvm_version()}\n")
    if values.help or values.help_list:
        return command.say(help_text() if values.help else help_list())
    if values.explain is not None:
        return _explain(values.explain or given.input.removeprefix(STDIN))
    path = values.mlir_pass_pipeline_crash_reproducer
    save = partial(save_reproducer, whole=path is not None)
    return command.run(partial(_work, given), save, Path(path) if path is not None else None)


def _explain(code: str) -> int:
    try:
        from aiopt.support import catalogue  # reads a file of pages

        return command.say(catalogue.explain(code))
    except OptionError as error:
        return command.fail(error)


def save_reproducer(entry: Entry, path: Path, whole: bool = False) -> None:
    """Write what is left of a run that native code ended (called in a child of its own)."""
    from aiopt.passes.reproducer import write_reproducer

    write_reproducer(entry, path, whole)


def _work(given: Given, journal: Journal) -> int:
    journal.record("loading MLIR")
    from aiopt.tools.opt import work

    return work.run(given, journal)


def _llvm_version() -> str:
    """LLVM's version is that of the wheel, less the wheel's own last number."""
    from importlib.metadata import version  # takes as long to load as all else here

    return ".".join(version("xtc-mlir-python-bindings").split(".")[:3])
