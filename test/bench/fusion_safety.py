#!/usr/bin/env python3
"""Put random graphs through each graph pass and through the compiler, and compare with the graph run op by op.

    python test/bench/fusion_safety.py [--graphs 300] [--first 0] [--passes | --compiled] [--write FOLDER]

What is wrong is printed as the smallest graph that shows it; `--write` keeps the graphs as `aiopt-run` takes them.
The last line is `fusion safety: passes N of N graphs, compiled N of N graphs`; exit status 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for e2e

from aiopt.passes import io
from aiopt.support.errors import AioptError
from e2e.fusion_safety import GRAPHS, Check, check_compiled, check_passes, reproducer, write
from e2e.random_graphs import RandomGraph
from e2e.random_steps import random_graph


def main() -> int:
    given = _arguments()
    graphs = [random_graph(seed) for seed in range(given.first, given.first + given.graphs)]
    start, parts, missed = time.monotonic(), [], 0
    for name, check in _checks(given).items():
        wrong = [graph for graph in graphs if _is_wrong(graph, check, given.write)]
        parts.append(f"{name} {len(graphs) - len(wrong)} of {len(graphs)} graphs")
        missed += len(wrong)
    print(f"{time.monotonic() - start:.0f} s")
    print(f"fusion safety: {', '.join(parts)}")
    return 1 if missed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--graphs", type=int, default=GRAPHS, help=f"how many (default: {GRAPHS})")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--passes", action="store_true", help="the passes alone")
    only.add_argument("--compiled", action="store_true", help="compiled nets alone")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="write wrong graphs there")
    return parser.parse_args()


def _checks(given: argparse.Namespace) -> dict[str, Check]:
    checks: dict[str, Check] = {"passes": _passes, "compiled": check_compiled}
    return {name: check for name, check in checks.items() if not (given.passes or given.compiled) or vars(given)[name]}


def _passes(graph: RandomGraph) -> str:
    with io.borrowed_context() as context:
        return check_passes(graph, context)


def _is_wrong(graph: RandomGraph, check: Check, folder: Path | None) -> bool:
    found = reproducer(graph, partial(_with_errors, check))
    if found:
        print(found, flush=True)
        if folder is not None:
            write(graph, folder)
    return bool(found)


def _with_errors(check: Callable[[RandomGraph], str], graph: RandomGraph) -> str:
    """A pass that fails is as wrong as one that changes numbers."""
    try:
        return check(graph)
    except AioptError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(main())
