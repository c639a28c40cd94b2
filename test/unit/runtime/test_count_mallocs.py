"""The counter of allocations sees what it should see, on nets written by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from e2e.native import aligned, compile_c, count_mallocs
from e2e.nets import AFFINE, WEIGHTS, X, Y, define


def test_clean_net(tmp_path: Path) -> None:
    run = count_mallocs("affine", [compile_c(AFFINE, tmp_path)], aligned(WEIGHTS), [X], 1, tmp_path, runs=20)
    for place in ("main", "worker"):
        assert set(run.planted[place]) >= {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "mmap"}
        assert set(run.planted[place].values()) == {1}
    assert run.planted["context"]["aligned_alloc"] > 0, "calls from inside the runtime library are seen"
    assert set(run.calls) == {1, 2}
    assert all(number == 0 for calls in run.calls.values() for number in calls.values())
    assert run.same
    np.testing.assert_allclose(np.frombuffer(run.outputs[0], np.float32).reshape(Y.shape), Y, rtol=1e-6)


def test_net_that_allocates_is_caught(tmp_path: Path) -> None:
    """One call per chunk of the loop: one on one thread, four for each of two."""
    code = compile_c(define(AFFINE, ALLOCATES=1), tmp_path)
    run = count_mallocs("affine", [code], aligned(WEIGHTS), [X], 1, tmp_path, runs=5)
    assert run.calls[1]["calloc"] == 5
    assert run.calls[2]["calloc"] == 40
    assert run.calls[1]["malloc"] == 0
