#!/usr/bin/env python3
"""Measure the eleven models beside ONNX Runtime and OpenVINO, and hold the times against what is asked of them.

    python test/bench/suite.py [--threads 1,2] [--models NAME,...] [--json F] [--by STATISTIC]

Both peers compute in f32 on as many threads; runs of all take turns, each engine in a process of its own. A line per
model, then the milestones (exit status 1: one is missed), then for each that is missed the kernels that hold it back.
`aiopt-bench --compare A.json B.json` says what changed between two records.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for bench and e2e

from aiopt.bench import record
from aiopt.bench.engines import Job
from aiopt.bench.measure import measure
from aiopt.bench.roofline import Gauge
from bench import milestones
from bench.models import MODELS

PEERS = ("onnxruntime", "openvino")


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parse(arguments)
    made: dict[str, Any] = {"format": record.FORMAT, "machine": record.machine(), "commit": _commit(), "models": []}
    gauge = Gauge()
    gauge.measure()
    print(milestones.HEAD, flush=True)
    for name in given.models:
        made["models"].append({"model": name, "measurements": []})
        for entry in _measure(name, given.threads, given.seconds):
            gauge.measure()
            made["models"][-1]["measurements"].append(entry)
            print(milestones.line(made["models"][-1], entry, given.by), flush=True)
    for threads in given.threads:
        machine = gauge.machine(threads)
        made["machine"][f"peaks_{threads}"] = {"flops": machine.flops, "bandwidth": dict(machine.bandwidth)}
    if given.json:
        Path(given.json).write_text(json.dumps(made, indent=1) + "\n")
    missed = 0
    for threads in given.threads:
        found = list(milestones.milestones(made["models"], threads, given.by))
        missed += sum(not one.figure.met for one in found)
        print("\n".join(milestones.report(found, made["models"], threads, gauge.machine(threads))), flush=True)
    return 1 if missed else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    def names(text: str) -> list[str]:
        unknown = [name for name in text.split(",") if name not in MODELS]
        if unknown:
            raise argparse.ArgumentTypeError(f"there is no model '{unknown[0]}' (there are: {', '.join(MODELS)})")
        return text.split(",")

    def counts(text: str) -> list[int]:
        if not all(part.isdecimal() and int(part) for part in text.split(",")):
            raise argparse.ArgumentTypeError(f"'{text}' is no list of numbers of threads, as 1,2")
        return [int(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    add = parser.add_argument
    add("--threads", type=counts, default=[1], metavar="N,...", help="numbers of threads (default: 1)")
    add("--models", type=names, default=list(MODELS), metavar="NAME,...", help=f"of {', '.join(MODELS)} (default: all)")
    add("--json", metavar="F", help="write a record")
    add("--seconds", type=float, default=10.0, help="timed runs of a model, all engines together (default: 10)")
    add(
        "--by",
        choices=milestones.STATISTICS,
        default=milestones.STATISTICS[0],
        help="time of a run: the median or the least; of CPU time on one thread, for a machine that is not idle "
        "(default: median)",
    )
    return parser.parse_args(arguments)


def _measure(name: str, threads: Sequence[int], seconds: float) -> Iterator[dict[str, Any]]:
    """The measurements of one model, by numbers of threads."""
    case = MODELS[name]
    inputs = case.inputs()
    shapes = {key: array.shape for key, array in inputs.items()}
    with tempfile.TemporaryDirectory(prefix="aiopt-suite-") as folder:
        made = case.model()
        path = Path(folder) / f"{name}.onnx" if isinstance(made, bytes) else made
        if isinstance(made, bytes):
            path.write_bytes(made)
            del made
        for number in threads:
            yield measure(Job(path.resolve(), shapes, number), inputs, PEERS, seconds, profile=True)


def _commit() -> str:
    """Of the sources, if they are a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


if __name__ == "__main__":
    sys.exit(main())
