"""Reference outputs of a network, and how far its own are from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from aiopt.support.errors import CompileError, OptionError

TOLERANCE = 1e-4  # of the largest absolute reference value, for f32 networks


def relative_difference(output: np.ndarray, reference: np.ndarray) -> float:
    """The largest absolute difference divided by the largest absolute reference value.

    Infinity where shapes differ, or where NaN or an infinity in one is not the same in the other; the absolute
    difference where the reference is all zero.
    """
    output, reference = np.asarray(output), np.asarray(reference)
    if output.shape != reference.shape:
        return float("inf")
    finite = np.isfinite(reference)
    if not np.array_equal(output[~finite], reference[~finite], equal_nan=reference.dtype.kind == "f"):
        return float("inf")
    if not np.isfinite(output[finite]).all():
        return float("inf")
    if not finite.any():
        return 0.0
    wide = np.float64 if reference.dtype.kind == "f" else np.int64
    want, have = reference[finite].astype(wide), output[finite].astype(wide)
    largest = float(np.abs(want).max())
    return float(np.abs(have - want).max()) / (largest or 1.0)


def run_onnxruntime(model: Path | bytes, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The outputs of an ONNX model by name, from ONNX Runtime on one thread with its optimisations off.

    Raises OptionError if onnxruntime is not installed, CompileError if it cannot run the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise OptionError("the package onnxruntime is not installed: pip install 'aiopt[demo]'") from error
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
