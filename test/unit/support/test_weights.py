"""The store of weights: what is restricted to some keys."""

import numpy as np

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
