"""Templates on bf16 and f16: stored in 16 bits, computed in f32. Oracle: the interpreter on the same kernels."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.interpret import interpret
from aiopt.support.errors import CompileError
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.types import LOW_FLOATS, numpy_dtype
from aiopt.targets import find_target
from unit.passes.templates.kernels import GROUPED, Kernel, choices, unit_of

_RANDOM = np.random.default_rng(0)
_IMAGE = {"strides": [1, 1], "dilations": [1, 1], "layout": "channels_last"}


def _low(element: str, *shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype(numpy_dtype(element))


def _f32(*shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype(np.float32)


def _linear(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
    return ai.ReluOp(ai.AddOp(ai.MatMulOp(x, w).out, b).out).out


def _widened(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
    return ai.AddOp(ai.CastOp(ai.MatMulOp(x, w).out, to="f32").out, b).out


def _conv(pads: int, group: int = 1):
    def build(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
        conv = ai.ConvOp(x, w, b, pads=[pads] * 4, group=group, **_IMAGE).out
        return ai.MulOp(conv, ai.SigmoidOp(conv).out).out

    return build


def _planes(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
    return ai.ReluOp(ai.ConvOp(x, w, b, pads=[1] * 4, group=3).out).out


def _pointwise_weights(low: str) -> list[np.ndarray]:
    return [_low(low, 19, 24, 1, 1), _f32(19)]


def _kernels(low: str) -> list[Kernel]:
    """Widths that fill no vector among them; biases of the type of the sums and of the operands."""
    return [
        Kernel("matmul", _linear, [_low(low, 37, 70)], [_low(low, 70, 45), _low(low, 45)]),
        Kernel("matmul", _widened, [_low(low, 5, 600)], [_low(low, 600, 33), _f32(33)]),
        Kernel("matmul", lambda a, b: ai.MatMulOp(a, b).out, [_low(low, 2, 9, 16), _low(low, 2, 16, 21)]),
        Kernel("matmul", _conv(0), [_low(low, 1, 6, 7, 24)], [_low(low, 19, 24, 1, 1), _f32(19)]),
        Kernel("matmul", lambda x, w, b: ai.ConvOp(x, w, b).out, [_low(low, 2, 24, 5, 7)], _pointwise_weights(low)),
        Kernel("conv", _conv(1), [_low(low, 1, 9, 11, 5)], [_low(low, 21, 5, 3, 3), _f32(21)]),
        Kernel("conv", _conv(1), [_low(low, 1, 6, 6, 8)], [_low(low, 8, 8, 3, 3), _low(low, 8)]),
        Kernel("depthwise", _conv(1, 13), [_low(low, 1, 8, 9, 13)], [_low(low, 13, 1, 3, 3), _f32(13)]),
        Kernel("planes", _planes, [_low(low, 1, 3, 8, 19)], [_low(low, 3, 1, 3, 3), _f32(3)]),
    ]


@pytest.mark.parametrize("low", sorted(LOW_FLOATS))
def test_each_template(low: str) -> None:
    """To one unit in the last place of 16 bits: sums are in another order, and the epilogue is rounded once."""
    kernels = _kernels(low)
    unit, inputs = unit_of(kernels)
    expected = interpret(unit.module, unit.weights, inputs)
    target = find_target("cpu")
    pipeline.run(unit, GROUPED)
    select, _, rest = target.stages()[1].pipeline.partition(",")
    pipeline.run(unit, select)
    assert choices(unit) == [kernel.template for kernel in kernels]
    for text in (rest, *(stage.pipeline for stage in target.stages()[2:])):
        pipeline.run(unit, text)
    code = target.build(unit, KernelCache())
    single, double = (target.load(unit, code, threads, {}).run(inputs) for threads in (1, 2))
    spacing = 2.0**-7 if low == "bf16" else 2.0**-9
    for name, want in expected.items():
        assert single[name].dtype == want.dtype
        np.testing.assert_array_equal(single[name].view(np.uint8), double[name].view(np.uint8), err_msg=name)
        wide = want.astype(np.float64)
        largest = np.abs(wide).max()
        np.testing.assert_allclose(
            single[name].astype(np.float64), wide, rtol=spacing, atol=spacing * 0.25 * largest, err_msg=name
        )


def test_weights_take_half_the_bytes() -> None:
    def packed(element: str) -> int:
        weights = [_RANDOM.standard_normal((64, 128)).astype(numpy_dtype(element)), _low(element, 128)]
        unit, _ = unit_of([Kernel("matmul", _linear, [_low(element, 16, 64)], weights)])
        pipeline.run(unit, ",".join([GROUPED, *(stage.pipeline for stage in find_target("cpu").stages()[1:3])]))
        return unit.module.operation.attributes["ai.weights_bytes"].value

    assert packed("bf16") * 2 == packed("f32")


def test_sums_are_not_kept_in_a_low_result() -> None:
    """A part of a reduction at a time would round in between."""
    unit, _ = unit_of([Kernel("matmul", _linear, [_low("bf16", 16, 64)], [_low("bf16", 64, 16), _low("bf16", 16)])])
    pipeline.run(unit, f"{GROUPED},ai-select-route")
    (kernel,) = [op for op in unit.module.body.operations if "ai.template" in op.attributes]
    choice = {entry.name: entry.attr for entry in kernel.attributes["ai.template"]}
    with unit.module.context:
        choice["kc"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 32)
        kernel.attributes["ai.template"] = ir.DictAttr.get(choice)
    with pytest.raises(CompileError, match="kc must be 64"):
        pipeline.run(unit, "ai-pack-weights,convert-ai-to-linalg")
