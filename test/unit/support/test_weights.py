"""The store of weights: what is restricted to some keys."""

import subprocess
import sys
from pathlib import Path

import numpy as np

from aiopt.support.types import numpy_dtype
from aiopt.support.weights import WeightStore


def test_a_restricted_store_has_its_own_arrays_alone() -> None:
    store = WeightStore()
    first, second = (store.add("w", np.full(3, value, np.float32)) for value in (1, 2))
    kept = store.restricted({second, "other"})
    assert list(kept) == [second]
    assert kept[second] is store[second]
    assert list(store) == [first, second], "the old one is as it was"


def test_adding_goes_on_after_that() -> None:
    store = WeightStore()
    _, second = (store.add("w", np.full(3, value, np.float32)) for value in (1, 2))
    kept = store.restricted({second})
    assert kept.add("v", np.full(3, 2, np.float32)) == second, "equal contents are known"
    again = kept.add("w", np.full(3, 3, np.float32))
    assert again != second
    assert (kept[again][0], kept[second][0]) == (3, 2)


def test_a_process_that_has_seen_no_bf16_reads_it(tmp_path: Path) -> None:
    store = WeightStore()
    key = store.add("w", np.float32([1, -2, 0.5]).astype(numpy_dtype("bf16")))
    store.save(tmp_path / "w.safetensors", {key})
    code = (
        "import sys; from pathlib import Path; from aiopt.support.weights import WeightStore;"
        "(array,) = WeightStore.load(Path(sys.argv[1]))._arrays.values(); print(array.dtype.name, array.tolist())"
    )
    command = [sys.executable, "-c", code, tmp_path / "w.safetensors"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "bfloat16 [1.0, -2.0, 0.5]\n"
