"""Engines side by side: runs of all take turns, so that what disturbs the machine disturbs all of them.

Who is not at turn stands still (aiopt.bench.worker), so that engines do not disturb each other.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from aiopt.bench import engines
from aiopt.bench.engines import Job
from aiopt.bench.worker import Worker
from aiopt.support.compare import relative_difference, run_onnxruntime
from aiopt.support.errors import AioptError
from aiopt.support.types import is_float

_LEAST_ROUNDS = 5
_TURN_SECONDS, _LEAST_RUNS = 20e-3, 3  # of an engine's turn: each begins with a run that is not counted
_PROFILE_SECONDS = 1.5


def measure(
    job: Job, inputs: Mapping[str, np.ndarray], peers: Sequence[str], seconds: float, profile: bool
) -> dict[str, Any]:
    """A record of one model on one number of threads: per engine median and spread, memory, difference and ratio.

    On one thread, cpu_median and cpu_least are what the others would be on a machine with nothing else to do.
    seconds: spent on the timed runs of all engines together. The difference is to ONNX Runtime with its optimisations
    off. An engine that cannot run the model has an `error` in place of times. Raises AioptError if aiopt cannot.
    """
    cores = set(sorted(os.sched_getaffinity(0), reverse=True)[: job.threads])
    record: dict[str, Any] = {"threads": job.threads, "amp": job.amp, "winograd": job.winograd, "engines": {}}
    workers: list[Worker] = []
    try:
        for engine in ("aiopt", *peers):
            try:
                workers.append(Worker(engine, job, inputs, cores))
            except AioptError as error:
                if engine == "aiopt":
                    raise
                record["engines"][engine] = {"error": str(error)}
        wanted = _reference(job, inputs)
        if wanted and not any(np.isfinite(array).any() for array in wanted.values() if is_float(array.dtype)):
            record["note"] = "no output is finite, so differences say nothing: give inputs that make sense (--input)"
        times = _take_turns(workers, seconds)
        for worker in workers:
            record["engines"][worker.engine] = _describe(worker, times[worker.engine], wanted)
        ours = record["engines"]["aiopt"]
        for peer in peers:
            if "median" in record["engines"][peer]:
                record["engines"][peer]["ratio"] = ours["median"] / record["engines"][peer]["median"]
        if profile:
            record["report"] = workers[0].loaded["report"]
            record["profile"] = workers[0].profile(_PROFILE_SECONDS)
    finally:
        for worker in workers:
            worker.close()
    return record


def _reference(job: Job, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """None where ONNX Runtime is not installed or cannot run the model."""
    try:
        engines.find("onnxruntime")
        return run_onnxruntime(job.model, inputs)
    except AioptError:
        return None


def _take_turns(workers: Sequence[Worker], seconds: float) -> dict[str, list[tuple[float, float]]]:
    times: dict[str, list[tuple[float, float]]] = {worker.engine: [] for worker in workers}
    counts = {
        worker.engine: max(_LEAST_RUNS, int(_TURN_SECONDS / max(min(worker.seconds(3))[0], 1e-6))) for worker in workers
    }
    end, rounds = time.perf_counter() + seconds, 0
    while time.perf_counter() < end or rounds < _LEAST_ROUNDS:
        for worker in workers:
            times[worker.engine] += worker.seconds(counts[worker.engine])
        rounds += 1
    return times


def _describe(worker: Worker, times: list[tuple[float, float]], wanted: dict[str, np.ndarray] | None) -> dict[str, Any]:
    seconds, spent = zip(*times, strict=True)
    low, _, high = statistics.quantiles(seconds, n=4)
    outputs = worker.outputs()
    described = {
        "version": engines.find(worker.engine).version(),
        "median": statistics.median(seconds),
        "least": min(seconds),
        "quartiles": [low, high],
        "cpu_median": statistics.median(spent),
        "cpu_least": min(spent),
        "runs": len(seconds),
        "load_seconds": worker.loaded["seconds"],
        "peak_bytes": worker.peak_bytes(),
    }
    if wanted is not None:
        pairs = [(outputs[name], wanted[name]) for name in outputs.keys() & wanted.keys()]
        described["difference"] = max((relative_difference(have, want) for have, want in pairs), default=0.0)
    return described
