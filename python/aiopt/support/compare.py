"""Reference outputs of a network, and how far its own are from them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aiopt.support.errors import CompileError, MissingPackageError
from aiopt.support.types import is_float

TOLERANCE = 1e-4  # of the largest absolute reference value, for f32 networks
LEAST_SQNR = 40.0  # decibels, for networks in mixed precision


def relative_difference(output: np.ndarray, reference: np.ndarray) -> float:
    """The largest absolute difference divided by the largest absolute reference value.

    Infinity where shapes differ, or where NaN or an infinity in one is not the same in the other; the absolute
    difference where the reference is all zero.
    """
    output, reference = np.asarray(output), np.asarray(reference)
    if output.shape != reference.shape:
        return float("inf")
    finite = np.isfinite(reference)
    if not np.array_equal(output[~finite], reference[~finite], equal_nan=is_float(reference.dtype)):
        return float("inf")
    if not np.isfinite(output[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    wide = np.float64 if is_float(reference.dtype) else np.int64
    want, have = reference[finite].astype(wide), output[finite].astype(wide)
    largest = float(np.abs(want).max())
    return float(np.abs(have - want).max()) / (largest or 1.0)


@dataclass(frozen=True)
class Likeness:
    """How near an output is to its reference: the cosine of both as vectors, the signal to quantisation noise ratio in
    decibels (infinite where they are equal), the largest absolute difference."""

    cosine: float
    sqnr: float
    difference: float


def likeness(output: np.ndarray, reference: np.ndarray) -> Likeness:
    """The likeness of an output to a reference of its shape; the worst there is where one is not finite."""
    have, want = np.asarray(output).astype(np.float64).ravel(), np.asarray(reference).astype(np.float64).ravel()
    if have.shape != want.shape or not np.array_equal(np.isfinite(have), np.isfinite(want)):
        return Likeness(0.0, -math.inf, math.inf)
    have, want = have[np.isfinite(want)], want[np.isfinite(want)]
    if np.array_equal(have, want):
        return Likeness(1.0, math.inf, 0.0)
    signal, noise = float(want @ want), float((have - want) @ (have - want))
    lengths = math.sqrt(signal * float(have @ have))
    ratio = 10 * math.log10(signal / noise) if signal else -math.inf
    return Likeness(float(have @ want) / lengths if lengths else 0.0, ratio, float(np.abs(have - want).max()))


def run_onnxruntime(model: Path | bytes, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of an ONNX model by name, from ONNX Runtime on one thread with its optimisations off.

    Raises OptionError if onnxruntime is not installed, CompileError if it cannot run the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingPackageError("the package onnxruntime is not installed: pip install 'aiopt[demo]'") from error
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    source = model if isinstance(model, bytes) else str(model)
    try:
        session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        names = [output.name for output in session.get_outputs()]
        values = session.run(names, dict(inputs))
    except Exception as error:  # its exceptions share no other base
        raise CompileError(f"onnxruntime cannot run the model: {error}") from error
    return {name: np.asarray(value) for name, value in zip(names, values, strict=True)}
