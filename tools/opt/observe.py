"""What a command line wants to see of a run, and the reports at its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from aiopt.passes.instruments import Instruments
from aiopt.passes.manager import Built
from aiopt.support import isolate
from aiopt.tools.opt.command_line import Given
from aiopt.tools.opt.statistics import with_ours
from aiopt.tools.opt.timing import Timing


class Observation:
    """The instruments of one command and what they measured."""

    def __init__(self, given: Given) -> None:
        self._values = given.values
        self._timing = Timing() if given.values.mlir_timing else None
        self.instruments = self._instruments()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time a part of the command."""
        if self._timing is None:
            yield
            return
        with self._timing.phase(name):
            yield

    def report(self) -> str:
        """What is left to say when all is done."""
        if self._timing is None:
            return ""
        return self._timing.report(self._values.mlir_timing_display, self._values.mlir_output_format)

    def _instruments(self) -> Instruments | None:
        values = self._values
        prefix = "mlir_print_ir_"
        made = Instruments(
            before_all=getattr(values, f"{prefix}before_all"),
            after_all=getattr(values, f"{prefix}after_all"),
            before=frozenset(getattr(values, f"{prefix}before")),
            after=frozenset(getattr(values, f"{prefix}after")),
            after_change=getattr(values, f"{prefix}after_change"),
            after_failure=getattr(values, f"{prefix}after_failure"),
            module_scope=getattr(values, f"{prefix}module_scope"),
            tree_dir=getattr(values, f"{prefix}tree_dir"),
            statistics=values.mlir_pass_statistics_display if values.mlir_pass_statistics else "",
            timing=values.mlir_timing,
            verify=values.verify_each,
            around=self._around,
        )
        return made if made.wanted else None

    def _around(self, built: Built) -> None:
        mark = isolate.native_mark()
        try:
            built.run()
        finally:
            if self._values.mlir_pass_statistics and built.counted:
                text = isolate.take_native_stderr(mark)
                isolate.write_native_stderr(with_ours(text, built.counted, self._values.mlir_pass_statistics_display))
            mark = isolate.native_mark()
            built.native.close()
            if self._timing is not None:
                self._timing.add_report(isolate.take_native_stderr(mark))
