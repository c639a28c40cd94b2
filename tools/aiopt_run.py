"""`aiopt-run`: compile a model, run it on given or random inputs, and say what came out and how long it took.

As in `aiopt`, nothing heavy is imported before the fork.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiopt
from aiopt.runtime import artifact
from aiopt.runtime.parts_table import parts_table
from aiopt.support import command
from aiopt.support.arguments import (
    Parser,
    add_fusion_option,
    add_target_options,
    parse_shapes,
    reject_target,
    split_assignment,
    target_choice,
)
from aiopt.support.errors import ComparisonError, InputError, MissingPackageError, OptionError
from aiopt.support.files import read_input, write_output
from aiopt.support.fusion import AUTO
from aiopt.support.isolate import Entry, Journal

if TYPE_CHECKING:
    import numpy as np

    from aiopt.runtime.base import Net
    from aiopt.staged import StagedNet
    from aiopt.support.types import TensorType

STDIN = "-"
_INDEX_BYTES = 4  # of the smallest integers that are indices in ONNX
Arrays = dict[str, "np.ndarray"]
_REPORTED = {"launches": "launches", "arena_bytes": "arena bytes", "weights_bytes": "weights bytes"}
_OF_PARTS = ("kernels", "parts", "target")  # what is said more of a net in parts


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 1 on an error or if a comparison fails."""
    return command.run(partial(_work, _parser().parse(arguments)), save_reproducer)


def save_reproducer(entry: Entry, path: Path) -> None:
    """Write what is left of a run that native code ended (called in a child of its own)."""
    from aiopt.passes.reproducer import write_reproducer

    write_reproducer(entry, path)


def _parser() -> Parser:
    parser = Parser("aiopt-run", "Compile a model and run it.")
    add = parser.add_argument
    add("model", metavar="MODEL", help=".onnx, .mlir of any level, or .aio; '-': stdin")
    add("--input", action="append", default=[], metavar="NAME=FILE.npy", help="value of an input (else random)")
    add("--shape", action="append", default=[], metavar="NAME=1x3x48x320", help="shape of an input of an ONNX model")
    add("--threads", type=count, metavar="N", help="threads of a run (default: 1, for .aio what it was compiled for)")
    add("--affinity", metavar="CPUS", help="where threads run: auto, none, compact or CPUs such as 0,2-3")
    add("--repeat", type=count, default=10, metavar="N", help="timed runs after a first one (default: 10)")
    add("--seed", type=seed, default=0, metavar="N", help="seed of the random inputs (default: 0)")
    add("--compare", choices=["onnxruntime", "reference"], help="hold the outputs against another engine's")
    add(
        "--amp",
        choices=["none", "bf16", "f16"],
        default="none",
        help="mixed precision: contractions on this type; --compare then wants an SQNR of at least 40 dB instead of a "
        "difference of at most 1e-4 (default: none)",
    )
    add(
        "--per-layer",
        action="store_true",
        help="with --amp: hold what each kernel gives against the same in f32 (compiles the net twice more)",
    )
    add_target_options(parser)
    add_fusion_option(parser)
    add("--no-cache", action="store_true", help="compile even if the cache has the net, and leave the cache alone")
    add("--info", action="store_true", help="print what a .aio file says of itself, and run nothing")
    add("--json", action="store_true", help="print one JSON object")
    return parser


def count(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 1")
    return int(text)


def seed(text: str) -> int:
    """A whole number of at least 0, for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number of at least 0")
    return int(text)


def _work(given: argparse.Namespace, journal: Journal) -> int:
    if given.info:
        header = artifact.read_header(given.model)
        write_output(None, (json.dumps(header) + "\n" if given.json else artifact.describe(header)).encode())
        return 0
    if given.per_layer and given.amp == "none":
        raise OptionError("--per-layer goes with --amp=bf16 or --amp=f16")
    if given.affinity is not None:
        aiopt.set_affinity(given.affinity)
    shapes = parse_shapes(given.shape)
    arrays = load_inputs(given.input)
    start = time.perf_counter()
    if given.model != STDIN and artifact.looks_like_artifact(given.model):
        model: Path | bytes = Path(given.model)
        reject_shapes(shapes, "a compiled net")
        if given.compare:
            raise OptionError(f"--compare {given.compare} takes the model, not a compiled net")
        if given.amp != "none":
            raise OptionError("--amp takes the model; a compiled net has its types in it")
        reject_target(given)
        net = aiopt.load(model, given.threads)
    else:
        model, net = _compile(given, shapes, arrays, journal)
    facts: dict[str, Any] = {"model": given.model, "threads": net.threads, "amp": given.amp}
    facts["compile_seconds"] = time.perf_counter() - start
    journal.record("the compiled net")
    inputs = fill_inputs(net.inputs, arrays, given.seed)
    command.progress("running ...")
    outputs = _run(net, inputs, given.repeat, facts)
    if given.compare:
        journal.record(f"comparing with {given.compare}")
        command.progress(f"comparing with {given.compare} ...")
        compare(facts, given.compare, model, inputs, outputs)
    if given.per_layer:
        command.progress("comparing kernel by kernel ...")
        facts["layers"] = _per_layer(model, given, inputs)
    command.progress("")
    write_output(None, (_as_json(facts) if given.json else _as_text(facts)).encode())
    check(facts)
    return 0


def _compile(
    given: argparse.Namespace, shapes: dict[str, tuple[int, ...]], arrays: Arrays, journal: Journal
) -> tuple[Path | bytes, Net | StagedNet]:
    """The model and its net, for the given shapes or, where the model leaves some open, those of the given inputs."""
    journal.record("loading MLIR")
    from aiopt import api
    from aiopt.passes import io, pipeline
    from aiopt.passes.reproducer import StepKeeper

    model = read_input(STDIN) if given.model == STDIN else Path(given.model)
    mlir = io.is_mlir(model)
    if mlir:
        reject_shapes(shapes, "MLIR")
    _check_oracle(given.compare, mlir)
    command.progress(f"compiling {given.model} ...")
    source = api.read_source(model)
    shapes = {name: arrays[name].shape for name in source.open_inputs if name in arrays} | shapes
    with pipeline.observed(StepKeeper(journal)):
        calibration = _calibration(model, shapes, arrays, given.seed) if given.amp == "f16" else None
        precision = api.Precision(given.amp, calibration)
        return model, api.compile_static(
            source,
            target_choice(given),
            given.threads or 1,
            shapes,
            not given.no_cache,
            precision,
            given.fusion or AUTO,
        )


def _calibration(model: Path | bytes, shapes: dict[str, tuple[int, ...]], arrays: Arrays, seed: int) -> Arrays:
    """The inputs of the run, which show how large values get."""
    from aiopt import driver
    from aiopt.passes import io
    from aiopt.passes.interpret import input_types

    unit = driver.load_unit(model, io.new_context(), shapes)
    return fill_inputs(input_types(unit.module), arrays, seed)


def reject_shapes(shapes: Mapping[str, object], what: str) -> None:
    """Raise OptionError if shapes are given for what already has them."""
    if shapes:
        raise OptionError(f"--shape is for ONNX models; {what} has its shapes in it")


def _check_oracle(oracle: str | None, mlir: bool) -> None:
    """Find out before the long work. Raises OptionError."""
    if oracle != "onnxruntime":
        return
    if mlir:
        raise OptionError("--compare onnxruntime takes an ONNX model; for MLIR there is --compare reference")
    if importlib.util.find_spec("onnxruntime") is None:  # asked before the model is compiled for nothing
        raise MissingPackageError("--compare onnxruntime needs the package onnxruntime: pip install 'aiopt[demo]'")


def load_inputs(texts: Sequence[str]) -> Arrays:
    """The arrays of `NAME=FILE.npy` texts. Raises OptionError or InputError."""
    files: dict[str, Path] = {}
    for text in texts:
        name, file = split_assignment("--input", text, "x.npy")
        if name in files:
            raise OptionError(f"--input gives '{name}' twice")
        files[name] = Path(file)
    return {name: load_array(name, file) for name, file in files.items()}


def fill_inputs(types: Mapping[str, TensorType | None], given: Arrays, seed: int) -> Arrays:
    """The given arrays, and for the other inputs random ones: N(0, 1), either bool, integers 0 to 7, those of 32 and 64
    bits, which are indices, masks and kinds of tokens, 0 or 1: valid for all of these.

    Raises InputError for an input without such a type that is not given.
    """
    import numpy as np

    from aiopt.support.types import FLOATS

    generator = np.random.default_rng(seed)
    arrays = dict(given)
    for name, kind in types.items():
        if kind is None:
            if name not in arrays:
                raise InputError(f"input '{name}' is of a type that no random values are made of: give --input {name}=")
            continue
        if name in arrays:
            if kind.element == "bf16" and arrays[name].dtype.str == "|V2":  # .npy has no name for it
                arrays[name] = arrays[name].view(kind.dtype)
            continue
        if kind.element in FLOATS:
            arrays[name] = generator.standard_normal(kind.shape).astype(kind.dtype)
        else:
            choices = 2 if kind.dtype.kind == "b" or kind.dtype.itemsize >= _INDEX_BYTES else 8
            arrays[name] = generator.integers(0, choices, kind.shape).astype(kind.dtype)
    return arrays


def load_array(name: str, file: Path) -> np.ndarray:
    """The array of a .npy file. Raises InputError that names the input."""
    import numpy as np

    try:
        array = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InputError(f"input '{name}': cannot read '{file}': {reason}") from error
    if not isinstance(array, np.ndarray):
        raise InputError(f"input '{name}': '{file}' holds several arrays; a .npy file holds one")
    return array


def _run(net: Net | StagedNet, inputs: Arrays, repeat: int, facts: dict[str, Any]) -> Arrays:
    """Run once and then `repeat` times with a clock."""
    outputs = net.run(inputs)
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        net.run(inputs)
        seconds.append(time.perf_counter() - start)
    report = net.report()
    facts["cache"] = report.get("cache", "off")
    facts.update(seconds_per_run=statistics.median(seconds), runs=repeat)
    facts.update({key: report[key] for key in _REPORTED if key in report})
    facts.update({key: report[key] for key in _OF_PARTS if "parts" in report})
    if report.get("slow_route"):
        facts["slow_route"] = report["slow_route"]
    facts["outputs"] = [describe(name, array) for name, array in outputs.items()]
    return outputs


def describe(name: str, array: np.ndarray) -> dict[str, Any]:
    """What is said of an output, of JSON's types."""
    some = array.size > 0
    return {
        "name": name,
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "min": float(array.min()) if some else math.nan,
        "max": float(array.max()) if some else math.nan,
        "mean": float(array.astype("f8").mean()) if some else math.nan,
    }


def compare(facts: dict[str, Any], oracle: str, model: Path | bytes, inputs: Arrays, outputs: Arrays) -> None:
    """Note the difference of every output to what another engine computes from the model and the inputs."""
    from dataclasses import asdict

    from aiopt.support.compare import likeness, relative_difference, run_onnxruntime

    reference = run_onnxruntime(model, inputs) if oracle == "onnxruntime" else _run_reference(model, inputs)
    facts["compare"] = oracle
    for output in facts["outputs"]:
        have, want = outputs[output["name"]], reference[output["name"]]
        if facts.get("amp", "none") == "none":
            output["difference"] = relative_difference(have, want)
        else:
            output.update(asdict(likeness(have, want)))


def check(facts: dict[str, Any]) -> None:
    """Raise CompileError if an output was compared and is too far off."""
    from aiopt.support.compare import LEAST_SQNR, TOLERANCE

    for output in facts["outputs"]:
        if "sqnr" in output:
            if not output["sqnr"] >= LEAST_SQNR:
                raise ComparisonError(
                    f"output '{output['name']}' has an SQNR of {output['sqnr']:.1f} dB to {facts['compare']}; at least "
                    f"{LEAST_SQNR:g} dB are wanted with --amp={facts['amp']}"
                )
        elif not output.get("difference", 0.0) <= TOLERANCE:
            raise ComparisonError(
                f"output '{output['name']}' differs from {facts['compare']} by {output['difference']:.3g} of the "
                f"largest reference value; at most {TOLERANCE:g} is allowed"
            )


def _per_layer(model: Path | bytes, given: argparse.Namespace, inputs: Arrays) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from aiopt.accuracy import per_kernel

    found = per_kernel(model, given.amp, inputs, target_choice(given))
    return [{"kernel": one.kernel, "nodes": one.nodes, "type": one.element, **asdict(one.likeness)} for one in found]


def _run_reference(model: Path | bytes, inputs: Arrays) -> Arrays:
    from aiopt import driver
    from aiopt.passes import io
    from aiopt.passes.adopt import adopt
    from aiopt.passes.interpret import interpret
    from aiopt.passes.spec import Level

    shapes = {name: array.shape for name, array in inputs.items()}
    unit = driver.load_unit(model, io.new_context(), shapes)
    adopt(unit)
    if unit.level not in (Level.GRAPH, Level.KERNELS, Level.PARTS):
        level = unit.level.value if unit.level else "none"
        raise OptionError(f"--compare reference takes IR of level graph, kernels or parts, this is at level {level}")
    return interpret(unit.module, unit.weights, inputs)


def _as_text(facts: dict[str, Any]) -> str:
    lines = []
    for output in facts["outputs"]:
        shape = "x".join(map(str, output["shape"])) or "scalar"
        numbers = ", ".join(f"{key} {output[key]:.6g}" for key in ("min", "max", "mean"))
        difference = f", difference to {facts['compare']} {output['difference']:.3g}" if "compare" in facts else ""
        if "sqnr" in output:
            difference = (
                f", to {facts['compare']}: cosine {output['cosine']:.6f}, SQNR {output['sqnr']:.1f} dB, largest "
                f"difference {output['difference']:.3g}"
            )
        lines.append(f"output {output['name']}: {shape} {output['dtype']}, {numbers}{difference}")
    for layer in facts.get("layers", []):
        numbers = (
            f"cosine {layer['cosine']:.6f}, SQNR {layer['sqnr']:.1f} dB, largest difference {layer['difference']:.3g}"
        )
        lines.append(f"kernel {layer['kernel']} ({layer['nodes']}, {layer['type']}): {numbers}")
    lines += parts_table(facts)
    milliseconds = facts["seconds_per_run"] * 1e3
    simulated = ", NPUs simulated" if "parts" in facts else ""
    lines.append(
        f"time per run: {milliseconds:.3f} ms (median of {facts['runs']}, {facts['threads']} threads{simulated})"
    )
    lines += [f"{words}: {facts[key]}" for key, words in _REPORTED.items() if key in facts]
    lines += [f"not compiled: {one['op']} '{one['node']}' ({one['reason']})" for one in facts.get("slow_route", [])]
    source = " (from the cache)" if facts["cache"] == "hit" else ""
    lines.append(f"compile time: {facts['compile_seconds']:.2f} s{source}")
    return "\n".join(lines) + "\n"


def _as_json(facts: dict[str, Any]) -> str:
    """JSON has no NaN and no infinity: they become null."""

    def finite(value: Any) -> Any:
        return None if isinstance(value, float) and not math.isfinite(value) else value

    tables = {
        key: [{name: finite(value) for name, value in entry.items()} for entry in facts[key]]
        for key in ("outputs", "layers")
        if key in facts
    }
    return json.dumps({**facts, **tables}, allow_nan=False) + "\n"
