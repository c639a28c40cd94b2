#!/usr/bin/env python3
"""Run the test cases of the onnx package through aiopt.backend and say how many pass, and why the others do not.

    python test/bench/onnx_cases.py [--workers 2] [--seconds 60] [--eighth 0..7] [--models] [--passed FILE] [PATTERN]

Each case runs in a worker process; one that crashes or takes too long is a case that failed. Cases that are known not
to pass stand in onnx_expected_failures.toml. Exit status 1 if another does not pass, or one of these does.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for bench

from bench.onnx_suite import (
    CLASSES,
    FOLDERS,
    Case,
    Outcome,
    expected_failures,
    model_cases,
    node_cases,
    run_case,
    surprises,
)
from bench.worker_pool import run_all

Results = Sequence[tuple[Case, Outcome]]


def main() -> int:
    given = _arguments()
    cases = list(model_cases()) if given.models else node_cases()
    if given.eighth is not None:
        cases = cases[given.eighth :: 8]
    cases = [case for case in cases if re.search(given.pattern, case.name)]
    start = time.monotonic()
    outcomes = run_all(run_case, cases, workers=given.workers, seconds=given.seconds)
    results = list(zip(cases, [_outcome(found) for found in outcomes], strict=True))
    for line in report(results):
        print(line)
    print(f"{time.monotonic() - start:.0f} s")
    if given.passed:
        names = sorted(case.name for case, outcome in results if outcome.status == "passed")
        Path(given.passed).write_text("\n".join([*names, ""]))
    unexpected = surprises(results, expected_failures())
    for line in unexpected:
        print(f"unexpected: {line}")
    return 1 if unexpected else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="a regular expression that names are searched with")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--seconds", type=float, default=60, help="the longest a case may take (default: 60)")
    parser.add_argument("--eighth", type=int, choices=range(8), metavar="0..7", help="every eighth case from this on")
    parser.add_argument("--models", action="store_true", help=f"the models {', '.join(FOLDERS)}, not the node cases")
    parser.add_argument("--passed", metavar="FILE", help="write the names of the cases that passed")
    return parser.parse_args()


def _outcome(found: Outcome | str) -> Outcome:
    return Outcome("failed", found) if isinstance(found, str) else found


def report(results: Results) -> list[str]:
    """What did not pass, by operator and reason; what is on the slow route; the counts of each class."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for case, outcome in results:
        counts[case.kind][outcome.status] += 1
        if outcome.status != "passed":
            groups[case.group, outcome.status, outcome.reason].append(case.name)
    lines = []
    for (group, status, reason), names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        lines.append(f"{len(names):4} {group} {status}: {reason} [{names[0]}{more}]")
    if slow := Counter(name for _, outcome in results for name in outcome.slow):
        lines.append("slow route: " + ", ".join(f"{name} {count}" for name, count in slow.most_common()))
    for kind in (*CLASSES, *FOLDERS):
        if found := counts.get(kind):
            rest = ", ".join(f"{found[status]} {status}" for status in ("failed", "unsupported"))
            hosted = sum(bool(outcome.slow) for case, outcome in results if case.kind == kind)
            lines.append(
                f"{kind}: {found['passed']} of {sum(found.values())} passed ({hosted} not all compiled), {rest}"
            )
    return lines


if __name__ == "__main__":
    sys.exit(main())
