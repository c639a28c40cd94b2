"""`aiopt-bench`: how fast models run, beside other engines and beside what the machine can do.

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aiopt.support import command
from aiopt.support.arguments import Parser, add_fusion_option, add_winograd_option, parse_shapes
from aiopt.support.errors import OptionError
from aiopt.support.files import write_output
from aiopt.support.isolate import Journal
from aiopt.support.target import AUTO
from aiopt.tools.aiopt import save_reproducer
from aiopt.tools.aiopt_run import count, fill_inputs, load_inputs, seed

if TYPE_CHECKING:
    from aiopt.bench.engines import Job
    from aiopt.bench.roofline import Gauge
    from aiopt.support.cost import Machine


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
    add("--input", action="append", default=[], metavar="NAME=FILE.npy", help="value of an input (else random)")
    add("--amp", choices=["none", "bf16", "f16"], default="none", help="mixed precision for aiopt (default: none)")
    add_fusion_option(parser)
    add_winograd_option(parser)
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
    from aiopt.bench import record, text

    if given.compare:
        if given.models:
            raise OptionError("--compare takes two records and no models")
        _print(record.compare(*(record.read(Path(path)) for path in given.compare)))
        return 0
    if not given.models:
        raise OptionError("aiopt-bench needs a MODEL, or --compare A.json B.json")
    peers = _peers(given.vs)
    threads = [_threads(number) for number in given.threads.split(",")]
    made: dict[str, Any] = {"format": record.FORMAT, "machine": record.machine(), "models": []}
    gauge = _gauge() if given.kernels else None
    for model in given.models:
        made["models"].append({"model": model, "measurements": []})
        for number in threads:
            journal.record(f"measuring {model}")
            command.progress(f"measuring {model} on {number} threads ...")
            entry = _measure(given, Path(model), number, peers)
            command.progress("")
            made["models"][-1]["measurements"].append(entry)
            _print(text.measurement(model, entry))
            if gauge is not None:
                gauge.measure()
                _print([_kernels(entry, gauge.machine(number))])
    if given.trace:
        from aiopt.bench.roofline import trace

        write_output(Path(given.trace), json.dumps(trace(made["models"][-1]["measurements"][-1]["profile"])).encode())
    if given.json:
        write_output(Path(given.json), (json.dumps(made, indent=1) + "\n").encode())
    if peers:
        _print(text.means(made["models"], peers))
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

    arrays = load_inputs(given.input)
    types = _input_types(model, {name: array.shape for name, array in arrays.items()} | parse_shapes(given.shape))
    inputs = fill_inputs(types, {name: array for name, array in arrays.items() if name in types}, given.seed)
    job = _job(given, model, {name: array.shape for name, array in inputs.items()}, threads)
    return measure(job, inputs, peers, given.seconds, given.kernels or given.trace is not None)


def _job(given: argparse.Namespace, model: Path, shapes: dict[str, tuple[int, ...]], threads: int) -> Job:
    from aiopt.bench.engines import Job

    return Job(model.resolve(), shapes, threads, given.amp, given.fusion or AUTO, given.winograd or AUTO)


def _input_types(model: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, Any]:
    """Of the model's inputs, those it leaves open as given. Raises ModelError or InputError."""
    from aiopt.frontend.onnx.part import read_model
    from aiopt.frontend.onnx.signature import read_inputs

    proto, _ = read_model(model)
    names = {value.name for value in proto.graph.input}
    return dict(read_inputs(proto.graph, {name: shape for name, shape in shapes.items() if name in names}))


def _print(lines: Iterable[str]) -> None:
    write_output(None, "".join(f"{line}\n" for line in lines).encode())


def _gauge() -> Gauge:
    from aiopt.bench.roofline import Gauge

    gauge = Gauge()
    gauge.measure()
    return gauge


def _kernels(entry: dict[str, Any], machine: Machine) -> str:
    """The kernels beside the roofline. The record keeps the machine's numbers."""
    from aiopt.bench.roofline import rows, table

    entry["peaks"] = {"flops": machine.flops, "bandwidth": dict(machine.bandwidth)}
    return table(list(rows(entry["report"], entry["profile"], machine)))
