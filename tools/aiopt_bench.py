"""`aiopt-bench`: how fast models run, beside other engines and beside what the machine can do.

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiopt.support import command
from aiopt.support.arguments import Parser, add_fusion_option, parse_shapes
from aiopt.support.errors import OptionError
from aiopt.support.files import write_output
from aiopt.support.isolate import Journal
from aiopt.tools.aiopt import save_reproducer
from aiopt.tools.aiopt_run import count, fill_inputs, seed

if TYPE_CHECKING:
    from aiopt.bench.engines import Job


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return command.run(partial(_work, _parser().parse(arguments)), save_reproducer)


def _parser() -> Parser:
    parser = Parser("aiopt-bench", "Measure models: median time, memory, difference, ratio to other engines.")
    add = parser.add_argument
    add("models", nargs="*", metavar="MODEL", help=".onnx files")
    add("--vs", default="", metavar="ENGINE,...", help="engines to compare with: onnxruntime, openvino, iree")
    add("--threads", default="1", metavar="N,...", help="numbers of threads, one after the other (default: 1)")
    add("--shape", action="append", default=[], metavar="NAME=1x3x48x320", help="shape of an input of all models")
    add("--amp", choices=["none", "bf16", "f16"], default="none", help="mixed precision for aiopt (default: none)")
    add_fusion_option(parser)
    add("--seed", type=seed, default=0, metavar="N", help="seed of the random inputs (default: 0)")
    add("--seconds", type=_seconds, default=5.0, metavar="S", help="timed runs of a model, all engines (default: 5)")
    add("--kernels", action="store_true", help="time of each kernel, per cent of the roofline, and what bounds it")
    add("--trace", metavar="FILE", help="a run of the last model as a trace for Perfetto or chrome://tracing")
    add("--json", metavar="FILE", help="write a record of it all")
    add("--compare", nargs=2, metavar=("A.json", "B.json"), help="what got better and worse from one record to another")
    return parser


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return value


def _work(given: argparse.Namespace, journal: Journal) -> int:
    from aiopt.bench import record

    if given.compare:
        if given.models:
            raise OptionError("--compare takes two records and no models")
        lines = list(record.compare(*(record.read(Path(path)) for path in given.compare)))
        write_output(None, "".join(f"{line}\n" for line in lines).encode())
        return 0
    if not given.models:
        raise OptionError("aiopt-bench needs a MODEL, or --compare A.json B.json")
    peers = _peers(given.vs)
    threads = [_threads(text) for text in given.threads.split(",")]
    made: dict[str, Any] = {"format": record.FORMAT, "machine": record.machine(), "models": []}
    for model in given.models:
        made["models"].append({"model": model, "measurements": []})
        for number in threads:
            journal.record(f"measuring {model}")
            command.progress(f"measuring {model} on {number} threads ...")
            entry = _measure(given, Path(model), number, peers)
            command.progress("")
            made["models"][-1]["measurements"].append(entry)
            write_output(None, _as_text(model, entry, given.kernels).encode())
    if given.trace:
        from aiopt.bench.roofline import trace

        write_output(Path(given.trace), json.dumps(trace(made["models"][-1]["measurements"][-1]["profile"])).encode())
    if given.json:
        write_output(Path(given.json), (json.dumps(made, indent=1) + "\n").encode())
    if peers:
        write_output(None, _means(made, peers).encode())
    return 0


def _peers(text: str) -> list[str]:
    from aiopt.bench import engines

    peers = [name for name in text.split(",") if name]
    for name in peers:
        if name == "aiopt" or peers.count(name) > 1:
            raise OptionError(f"--vs takes other engines, each once, not '{text}'")
        engines.find(name)
    return peers


def _threads(text: str) -> int:
    try:
        return count(text)
    except argparse.ArgumentTypeError as error:
        raise OptionError(f"--threads: {error}") from None


def _measure(given: argparse.Namespace, model: Path, threads: int, peers: list[str]) -> dict[str, Any]:
    from aiopt.bench.measure import measure

    types = _input_types(model, parse_shapes(given.shape))
    inputs = fill_inputs(types, {}, given.seed)
    job = _job(model, {name: array.shape for name, array in inputs.items()}, threads, given.amp, given.fusion)
    return measure(job, inputs, peers, given.seconds, given.kernels or given.trace is not None)


def _job(model: Path, shapes: dict[str, tuple[int, ...]], threads: int, amp: str, fusion: str) -> Job:
    from aiopt.bench.engines import Job

    return Job(model.resolve(), shapes, threads, amp, fusion)


def _input_types(model: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Of the model's inputs, those it leaves open as given. Raises ModelError or InputError."""
    from aiopt.frontend.onnx.part import read_model
    from aiopt.frontend.onnx.signature import read_inputs

    proto, _ = read_model(model)
    names = {value.name for value in proto.graph.input}
    return dict(read_inputs(proto.graph, {name: shape for name, shape in shapes.items() if name in names}))


def _as_text(model: str, entry: dict[str, Any], kernels: bool) -> str:
    lines = [f"{model}, {entry['threads']} threads{'' if entry['amp'] == 'none' else ', ' + entry['amp']}"]
    for name, found in entry["engines"].items():
        if "error" in found:
            lines.append(f"  {name:12s} {found['error']}")
            continue
        low, high = found["quartiles"]
        parts = [f"{found['median'] * 1e3:.3f} ms ({low * 1e3:.3f} to {high * 1e3:.3f})"]
        parts += [f"load {found['load_seconds']:.2f} s", f"memory {found['peak_bytes'] / 1e6:.0f} MB"]
        if "difference" in found:
            parts.append(f"difference {found['difference']:.2g}")
        if "ratio" in found:
            parts.append(f"aiopt takes {found['ratio']:.2f} of its time")
        lines.append(f"  {name:12s} {', '.join(parts)}")
    if kernels:
        from aiopt.bench.roofline import measure_machine, rows, table

        machine = measure_machine(entry["threads"])
        lines.append(table(list(rows(entry["report"], entry["profile"], machine))))
    return "\n".join(lines) + "\n"


def _means(made: dict[str, Any], peers: list[str]) -> str:
    """Geometric means over the models, of each engine and of the best of each model."""
    lines = []
    for threads in sorted({entry["threads"] for model in made["models"] for entry in model["measurements"]}):
        entries = [e["engines"] for m in made["models"] for e in m["measurements"] if e["threads"] == threads]
        ratios = [[entry[peer]["ratio"] for peer in peers if "ratio" in entry[peer]] for entry in entries]
        for peer in peers:
            found = [entry[peer]["ratio"] for entry in entries if "ratio" in entry[peer]]
            if found:
                lines.append(f"{threads} threads, aiopt / {peer}: {_mean(found):.3f} (mean of {len(found)})")
        best = [max(found) for found in ratios if found]
        if len(peers) > 1 and best:
            lines.append(f"{threads} threads, aiopt / the best: {_mean(best):.3f} (mean), at most {max(best):.3f}")
    return "".join(f"{line}\n" for line in lines)


def _mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios))
