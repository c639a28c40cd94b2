"""Every graph pass leaves what random graphs compute as it was. Oracle: the ops' references on the IR before it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlir import ir

from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.spec import Level
from unit.passes.graph.graphs import assert_same_bits, random_inputs, random_unit, run

EXACT = ["ai-canonicalize", "ai-dce", "ai-cse", "ai-fold-constants", "ai-group-kernels,ai-outline-kernels"]
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("passes", EXACT)
@settings(max_examples=25)
@given(seed=SEEDS, special=st.booleans())
def test_pass_keeps_every_bit(passes: str, seed: int, special: bool) -> None:
    with new_context(), ir.Location.unknown():
        unit = random_unit(seed)
        inputs = random_inputs(seed, special)
        before = run(unit, inputs)
        pipeline.run(unit, passes)
        assert_same_bits(run(unit, inputs), before)


@settings(max_examples=40)
@given(seed=SEEDS)
def test_whole_pipeline_is_near(seed: int) -> None:
    with new_context(), ir.Location.unknown():
        unit = random_unit(seed)
        inputs = random_inputs(seed)
        before = run(unit, inputs)
        pipeline.run(unit, "ai-graph-pipeline,ai-group-kernels,ai-outline-kernels")
        assert unit.level is Level.KERNELS
        for name, have in run(unit, inputs).items():
            want = before[name]
            largest = np.abs(want[np.isfinite(want)]).max(initial=1.0)
            np.testing.assert_allclose(have, want, rtol=0, atol=1e-5 * largest, err_msg=name)  # NaN and infinity alike
