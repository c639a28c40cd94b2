"""Array helpers of the numpy references."""

from collections.abc import Sequence

import numpy as np

# Division by zero, overflow and NaN give the IEEE result without a word, as compiled code does.
quiet = np.errstate(all="ignore")


def widen(array: np.ndarray) -> np.ndarray:
    """f16 as f32, in which its sums are kept; all else unchanged."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def lowest(dtype: np.dtype) -> float | int:
    """The neutral element of max: -inf, or the lowest integer."""
    return -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)


def highest(dtype: np.dtype) -> float | int:
    """The neutral element of min: +inf, or the highest integer."""
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)


def pad(array: np.ndarray, pads: Sequence[int], value: float) -> np.ndarray:
    """[N, C, *spatial] with `value` around its spatial dimensions; pads holds all begins, then all ends."""
    rank = array.ndim - 2
    widths = [(0, 0), (0, 0), *zip(pads[:rank], pads[rank:], strict=True)]
    return np.pad(array, widths, constant_values=value)


def windows(
    array: np.ndarray, *, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> np.ndarray:
    """View [N, C, *spatial] as its windows: [N, C, *counts, *kernel]."""
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    axes = tuple(range(2, array.ndim))
    view = np.lib.stride_tricks.sliding_window_view(array, extents, axes)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return view[(..., *[slice(None, None, step) for step in (*strides, *dilations)])]
