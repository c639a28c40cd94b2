"""The input of a command: a file or the standard input, MLIR or an ONNX model."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path

from mlir import ir

from aiopt.passes.text import BYTECODE_MAGIC, Source, parse_file, parse_source, rename
from aiopt.passes.unit import Unit
from aiopt.support.errors import OptionError
from aiopt.support.files import refuse_sources
from aiopt.tools.opt.command_line import Given, UsageError

STDIN = "<stdin>"
_OURS = (b"ai.", b"npu.")  # how ops and attributes of our dialects begin


class Input:
    """What is to be read."""

    def __init__(self, given: Given) -> None:
        self.values = given.values
        self._shows_locations = any(flag.endswith("debuginfo=true") for flag in given.native)
        self.path = None if given.input == "-" else Path(given.input)
        self.name = given.input if self.path else STDIN
        self.source = Source(self._data(), self.name)

    @cached_property
    def is_onnx(self) -> bool:
        """True for an ONNX model; a name that ends in .mlir, .mlirbc or .onnx decides, else the contents."""
        if self.path is not None and self.path.suffix in (".mlir", ".mlirbc", ".onnx"):
            return self.path.suffix == ".onnx"
        from aiopt.passes.io import is_mlir  # brings our dialects

        return not is_mlir(self.source.data)

    @property
    def has_ours(self) -> bool:
        """True if ops or attributes of aiopt's may be in it; bytecode does not show what is in it."""
        data = self.source.data
        return data.startswith(BYTECODE_MAGIC) or any(mark in data for mark in _OURS) or self.is_onnx

    @property
    def text(self) -> str:
        """The text, in which a reproducer has its pipeline."""
        return self.source.data.decode(errors="replace")

    def unit(self, source: Source, context: ir.Context, ours: bool) -> Unit:
        """The unit of one chunk. ours: our dialects are in the context. Raises ModelError, IRError or ShownError."""
        if self.is_onnx:
            from aiopt import driver  # brings onnx

            return driver.load_unit(self.path or source.data, context, self._shapes())
        if self._shapes():
            raise OptionError("--shape is for ONNX models; MLIR has its shapes in the text")
        whole = self.path is not None and source is self.source
        module = parse_file(str(self.path), context) if whole else parse_source(source, context)
        if not whole and (ours or self._shows_locations):
            rename(module.operation, source)
        if not ours:
            return Unit(module, foreign=True, sources=(self.path,) if self.path else ())
        from aiopt.passes.io import unit_of

        unit = unit_of(module, self.name, self.path.parent if self.path else Path())
        unit.sources = (self.path, *unit.sources) if self.path else unit.sources
        return unit

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        if not self.values.shape:
            return {}
        from aiopt.support.arguments import parse_shapes  # brings argparse

        return parse_shapes(self.values.shape)

    def keep_sources(self, unit: Unit) -> None:
        """Raise OutputError if the output would replace what was read; MLIR text may take its older self's place."""
        if self.values.o == "-":
            return
        stays_mlir = self.values.emit == "mlir" and unit.sources and not self.is_onnx
        refuse_sources(Path(self.values.o), unit.sources[1:] if stays_mlir else unit.sources)

    def _data(self) -> bytes:
        try:
            return self.path.read_bytes() if self.path else sys.stdin.buffer.read()
        except (OSError, ValueError) as error:  # ValueError: a name with NUL
            why = getattr(error, "strerror", error)
            raise UsageError(f"cannot open input file '{self.name}': {why}\n") from error


def load_irdl(path: str, context: ir.Context) -> None:
    """Load the dialects of an IRDL file into a context. Raises ModelError or IRError."""
    from mlir.dialects import irdl

    with context, ir.Location.unknown():
        irdl.load_dialects(parse_file(path, context))  # pyright: ignore[reportAttributeAccessIssue]


def check_output(path: str) -> None:
    """Raise UsageError if no file of this name can be written, before any work is done for it."""
    folder = Path(path).parent
    why = "Is a directory" if Path(path).is_dir() else "" if folder.is_dir() else "No such file or directory"
    if why:
        raise UsageError(f"cannot open output file '{path}': {why}\n")
