"""TopK and Compress. Oracle: ONNX Runtime; where nothing is said, numpy."""

from __future__ import annotations

import numpy as np
import pytest

from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, equal, f32, i64, node_model, run

X = f32(3, 5, 4)
TIES = np.float32([[3, 1, 3, 2, 3, 1]])


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("largest", [0, 1])
def test_top_k(axis: int, largest: int) -> None:
    check("TopK", {"x": X, "k": i64(3)}, 11, known=["k"], outputs=2, axis=axis, largest=largest)


def test_top_k_of_equal_elements_takes_the_first() -> None:
    check("TopK", {"x": TIES, "k": i64(4)}, 11, known=["k"], outputs=2)
    check("TopK", {"x": TIES, "k": i64(2)}, 11, known=["k"], outputs=2, largest=0)


def test_top_k_of_integers_and_in_other_opsets() -> None:
    check("TopK", {"x": np.int64([[2**62, 5, -(2**62), 7]]), "k": i64(3)}, 11, known=["k"], outputs=2)
    check("TopK", {"x": X, "k": i64(2)}, 10, known=["k"], outputs=2)
    check("TopK", {"x": X}, 9, outputs=2, k=2)
    check("TopK", {"x": X, "k": i64(0)}, 11, known=["k"], outputs=2)


def test_top_k_with_nan() -> None:
    x = np.float32([1, np.nan, 3, np.nan])
    want = {"y0": np.float32([np.nan, np.nan, 3]), "y1": i64(1, 3, 2)}
    equal(run(node_model("TopK", {"x": x, "k": i64(3)}, 11, known=["k"], outputs=2), {"x": x, "k": i64(3)}), want)


def test_top_k_that_cannot_be() -> None:
    with pytest.raises(ModelError, match="K must be 0 to 4, the size of axis 2, but is 5"):
        run(node_model("TopK", {"x": X, "k": i64(5)}, 11, known=["k"], outputs=2), {"x": X})
    with pytest.raises(UnsupportedError, match="depends on the data of a run"):
        run(node_model("TopK", {"x": X, "k": i64(5)}, 11, outputs=2), {"x": X, "k": i64(5)})


@pytest.mark.parametrize("attributes", [{}, {"axis": 1}, {"axis": -1}])
def test_compress(attributes: dict[str, int]) -> None:
    for condition in ([False, True, True], [False], [False, False, True, True]):
        check("Compress", {"x": X, "c": np.array(condition)}, 11, known=["c"], **attributes)


def test_compress_by_too_long_a_condition() -> None:
    condition = np.ones(5, bool)
    with pytest.raises(ModelError, match=r"a list of 4 or fewer, but is \[5\]"):
        run(node_model("Compress", {"x": X, "c": condition}, 11, known=["c"], axis=2), {"x": X})
