"""Gathers and scatters at computed places."""

from collections.abc import Sequence

from aiopt.dialects import ai
from aiopt.dialects.ai.scatter import REDUCTIONS
from aiopt.frontend.onnx.forms import broadcast_to, cast, normal_axis, reshape, scalar, steps, take
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.places import beyond, flat_places, gather_rows, place_along, scatter_rows
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError


@onnx_op("GatherElements", since=11)
def _gather_elements(node: Node) -> Value:
    """out[i, j, k] = x[i, indices[i, j, k], k] for axis 1."""
    x, indices = node.input(0), node.input(1)
    places = _element_places(node, x, indices)
    return gather_rows(node, x, x.rank, broadcast_to(node, places, indices.shape))


def _element_places(node: Node, x: Value, indices: Value, outside: int | None = None) -> Value:
    """Flat places of the elements that indices along the attribute `axis` mean."""
    axis = normal_axis(node.attributes.get_int("axis", 0), x.rank)
    fits = indices.rank == x.rank and all(
        n <= m for at, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True)) if at != axis
    )
    if not fits:
        raise ModelError(f"indices {list(indices.shape)} do not lie within {list(x.shape)} but for axis {axis}")
    places = [steps(size, at, x.rank) for at, size in enumerate(indices.shape)]
    places[axis] = place_along(node, indices, x.shape[axis], outside)
    return flat_places(node, x.shape, places)


@onnx_op("GatherND", since=11)
def _gather_nd(node: Node) -> Value:
    """out[b, i] = x[b, *indices[b, i]], where b stands for batch_dims dimensions (from opset 12 on)."""
    x, indices = node.input(0), node.input(1)
    batch = node.attributes.get_int("batch_dims", 0) if node.opset >= 12 else 0
    if not 0 <= batch < min(x.rank, indices.rank) or x.shape[:batch] != indices.shape[:batch]:
        raise ModelError(f"batch_dims={batch} does not fit input {list(x.shape)} and indices {list(indices.shape)}")
    depth, places = _tuple_places(node, x, indices, batch)
    return gather_rows(node, x, depth, broadcast_to(node, places, indices.shape[:-1]))


def _tuple_places(node: Node, x: Value, indices: Value, batch: int, outside: int | None = None) -> tuple[int, Value]:
    """How many dimensions of x the tuples in indices [..., q] speak of, and the flat places in these."""
    lead, count = indices.shape[:-1], indices.shape[-1]
    if batch + count > x.rank:
        raise ModelError(f"indices {list(indices.shape)} name {count} dimensions, but x has {x.rank - batch}")
    places = [steps(size, at, len(lead)) for at, size in enumerate(lead[:batch])]
    for at in range(count):
        part = take(node, indices, [*[0] * len(lead), at], [*lead, 1], [1] * indices.rank)
        places.append(place_along(node, reshape(node, part, lead), x.shape[batch + at], outside))
    return batch + count, flat_places(node, x.shape[: batch + count], places)


@onnx_op("Scatter", since=9, until=10)
def _scatter(node: Node) -> Value:
    return _scatter_elements_of(node, "none")


@onnx_op("ScatterElements", since=11, until=15)
def _scatter_elements_old(node: Node) -> Value:
    return _scatter_elements_of(node, "none")


@onnx_op("ScatterElements", since=16)
def _scatter_elements(node: Node) -> Value:
    return _scatter_elements_of(node, _reduction(node))


def _scatter_elements_of(node: Node, reduction: str) -> Value:
    """out = x, then out[i, indices[i, j, k], k] = updates[i, j, k] for axis 1, in row-major order."""
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    if updates.shape != indices.shape:
        raise ModelError(f"updates {list(updates.shape)} and indices {list(indices.shape)} must have one shape")
    places = _element_places(node, x, indices, beyond(x.shape))
    return scatter_rows(node, x, x.rank, places, updates, reduction)


@onnx_op("ScatterND", since=11, until=15)
def _scatter_nd_old(node: Node) -> Value:
    return _scatter_nd_of(node, "none")


@onnx_op("ScatterND", since=16)
def _scatter_nd(node: Node) -> Value:
    return _scatter_nd_of(node, _reduction(node))


def _scatter_nd_of(node: Node, reduction: str) -> Value:
    """out = x, then out[*indices[i]] = updates[i] for all i in row-major order."""
    x, indices, updates = node.input(0), node.input(1), node.input(2)
    if indices.rank == 0:
        raise ModelError("indices must have the shape [..., q], but are a scalar")
    depth, places = _tuple_places(node, x, indices, 0, beyond(x.shape))
    if updates.shape != (*indices.shape[:-1], *x.shape[depth:]):
        raise ModelError(
            f"updates {list(updates.shape)} must be {[*indices.shape[:-1], *x.shape[depth:]]} for indices "
            f"{list(indices.shape)} into {list(x.shape)}"
        )
    return scatter_rows(node, x, depth, places, updates, reduction)


def _reduction(node: Node) -> str:
    reduction = node.attributes.get_string("reduction", "none")
    if reduction not in REDUCTIONS:
        raise ModelError(f"reduction must be one of {', '.join(REDUCTIONS)}, not '{reduction}'")
    return reduction


@onnx_op("TensorScatter", since=24)
def _tensor_scatter(node: Node) -> Value:
    """A cache whose elements from write_indices[batch] on along `axis` are those of the update."""
    cache, update, write, attributes = node.input(0), node.input(1), node.optional(2), node.attributes
    axis, mode = normal_axis(attributes.get_int("axis", -2), cache.rank), attributes.get_string("mode", "linear")
    rest = [n for at, n in enumerate(cache.shape) if at != axis]
    if axis == 0 or rest != [n for at, n in enumerate(update.shape) if at != axis]:
        raise ModelError(f"cache {list(cache.shape)} and update {list(update.shape)} must differ in axis {axis} alone")
    if mode not in ("linear", "circular"):
        raise ModelError(f"mode must be linear or circular, not '{mode}'")
    lead, size = axis + 1, cache.shape[axis]
    places: list[Value] = [steps(n, at, lead) for at, n in enumerate(update.shape[:lead])]
    if write is not None:
        start = reshape(node, cast(node, write, "i64"), (cache.shape[0], *[1] * axis))
        places[axis] = node.emit(ai.AddOp, places[axis], start)
        if mode == "circular":
            places[axis] = node.emit(ai.RemainderOp, places[axis], scalar(start, max(size, 1)))
    places[axis] = place_along(node, places[axis], size, beyond(cache.shape))
    return scatter_rows(node, cache, lead, flat_places(node, cache.shape[:lead], places), update)


@onnx_op("ReverseSequence", since=10)
def _reverse_sequence(node: Node) -> Value:
    """The first sequence_lens[b] elements along the time axis backwards, the others as they are."""
    x, lengths, attributes = node.input(0), node.input(1), node.attributes
    batch, time = attributes.get_int("batch_axis", 1), attributes.get_int("time_axis", 0)
    if x.rank < 2 or {batch, time} != {0, 1} or lengths.shape != (x.shape[batch],):
        raise ModelError(
            f"batch_axis and time_axis must be 0 and 1 of a tensor of rank 2 or more and sequence_lens its batch, but "
            f"are {batch} and {time} of {list(x.shape)}, and {list(lengths.shape)}"
        )
    at = steps(x.shape[time], time, 2)
    length = reshape(node, cast(node, lengths, "i64"), [x.shape[batch] if axis == batch else 1 for axis in (0, 1)])
    last = node.emit(ai.SubOp, length, scalar(length, 1))
    within = node.emit(ai.LessOp, at, length)
    places: Sequence[Value] = [steps(x.shape[batch], batch, 2)] * 2
    mirrored = node.emit(ai.SelectOp, within, node.emit(ai.SubOp, last, at), at)
    places = [mirrored if axis == time else places[axis] for axis in (0, 1)]
    return gather_rows(node, x, 2, broadcast_to(node, flat_places(node, x.shape[:2], places), x.shape[:2]))


@onnx_op("OneHot", since=9)
def _one_hot(node: Node) -> Value:
    """A new axis of `depth` elements: values[1] at the index, values[0] elsewhere. From opset 11 on an index below 0
    counts from the end."""
    indices, values = cast(node, node.input(0), "i64"), node.input(2)
    depth = node.known(1, "depth")
    if depth.size != 1 or not depth.reshape(-1)[0] >= 1 or values.shape != (2,):
        raise ModelError(f"depth must be one number above 0 and values two, but are {depth.tolist()} and {values.type}")
    count = int(depth.reshape(-1)[0])
    axis = normal_axis(node.attributes.get_int("axis", -1), indices.rank + 1)
    at = reshape(node, indices, (*indices.shape[:axis], 1, *indices.shape[axis:]))
    if node.opset >= 11:
        below = node.emit(ai.LessOp, at, scalar(at, 0))
        at = node.emit(ai.SelectOp, below, node.emit(ai.AddOp, at, scalar(at, count)), at)
    hit = node.emit(ai.EqualOp, at, steps(count, axis, at.rank))
    off, on = (reshape(node, take(node, values, [i], [1], [1]), ()) for i in (0, 1))
    return node.emit(ai.SelectOp, hit, on, off)
