"""Whether passes and the whole pipeline leave what random graphs compute as it is.

Oracle: the ops' numpy references, run op by op on the graph as it was made (aiopt.passes.interpret).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from mlir import ir

import aiopt
from aiopt.passes import io, pipeline
from aiopt.passes.interpret import interpret
from aiopt.passes.unit import Unit
from aiopt.support.types import is_float
from e2e.random_graphs import RandomGraph

GRAPHS = 300  # what is promised

# Those that change no arithmetic, so that all bits stay, also of values that are not finite.
EXACT = (
    "ai-canonicalize",
    "ai-cse",
    "ai-dce",
    "ai-fold-constants",
    "ai-assign-target",
    "ai-group-kernels,ai-outline-kernels",
    "ai-place-parts",
    "ai-place-parts,ai-group-kernels,ai-outline-kernels",
    "ai-assign-target,ai-group-kernels,ai-outline-kernels,ai-partition",
)
# Those that round elsewhere or sum in another order.
ROUNDING = (
    "ai-fold-batch-norm",
    "ai-expand-conv-transpose",
    "ai-assign-layout",
    "ai-assign-layout{layout=channels_last}",
    "ai-graph-pipeline",
    "ai-kernels-pipeline",
    "ai-kernels-pipeline{layout=channels_last fusion=max vector-bits=256}",
    "ai-kernels-pipeline{layout=channels_last},ai-select-route{vector-bits=256 fma=true},ai-pack-weights",
    "ai-kernels-pipeline{layout=channels_last fusion=max},ai-select-route{vector-bits=256 fma=true},ai-pack-weights",
)

Check = Callable[[RandomGraph], str]  # what is wrong with a graph, empty if nothing is


def check_passes(graph: RandomGraph, context: ir.Context, texts: Sequence[str] = (*EXACT, *ROUNDING)) -> str:
    """Run each pass or pipeline on the graph, and compare what is computed then with what was computed before."""
    unit = graph.build(context)
    zeros = [0.0] * len(graph.outputs)
    runs = [(inputs, _interpret(unit, inputs)) for inputs in (graph.inputs(), graph.special_inputs())]
    bounds = graph.error_bounds()
    for text in texts:
        copy = Unit(ir.Module.parse(str(unit.module), context), unit.weights)
        pipeline.run(copy, text)
        for inputs, want in runs if text in EXACT else runs[:1]:
            if wrong := difference(_interpret(copy, inputs), want, zeros if text in EXACT else bounds):
                return f"{text}: {wrong}"
    return ""


def _interpret(unit: Unit, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return interpret(unit.module, unit.weights, inputs)


def check_compiled(graph: RandomGraph, threads: int = 1, fusion: str = "auto") -> str:
    """Compile and compare, but for the signs of zeros: which of 0.0 and -0.0 is the larger, numpy does not say."""
    with io.borrowed_context() as context, tempfile.TemporaryDirectory(prefix="aiopt-random-") as folder:
        unit = graph.build(context)
        inputs = graph.inputs()
        want = _interpret(unit, inputs)
        file = Path(folder) / "graph.mlir"
        io.write_unit(unit, file)
        del unit
        with aiopt.compile(file, threads=threads, fusion=fusion, cache=False) as net:
            return difference(net.run(inputs), want, graph.error_bounds(), zeros=False)


def difference(
    have: Mapping[str, np.ndarray], want: Mapping[str, np.ndarray], bounds: Sequence[float], zeros: bool = True
) -> str:
    """The first output that is off by more than its bound; a bound of 0 asks for the same bits (any NaN is a NaN).

    zeros: -0.0 is not 0.0 there.
    """
    for (name, right), bound in zip(want.items(), bounds, strict=True):
        array = have[name]
        if array.dtype != right.dtype or array.shape != right.shape:
            return f"{name} is {array.dtype}{list(array.shape)}, expected {right.dtype}{list(right.shape)}"
        if bound == 0:
            wrong = ~_same(array, right, zeros)
        else:
            with np.errstate(all="ignore"):
                wrong = ~(np.abs(array.astype(np.float64) - right.astype(np.float64)) <= bound)
        if wrong.any():
            at = tuple(map(int, np.argwhere(wrong)[0]))
            return f"{name}{list(at)} is {array[at]!r}, expected {right[at]!r} (within {bound:.2g})"
    return ""


def _same(have: np.ndarray, want: np.ndarray, zeros: bool) -> np.ndarray:
    equal = have == want
    if not is_float(have.dtype):
        return equal
    signs = np.signbit(have) == np.signbit(want) if zeros else np.ones_like(equal)
    return (equal & signs) | (np.isnan(have) & np.isnan(want))


def reproducer(graph: RandomGraph, check: Check) -> str:
    """What is wrong with a graph, and the smallest part of it that is wrong too, as MLIR; empty if nothing is."""
    if not (wrong := check(graph)):
        return ""
    for smaller in graph.narrowed():
        if text := check(smaller):
            graph, wrong = smaller, text
            break
    unit = graph.build(io.new_context())
    return f"graph {graph.seed}: {wrong}\n{unit.module}"


def write(graph: RandomGraph, folder: Path) -> None:
    """The graph as MLIR with its weights, and its inputs, as `aiopt-run` takes them."""
    folder.mkdir(parents=True, exist_ok=True)
    unit: Unit = graph.build(io.new_context())
    io.write_unit(unit, folder / f"random_{graph.seed}.mlir")
    np.savez(folder / f"random_{graph.seed}.npz", **graph.inputs())  # pyright: ignore[reportArgumentType]
