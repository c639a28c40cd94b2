"""Element types between MLIR's spelling and numpy's, bfloat16 among them, which numpy does not have."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from aiopt.support import types
from aiopt.support.types import TensorType


@pytest.mark.parametrize("element", [*types.FLOATS, *types.INTEGERS, "i1"])
def test_there_and_back(element: str) -> None:
    dtype = types.numpy_dtype(element)
    assert types.has_element(dtype)
    assert types.element_of(dtype) == element
    assert TensorType.of(np.zeros((2, 3), dtype)) == TensorType((2, 3), element)
    assert TensorType((2, 3), element).nbytes == 6 * dtype.itemsize
    assert types.is_float(dtype) == (element in types.FLOATS)


@pytest.mark.parametrize("element", sorted(types.FLOATS))
def test_the_largest_number(element: str) -> None:
    dtype = types.numpy_dtype(element)
    largest = np.array(types.largest(element)).astype(dtype)
    assert float(largest) == types.largest(element)
    with np.errstate(over="ignore"):
        assert not np.isfinite(largest + largest)


def test_other_dtypes() -> None:
    assert not types.has_element(np.dtype(np.complex64))
    assert not types.has_element(np.dtype("V2"))
    with pytest.raises(KeyError):
        types.element_of(np.dtype(np.complex64))


def test_without_ml_dtypes() -> None:
    """bf16 inside a net needs no arrays of it; where there are to be some, the error says what is missing."""
    code = """
import sys
sys.modules["ml_dtypes"] = None
import aiopt.runtime.net
from aiopt.support.errors import UnsupportedError
from aiopt.support.types import TensorType
kind = TensorType((3,), "bf16")
print(kind.nbytes)
try:
    kind.dtype
except UnsupportedError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["6", "arrays of bf16 need the package ml_dtypes: pip install ml_dtypes"]
