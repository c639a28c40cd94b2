#!/usr/bin/env python3
"""Measure what aiopt promises of itself: a line `name: measured (asked: ...)` for each figure, exit status 1 on a miss.

    python test/bench/figures.py [--quick] [SECTION ...]

Times are of this machine as it is: let nothing else run on it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for bench and e2e

from bench import amp, fusion, kernels, networks, npu, processes, rows
from bench.figure import Figure

SECTIONS = (
    *processes.SECTIONS,
    *kernels.SECTIONS,
    *networks.SECTIONS,
    *amp.SECTIONS,
    *fusion.SECTIONS,
    *npu.SECTIONS,
    *rows.SECTIONS,
)


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"{', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help=f"without {', '.join(networks.SLOW)}")
    given = parser.parse_args()
    unknown = [name for name in given.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"there is no section '{unknown[0]}' (there are: {', '.join(SECTIONS)})")
    missed = count = 0
    for figure in _measure(given.sections or SECTIONS, given.quick):
        print(figure, flush=True)
        count += 1
        missed += not figure.met
    print(f"{count - missed} of {count} figures are met")
    return 1 if missed else 0


def _measure(sections: Sequence[str], quick: bool) -> Iterator[Figure]:
    for name in processes.SECTIONS:
        if name in sections:
            yield from processes.measure(name)
    for name in kernels.SECTIONS:
        if name in sections:
            yield from kernels.measure(name)
    if of_networks := set(sections) & set(networks.SECTIONS):
        yield from networks.measure(of_networks, quick)
    if set(sections) & set(amp.SECTIONS):
        yield from amp.measure()
    if set(sections) & set(fusion.SECTIONS):
        yield from fusion.measure()
    if set(sections) & set(npu.SECTIONS):
        yield from npu.measure()
    if set(sections) & set(rows.SECTIONS):
        yield from rows.measure()


if __name__ == "__main__":
    sys.exit(main())
