"""Random GRAPH-level units for property tests, and ways to run and compare them."""

from collections.abc import Callable

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai, ext
from aiopt.passes.interpret import interpret
from aiopt.passes.rewrite import make_constant
from aiopt.passes.unit import Unit
from aiopt.support.types import TensorType

SHAPES = [(2, 3, 4, 4), (2, 3, 4), (1, 3, 1, 4), (6, 4)]
SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf]
NEUTRAL = [0.0, -0.0, 1.0, 2.0, 0.5, -1.0]
UNARY = [ai.IdentityOp, ai.NegOp, ai.AbsOp, ai.ReluOp, ai.SigmoidOp, ai.TanhOp]
BINARY = [ai.AddOp, ai.SubOp, ai.MulOp, ai.DivOp, ai.MaximumOp, ai.MinimumOp]


class Builder:
    """Builds @main op by op; `values` holds what later ops may read."""

    def __init__(self, seed: int, shapes: list[tuple[int, ...]]) -> None:
        self.random = np.random.default_rng(seed)
        self.unit = Unit(ir.Module.create())
        self.unit.module.operation.attributes["ai.level"] = ir.StringAttr.get("graph")
        types = [ext.to_ir(TensorType(shape, "f32")) for shape in shapes]
        with ir.InsertionPoint(self.unit.module.body):
            self.main = func.FuncOp("main", (types, []))
        self.block = self.main.add_entry_block()
        self.values: list[ir.Value] = list(self.block.arguments)

    def constant(self, array: np.ndarray) -> ir.Value:
        """A constant in the IR or in the weights."""
        hint = f"w{len(self.unit.weights)}"
        return make_constant(
            self.unit, array.astype(np.float32), hint, ir.Location.unknown(), ir.InsertionPoint.current
        )

    def weights(self, *shape: int) -> ir.Value:
        """A constant of positive numbers near 1."""
        return self.constant(self.random.uniform(0.5, 1.5, shape))

    def add(self, cls: type[ext.Operation], *operands, **attributes) -> ir.Value:
        """Build an op under a name of its own and keep its result."""
        with ir.Location.name(f"{cls.OPERATION_NAME.removeprefix('ai.')}_{len(self.values)}"):
            value = cls(*operands, **attributes).operation.results[0]
        self.values.append(value)
        return value

    def finish(self, results: list[ir.Value]) -> Unit:
        """Return these values from @main, and name its arguments and results x0.. and y0.. ."""
        with ir.InsertionPoint(self.block):
            func.ReturnOp(results)
        arguments = [argument.type for argument in self.block.arguments]
        kind = ir.FunctionType.get(arguments, [value.type for value in results])
        attributes = self.main.operation.attributes
        attributes["function_type"] = ir.TypeAttr.get(kind)
        attributes["arg_attrs"] = _names("x", len(arguments))
        attributes["res_attrs"] = _names("y", len(results))
        return self.unit


def random_unit(seed: int, ops: int = 25) -> Unit:
    """About `ops` random ops; whatever is left unused and two more values are returned."""
    builder = Builder(seed, SHAPES)
    with ir.InsertionPoint(builder.block):
        for _ in range(ops):
            value = builder.values[-1 - min(int(builder.random.exponential(2)), len(builder.values) - 1)]
            STEPS[int(builder.random.integers(len(STEPS)))](builder, value)
    unused = [value for value in builder.values if next(iter(value.uses), None) is None]
    return builder.finish([*unused, builder.values[0], builder.values[len(builder.values) // 2]])


def random_inputs(seed: int, special: bool = False) -> dict[str, np.ndarray]:
    """Inputs of `random_unit`; with NaN, infinities and both zeros strewn in if `special`."""
    random = np.random.default_rng(seed)
    inputs = {}
    for index, shape in enumerate(SHAPES):
        array = random.normal(size=shape).astype(np.float32)
        if special:
            array[random.random(shape) < 0.2] = random.choice(SPECIAL)
            array[random.random(shape) < 0.2] = -0.0
        inputs[f"x{index}"] = array
    return inputs


def run(unit: Unit, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The references' results."""
    return interpret(unit.module, unit.weights, inputs)


def assert_same_bits(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """NaN at the same places, all else equal to the bit, the sign of zero included."""
    assert actual.keys() == expected.keys()
    for name, want in expected.items():
        have = actual[name]
        assert have.dtype == want.dtype, name
        np.testing.assert_array_equal(have, want, err_msg=name)
        signs = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(have)[signs], np.signbit(want)[signs], err_msg=name)


def _names(prefix: str, count: int) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(f"{prefix}{i}")}) for i in range(count)])


def _shape(value: ir.Value) -> tuple[int, ...]:
    return ext.type_of(value).shape


def _unary(builder: Builder, value: ir.Value) -> None:
    builder.add(UNARY[builder.random.integers(len(UNARY))], value)


def _binary(builder: Builder, value: ir.Value) -> None:
    like = [other for other in builder.values if _shape(other) == _shape(value)]
    other = like[builder.random.integers(len(like))]
    builder.add(BINARY[builder.random.integers(len(BINARY))], value, other)


def _scalar(builder: Builder, value: ir.Value) -> None:
    scalar = builder.constant(np.full([(), (1,)][builder.random.integers(2)], builder.random.choice(NEUTRAL)))
    cls = [*BINARY, ai.PowOp][builder.random.integers(len(BINARY) + 1)]
    operands = (value, scalar) if cls is ai.PowOp or builder.random.random() < 0.5 else (scalar, value)
    builder.add(cls, *operands)


def _channel(builder: Builder, value: ir.Value) -> None:
    if len(_shape(value)) > 2:
        weights = builder.weights(_shape(value)[1], *[1] * (len(_shape(value)) - 2))
        builder.add([ai.MulOp, ai.AddOp, ai.SubOp, ai.DivOp][builder.random.integers(4)], value, weights)


def _constant(builder: Builder, value: ir.Value) -> None:
    builder.values.append(builder.weights(*_shape(value)))


def _conv(builder: Builder, value: ir.Value) -> None:
    shape = _shape(value)
    if len(shape) > 2:
        bias = builder.weights(3) if builder.random.random() < 0.5 else None
        pads = [1] * (2 * (len(shape) - 2))
        builder.add(ai.ConvOp, value, builder.weights(3, shape[1], *[3] * (len(shape) - 2)), bias, pads=pads)


def _batch_norm(builder: Builder, value: ir.Value) -> None:
    if len(_shape(value)) > 1:
        builder.add(ai.BatchNormOp, value, *[builder.weights(_shape(value)[1]) for _ in range(4)])


def _softmax(builder: Builder, value: ir.Value) -> None:
    if _shape(value):
        builder.add(ai.SoftmaxOp, value)


def _reduce(builder: Builder, value: ir.Value) -> None:
    rank = len(_shape(value))
    axes = sorted(builder.random.choice(rank, size=builder.random.integers(rank + 1), replace=False).tolist())
    builder.add(ai.ReduceSumOp, value, axes=axes, keepdims=bool(builder.random.random() < 0.7))


def _normalize(builder: Builder, value: ir.Value) -> None:
    """A layer normalisation over the last axis, as exporters write it."""
    if _shape(value):
        axis = [len(_shape(value)) - 1]
        centred = builder.add(ai.SubOp, value, builder.add(ai.ReduceMeanOp, value, axes=axis))
        square = builder.add(ai.PowOp, centred, builder.constant(np.full((), 2.0)))
        variance = builder.add(ai.ReduceMeanOp, square, axes=axis)
        deviation = builder.add(ai.SqrtOp, builder.add(ai.AddOp, variance, builder.constant(np.full((1,), 1e-5))))
        builder.add(ai.DivOp, centred, deviation)


def _transpose(builder: Builder, value: ir.Value) -> None:
    permutation = builder.random.permutation(len(_shape(value))).tolist()
    turned = builder.add(ai.TransposeOp, value, permutation=permutation)
    back = np.argsort(permutation).tolist() if builder.random.random() < 0.5 else permutation
    builder.add(ai.TransposeOp, turned, permutation=back)


def _reshape(builder: Builder, value: ir.Value) -> None:
    shape = _shape(value)
    builder.add(ai.ReshapeOp, builder.add(ai.ReshapeOp, value, shape=[int(np.prod(shape))]), shape=list(shape))


def _slice(builder: Builder, value: ir.Value) -> None:
    shape = _shape(value)
    reverse = [bool(size > 1 and builder.random.random() < 0.2) for size in shape]
    starts = [size - 1 if turned else 0 for size, turned in zip(shape, reverse, strict=True)]
    builder.add(ai.SliceOp, value, starts=starts, sizes=list(shape), steps=[-1 if turned else 1 for turned in reverse])


def _concat(builder: Builder, value: ir.Value) -> None:
    if _shape(value) and _shape(value)[0] < 8:
        builder.add(ai.ConcatOp, [value] * int(builder.random.integers(1, 3)), axis=0)


def _broadcast(builder: Builder, value: ir.Value) -> None:
    shape = _shape(value)
    row = builder.add(ai.BroadcastToOp, builder.weights(*shape[-1:]), shape=list(shape))
    builder.add(ai.AddOp, value, row)


STEPS: list[Callable[[Builder, ir.Value], None]] = [
    *(_unary, _unary, _binary, _binary, _scalar, _scalar, _scalar, _channel, _constant, _conv, _conv, _batch_norm),
    *(_batch_norm, _softmax, _reduce, _normalize, _transpose, _reshape, _slice, _concat, _broadcast),
]
