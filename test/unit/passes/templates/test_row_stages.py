"""Softmax, norms and folds of the rows of a product, in its kernel. Oracle: the ops' numpy references, op by op."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.interpret import interpret
from aiopt.support.errors import CompileError
from unit.passes.templates.kernels import FACTS, Build, Kernel, check, check_bands, choices, fused, run, splat, unit_of

_RNG = np.random.default_rng(0)


def _random(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape).astype(np.float32)


def _last(x: ir.Value) -> int:
    return len(x.type.shape) - 1  # pyright: ignore[reportAttributeAccessIssue]


def _normed(x: ir.Value, residual: ir.Value, *weights: ir.Value) -> ir.Value:
    """The end of each half of BERT's layer."""
    w, b, scale, bias = weights
    sums = ai.AddOp(ai.AddOp(ai.MatMulOp(x, w).out, b).out, residual).out
    return ai.LayerNormOp(sums, scale, bias, axis=_last(x), epsilon=1e-5).out


def _softmax(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
    return ai.SoftmaxOp(ai.AddOp(ai.MatMulOp(x, w).out, b).out, axis=_last(x)).out


def _root_mean_square(x: ir.Value, w: ir.Value, scale: ir.Value) -> ir.Value:
    """Two of its elementwise ops come before the fold: the product ends before them."""
    y = ai.MatMulOp(x, w).out
    squares = ai.ReduceMeanOp(ai.MulOp(y, y).out, axes=[_last(x)], keepdims=True).out
    return ai.MulOp(ai.DivOp(y, ai.SqrtOp(ai.AddOp(squares, splat(1e-5)).out).out).out, scale).out


def _spelled_out(x: ir.Value, w: ir.Value, scale: ir.Value) -> ir.Value:
    y = ai.ReluOp(ai.MatMulOp(x, w).out).out
    centred = ai.SubOp(y, ai.ReduceMeanOp(y, axes=[_last(x)], keepdims=True).out).out
    variance = ai.ReduceMeanOp(ai.MulOp(centred, centred).out, axes=[_last(x)], keepdims=True).out
    return ai.MulOp(ai.DivOp(centred, ai.SqrtOp(ai.AddOp(variance, splat(1e-5)).out).out).out, scale).out


def _fold(op: type, keepdims: bool) -> Build:
    return lambda x, w: op(ai.MatMulOp(x, w).out, axes=[_last(x)], keepdims=keepdims).out


def _classifier(x: ir.Value, *weights: ir.Value) -> ir.Value:
    hidden = ai.ReluOp(ai.AddOp(ai.MatMulOp(x, weights[0]).out, weights[1]).out).out
    return _softmax(hidden, *weights[2:])


@pytest.mark.parametrize(
    ("shape", "columns", "rows"),
    [
        ((24, 20), 36, 2),
        ((24, 20), 37, 12),
        ((2, 3, 4, 20), 9, 6),
        ((1, 7, 20), 65, 7),
        ((13, 20), 40, 1),
        ((3, 20), 8, 1),
    ],
)
def test_a_layer_norm_behind_a_product(shape: tuple[int, ...], columns: int, rows: int) -> None:
    inputs = [_random(*shape), _random(*shape[:-1], columns)]
    weights = [_random(20, columns), *(_random(columns) for _ in range(3))]
    check_bands(Kernel("bands", _normed, inputs, weights), rows)


@pytest.mark.parametrize(("shape", "columns", "rows"), [((6, 30), 10, 3), ((2, 5, 30), 1100, 5), ((1, 30), 43, 1)])
def test_a_softmax_behind_a_product(shape: tuple[int, ...], columns: int, rows: int) -> None:
    check_bands(Kernel("bands", _softmax, [_random(*shape)], [_random(30, columns), _random(columns)]), rows)


@pytest.mark.parametrize("build", [_root_mean_square, _spelled_out])
@pytest.mark.parametrize("rows", [1, 4])
def test_norms_as_exporters_write_them(build: Build, rows: int) -> None:
    check_bands(Kernel("bands", build, [_random(2, 4, 20)], [_random(20, 50), _random(50)]), rows)


@pytest.mark.parametrize("keepdims", [True, False])
def test_one_value_of_a_row(keepdims: bool) -> None:
    for op in (ai.ReduceMaxOp, ai.ReduceMeanOp):
        check_bands(Kernel("bands", _fold(op, keepdims), [_random(3, 4, 20)], [_random(20, 50)]), 3)


@pytest.mark.parametrize("rows", [2, 7])
def test_rows_behind_several_products(rows: int) -> None:
    weights = [_random(20, 33), _random(33), _random(33, 10), _random(10)]
    check_bands(Kernel("bands", _classifier, [_random(14, 20)], weights), rows)


def test_rows_that_are_no_numbers_stay_alone() -> None:
    x = _random(8, 20)
    x[1], x[3, 2], x[6, 0] = np.nan, np.nan, np.inf
    kernel = Kernel("bands", _softmax, [x], [np.abs(_random(20, 50)), _random(50)])
    unit, inputs = unit_of([kernel])
    found = run(unit, inputs, ["bands"], FACTS, "off", fused())[0]["y0"]
    lost = np.zeros(8, bool)
    lost[[1, 3, 6]] = True
    assert np.isnan(found[lost]).all()
    np.testing.assert_allclose(found[~lost].sum(1), 1, rtol=1e-6)


def test_a_result_of_16_bits_is_rounded_once() -> None:
    """What is kept of a row has no room in the result: it has a buffer."""
    build: Build = lambda x, w, b: ai.CastOp(_softmax(x, w, b), to="f16").out  # noqa: E731
    unit, inputs = unit_of([Kernel("bands", build, [_random(6, 20)], [_random(20, 40), _random(40)])])
    want = interpret(unit.module, unit.weights, inputs)["y0"]
    found, again = run(unit, inputs, ["bands"], FACTS, "off", fused())
    np.testing.assert_allclose(found["y0"].astype(np.float32), want.astype(np.float32), rtol=2e-3)
    np.testing.assert_array_equal(found["y0"].view(np.uint16), again["y0"].view(np.uint16))


@pytest.mark.parametrize("axis", [0, 1])
def test_a_result_that_is_a_part_of_another(axis: int) -> None:
    def parts(x: ir.Value, *weights: ir.Value) -> ir.Value:
        return ai.ConcatOp([_softmax(x, *weights[:2]), _softmax(x, *weights[2:])], axis=axis).out

    shapes = [(20, 11), (11,), (20, 11), (11,)]
    unit, inputs = unit_of([Kernel("", parts, [_random(6, 20)], [_random(*shape) for shape in shapes])])
    want = interpret(unit.module, unit.weights, inputs)["y0"]
    found, again = run(unit, inputs, ["bands", "bands"], FACTS, "off", fused())
    np.testing.assert_allclose(found["y0"], want, atol=1e-6)
    np.testing.assert_array_equal(found["y0"], again["y0"])


def test_the_structured_route_computes_such_a_kernel_too() -> None:
    weights = [_random(20, 36), *(_random(36) for _ in range(3))]
    kernel = Kernel("structured", _normed, [_random(24, 20), _random(24, 36)], weights)
    check([kernel], f"{FACTS} templates=false", grouped=fused())


def _other_axis(x: ir.Value, w: ir.Value) -> ir.Value:
    return ai.SoftmaxOp(ai.MatMulOp(x, w).out, axis=0).out


def _pixels(x: ir.Value, w: ir.Value) -> ir.Value:
    y = ai.ConvOp(x, w, layout="channels_last", strides=[1, 1], pads=[0] * 4).out
    return ai.SoftmaxOp(y, axis=3).out


def _scaled(x: ir.Value, y: ir.Value, w: ir.Value) -> ir.Value:
    """The rows' axes cannot be walked as one."""
    return ai.MulOp(ai.SoftmaxOp(ai.MatMulOp(x, w).out, axis=2).out, y).out


@pytest.mark.parametrize(
    ("build", "inputs", "weights", "templates"),
    [
        (_other_axis, [(24, 20)], [(20, 36)], ["matmul", "rows"]),
        (_fold(ai.ReduceMaxOp, True), [(24, 20)], [(20, 7)], ["matmul", "structured"]),  # rows of less than a vector
        (_pixels, [(1, 6, 6, 20)], [(16, 20, 1, 1)], ["matmul", "rows"]),
        (_scaled, [(3, 5, 20), (3, 1, 1)], [(20, 36)], ["matmul", "rows"]),
        (lambda x, w: ai.SoftmaxOp(ai.MatMulOp(x, w).out, axis=1).out, [(24, 20), (20, 36)], [], ["matmul", "rows"]),
    ],
)
def test_what_is_not_in_bands_of_rows_stays_apart(build: Build, inputs: list, weights: list, templates: list) -> None:
    arrays = [[_random(*shape) for shape in shapes] for shapes in (inputs, weights)]
    unit, _ = unit_of([Kernel("", build, *arrays)])
    pipeline.run(unit, f"{fused()},ai-select-route{{{FACTS}}}")
    assert choices(unit) == templates
    assert any("did not fuse" in remark and "no templates make one kernel" in remark for remark in unit.remarks)


def test_a_residual_that_others_read_is_a_result_of_its_own() -> None:
    def block(x: ir.Value, w: ir.Value, scale: ir.Value) -> ir.Value:
        stream = ai.MatMulOp(x, w).out
        return ai.AddOp(stream, ai.ExpOp(ai.LayerNormOp(stream, scale, None, axis=1, epsilon=1e-5).out).out).out

    def returned(x: ir.Value, w: ir.Value, scale: ir.Value) -> ir.Value:
        stream = ai.MatMulOp(x, w).out
        norm = ai.LayerNormOp(stream, scale, None, axis=1, epsilon=1e-5).out
        return ai.ConcatOp([ai.MatMulOp(stream, w).out, norm], axis=1).out

    unit, _ = unit_of([Kernel("", returned, [_random(24, 20)], [_random(20, 20), _random(20)])])
    pipeline.run(unit, fused())
    assert any("1 other ops read what is between them" in remark for remark in unit.remarks)
    check([Kernel("bands", block, [_random(24, 20)], [_random(20, 36), _random(36)])], FACTS, grouped=fused())


def test_a_stage_of_rows_by_a_template_of_products_is_refused() -> None:
    unit, _ = unit_of([Kernel("", _softmax, [_random(24, 20)], [_random(20, 36), _random(36)])])
    pipeline.run(unit, f"{fused()},ai-select-route{{{FACTS}}},ai-pack-weights")
    (kernel,) = [op for op in unit.module.body.operations if "ai.stages" in op.attributes]
    with unit.module.context:
        product, _ = kernel.attributes["ai.stages"]
        kernel.attributes["ai.stages"] = ir.ArrayAttr.get([product, product])
    with pytest.raises(CompileError, match="the template 'matmul' does not cover"):
        pipeline.run(unit, "convert-ai-to-linalg")
