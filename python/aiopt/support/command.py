"""What every command does alike: run isolated, turn errors into one `error:` line and exit status 1."""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path

from aiopt.support import errors, isolate, options
from aiopt.support.errors import AioptError, OptionError
from aiopt.support.files import write_output

_DEATH = re.compile(
    r"^(?:.*: Assertion `.*' failed|LLVM ERROR: |PLEASE submit a bug report|Stack dump|.*\n?UNREACHABLE executed at )",
    re.MULTILINE,
)
_QUIET = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE}  # somebody's wish, not an error


def run(
    work: Callable[[isolate.Journal], int],
    save_reproducer: Callable[[isolate.Entry, Path], None],
    reproducer: Path | None = None,
) -> int:
    """Run `work` in a child and return the exit status of the command.

    `save_reproducer` is called, in a child of its own, when native code ended the first one; it writes to the file
    `reproducer`, or to a new one in the folder for temporary files.
    """
    try:
        outcome = isolate.run(partial(_guarded, work))
        if outcome.code is not None:
            sys.stderr.write(outcome.native_stderr)
            return outcome.code
        if outcome.signal in _QUIET:
            return 128 + outcome.signal
        sys.stderr.write(_before_death(outcome.native_stderr))
        what, code = _what_happened(outcome)
        return _fail(f"{what}{_reproduce(outcome.last, save_reproducer, reproducer)}", code)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def say(text: str) -> int:
    """Write a text to the standard output and return the exit status of a command that does no more."""
    try:
        write_output(None, text.encode())
        return 0
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except AioptError as error:
        return fail(error)


def fail(error: AioptError) -> int:
    """Print the line of an error and return the exit status."""
    return _fail(str(error), error.code)


def progress(text: str) -> None:
    """Say on a terminal what is being done, in a line that the next call replaces ("" clears it); silent in a pipe."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _guarded(work: Callable[[isolate.Journal], int], journal: isolate.Journal) -> int:
    try:
        code = work(journal)
        sys.stdout.flush()
        return code
    except OptionError as error:
        isolate.drop_native_stderr()  # LLVM says of some wrong options what the error says
        return fail(error)
    except AioptError as error:
        return fail(error)
    except BrokenPipeError:
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except MemoryError:
        return _fail(f"out of memory in {journal.read().step}", errors.OUT_OF_MEMORY)
    except OSError as error:
        return _fail(str(error), errors.SYSTEM)
    except Exception as error:
        if options.traceback_wanted():
            traceback.print_exc()
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return _fail(f"internal error: {text} (please report; AIOPT_TRACEBACK=1 shows the traceback)", errors.INTERNAL)


def _fail(message: str, code: str) -> int:
    progress("")
    print(f"error: {message} [{code}]", file=sys.stderr)
    return 1


def _what_happened(outcome: isolate.Outcome) -> tuple[str, str]:
    """What ended a child, and the code of that."""
    step = " ".join(outcome.last.step.split())
    if outcome.signal == signal.SIGKILL:
        return f"the compiler was killed in {step} (out of memory?)", errors.OUT_OF_MEMORY
    reason = _abort_text(outcome.native_stderr)
    if reason is None and outcome.signal not in (0, signal.SIGABRT):
        name = signal.Signals(outcome.signal).name
        return f"crash in {step}: {signal.strsignal(outcome.signal)} ({name})", errors.CRASH
    return f"LLVM aborted in {step}: {reason or 'it gave no reason'}", errors.CRASH


def _before_death(text: str) -> str:
    """What was said before native code died, without what it says of its death."""
    found = _DEATH.search(text)
    return text[: found.start()] if found else text


def _abort_text(text: str) -> str | None:
    """The assertion or fatal error, out of what native code printed before it died."""
    if found := re.search(r"([^/\s]+:\d+): .*?(Assertion `.*' failed)", text):
        return f"{found[2]} ({found[1]})"
    if found := re.search(r"LLVM ERROR: (.+)", text):
        return found[1].strip()
    if found := re.search(r"(?:^(.+)\n)?UNREACHABLE executed at (?:.*/)?(.+)!", text, re.MULTILINE):
        return f"{found[1] or 'unreachable code'} ({found[2]})"
    return None


def _reproduce(entry: isolate.Entry, save: Callable[[isolate.Entry, Path], None], path: Path | None) -> str:
    if not entry.module:
        return ""
    if path is None:
        descriptor, name = tempfile.mkstemp(prefix="aiopt-", suffix=".mlir")
        os.close(descriptor)
    else:
        name = str(path)

    def work(journal: isolate.Journal) -> int:
        journal.record("writing the reproducer")
        save(entry, Path(name))
        return 0

    if isolate.run(partial(_silenced, work)).code == 0:
        return f"; reproducer written to {name}"
    if path is None:
        os.unlink(name)
    return "; the IR before it cannot be written as text, so there is no reproducer"


def _silenced(work: Callable[[isolate.Journal], int], journal: isolate.Journal) -> int:
    """The first error is the one to show; that it cannot be reproduced is said in its line."""
    try:
        return work(journal)
    except Exception:
        if options.traceback_wanted():
            traceback.print_exc()
        return 1
