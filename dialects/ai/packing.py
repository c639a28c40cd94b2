"""Layouts of activations and weights: what the optional attributes `layout` and `pack` of an op say of its operands.

`layout` = "channels_last": activations are [N, *spatial, C]; absent: [N, C, *spatial].
`pack` = nr: weights are in blocks of nr output columns (or filters), as a register-blocked kernel reads them, the last
block filled with zeros; absent: as the op's text says.
`interleave` = 2, only with `pack`: of a block of packed weights, two neighbouring rows along the sums stand element by
element side by side, as instructions that sum pairs read them: row 0 and 1 of column 0, of column 1, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aiopt.support.types import TensorType

CHANNELS_FIRST = "channels_first"
CHANNELS_LAST = "channels_last"


def check_layout(layout: str | None) -> None:
    """`layout` is a layout there is."""
    if layout not in (None, CHANNELS_LAST):
        raise ValueError(f"layout must be '{CHANNELS_LAST}' or absent, but is '{layout}'")


def channels_first(kind: TensorType, layout: str | None) -> TensorType:
    """The type as [N, C, *spatial]."""
    check_layout(layout)
    if layout is None:
        return kind
    return kind.with_shape(kind.shape[0], kind.shape[-1], *kind.shape[1:-1])


def in_layout(kind: TensorType, layout: str | None) -> TensorType:
    """[N, C, *spatial] in this layout."""
    return kind if layout is None else kind.with_shape(kind.shape[0], *kind.shape[2:], kind.shape[1])


def array_channels_first(array: np.ndarray, layout: str | None) -> np.ndarray:
    """A view as [N, C, *spatial]."""
    return array if layout is None else np.moveaxis(array, -1, 1)


def array_in_layout(array: np.ndarray, layout: str | None) -> np.ndarray:
    """A view of [N, C, *spatial] in this layout."""
    return array if layout is None else np.moveaxis(array, 1, -1)


def interleaved(packed: np.ndarray) -> np.ndarray:
    """[..., k, nr] with each two rows element by element side by side; k is even."""
    *lead, k, nr = packed.shape
    return np.ascontiguousarray(np.swapaxes(packed.reshape(*lead, k // 2, 2, nr), -1, -2)).reshape(packed.shape)


def deinterleaved(packed: np.ndarray) -> np.ndarray:
    """The rows one after another again."""
    *lead, k, nr = packed.shape
    return np.swapaxes(packed.reshape(*lead, k // 2, nr, 2), -1, -2).reshape(packed.shape)


def check_interleave(interleave: int | None, pack: int | None, depth: int) -> None:
    """`interleave` is 2 or absent, on packed weights of an even depth."""
    if interleave is not None and (interleave != 2 or pack is None or depth % 2):
        raise ValueError(
            f"interleave must be 2, with pack and an even depth, but is {interleave} and the depth {depth}"
        )


def packed_columns(rhs: TensorType, pack: int) -> TensorType:
    """[..., k, n] in blocks of `pack` columns: [..., ceil(n / pack), k, pack]."""
    *lead, k, n = rhs.shape
    return rhs.with_shape(*lead, -(-n // pack), k, pack)


def pack_columns(rhs: np.ndarray, pack: int) -> np.ndarray:
    """The array of `packed_columns`."""
    *lead, k, n = rhs.shape
    blocks = -(-n // pack)
    full = np.zeros((*lead, k, blocks * pack), rhs.dtype)
    full[..., :n] = rhs
    return np.ascontiguousarray(np.moveaxis(full.reshape(*lead, k, blocks, pack), -2, -3))


def unpack_columns(packed: np.ndarray, columns: int) -> np.ndarray:
    """[..., k, columns] again."""
    *lead, blocks, k, pack = packed.shape
    return np.moveaxis(packed, -3, -2).reshape(*lead, k, blocks * pack)[..., :columns]


def packed_filters(weight: TensorType, group: int, pack: int) -> TensorType:
    """[O, C/group, *kernel] in blocks of `pack` filters: [blocks, *kernel, C/group, pack].

    Blocks do not cross groups, except that the filters of a depthwise convolution (one channel and one filter in each
    group) count as one group.
    """
    filters, depth, *kernel = weight.shape
    groups = _filter_groups(weight.shape, group)
    return weight.with_shape(groups * -(-(filters // groups) // pack), *kernel, depth, pack)


def pack_filters(weight: np.ndarray, group: int, pack: int) -> np.ndarray:
    """The array of `packed_filters`."""
    filters, depth, *kernel = weight.shape
    groups = _filter_groups(weight.shape, group)
    blocks = -(-(filters // groups) // pack)
    full = np.zeros((groups, blocks * pack, depth, *kernel), weight.dtype)
    full[:, : filters // groups] = weight.reshape(groups, filters // groups, depth, *kernel)
    split = full.reshape(groups * blocks, pack, depth, *kernel)
    return np.ascontiguousarray(np.moveaxis(split, [1, 2], [-1, -2]))


def unpack_filters(packed: np.ndarray, filters: int, group: int) -> np.ndarray:
    """[filters, C/group, *kernel] again."""
    blocks, *kernel, depth, pack = packed.shape
    groups = _filter_groups((filters, depth), group)
    split = np.moveaxis(packed, [-1, -2], [1, 2]).reshape(groups, blocks // groups * pack, depth, *kernel)
    return split[:, : filters // groups].reshape(filters, depth, *kernel)


def unpacked_filters(packed: TensorType, filters: int) -> TensorType:
    """[filters, C/group, *kernel] from the type of packed weights."""
    _, *kernel, depth, _ = packed.shape
    return packed.with_shape(filters, depth, *kernel)


def _filter_groups(shape: Sequence[int], group: int) -> int:
    depthwise = shape[1] == 1 and shape[0] == group
    return 1 if depthwise else group
