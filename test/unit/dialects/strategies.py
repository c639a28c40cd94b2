"""Random shapes and arrays for property tests."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]


def shapes(min_rank: int = 0, max_rank: int = 4, min_size: int = 0, max_size: int = 4) -> st.SearchStrategy:
    """Shapes down to rank 0, with sizes of 0 and 1 among them."""
    return hnp.array_shapes(min_dims=min_rank, max_dims=max_rank, min_side=min_size, max_side=max_size)


def floats(shape, dtype: str = "float32", limit: float = 8.0, special: bool = True) -> st.SearchStrategy:
    """Arrays of moderate floats; with NaN, infinities and both zeros among them if `special`."""
    bits = np.dtype(dtype).itemsize * 8
    plain = st.floats(-limit, limit, width=bits, allow_subnormal=False)  # pyright: ignore[reportArgumentType]
    return hnp.arrays(dtype, shape, elements=st.one_of(plain, st.sampled_from(SPECIAL)) if special else plain)


def integers(shape, dtype: str = "int32") -> st.SearchStrategy:
    """Arrays over the whole range of an integer type."""
    return hnp.arrays(dtype, shape)


@st.composite
def broadcastable(draw, count: int = 2) -> tuple[tuple[int, ...], ...]:
    """Shapes that broadcast with each other, ranks from 0 on."""
    return draw(hnp.mutually_broadcastable_shapes(num_shapes=count, max_dims=4, max_side=4, min_side=0)).input_shapes
