"""`aiopt` against stock `mlir-opt` of the same version: outputs, exit code, standard error, files written."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from e2e.commands import command

INPUTS = Path(__file__).with_name("mlir_opt")


@dataclass(frozen=True)
class Case:
    """One command line.

    stdin: the file that is read from the standard input. files: what it writes, to be compared, too.
    left_out: why the standard error is not compared.
    """

    words: str
    stdin: str = ""
    files: tuple[str, ...] = ()
    left_out: str = ""


PIPELINE_WORDS = "aiopt says it in a line of its own, with the pass that was probably meant"
FAR = "mlir-opt proposes the nearest of LLVM's options however far it is"
INNER = "a pipeline that a pass runs itself is printed like that pass"
PASS_NAMES = "aiopt knows the passes' arguments, not the names of their C++ classes"

CASES = [
    # Input and output.
    Case("small.mlir"),
    Case("", stdin="small.mlir"),
    Case("-", stdin="loops.mlir"),
    Case("- --mlir-print-debuginfo", stdin="small.mlir"),
    Case("small.mlir -o out.mlir", files=("out.mlir",)),
    Case("small.mlir -o=out.mlir", files=("out.mlir",)),
    Case("small.mlir -o - --cse"),
    Case("syntax.mlir -o out.mlir", files=("out.mlir",)),
    Case("absent.mlir"),
    Case("."),
    Case("small.mlir -o absent/out.mlir"),
    Case("-- small.mlir"),
    # The command line.
    Case("small.mlir loops.mlir"),
    Case("small.mlir --canonicalise"),
    Case("small.mlir --verify-eech"),
    Case("small.mlir --frobnicate=1", left_out=FAR),
    Case("small.mlir --emit-bytecode=maybe"),
    Case("small.mlir --mlir-timing-display=tables"),
    Case("small.mlir --mlir-elide-elementsattrs-if-larger=many"),
    Case("small.mlir -o"),
    Case("small.mlir --verify-each --verify-each"),
    Case("small.mlir -cse -canonicalize"),
    # Passes and pipelines.
    Case("small.mlir --canonicalize --cse"),
    Case("small.mlir --cse --canonicalize=max-iterations=2"),
    Case("small.mlir --pass-pipeline=builtin.module(func.func(canonicalize,cse))"),
    Case("small.mlir --pass-pipeline=builtin.module(any(cse),func.func(canonicalize{top-down=false}))"),
    Case("loops.mlir --lower-affine --convert-scf-to-cf --inline --symbol-dce"),
    Case("loops.mlir --affine-loop-tile=tile-size=8"),
    Case("loops.mlir --pass-pipeline=builtin.module(affine-loop-unroll)"),
    Case("small.mlir --dump-pass-pipeline --canonicalize --cse --inline"),
    Case("small.mlir --dump-pass-pipeline --pass-pipeline=builtin.module(cse,func.func(canonicalize,cse),any(cse))"),
    Case("small.mlir --dump-pass-pipeline"),
    Case("loops.mlir --dump-pass-pipeline --affine-loop-tile --cse"),
    Case("small.mlir --cse --pass-pipeline=builtin.module(cse)"),
    Case("small.mlir --pass-pipeline=builtin.module(canonicalise)", left_out=PIPELINE_WORDS),
    Case("small.mlir --pass-pipeline=builtin.module(cse", left_out=PIPELINE_WORDS),
    Case("small.mlir --pass-pipeline=builtin.module(cse{depth=1})", left_out=PIPELINE_WORDS),
    Case("small.mlir --cse=depth=1", left_out=PIPELINE_WORDS),
    Case("loops.mlir --test-print-liveness", left_out=FAR),
    # Diagnostics.
    Case("syntax.mlir"),
    Case("", stdin="syntax.mlir"),
    Case("invalid.mlir"),
    Case("invalid.mlir --mlir-print-op-on-diagnostic=false"),
    Case("unregistered.mlir"),
    Case("unregistered.mlir --allow-unregistered-dialect"),
    Case("unregistered.mlir --allow-unregistered-dialect --one-shot-bufferize=allow-unknown-ops=false"),
    Case("calls.mlir --allow-unregistered-dialect --one-shot-bufferize"),
    Case("calls.mlir --allow-unregistered-dialect --one-shot-bufferize --mlir-disable-diagnostic-notes"),
    Case("invalid.mlir --mlir-diagnostic-verbosity-level=errors"),
    Case("expected.mlir --split-input-file --verify-diagnostics"),
    Case("unexpected.mlir --split-input-file --verify-diagnostics"),
    Case("unexpected.mlir --split-input-file --verify-diagnostics=all"),
    Case("unexpected.mlir --split-input-file --verify-diagnostics=only-expected"),
    # Chunks.
    Case("chunks.mlir --split-input-file"),
    Case("chunks.mlir --split-input-file --cse -o out.mlir", files=("out.mlir",)),
    Case("chunks.mlir --split-input-file --output-split-marker=//======"),
    Case("other-chunks.mlir --split-input-file=//.===="),
    Case("- --split-input-file --mlir-print-debuginfo", stdin="chunks.mlir"),
    # Printing.
    Case("small.mlir --mlir-print-op-generic"),
    Case("small.mlir --mlir-print-debuginfo"),
    Case("small.mlir --mlir-print-debuginfo --mlir-pretty-debuginfo"),
    Case("loops.mlir --mlir-print-debuginfo --mlir-print-local-scope"),
    Case("small.mlir --mlir-print-debuginfo --mlir-use-nameloc-as-prefix"),
    Case("loops.mlir --mlir-print-skip-regions"),
    Case("loops.mlir --mlir-print-value-users"),
    Case("loops.mlir --mlir-print-unique-ssa-ids"),
    Case("invalid.mlir --mlir-print-assume-verified"),
    Case("resources.mlir"),
    Case("resources.mlir --mlir-elide-elementsattrs-if-larger=4"),
    Case("resources.mlir --mlir-elide-resource-strings-if-larger=4"),
    Case("resources.mlir --mlir-print-elementsattrs-with-hex-if-larger=2"),
    Case("loops.mlir --emit-bytecode -o out.mlirbc", files=("out.mlirbc",)),
    Case("small.mlir --emit-bytecode --emit-bytecode-version=4 -o out.mlirbc", files=("out.mlirbc",)),
    Case("op.mlir --no-implicit-module"),
    Case("op.mlir --no-implicit-module --cse --canonicalize"),
    Case("op.mlir --no-implicit-module --pass-pipeline=func.func(cse)"),
    Case("op.mlir --no-implicit-module --pass-pipeline=builtin.module(cse)"),
    Case("small.mlir --no-implicit-module"),
    Case("small.mlir --verify-roundtrip"),
    Case("toy.irdl --irdl-file=toy.irdl"),
    Case("uses-toy.mlir --irdl-file=toy.irdl --cse"),
    Case("wrong-toy.mlir --irdl-file=toy.irdl"),
    # What happens in between.
    Case("small.mlir --mlir-print-ir-before-all --cse --canonicalize"),
    Case("small.mlir --mlir-print-ir-after-all --pass-pipeline=builtin.module(func.func(cse,canonicalize),cse)"),
    Case("small.mlir --mlir-print-ir-after-all --mlir-print-ir-after-change --cse --cse --canonicalize"),
    Case("unregistered.mlir --allow-unregistered-dialect --mlir-print-ir-after-failure --cse --one-shot-bufferize"),
    Case("loops.mlir --mlir-print-ir-before=inline --mlir-print-ir-after=canonicalize --inline --cse", left_out=INNER),
    Case("loops.mlir --mlir-print-ir-before=cse --mlir-print-ir-after=canonicalize,cse --cse --canonicalize --cse"),
    Case(
        "small.mlir --mlir-print-ir-after=cse "
        "--pass-pipeline=builtin.module(func.func(cse),func.func(canonicalize,cse))"
    ),
    Case("small.mlir --mlir-print-ir-after=nothing --cse"),
    Case("loops.mlir --mlir-print-ir-after-all --inline --mlir-disable-threading"),
    Case(
        "small.mlir --mlir-print-ir-before-all --mlir-print-ir-module-scope --mlir-disable-threading "
        "--pass-pipeline=builtin.module(func.func(cse))"
    ),
    Case("small.mlir --mlir-print-ir-after-all --mlir-print-op-generic --mlir-print-debuginfo --cse"),
    Case(
        "small.mlir --mlir-print-ir-after-all --mlir-print-ir-tree-dir=tree "
        "--pass-pipeline=builtin.module(cse,func.func(canonicalize))",
        files=(
            "tree/builtin_module_no-symbol-name/0_cse.mlir",
            "tree/builtin_module_no-symbol-name/func_func_f/1_0_canonicalize.mlir",
            "tree/builtin_module_no-symbol-name/func_func_g/1_0_canonicalize.mlir",
        ),
    ),
    Case(
        "small.mlir --mlir-timing --mlir-disable-threading --pass-pipeline=builtin.module(func.func(canonicalize,cse))"
    ),
    Case("loops.mlir --mlir-timing --mlir-output-format=json --inline --cse"),
    Case("small.mlir --mlir-pass-statistics --pass-pipeline=builtin.module(cse,func.func(canonicalize,cse))"),
    Case("small.mlir --mlir-pass-statistics --mlir-pass-statistics-display=list --cse --canonicalize --cse"),
    # Reproducers, and the verifier.
    Case("reproducer.mlir --run-reproducer"),
    Case("reproducer.mlir --run-reproducer --dump-pass-pipeline"),
    Case("reproducer.mlir --run-reproducer --cse --dump-pass-pipeline"),
    Case("small.mlir --cse --mlir-generate-reproducer=out.mlir", files=("out.mlir",)),
    Case(
        "unregistered.mlir --allow-unregistered-dialect --mlir-pass-pipeline-crash-reproducer=out.mlir --cse "
        "--one-shot-bufferize --canonicalize",
        files=("out.mlir",),
        left_out=PASS_NAMES,
    ),
    Case(
        "unregistered.mlir --allow-unregistered-dialect --mlir-pass-pipeline-crash-reproducer=out.mlir "
        "--mlir-pass-pipeline-local-reproducer --mlir-disable-threading --cse --one-shot-bufferize --canonicalize",
        files=("out.mlir",),
        left_out=PASS_NAMES,
    ),
    Case("small.mlir --verify-each=false --canonicalize"),
    Case("small.mlir --remarks-filter=.* --canonicalize"),
]


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: str
    stderr: str
    files: dict[str, bytes | None]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.words} < {case.stdin}" if case.stdin else case.words)
def test_aiopt_does_what_mlir_opt_does(case: Case, tmp_path: Path) -> None:
    theirs, ours = (_run(tool, case, tmp_path / tool) for tool in ("mlir-opt", "aiopt"))
    assert ours.stdout == theirs.stdout
    assert ours.code == theirs.code
    assert ours.files == theirs.files
    if not case.left_out:
        assert ours.stderr == theirs.stderr


def test_enough_is_compared() -> None:
    """What was asked for: at least 60 command lines, the standard error of at most 10 left out."""
    assert len({(case.words, case.stdin) for case in CASES}) == len(CASES) >= 60
    assert sum(bool(case.left_out) for case in CASES) <= 10


def _run(tool: str, case: Case, folder: Path) -> Outcome:
    shutil.copytree(INPUTS, folder)
    words = [word.replace("//.", "// ") for word in case.words.split()]
    if "--mlir-print-ir" in case.words and "--mlir-disable-threading" not in words:
        words.append("--mlir-disable-threading")  # else the functions of a module are printed as their threads come
    done = command(tool, *words, cwd=folder, stdin=folder / case.stdin if case.stdin else None)
    files = {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in case.files}
    return Outcome(done.returncode, done.stdout, _normal(done.stderr), files)


def _normal(text: str) -> str:
    """The standard error without the command's name and without times."""
    text = re.sub(r"(?:[\w./-]+/)?mlir-opt\b", "aiopt", text)
    return re.sub(r" *-?\d+\.\d+(?=[ ,%}\n])", " T", text)
