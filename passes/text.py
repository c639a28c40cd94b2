"""Modules as MLIR text or bytecode, whatever dialects are in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from mlir import ir

from aiopt.support.errors import IRError, ParseError, ShownError, UnreadableError

BYTECODE_MAGIC = b"ML\xefR"
NAMELESS = "-"  # what MLIR calls text that it is given without a name


@dataclass(frozen=True)
class Source:
    """Text or bytecode and what its locations call it: `name`, `line` lines and `column` characters into that file."""

    data: bytes
    name: str
    line: int = 0
    column: int = 0

    @property
    def is_bytecode(self) -> bool:
        return self.data.startswith(BYTECODE_MAGIC)

    @property
    def padded(self) -> bytes | str:
        """What to parse so that lines have their numbers in the file."""
        return self.data if self.is_bytecode else "\n" * self.line + " " * self.column + self.data.decode()


def parse_file(path: str | Path, context: ir.Context) -> ir.Module:
    """Read a module from a file. Raises IRError, or ModelError if it cannot be opened."""
    try:
        with open(path, "rb"):  # says why a file cannot be opened, which MLIR does not
            path = Path(path)
    except (OSError, ValueError) as error:  # ValueError: a name with NUL
        raise UnreadableError(f"cannot read '{path}': {getattr(error, 'strerror', error)}") from error
    with _parsing(context, str(path)):
        # To MLIR a path of "-" alone would be the standard input.
        return ir.Module.parseFile("./-" if str(path) == "-" else str(path), context)


def parse_source(source: Source, context: ir.Context) -> ir.Module:
    """Read a module from text or bytecode. Raises IRError."""
    with _parsing(context, source.name):
        return ir.Module.parse(_utf8(source), context)


def parse_op(source: Source, context: ir.Context) -> ir.Operation:
    """Read one op without a module around it. Raises IRError."""
    with _parsing(context, source.name):
        text: Any = _utf8(source)
        return ir.Operation.parse(text, source_name=source.name, context=context).operation


def to_bytes(op: ir.Operation, debug_info: bool = False) -> bytes:
    """The text as mlir-opt prints it, which ends its output in an empty line."""
    text: Any = op.get_asm(binary=True, enable_debug_info=debug_info)
    return text + b"\n"


def to_bytecode(op: ir.Operation, version: int | None = None) -> bytes:
    """Bytecode of a version (default: the newest). Raises IRError."""
    with TemporaryFile() as file:
        try:
            op.write_bytecode(file, version)
        except ValueError as error:
            raise IRError(f"cannot write bytecode of version {version}: {error}") from error
        file.seek(0)
        return file.read()


def rename(op: ir.Operation, source: Source) -> None:
    """Let the locations of text that was parsed without a name have that of its source."""
    known: dict[str, ir.Location] = {}
    old, new = f'"{NAMELESS}":', f'"{source.name}":'

    def named(location: ir.Location) -> ir.Location:
        text = str(location)
        if old not in text:
            return location
        if text not in known:
            known[text] = ir.Location.from_attr(ir.Attribute.parse(text.replace(old, new), op.context), op.context)
        return known[text]

    if source.line and str(op.location) == f'loc("{NAMELESS}":0:0)':  # the module that stands for the chunk
        op.location = ir.Location.file(NAMELESS, source.line + 1, source.column + 1, op.context)

    def visit(inner: ir.Operation) -> ir.WalkResult:
        inner.location = named(inner.location)
        for block in (block for region in inner.regions for block in region):
            for argument in block.arguments:
                argument.set_location(named(argument.location))
        return ir.WalkResult.ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)


def _utf8(source: Source) -> Any:
    try:
        return source.padded
    except UnicodeDecodeError as error:
        raise ParseError(f"{source.name}: it is neither UTF-8 text nor bytecode") from error


@contextmanager
def _parsing(context: ir.Context, name: str) -> Iterator[None]:
    try:
        yield
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        if context.emit_error_diagnostics:
            raise ShownError(f"cannot parse {name}") from error
        raise ParseError(_first_diagnostic(error, name)) from error


def _first_diagnostic(error: ir.MLIRError, name: str) -> str:  # pyright: ignore[reportAttributeAccessIssue]
    diagnostics = error.error_diagnostics
    if not diagnostics:
        return f"{name}: {error}"
    first = diagnostics[0]
    place = first.location
    where = f":{place.start_line}:{place.start_col}" if place.is_a_file() else ""
    # The advice that follows is a flag of the tools; passes called from Python know what they work on.
    message = first.message.partition(". If this is intended, please use -allow-unregistered-dialect")[0]
    return f"{name}{where}: {message}"
