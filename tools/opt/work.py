"""What `aiopt` does in its child process: read, run the passes, write, for each chunk of the input."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mlir import ir

from aiopt.passes import native, pipeline, registry
from aiopt.passes.expected_diagnostics import ExpectedDiagnostics
from aiopt.passes.instruments import instrument
from aiopt.passes.manager import build
from aiopt.passes.pipeline_text import Nest, expand, has_ours, pretty
from aiopt.passes.reproducer import StepKeeper, pipeline_text, reproducer, write_reproducer
from aiopt.passes.source_printer import Place, SourcePrinter
from aiopt.passes.text import Source, parse_op, parse_source, to_bytecode, to_bytes
from aiopt.passes.unit import Unit
from aiopt.support import isolate, plugins
from aiopt.support.errors import AioptError, OptionError, OutputError, ShownError
from aiopt.support.files import write_output
from aiopt.support.isolate import Journal
from aiopt.tools.opt import chunks, pipelines
from aiopt.tools.opt.command_line import Given, UsageError
from aiopt.tools.opt.observe import Observation
from aiopt.tools.opt.reading import Input, check_output
from aiopt.tools.opt.remarks import Remarks

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
        if _output(given) is not None:
            check_output(self.values.o)
        self.observation = Observation(given)
        journal.record(f"reading '{given.input}'")
        self.input = Input(given)
        self.nest, self.implicit = pipelines.asked_for(given, self.input.text)
        asked = self.values.emit != "mlir" or self.values.emit_schedule is not None
        passes = self.nest is not None and has_ours(self.nest)
        self.ours = self.input.has_ours or asked or passes or bool(plugins.modules(plugins.DIALECTS))
        self.expected = self._expected()
        self.remarks = Remarks(given, self._show_remark, self._printer())
        self.written = False

    def run(self) -> int:
        """Process the input, chunk by chunk if that is asked for."""
        results, states = zip(*map(self._chunk, self._sources()), strict=True)
        remarks = self.remarks.finish()
        marker = self.values.output_split_marker
        if marker is None:
            marker = chunks.MARKER if self.values.split_input_file is not None else ""
        good = all(states) and (self.expected is None or self.expected.finish())
        isolate.pass_on_native_stderr()
        if not self.written and (good or self.values.o == "-"):
            separator = f"{marker}\n".encode() if len(results) > 1 else b""
            write_output(_output(self.given), separator.join(results))
        if remarks is not None:
            write_output(Path(self.values.remarks_output_file), remarks.encode())
        os.write(2, self.observation.report().encode())
        return 0 if good else 1

    def _sources(self) -> list[Source]:
        marker = self.values.split_input_file
        if marker is None:
            return [self.input.source]
        return list(chunks.split(self.input.source.data, self.input.name, marker or chunks.MARKER, self._printer()))

    def _expected(self) -> ExpectedDiagnostics | None:
        level = self.values.verify_diagnostics
        return None if level is None else ExpectedDiagnostics(self._printer(), self.input.text, level or "all")

    def _printer(self) -> SourcePrinter:
        kinds = ["error", "warning", "remark"]
        del kinds[kinds.index(self.values.mlir_diagnostic_verbosity_level.removesuffix("s")) + 1 :]
        notes = [] if self.values.mlir_disable_diagnostic_notes else ["note"]
        return SourcePrinter(self.input.name, self.input.source.data, frozenset(kinds + notes))

    def _chunk(self, source: Source) -> tuple[bytes, bool]:
        """What comes of one chunk, and whether all went well; if not, it has been said."""
        context = self._context()
        printer = self._printer()
        handler = context.attach_diagnostic_handler((self.expected or printer).handle)
        result, good = b"", False
        try:
            result, good = self._perform(source, context), True
        except ShownError:
            pass  # there is nothing left to say
        except OptionError:
            raise
        except AioptError as error:
            if self.expected is None:
                printer.write(f"error: {error} [{error.code}]\n")
            else:
                self.expected.process(_place(str(error), self.input.name), "error", str(error))
        finally:
            handler.detach()  # pyright: ignore[reportAttributeAccessIssue]
        return result, good or self.expected is not None

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
        with pipeline.observed(self._keeper()):
            if self.nest is not None:
                self._run(unit, self.nest)
            self._generate_reproducer(unit)
            with self.observation.phase("Output"):
                return self._output_of(unit)

    def _keeper(self) -> StepKeeper:
        if self.values.mlir_pass_pipeline_crash_reproducer is None:
            return StepKeeper(self.journal)
        return StepKeeper(self.journal, "last" if self.values.mlir_pass_pipeline_local_reproducer else "all")

    def _show_remark(self, location: ir.Location | None, text: str) -> None:
        printer = self._printer()
        if self.expected is not None:
            self.expected.process(printer.place(location) if location is not None else None, "remark", text)
        elif location is not None:
            printer.show(location, "remark", text)
        else:
            printer.show_at(None, "remark", text)

    def _run(self, unit: Unit, nest: Nest) -> None:
        if self.remarks.wanted:
            unit.on_remark = self.remarks.take
        try:
            pipeline.run(unit, nest, self.observation.instruments, self.implicit)
        except AioptError:
            path = self.values.mlir_pass_pipeline_crash_reproducer
            if path is not None and not isinstance(sys.exc_info()[1], OptionError):
                entry = self.journal.read()
                write_reproducer(entry, Path(path), whole=True, threading=not self.values.mlir_disable_threading)
                self._report_reproducer(unit, entry.step, path)
            raise

    def _report_reproducer(self, unit: Unit, step: str, path: str) -> None:
        where = unit.module.operation.location
        printer = self._printer()
        printer.show(where, "error", "Failures have been detected while processing an MLIR pass pipeline")
        text = f"`{step}` on '{unit.module.operation.name}' operation"
        if not self.values.mlir_pass_pipeline_local_reproducer:
            text = f"[{text}]"
        printer.show(where, "note", f"Pipeline failed while executing {text}: reproducer generated at `{path}`")

    def _perform_on_op(self, op: ir.Operation) -> bytes:
        """As `_perform`, on an op that is no module."""
        if self.nest is not None:
            self._run_on_op(op, self.nest)
        self._check_roundtrip(op, lambda: parse_op(Source(_generic(op), "-"), op.context))
        with self.observation.phase("Output"):
            return self._bytes(op)

    def _run_on_op(self, op: ir.Operation, nest: Nest) -> None:
        items = expand(nest.items)
        if not self.given.passes and len(items) == 1 and isinstance(items[0], Nest):
            nest = items[0]
        elif self.given.passes:
            nest = Nest(op.name, tuple(items))
        if nest.anchor != op.name:
            op.location.emit_error(f"can't run '{nest.anchor}' pass manager on '{op.name}' op")
            raise ShownError(f"a pipeline for {nest.anchor} was given {op.name}")
        with op.context, ir.Location.unknown():
            built = build(nest, Unit(ir.Module.create(), foreign=True))
            instruments = self.observation.instruments
            if instruments is not None:
                instrument(built, instruments, instruments.before_all, instruments.after_all)
            built.op = op
            built.run()

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
        text = pipeline_text(unit, expand(self.nest.items) if self.nest else [], self.implicit)
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
            return driver.emit(unit, self.values.emit, machine=self.values.cpu)
        self.journal.record("printing")
        if unit.foreign or self.values.emit_bytecode or self.values.split_input_file is not None:
            self.input.keep_sources(unit)
            return self._bytes(unit.module.operation)
        from aiopt.passes import io

        self.input.keep_sources(unit)
        isolate.pass_on_native_stderr()
        io.write_unit(unit, _output(self.given), self.values.elide_weights)
        self.written = True
        return b""

    def _bytes(self, op: ir.Operation) -> bytes:
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
