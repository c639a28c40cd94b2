"""The steps that random graphs consist of: single ops, and the combinations that passes look for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ext import Operation
from aiopt.support.errors import IRError
from aiopt.support.types import is_float
from e2e.random_graphs import Draft, Node, RandomGraph, RejectedError

_UNARY = (*(ai.NegOp, ai.AbsOp, ai.ReluOp, ai.IdentityOp) * 2, ai.ExpOp, ai.TanhOp, ai.ErfOp, ai.SigmoidOp)
_BINARY = (*(ai.AddOp, ai.SubOp, ai.MulOp) * 2, ai.SubOp, ai.MaximumOp, ai.MinimumOp)
_LOGIC = (ai.AndOp, ai.OrOp, ai.XorOp)
_COMPARE = (ai.LessOp, ai.LessEqualOp, ai.EqualOp)
_REDUCE = (ai.ReduceSumOp, ai.ReduceMeanOp, ai.ReduceMaxOp, ai.ReduceMinOp)
_INTEGERS = ("int64", "int32", "int8", "uint8")
_TRIES = 40


def random_graph(seed: int) -> RandomGraph:
    """The graph of a seed: 4 to 16 ops on 2 to 4 inputs."""
    rng = np.random.default_rng(seed)
    draft = Draft(rng)
    _add_inputs(draft)
    wanted = int(rng.integers(4, 15))
    for _ in range(_TRIES):
        if sum(isinstance(entry, Node) for entry in draft.entries) >= wanted:
            break
        try:
            _STEPS[rng.integers(len(_STEPS))](draft)
        except (RejectedError, IRError):
            continue  # what the steps before the one that failed have added may stay
    return RandomGraph(seed, tuple(draft.entries), _outputs(draft))


def _outputs(draft: Draft) -> tuple[int, ...]:
    """Mostly all that nothing reads, so that each op matters; else the last op, so that some are dead. And others."""
    read = {i for entry in draft.entries if isinstance(entry, Node) for i in entry.reads()}
    nodes = [i for i, entry in enumerate(draft.entries) if isinstance(entry, Node)] or [0]
    others = draft.rng.integers(0, len(draft.entries), draft.rng.integers(0, 3))
    ends = [i for i in nodes if i not in read] if draft.rng.random() < 0.8 else nodes[-1:]
    return (*ends, *map(int, others))


def _add_inputs(draft: Draft) -> None:
    rng = draft.rng
    sizes = [0, 1, 1, 2, 3, 4, 5, 7, 8] if rng.random() < 0.15 else [1, 1, 2, 3, 4, 5, 7, 8]
    image = (int(rng.integers(1, 3)), int(rng.choice([1, 2, 3, 4, 8])), *map(int, rng.choice(sizes, 2)))
    shapes = [image, tuple(map(int, rng.choice(sizes, rng.integers(0, 4))))]
    shapes += [_partner(shapes[rng.integers(2)], rng) for _ in range(rng.integers(0, 3))]
    for shape in shapes:
        draft.input(_array(shape, str(rng.choice(["float32"] * 8 + ["float64", "bool", *_INTEGERS])), rng))


def _array(shape: Sequence[int], dtype: str, rng: np.random.Generator) -> np.ndarray:
    """Floats within 2 of 0 (some equal, some zeros), integers of one digit."""
    if dtype == "bool":
        return np.asarray(rng.random(tuple(shape)) < 0.5)
    if dtype in _INTEGERS:
        return np.asarray(rng.integers(0 if dtype == "uint8" else -9, 10, tuple(shape)), dtype)
    values = np.asarray(rng.standard_normal(tuple(shape))).clip(-2, 2)
    return np.where(rng.random(tuple(shape)) < 0.2, np.round(values), values).astype(dtype)


def _partner(shape: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
    """A shape that broadcasts to this one."""
    dropped = int(rng.integers(0, len(shape) + 1)) if rng.random() < 0.5 else 0
    return tuple(1 if rng.random() < 0.4 else size for size in shape[dropped:])


def _pick(draft: Draft, wanted: Callable[[np.ndarray], bool] = lambda _: True) -> int:
    """An entry, late ones rather than early ones."""
    found = [i for i, value in enumerate(draft.values) if wanted(value)]
    if not found:
        raise RejectedError("nothing of the kind")
    return found[int(len(found) * draft.rng.random() ** 0.5)]


def _is_float(value: np.ndarray) -> bool:
    return is_float(value.dtype)


def _is_number(value: np.ndarray) -> bool:
    return value.dtype != np.bool_


def _is_bool(value: np.ndarray) -> bool:
    return value.dtype == np.bool_


def _is_image(value: np.ndarray) -> bool:
    return _is_float(value) and value.ndim == 4 and value.size > 0


def _second(draft: Draft, first: int) -> int:
    """Another operand for a binary op: an entry that broadcasts with the first, or a constant."""
    value, rng = draft.values[first], draft.rng
    fits = [i for i, other in enumerate(draft.values) if other.dtype == value.dtype and _broadcast(value, other)]
    if fits and rng.random() < 0.6:
        return int(rng.choice(fits))
    array = _array(_partner(value.shape, rng), str(value.dtype), rng)
    if rng.random() < 0.5:  # what canonicalization looks for
        array = np.full(array.shape, rng.choice([0.0, -0.0, 1.0, 2.0]), array.dtype)
    return draft.constant(array)


def _broadcast(a: np.ndarray, b: np.ndarray) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a.shape[::-1], b.shape[::-1], strict=False))


def _choose(draft: Draft, ops: Sequence[type[Operation]]) -> type[Operation]:
    return ops[draft.rng.integers(len(ops))]


def _in_order(draft: Draft, x: int, y: int) -> tuple[int, int]:
    return (x, y) if draft.rng.random() < 0.5 else (y, x)


def _unary(draft: Draft) -> None:
    x = _pick(draft)
    draft.add(ai.NotOp if _is_bool(draft.values[x]) else _choose(draft, _UNARY), x)


def _binary(draft: Draft) -> None:
    x = _pick(draft)
    y = _second(draft, x)
    draft.add(_choose(draft, _LOGIC if _is_bool(draft.values[x]) else _BINARY), *_in_order(draft, x, y))


def _neutral(draft: Draft) -> None:
    """What does nothing, or only seems to."""
    x, rng = _pick(draft, _is_number), draft.rng
    op = _choose(draft, (ai.AddOp, ai.AddOp, ai.SubOp, ai.MulOp, ai.DivOp))
    number = rng.choice([0.0, -0.0] if op in (ai.AddOp, ai.SubOp) else [1.0, -1.0])
    y = draft.constant(np.full(_partner(draft.values[x].shape, rng), number).astype(draft.values[x].dtype))
    draft.add(op, *((x, y) if op is ai.DivOp else _in_order(draft, x, y)))


def _away_from_zero(draft: Draft, x: int) -> int:
    """|x| + 0.5"""
    half = draft.constant(np.full((), 0.5, draft.values[x].dtype))
    return draft.add(ai.AddOp, draft.add(ai.AbsOp, x), half)


def _divide(draft: Draft) -> None:
    x = _pick(draft, _is_number)
    y = _second(draft, x)
    if _is_float(draft.values[x]):
        y = _away_from_zero(draft, y)
    draft.add(ai.DivOp, x, y)


def _root_or_log(draft: Draft) -> None:
    x = _away_from_zero(draft, _pick(draft, _is_float))
    draft.add(_choose(draft, (ai.SqrtOp, ai.LogOp)), x)


def _power(draft: Draft) -> None:
    x = _pick(draft, _is_float)
    if draft.rng.random() < 0.5:
        y = draft.constant(np.full((), draft.rng.choice([1.0, 2.0, 3.0]), draft.values[x].dtype))
    else:
        y = _second(draft, x)
        x = _away_from_zero(draft, x)
    draft.add(ai.PowOp, x, y)


def _compare(draft: Draft) -> None:
    x = _pick(draft, _is_number)
    draft.add(_choose(draft, _COMPARE), *_in_order(draft, x, _second(draft, x)))


def _select(draft: Draft) -> None:
    condition = _pick(draft, _is_bool)
    x = _pick(draft, lambda value: _broadcast(value, draft.values[condition]))
    draft.add(ai.SelectOp, condition, *_in_order(draft, x, _second(draft, x)))


def _cast(draft: Draft) -> None:
    draft.add(ai.CastOp, _pick(draft), to=str(draft.rng.choice(["f32", "f32", "f64", "i32", "i64", "i1"])))


def _reduce(draft: Draft) -> None:
    x, rng = _pick(draft, _is_number), draft.rng
    axes = [axis for axis in range(draft.values[x].ndim) if rng.random() < 0.5]
    draft.add(_choose(draft, _REDUCE), x, axes=axes, keepdims=bool(rng.random() < 0.5))


def _softmax(draft: Draft) -> None:
    x = _pick(draft, lambda value: _is_float(value) and value.ndim > 0)
    draft.add(ai.SoftmaxOp, x, axis=int(draft.rng.integers(draft.values[x].ndim)))


def _normalize(draft: Draft) -> None:
    x, rng = _pick(draft, lambda value: _is_float(value) and value.ndim > 0 and value.size > 0), draft.rng
    value = draft.values[x]
    axis = int(rng.integers(value.ndim))
    scale, bias = (draft.constant(_array(value.shape[axis:], str(value.dtype), rng)) for _ in range(2))
    draft.add(ai.LayerNormOp, x, scale, bias if rng.random() < 0.7 else None, axis=axis, epsilon=0.5)


def _reshape(draft: Draft) -> None:
    x, rng = _pick(draft), draft.rng
    shape = draft.values[x].shape
    shapes = [(draft.values[x].size,), (*shape, 1), (1, *shape), tuple(n for n in shape if n != 1)]
    if len(shape) > 1:
        shapes += [(shape[0] * shape[1], *shape[2:]), (*shape[:-2], shape[-2] * shape[-1])] * 2
    draft.add(ai.ReshapeOp, x, shape=list(shapes[rng.integers(len(shapes))]))


def _transpose(draft: Draft) -> None:
    x = _pick(draft, lambda value: value.ndim > 1)
    order = [int(axis) for axis in draft.rng.permutation(draft.values[x].ndim)]
    moved = draft.add(ai.TransposeOp, x, permutation=order)
    if draft.rng.random() < 0.3:  # back, perhaps with something between
        if draft.rng.random() < 0.5:
            moved = draft.add(ai.ReluOp if _is_float(draft.values[x]) else ai.IdentityOp, moved)
        draft.add(ai.TransposeOp, moved, permutation=[order.index(axis) for axis in range(len(order))])


def _slice(draft: Draft) -> None:
    x, rng = _pick(draft, lambda value: value.ndim > 0), draft.rng
    starts, sizes, steps = [], [], []
    for size in draft.values[x].shape:
        step = int(rng.choice([1, 1, 1, 2, -1, -2]))
        count = int(rng.integers(0 if rng.random() < 0.05 else min(size, 1), (size + abs(step) - 1) // abs(step) + 1))
        reach = (count - 1) * abs(step)
        low = int(rng.integers(0, size - reach)) if count else 0
        starts.append(low if step > 0 or not count else low + reach)
        sizes.append(count)
        steps.append(step)
    draft.add(ai.SliceOp, x, starts=starts, sizes=sizes, steps=steps)


def _concat(draft: Draft) -> None:
    x, rng = _pick(draft, lambda value: value.ndim > 0), draft.rng
    value, axis = draft.values[x], int(rng.integers(draft.values[x].ndim))

    def fits(other: np.ndarray) -> bool:
        return other.dtype == value.dtype and _without(other, axis) == _without(value, axis)

    draft.add(ai.ConcatOp, [_pick(draft, fits) for _ in range(rng.integers(1, 4))], axis=axis)


def _without(value: np.ndarray, axis: int) -> tuple[int, ...]:
    return (value.ndim, *value.shape[:axis], *value.shape[axis + 1 :])


def _broadcast_to(draft: Draft) -> None:
    x, rng = _pick(draft), draft.rng
    shape = [int(rng.integers(1, 5)) if size == 1 else size for size in draft.values[x].shape]
    draft.add(ai.BroadcastToOp, x, shape=[*rng.integers(1, 4, rng.integers(0, 2)).tolist(), *shape])


def _gather(draft: Draft) -> None:
    x, rng = _pick(draft, lambda value: value.ndim > 0 and value.size > 0), draft.rng
    axis = int(rng.integers(draft.values[x].ndim))
    size = draft.values[x].shape[axis]
    indices = rng.integers(-size, size, tuple(rng.integers(1, 4, rng.integers(0, 3)))).astype("int64")
    draft.add(ai.GatherOp, x, draft.constant(indices), axis=axis)


def _matmul(draft: Draft) -> None:
    x, rng = _pick(draft, lambda value: _is_float(value) and value.ndim > 1), draft.rng
    value = draft.values[x]
    right = [i for i, other in enumerate(draft.values)
             if other.dtype == value.dtype and other.ndim > 1 and other.shape[-2] == value.shape[-1]]  # fmt: skip
    if right and rng.random() < 0.5:
        draft.add(ai.MatMulOp, x, int(rng.choice(right)))
        return
    columns = int(rng.choice([1, 3, 8, 17]))
    product = draft.add(ai.MatMulOp, x, draft.constant(_array((value.shape[-1], columns), str(value.dtype), rng)))
    if rng.random() < 0.5:
        bias = draft.constant(_array((columns,), str(value.dtype), rng))
        draft.add(ai.ReluOp, draft.add(ai.AddOp, *_in_order(draft, product, bias)))


def _conv(draft: Draft) -> None:
    x, rng = _pick(draft, _is_image), draft.rng
    channels, *spatial = draft.values[x].shape[1:]
    group = channels if rng.random() < 0.25 else 1
    filters = group * int(rng.choice([1, 2])) if group > 1 else int(rng.choice([1, 3, 8, 9]))
    kernel = [int(rng.choice([1, min(2, size), min(3, size)])) for size in spatial]
    dtype = str(draft.values[x].dtype)
    weight = draft.constant(_array((filters, channels // group, *kernel), dtype, rng))
    bias = draft.constant(_array((filters,), dtype, rng)) if rng.random() < 0.5 else None
    pads = [int(rng.integers(0, size)) for size in kernel * 2]
    made = draft.add(ai.ConvOp, x, weight, bias, group=group, pads=pads, strides=rng.integers(1, 3, 2).tolist())
    _after_conv(draft, made)


def _conv_transpose(draft: Draft) -> None:
    x, rng = _pick(draft, _is_image), draft.rng
    kernel, filters = [int(rng.integers(1, 4)) for _ in range(2)], int(rng.integers(1, 4))
    strides = kernel if rng.random() < 0.7 else [1, 2]
    dtype = str(draft.values[x].dtype)
    weight = draft.constant(_array((draft.values[x].shape[1], filters, *kernel), dtype, rng))
    bias = draft.constant(_array((filters,), dtype, rng)) if rng.random() < 0.5 else None
    _after_conv(draft, draft.add(ai.ConvTransposeOp, x, weight, bias, strides=strides))


def _after_conv(draft: Draft, made: int) -> None:
    """What networks have after convolutions: batch norm, scales, shifts, activations, all rows as a matrix."""
    rng, value = draft.rng, draft.values[made]
    filters, dtype = value.shape[1], str(value.dtype)
    choice = rng.random()
    if choice < 0.3:
        parameters = [draft.constant(_array((filters,), dtype, rng)) for _ in range(3)]
        variance = draft.constant(np.abs(_array((filters,), dtype, rng)) + np.dtype(dtype).type(0.5))
        made = draft.add(ai.BatchNormOp, made, *parameters, variance)
    elif choice < 0.6:
        factors = draft.constant(np.abs(_array((filters, 1, 1), dtype, rng)) + np.dtype(dtype).type(0.5))
        op = _choose(draft, (ai.MulOp, ai.DivOp, ai.AddOp, ai.SubOp))
        made = draft.add(op, *_in_order(draft, made, factors))
    if rng.random() < 0.5:
        made = draft.add(_choose(draft, (ai.ReluOp, ai.SigmoidOp)), made)
    if rng.random() < 0.2:
        flat = draft.add(ai.ReshapeOp, made, shape=[value.shape[0], value.size // value.shape[0]])
        matrix = _array((value.size // value.shape[0], int(rng.choice([1, 5]))), dtype, rng)
        draft.add(ai.MatMulOp, flat, draft.constant(matrix))


def _pool(draft: Draft) -> None:
    x, rng = _pick(draft, _is_image), draft.rng
    kernel = [int(rng.integers(1, min(3, size) + 1)) for size in draft.values[x].shape[2:]]
    pads = [int(rng.integers(0, size)) for size in kernel * 2]
    strides = rng.integers(1, 3, 2).tolist()
    if rng.random() < 0.5:
        draft.add(ai.MaxPoolOp, x, kernel=kernel, pads=pads, strides=strides)
    else:
        include = bool(rng.random() < 0.5)
        draft.add(ai.AvgPoolOp, x, kernel=kernel, pads=pads, strides=strides, count_include_pad=include)


def _repeat(draft: Draft) -> None:
    """The same op on the same operands once more, read together with the first."""
    nodes = [i for i, entry in enumerate(draft.entries) if isinstance(entry, Node)]
    if not nodes:
        raise RejectedError("nothing to repeat")
    first = int(draft.rng.choice(nodes))
    entry = draft.entries[first]
    assert isinstance(entry, Node)
    again = draft.add(entry.op, *entry.operands, **entry.attributes)
    op = ai.XorOp if _is_bool(draft.values[first]) else _choose(draft, (ai.MulOp, ai.MaximumOp, ai.SubOp))
    draft.add(op, *_in_order(draft, again, draft.add(ai.NotOp, first) if op is ai.XorOp else first))


_STEPS: tuple[Callable[[Draft], None], ...] = (
    *(_unary, _binary, _binary) * 3,
    *(_neutral, _neutral, _divide, _root_or_log, _power, _compare, _select, _select, _cast),
    *(_reduce, _reduce, _softmax, _normalize),
    *(_reshape, _reshape, _transpose, _transpose, _slice, _concat, _concat, _broadcast_to, _gather),
    *(_matmul, _matmul, _conv, _conv, _conv_transpose, _pool, _pool, _repeat, _repeat),
)
