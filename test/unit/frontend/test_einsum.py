"""Einsum. Oracle: numpy.einsum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.support.errors import ModelError
from unit.frontend.single_node import equal, f32, imported, node_model, run

CASES: list[tuple[str, list[tuple[int, ...]]]] = [
    ("ij,jk->ik", [(2, 3), (3, 4)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
    ("...ij,...jk", [(2, 1, 3, 4), (5, 4, 2)]),
    ("a...b,b->...a", [(2, 3, 4), (4,)]),
    ("ii", [(3, 3)]),
    ("ii->i", [(3, 3)]),
    ("bii->bi", [(2, 3, 3)]),
    ("iij,jk->k", [(3, 3, 2), (2, 4)]),
    ("i,j,k->kij", [(2,), (3,), (4,)]),
    ("ij->j", [(2, 3)]),
    ("ij->", [(2, 3)]),
    ("ba", [(2, 3)]),
    ("ab,bc,cd,ad->", [(2, 3), (3, 4), (4, 5), (2, 5)]),
    ("aBb, bC", [(2, 3, 4), (4, 5)]),
    ("ij,ij->ij", [(2, 3), (1, 3)]),
    (",->", [(), ()]),
    ("ij,jk", [(2, 0), (0, 3)]),
    ("...,...", [(2, 3), (3,)]),
]


def _check(equation: str, inputs: dict[str, np.ndarray]) -> None:
    empty = [name for name, array in inputs.items() if not array.size]
    model = node_model("Einsum", inputs, 13, known=empty, equation=equation)
    equal(run(model, inputs), {"y0": np.asarray(np.einsum(equation, *inputs.values()))}, 3e-6)


@pytest.mark.parametrize(("equation", "shapes"), CASES)
def test_equations(equation: str, shapes: list[tuple[int, ...]]) -> None:
    _check(equation, {f"x{at}": f32(*shape, seed=at) for at, shape in enumerate(shapes)})
    random = np.random.default_rng(0)
    _check(equation, {f"x{at}": random.integers(-9, 9, shape) for at, shape in enumerate(shapes)})


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_random_equations(data: st.DataObject) -> None:
    """One to three terms over five labels, a result of any of them."""
    sizes = dict(zip("abcde", data.draw(st.lists(st.integers(1, 3), min_size=5, max_size=5)), strict=True))
    terms = data.draw(st.lists(st.text("abcde", max_size=4), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    result = data.draw(st.permutations(used))[: data.draw(st.integers(0, len(used)))]
    equation = ",".join(terms) + data.draw(st.sampled_from(["", "->" + "".join(result)]))
    _check(equation, {f"x{at}": f32(*(sizes[label] for label in term), seed=at) for at, term in enumerate(terms)})


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij,jk->iz", "must have labels of its terms"),
        ("ij,jk->ii", "must have labels of its terms"),
        ("ij->i", "has 1 terms, but the node 2 inputs"),
        ("ijk,jk", "does not fit a tensor of rank 2"),
        ("i1,jk", "'i1' is no term"),
        ("ij,ik", "'i' stands for sizes 2 and 3"),
        ("ii,jk", "'i' stands for sizes 2 and 3"),
    ],
)
def test_errors(equation: str, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(node_model("Einsum", {"x": f32(2, 3), "y": f32(3, 4)}, 13, equation=equation))
