"""The command line of `aiopt`, and its reports as text."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from aiopt.passes.manager import Counted
from aiopt.passes.source_printer import SourcePrinter
from aiopt.tools.opt import chunks
from aiopt.tools.opt.command_line import UsageError, help_list, parse, unknown
from aiopt.tools.opt.flags import FLAGS, LEFT_OUT
from aiopt.tools.opt.statistics import with_ours
from aiopt.tools.opt.timing import Timing

REPORT = """===-------------------------------------------------------------------------===
                         ... Pass statistics report ...
===-------------------------------------------------------------------------===
"""


class Keeping(SourcePrinter):
    """A printer that keeps what it is to show."""

    def __init__(self, name: str, text: bytes) -> None:
        super().__init__(name, text)
        self.shown = ""

    def write(self, text: str) -> None:
        self.shown += text


def test_flags_take_one_dash_or_two_and_values_in_both_forms() -> None:
    given = parse(["-mlir-timing", "--pass-pipeline", "cse", "--split-input-file", "--verify-each=0", "x.mlir"])
    assert (given.input, given.values.mlir_timing, given.values.pass_pipeline) == ("x.mlir", True, "cse")
    assert (given.values.split_input_file, given.values.verify_each) == ("", False)


def test_flags_of_passes_keep_their_order_and_options() -> None:
    assert parse(["--cse", "-ai-dce", "--canonicalize=top-down=false"]).passes == [
        ("cse", ""),
        ("ai-dce", ""),
        ("canonicalize", "top-down=false"),
    ]


def test_filters_may_be_lists() -> None:
    given = parse(["--mlir-print-ir-after=cse,inline", "--mlir-print-ir-after", "sccp"])
    assert given.values.mlir_print_ir_after == ["cse", "inline", "sccp"]


def test_what_llvm_obeys_is_handed_on() -> None:
    given = parse(["--mlir-print-op-generic", "--mlir-elide-elementsattrs-if-larger=4", "--debug-only=x"])
    assert given.native == [
        "--mlir-print-op-generic=true",
        "--mlir-elide-elementsattrs-if-larger=4",
        "--debug-only=x",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mlir-timing=perhaps"], "'perhaps' is invalid value for boolean argument! Try 0 or 1"),
        (["--emit=ptx"], "for the --emit option: Cannot find option named 'ptx'!"),
        (["-o"], "for the -o option: requires a value!"),
        (["--mlir-elide-elementsattrs-if-larger=-1"], "'-1' value invalid for uint argument!"),
        (["a", "b"], "Too many positional arguments specified!"),
        (["--load-pass-plugin=x.so"], "plugins are Python modules"),
    ],
)
def test_wrong_command_lines(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        parse(words)


def test_only_a_near_flag_is_proposed() -> None:
    assert "Did you mean '--canonicalize=x'?" in str(unknown("canonicalise", "x", ["canonicalize", "cse"]))
    assert "mean" not in str(unknown("frobnicate", "", ["canonicalize", "cse"]))


def test_every_flag_is_described_once() -> None:
    listed = [
        line.split()[0].partition("=")[0].partition("[")[0] for line in help_list().splitlines() if line[2] == "-"
    ]
    assert sorted(word.lstrip("-") for word in listed) == sorted(FLAGS)
    assert not set(LEFT_OUT) & set(FLAGS)


def test_reports_of_pass_managers_are_added_up() -> None:
    timing = Timing()
    for _ in range(2):
        timing.add_report(
            "  Total Execution Time: 0.5000 seconds\n\n  ----Wall Time----  ----Name----\n"
            "    0.2000 ( 40.0%)  'func.func' Pipeline\n    0.1500 ( 30.0%)    CSE\n"
            "    0.1000 ( 20.0%)      (A) DominanceInfo\n    0.3000 ( 60.0%)  Rest\n    0.5000 (100.0%)  Total\n"
        )
    nest = timing.root.children["'func.func' Pipeline"]
    assert nest.seconds == pytest.approx(0.4)
    assert nest.children["CSE"].children["(A) DominanceInfo"].seconds == pytest.approx(0.2)
    rows = timing.report("tree", "text").splitlines()
    assert [row.partition(")  ")[2] for row in rows[6:-2]] == ["'func.func' Pipeline", "  CSE", "    (A) DominanceInfo"]
    first = json.loads(timing.report("tree", "json"))[0]
    assert first["passes"][0]["passes"][0]["name"] == "(A) DominanceInfo"
    assert json.loads(timing.report("list", "json"))[-1]["name"] == "Total"


def test_statistics_of_ours_stand_below_the_pass() -> None:
    ours = Counted("Fuse", {"num-fused": "Ops", "n": "Kernels"}, Counter({"num-fused": 12}))
    text = f"before\n{REPORT}CSE\n  (S) 1 num-dce'd - X\n'func.func' Pipeline\n  Fuse\n\nafter\n"
    put = with_ours(text, [ours], "pipeline")
    assert put == text.replace("  Fuse\n", "  Fuse\n    (S) 12 num-fused - Ops\n    (S)  0 n         - Kernels\n")
    assert with_ours("no report", [ours], "pipeline") == "no report"


def test_statistics_of_ours_are_summed_in_a_list() -> None:
    ours = [Counted("Fuse", {"n": "Kernels"}, Counter({"n": number})) for number in (2, 3)]
    put = with_ours(f"{REPORT}  CSE\n    (S) 1 num-dce'd - X\n\n", ours, "list")
    assert put == f"{REPORT}  CSE\n    (S) 1 num-dce'd - X\n  Fuse\n    (S) 5 n - Kernels\n\n"


def test_chunks_keep_their_places() -> None:
    text = b"a\n// -----\nb\n// ---x\nc // ----- d\n"
    printer = Keeping("x.mlir", text)
    found = list(chunks.split(text, "x.mlir", chunks.MARKER, printer))
    assert [(chunk.data, chunk.line, chunk.column) for chunk in found] == [
        (b"a\n", 0, 0),
        (b"\nb\n// ---x\nc ", 1, 8),
        (b" d\n", 4, 10),
    ]
    assert printer.shown == "x.mlir:4:7: warning: near miss with file split marker\n// ---x\n      ^\n"


@pytest.mark.parametrize(
    ("line", "column", "shown"),
    [
        ("\tx y", 2, "        x y\n        ^\n"),
        ("ab\tc", 4, "ab      c\n        ^\n"),
        ("é x", 3, "é x\n"),
        ("ab", 9, ""),
        ("ab", 0, ""),
    ],
)
def test_carets_stand_below_the_column(line: str, column: int, shown: str) -> None:
    printer = Keeping("x.mlir", line.encode())
    printer.show_at(("x.mlir", 1, column), "error", "no")
    assert printer.shown == f"x.mlir:1:{column}: error: no\n{shown}"
