"""aiopt.support.command and isolate: how a command ends, whatever its work does.

Each case runs in an interpreter of its own: the one of the tests has loaded MLIR and must not be forked.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_HEAD = """
import ctypes, os, signal, sys, time
from aiopt.support import command
from aiopt.support.errors import ModelError, OptionError

libc = ctypes.CDLL(None)

def die(text, number=signal.SIGABRT):
    os.write(2, text.encode())
    os.kill(os.getpid(), number)

def save(entry, path):
    if entry.module == b"broken":
        raise ValueError("not a module")
    path.write_text(f"{entry.step} {list(entry.pipeline)} {entry.module}")

def work(journal):
"""


def run_work(body: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    code = f"{_HEAD}{lines}\nsys.exit(command.run(work, save))\n"
    environment = {**os.environ, "TMPDIR": str(folder), **environment}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60, check=False
    )


def test_a_good_end_passes_everything_on(tmp_path: Path):
    done = run_work("print('out')\nprint('err', file=sys.stderr)\nos.write(2, b'native')\nreturn 0", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "out\n", "err\nnative")


def test_the_status_is_that_of_the_work(tmp_path: Path):
    assert run_work("return 7", tmp_path).returncode == 7


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ModelError('no\\nmodel')", "no model [AI0101]"),
        ("raise OSError(28, 'No space left', 'file')", "[Errno 28] No space left: 'file' [AI0914]"),
        ("raise MemoryError", "out of memory in the start [AI0912]"),
        (
            "raise KeyError('x\\ny')",
            "internal error: KeyError: 'x\\ny' (please report; AIOPT_TRACEBACK=1 shows the traceback) [AI0913]",
        ),
    ],
)
def test_an_exception_is_one_line(body: str, message: str, tmp_path: Path):
    done = run_work(body, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", f"error: {message}\n")


def test_the_traceback_of_an_internal_error_on_demand(tmp_path: Path):
    done = run_work("raise KeyError('x')", tmp_path, AIOPT_TRACEBACK="1")
    assert "Traceback" in done.stderr
    assert done.returncode == 1


def test_an_assertion_is_one_line_with_a_reproducer(tmp_path: Path):
    body = (
        "journal.record('first', ['first', 'second'], lambda file: file.write(b'a long module'))\n"
        "journal.record('second', ['second'], lambda file: file.write(b'module'))\n"
        "die('python: /src/a/B.cpp:12: void f(int): Assertion `x > 0 && \"text\"\\' failed.\\nStack dump:\\n0. x\\n')"
    )
    done = run_work(body, tmp_path)
    (reproducer,) = tmp_path.iterdir()
    reason = 'Assertion `x > 0 && "text"\' failed (B.cpp:12)'
    expected = f"error: LLVM aborted in second: {reason}; reproducer written to {reproducer} [AI0911]\n"
    assert (done.returncode, done.stderr) == (1, expected)
    assert reproducer.read_text() == "second ['second'] b'module'"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("die('LLVM ERROR: out of registers\\nStack dump:')", "LLVM aborted in a step: out of registers [AI0911]"),
        (
            "die('odd type\\nUNREACHABLE executed at /s/x.cpp:3!\\n')",
            "LLVM aborted in a step: odd type (x.cpp:3) [AI0911]",
        ),
        ("die('')", "LLVM aborted in a step: it gave no reason [AI0911]"),
        ("die('', signal.SIGSEGV)", "crash in a step: Segmentation fault (SIGSEGV) [AI0911]"),
        ("die('', signal.SIGKILL)", "the compiler was killed in a step (out of memory?) [AI0912]"),
        # report_fatal_error may also leave by exit(1)
        ("os.write(2, b'LLVM ERROR: bad\\n'); libc.exit(1)", "LLVM aborted in a step: bad [AI0911]"),
        ("libc.exit(0)", "LLVM aborted in a step: it gave no reason [AI0911]"),
    ],
)
def test_other_deaths(body: str, message: str, tmp_path: Path):
    done = run_work(f"journal.record('a\\nstep')\n{body}", tmp_path)
    assert (done.returncode, done.stderr) == (1, f"error: {message}\n")
    assert not list(tmp_path.iterdir())


def test_a_module_that_cannot_be_written_is_said(tmp_path: Path):
    done = run_work("journal.record('s', [], lambda file: file.write(b'broken'))\ndie('')", tmp_path)
    assert done.stderr.endswith("so there is no reproducer [AI0911]\n")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path):
    code = f"{_HEAD}    for _ in range(100000): print('x' * 80)\n\nsys.exit(command.run(work, save))\n"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stderr
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(timeout=60) == 141


@pytest.mark.parametrize("native", [True, False])
def test_an_interrupt_ends_both_quietly(native: bool, tmp_path: Path):
    """The work counts as native while it does not let Python see the signal."""
    wait = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n    " if native else ""
    heed = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"  # background jobs do not
    body = f"    {wait}print(os.getpid(), flush=True)\n    time.sleep(60)\n\nsys.exit(command.run(work, save))\n"
    code = f"{heed}{_HEAD}{body}"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout
    assert process.stderr
    child = int(process.stdout.readline())
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.stderr.read() == ""
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_killed_parent_takes_the_child_along(tmp_path: Path):
    code = f"{_HEAD}    print(os.getpid(), flush=True)\n    time.sleep(60)\n\nsys.exit(command.run(work, save))\n"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    process.kill()
    process.wait(timeout=30)
    assert process.stdout.read() == ""  # the end of the pipe comes only when the child is gone too
