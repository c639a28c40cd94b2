"""Array helpers of the numpy references."""

from collections.abc import Sequence

import numpy as np

from aiopt.support.types import INTEGERS, is_float, numpy_dtype

# Division by zero, overflow and NaN give the IEEE result without a word, as compiled code does.
quiet = np.errstate(all="ignore")


def widen(array: np.ndarray) -> np.ndarray:
    """f16 as f32, in which its sums are kept; all else unchanged."""
    return array.astype(np.float32) if array.dtype == np.float16 else array


def convert(array: np.ndarray, element: str) -> np.ndarray:
    """The elements in another type, rounded once (ml_dtypes would round f64 to f32 and that to bf16)."""
    if is_float(array.dtype) and element in INTEGERS:
        return _to_integer(array, element)
    if element == "bf16" and array.dtype == np.float64:
        array = _round_to_odd(array)
    return array.astype(numpy_dtype(element))


def word_bits(element: str) -> int:
    """Bits of the signed word in which a float becomes this integer type: 32 where they hold the type, else 64."""
    return 64 if element in ("i64", "ui32", "ui64") else 32


def _to_integer(array: np.ndarray, element: str) -> np.ndarray:
    """Floats toward zero, by way of a signed word; numpy leaves open what becomes of those it has not."""
    bits, wide = word_bits(element), array.astype(np.float64)
    end = 2.0 ** (bits - 1)

    def word(x: np.ndarray) -> np.ndarray:
        return np.where(np.abs(x) < end, x, -end).astype(np.int64)

    found = word(wide)
    if element == "ui64":
        found = np.where(wide >= end, word(wide - end) ^ np.iinfo(np.int64).min, found)
    return found.astype(numpy_dtype(element))


def _round_to_odd(array: np.ndarray) -> np.ndarray:
    """f64 to the f32 from which rounding on gives what rounding the f64 itself would.

    Source: Boldo and Melquiond, Emulation of a FMA and correctly-rounded sums, IEEE Trans. Computers 2008.
    """
    near = array.astype(np.float32)
    wide = near.astype(np.float64)
    exact = (wide == array) | ~np.isfinite(near) | np.isnan(array)
    toward_zero = np.where(np.abs(wide) > np.abs(array), near.view(np.uint32) - np.uint32(1), near.view(np.uint32))
    return np.where(exact, near.view(np.uint32), toward_zero | np.uint32(1)).view(np.float32)


def lowest(dtype: np.dtype) -> float | int:
    """The neutral element of max: -inf, or the lowest integer."""
    return -np.inf if is_float(dtype) else int(np.iinfo(dtype).min)


def highest(dtype: np.dtype) -> float | int:
    """The neutral element of min: +inf, or the highest integer."""
    return np.inf if is_float(dtype) else int(np.iinfo(dtype).max)


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


def convolve(
    padded: np.ndarray, weight: np.ndarray, *, strides: Sequence[int], dilations: Sequence[int], group: int
) -> np.ndarray:
    """[N, C, *spatial] with filters [O, C/group, *kernel]: [N, O, *counts], summed in the type of the arrays."""
    patches = windows(padded, kernel=weight.shape[2:], strides=strides, dilations=dilations)
    axes = [1, *range(padded.ndim, patches.ndim)], [1, *range(2, weight.ndim)]
    groups = zip(np.split(patches, group, axis=1), np.split(weight, group), strict=True)
    sums = np.concatenate([np.tensordot(patch, part, axes) for patch, part in groups], axis=-1)
    return np.moveaxis(sums, -1, 1)
