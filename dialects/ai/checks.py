"""Type and shape rules that several ops share. Each raises ValueError with the text the user will read."""

from collections.abc import Mapping, Sequence

from aiopt.support.types import TensorType, holds


def check_same_element(**types: TensorType | None) -> None:
    """The given operands (absent ones are None) have one element type."""
    given = {name: kind for name, kind in types.items() if kind is not None}
    if len({kind.element for kind in given.values()}) > 1:
        listed = ", ".join(f"{name}: {kind.element}" for name, kind in given.items())
        raise ValueError(f"the operands must have one element type ({listed})")


def default_accumulator(element: str) -> str:
    """The type sums of this element type are kept in where nothing is said."""
    return "f64" if element == "f64" else "f32"


def check_accumulator(acc: str, element: str) -> None:
    """`acc` can hold sums of `element`: a float type at least as wide; bf16 itself is too coarse for sums."""
    if acc == "bf16" or not holds(acc, element):
        raise ValueError(f"acc must be a float type at least as wide as {element}, but is {acc}")


def check_bias(bias: TensorType | None, element: str, acc: str) -> None:
    """The bias of a contraction has the element type of the operands or that of the sums it is added to."""
    if bias is not None and bias.element not in (element, acc):
        raise ValueError(f"the operands must have one element type (bias: {bias.element}, others: {element})")


def result_element(to: str | None, element: str, acc: str) -> str:
    """The element type of a contraction's result: that of the operands, or with `to` that of the sums as they are."""
    if to is not None and to != acc:
        raise ValueError(f"to must be the type of the sums, {acc}, or absent, but is {to}")
    return to or element


def check_axis(axis: int, rank: int) -> None:
    """`axis` counts from the front and is in range."""
    if not 0 <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank} (axes count from the front)")


def check_axes(axes: Sequence[int], rank: int) -> None:
    """`axes` are in range and rise strictly, so that equal ops have equal attributes."""
    for axis in axes:
        check_axis(axis, rank)
    if list(axes) != sorted(set(axes)):
        raise ValueError(f"axes must rise strictly, but are {list(axes)}")


def check_length(name: str, values: Sequence[int] | Sequence[float], length: int) -> None:
    """An attribute has one number per dimension it speaks of."""
    if len(values) != length:
        raise ValueError(f"{name} must have {length} numbers, but has {len(values)}")


def check_at_least(name: str, values: Sequence[int], least: int) -> None:
    """No number of an attribute is below `least`."""
    if any(value < least for value in values):
        raise ValueError(f"{name} must be {least} or more, but is {list(values)}")


def check_packing(count: str, pack: int | None, total: int | None) -> None:
    """`pack` and the attribute that says how many there are of what is packed come together."""
    if (pack is None) != (total is None):
        raise ValueError(f"the attributes pack and {count} come together")
    for name, value in (("pack", pack), (count, total)):
        if value is not None:
            check_at_least(name, [value], 1)


def check_packed_type(name: str, have: TensorType, want: TensorType) -> None:
    """A packed operand has the type that packing gives."""
    if have != want:
        raise ValueError(f"the packed {name} must be tensor<{want}>, but is tensor<{have}>")


def broadcast(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that numpy broadcasting gives."""
    rank = max(len(shape) for shape in shapes)
    result = []
    for sizes in zip(*[(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes], strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            raise ValueError(f"the shapes {' and '.join(str(list(shape)) for shape in shapes)} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(result)


def check_broadcasts_to(name: str, kind: TensorType, shape: tuple[int, ...]) -> None:
    """An operand broadcasts to `shape` without making it larger."""
    last = shape[len(shape) - kind.rank :] if kind.rank else ()
    if kind.rank > len(shape) or any(have not in (1, want) for have, want in zip(kind.shape, last, strict=True)):
        raise ValueError(f"{name} of shape {list(kind.shape)} does not broadcast to {list(shape)}")


def product_shape(lhs: TensorType, rhs: TensorType) -> tuple[int, ...]:
    """The shape of a product of matrices [..., m, k] and [..., k, n], whose leading dimensions broadcast."""
    if min(lhs.rank, rhs.rank) < 2:
        raise ValueError(f"both operands must have rank 2 or more, but have {lhs.rank} and {rhs.rank}")
    if lhs.shape[-1] != rhs.shape[-2]:
        raise ValueError(f"the inner dimensions {lhs.shape[-1]} and {rhs.shape[-2]} differ")
    return (*broadcast(lhs.shape[:-2], rhs.shape[:-2]), lhs.shape[-2], rhs.shape[-1])


def conv_shape(input: TensorType, weight: TensorType, group: int, window: Mapping[str, list[int]]) -> tuple[int, ...]:
    """The shape of a convolution of [N, C, *spatial] with filters [O, C/group, *kernel]: [N, O, *counts]."""
    check_at_least("group", [group], 1)
    if weight.rank != input.rank:
        raise ValueError(f"input and weight must have one rank, but have {input.rank} and {weight.rank}")
    counts = window_counts(input.shape[2:], kernel=weight.shape[2:], **window)
    channels, outputs = input.shape[1], weight.shape[0]
    if channels != weight.shape[1] * group or outputs % group:
        raise ValueError(
            f"{channels} input channels and {outputs} filters in {group} groups need a weight of "
            f"[{outputs}, {channels} / {group}, ...] and whole groups, but the weight is tensor<{weight}>"
        )
    return (input.shape[0], outputs, *counts)


def window_counts(
    spatial: Sequence[int],
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...]:
    """How many windows fit along each spatial dimension; checks the window attributes of conv and pooling.

    pads holds all begins, then all ends. Source: ONNX Conv-11, MaxPool-12 with ceil_mode = 0.
    """
    rank = len(spatial)
    if not 1 <= rank <= 3:
        raise ValueError(f"the input must have 1 to 3 spatial dimensions after [N, C], but has {rank}")
    check_length("kernel", kernel, rank)
    check_length("strides", strides, rank)
    check_length("pads", pads, 2 * rank)
    check_length("dilations", dilations, rank)
    for name, values in (("kernel", kernel), ("strides", strides), ("dilations", dilations)):
        check_at_least(name, values, 1)
    check_at_least("pads", pads, 0)
    counts = []
    for i, size in enumerate(spatial):
        padded, extent = pads[i] + size + pads[rank + i], (kernel[i] - 1) * dilations[i] + 1
        if extent > padded:
            raise ValueError(f"spatial dimension {i}: the window spans {extent}, but the padded input only {padded}")
        counts.append((padded - extent) // strides[i] + 1)
    return tuple(counts)
