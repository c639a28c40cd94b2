"""What `aiopt` does in its child process: read, run the passes, write, for each chunk of the input."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mlir import ir

from aiopt.passes import native, pipeline, registry
from aiopt.passes.expected_diagnostics import ExpectedDiagnostics
from aiopt.passes.manager import build
from aiopt.passes.pipeline_text import Nest, expand, has_ours, pretty
from aiopt.passes.reproducer import StepKeeper, reproducer
from aiopt.passes.source_printer import Place, SourcePrinter
from aiopt.passes.text import Source, parse_op, parse_source, rename, to_bytecode, to_bytes
from aiopt.passes.unit import Unit
from aiopt.support import plugins
from aiopt.support.errors import AioptError, OptionError, OutputError, ShownError
from aiopt.support.files import write_output
from aiopt.support.isolate import Journal
from aiopt.tools.opt import chunks, pipelines
from aiopt.tools.opt.command_line import Given, UsageError
from aiopt.tools.opt.observe import Observation
from aiopt.tools.opt.reading import Input

if TYPE_CHECKING:
    from collections.abc import Callable

_AT = re.compile(r"\(at '(.+?)':(\d+):(\d+)")  # where errors of ours say they are


def run(given: Given, journal: Journal) -> int:
    """Do what the command line says and return the exit status."""
    registry.add_package("aiopt.targets")
    for name in given.values.load_python:
        plugins.load(name)
    if given.values.verify_diagnostics is not None:
        given.native.append("--mlir-print-op-on-diagnostic=false")  # nobody writes comments for these notes
    if given.native:
        native.set_options(given.native)
    try:
        if done := _print_and_exit(given):
            write_output(_output(given), done.encode())
            return 0
        return Command(given, journal).run()
    except UsageError as error:
        os.write(2, str(error).encode())
        return 1


def _print_and_exit(given: Given) -> str:
    values = given.values
    if values.list_passes:
        from aiopt.passes.listing import list_passes  # starts a process to list upstream's

        return list_passes()
    if values.emit_irdl is not None:
        from aiopt.dialects import registry as dialects  # brings them all

        return dialects.irdl(values.emit_irdl)
    if values.show_dialects:
        from aiopt.passes.listing import list_dialects

        return list_dialects()
    return pipelines.show(values.show_pipeline) if values.show_pipeline is not None else ""


def _output(given: Given) -> Path | None:
    return None if given.values.o == "-" else Path(given.values.o)


class Command:
    """One run of the command."""

    def __init__(self, given: Given, journal: Journal) -> None:
        self.given, self.values, self.journal = given, given.values, journal
        pipelines.check_filters(self.values.mlir_print_ir_before, "mlir-print-ir-before")
        pipelines.check_filters(self.values.mlir_print_ir_after, "mlir-print-ir-after")
        self.observation = Observation(given)
        journal.record(f"reading '{given.input}'")
        self.input = Input(given)
        self.nest, self.implicit = pipelines.asked_for(given, self.input.text)
        asked = self.values.emit != "mlir" or self.values.emit_schedule is not None
        passes = self.nest is not None and has_ours(self.nest)
        self.ours = self.input.has_ours or asked or passes or bool(plugins.modules(plugins.DIALECTS))
        self.written = False

    def run(self) -> int:
        """Process the input, chunk by chunk if that is asked for."""
        results = [self._chunk(source) for source in self._sources()]
        marker = self.values.output_split_marker
        if marker is None:
            marker = chunks.MARKER if self.values.split_input_file is not None else ""
        good = all(result is not None for result in results)
        if not self.written and (good or self.values.o == "-"):
            separator = f"{marker}\n".encode() if len(results) > 1 else b""
            write_output(_output(self.given), separator.join(result or b"" for result in results))
        os.write(2, self.observation.report().encode())
        return 0 if good else 1

    def _sources(self) -> list[Source]:
        marker = self.values.split_input_file
        if marker is None:
            return [self.input.source]
        return list(chunks.split(self.input.source.data, self.input.name, marker or chunks.MARKER, self._printer()))

    def _printer(self) -> SourcePrinter:
        return SourcePrinter(self.input.name, self.input.source.data, not self.values.mlir_disable_diagnostic_notes)

    def _chunk(self, source: Source) -> bytes | None:
        """What comes of one chunk; None if something went wrong, which has been said."""
        context = self._context()
        printer = self._printer()
        expected = None
        if self.values.verify_diagnostics is not None:
            text = source.data.decode(errors="replace")
            expected = ExpectedDiagnostics(printer, text, source.line, self.values.verify_diagnostics or "all")
        handler = context.attach_diagnostic_handler((expected or printer).handle)
        result: bytes | None = None
        try:
            result = self._perform(source, context)
        except ShownError:
            pass  # there is nothing left to say
        except OptionError:
            raise
        except AioptError as error:
            if expected is None:
                printer.write(f"error: {error}\n")
            else:
                expected.process(_place(str(error), self.input.name), "error", str(error))
        finally:
            handler.detach()
        if expected is None:
            return result
        return (result or b"") if expected.finish() else None

    def _context(self) -> ir.Context:
        if self.ours:
            from aiopt.passes.io import new_context  # brings our dialects

            context = new_context()
        else:
            context = ir.Context()
            context.enable_multithreading(False)
        context.emit_error_diagnostics = True
        context.allow_unregistered_dialects = self.values.allow_unregistered_dialect
        if self.values.irdl_file is not None:
            from aiopt.tools.opt.reading import load_irdl

            load_irdl(self.values.irdl_file, context)
        return context

    def _perform(self, source: Source, context: ir.Context) -> bytes:
        with self.observation.phase("Parser"):
            if self.values.no_implicit_module:
                return self._perform_on_op(parse_op(source, context))
            unit = self.input.unit(source, context, self.ours)
        root = unit.module.operation
        self._check_roundtrip(root, lambda: parse_source(Source(_generic(root), "-"), context).operation)
        self._dump(unit, root.name)
        with pipeline.observed(StepKeeper(self.journal)):
            if self.nest is not None:
                pipeline.run(unit, self.nest, self.observation.instruments, self.implicit)
            self._generate_reproducer(unit)
            with self.observation.phase("Output"):
                return self._output_of(unit)

    def _perform_on_op(self, op: ir.Operation) -> bytes:
        """As `_perform`, on an op that is no module: upstream's passes only."""
        if self.nest is not None:
            raise OptionError("--no-implicit-module runs no passes in aiopt: give it a module, or leave the flag out")
        self._check_roundtrip(op, lambda: parse_op(Source(_generic(op), "-"), op.context))
        with self.observation.phase("Output"):
            return self._bytes(op)

    def _dump(self, unit: Unit, anchor: str) -> None:
        if not self.values.dump_pass_pipeline:
            return
        items = tuple(expand(self.nest.items)) if self.nest else ()
        with unit.module.context:
            text = str(build(Nest(anchor, items), unit, self.implicit).native.manager)
        os.write(2, f"Pass Manager with {len(items)} passes:\n{pretty(text)}\n\n".encode())

    def _check_roundtrip(self, op: ir.Operation, read_back: Callable[[], ir.Operation]) -> None:
        if not self.values.verify_roundtrip:
            return
        again = read_back()
        if _generic(again) != _generic(op):
            raise OutputError("--verify-roundtrip: the IR prints to text that reads as other IR")

    def _generate_reproducer(self, unit: Unit) -> None:
        path = self.values.mlir_generate_reproducer
        if path is None:
            return
        anchor = unit.module.operation.name
        items = tuple(expand(self.nest.items)) if self.nest else ()
        with unit.module.context:
            text = str(build(Nest(anchor, items), unit, self.implicit).native.manager)
        module = to_bytes(unit.module.operation).decode()
        threading = not self.values.mlir_disable_threading
        write_output(Path(path), reproducer(module, text, threading, verify=False).encode())

    def _output_of(self, unit: Unit) -> bytes:
        """The bytes of a result, or nothing where it has been written with its weights beside it."""
        if self.values.emit_schedule is not None:
            from aiopt.passes.schedules.base import find_schedule, write_schedule

            self.input.keep_sources(unit)
            return write_schedule(unit, find_schedule(self.values.emit_schedule)).encode()
        if self.values.emit != "mlir":
            from aiopt import driver

            if self.values.emit == "obj" and self.values.o == "-" and os.isatty(1):
                raise OutputError("object code is not text: name a file with -o")
            self.input.keep_sources(unit)
            return driver.emit(unit, self.values.emit)
        self.journal.record("printing")
        if unit.foreign or self.values.emit_bytecode or self.values.split_input_file is not None:
            self.input.keep_sources(unit)
            return self._bytes(unit.module.operation)
        from aiopt.passes import io

        self.input.keep_sources(unit)
        io.write_unit(unit, _output(self.given), self.values.elide_weights)
        self.written = True
        return b""

    def _bytes(self, op: ir.Operation) -> bytes:
        if any(flag.endswith("debuginfo=true") for flag in self.given.native):
            rename(op, self.input.name)
        if self.values.emit_bytecode:
            return to_bytecode(op, self.values.emit_bytecode_version)
        return to_bytes(op)


def _generic(op: ir.Operation) -> bytes:
    text = op.get_asm(binary=True, enable_debug_info=True, print_generic_op_form=True)
    assert isinstance(text, bytes)
    return text


def _place(message: str, name: str) -> Place | None:
    found = _AT.search(message)
    return (name if found[1] == "-" else found[1], int(found[2]), int(found[3])) if found else None
