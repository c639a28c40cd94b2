"""References of ops that move elements. Oracles: ONNX Runtime, and numpy's own slicing for slice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from aiopt.dialects import ai
from aiopt.support.types import TensorType
from unit.dialects.oracle import onnxruntime_node, run_ai
from unit.dialects.strategies import floats, shapes

ARRAYS = shapes().flatmap(floats)


@settings(max_examples=30, deadline=None)
@given(ARRAYS, st.data())
def test_transpose_equals_onnxruntime(x, data):
    permutation = data.draw(st.permutations(range(x.ndim)))
    result = run_ai(ai.TransposeOp, x, permutation=permutation)
    expected = onnxruntime_node("Transpose", [x], perm=permutation) if x.ndim else x
    np.testing.assert_array_equal(result, expected)


@settings(max_examples=30, deadline=None)
@given(shapes(3, 5).flatmap(floats))
def test_relayout_equals_onnxruntime(x):
    last = run_ai(ai.RelayoutOp, x, to="channels_last")
    expected = onnxruntime_node("Transpose", [x], perm=[0, *range(2, x.ndim), 1])
    np.testing.assert_array_equal(last, expected)
    np.testing.assert_array_equal(run_ai(ai.RelayoutOp, last, to="channels_first"), x)


@settings(max_examples=30, deadline=None)
@given(ARRAYS)
def test_reshape_equals_onnxruntime(x):
    for shape in ([x.size], [1, x.size, 1], list(reversed(x.shape))):
        expected = onnxruntime_node("Reshape", [x, np.array(shape, np.int64)], allowzero=1)
        np.testing.assert_array_equal(run_ai(ai.ReshapeOp, x, shape=shape), expected)


@settings(max_examples=60, deadline=None)
@given(shapes(0, 4, 1, 6).flatmap(floats), st.data())
def test_slice_equals_numpy_and_onnxruntime(x, data):
    cuts = [slice(*data.draw(st.slices(size)).indices(size)) for size in x.shape]
    lengths = [len(range(cut.start, cut.stop, cut.step)) for cut in cuts]
    starts, steps = [max(cut.start, 0) for cut in cuts], [cut.step for cut in cuts]
    result = run_ai(ai.SliceOp, x, starts=starts, sizes=lengths, steps=steps)
    picked = tuple(
        slice(cut.start, None if cut.stop < 0 else cut.stop, cut.step) if length else slice(0, 0)
        for cut, length in zip(cuts, lengths, strict=True)
    )
    np.testing.assert_array_equal(result, x[picked])
    if x.ndim:
        ends = [cut.stop if cut.stop >= 0 else np.iinfo(np.int64).min for cut in picked_bounds(cuts, lengths)]
        bounds = [np.array(v, np.int64) for v in (starts, ends, range(x.ndim), steps)]
        np.testing.assert_array_equal(result, onnxruntime_node("Slice", [x, *bounds]))


def picked_bounds(cuts: list[slice], lengths: list[int]) -> list[slice]:
    """The cuts, those that take nothing ending where they start (ONNX clamps other ends in its own way)."""
    return [
        cut if length else slice(max(cut.start, 0), max(cut.start, 0), cut.step)
        for cut, length in zip(cuts, lengths, strict=True)
    ]


@settings(max_examples=30, deadline=None)
@given(shapes(1, 4), st.integers(1, 8), st.data())
def test_concat_equals_onnxruntime(shape, count, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    sizes = [data.draw(st.integers(0, 3)) for _ in range(count)]
    arrays = [data.draw(floats((*shape[:axis], size, *shape[axis + 1 :]))) for size in sizes]
    np.testing.assert_array_equal(run_ai(ai.ConcatOp, arrays, axis=axis), onnxruntime_node("Concat", arrays, axis=axis))


@settings(max_examples=30, deadline=None)
@given(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=4), st.data())
def test_broadcast_to_equals_onnxruntime(both, data):
    x = data.draw(floats(both.input_shapes[0]))
    shape = list(both.result_shape)
    expected = onnxruntime_node("Expand", [x, np.array(shape, np.int64)])
    np.testing.assert_array_equal(run_ai(ai.BroadcastToOp, x, shape=shape), expected)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16"])
def test_all_types_move(dtype):
    x = np.array([[0, 1, 1], [1, 0, 0]], dtype)
    assert run_ai(ai.TransposeOp, x, permutation=[1, 0]).tolist() == x.T.tolist()
    assert run_ai(ai.ConcatOp, [x, x], axis=0).shape == (4, 3)
    assert run_ai(ai.SliceOp, x, starts=[1, 2], sizes=[1, 3], steps=[1, -1]).tolist() == [[0, 0, 1]]


X = TensorType((2, 3), "f32")


@pytest.mark.parametrize(
    ("infer", "message"),
    [
        (lambda: ai.ReshapeOp.infer(X, shape=[4, 2]), r"\[4, 2\] does not hold the 6 elements"),
        (lambda: ai.ReshapeOp.infer(X, shape=[-1, 3]), "shape must be 0 or more"),
        (lambda: ai.TransposeOp.infer(X, permutation=[0, 0]), "not a permutation of the 2 dimensions"),
        (lambda: ai.TransposeOp.infer(X, permutation=[0]), "not a permutation"),
        (lambda: ai.RelayoutOp.infer(X, to="channels_last"), "rank 3 or more, but has 2"),
        (lambda: ai.RelayoutOp.infer(TensorType((1, 2, 3), "f32"), to="nhwc"), "to must be 'channels_first' or"),
        (lambda: ai.SliceOp.infer(X, starts=[0], sizes=[1, 1], steps=[1, 1]), "starts must have 2 numbers"),
        (lambda: ai.SliceOp.infer(X, starts=[0, -1], sizes=[1, 1], steps=[1, 1]), "starts must be 0 or more"),
        (lambda: ai.SliceOp.infer(X, starts=[0, 0], sizes=[1, -1], steps=[1, 1]), "sizes must be 0 or more"),
        (lambda: ai.SliceOp.infer(X, starts=[0, 0], sizes=[1, 1], steps=[1, 0]), "steps must not be 0"),
        (lambda: ai.SliceOp.infer(X, starts=[0, 1], sizes=[2, 2], steps=[1, 2]), "dimension 1: elements 1 to 3"),
        (lambda: ai.SliceOp.infer(X, starts=[0, 1], sizes=[2, 3], steps=[1, -1]), "dimension 1: elements 1 to -1"),
        (lambda: ai.SliceOp.infer(X, starts=[2, 0], sizes=[1, 3], steps=[-1, 1]), "dimension 0: elements 2 to 2"),
        (lambda: ai.ConcatOp.infer([], axis=0), "at least one operand"),
        (lambda: ai.ConcatOp.infer([X, TensorType((2, 4), "f32")], axis=0), "differ in more than axis 0"),
        (lambda: ai.ConcatOp.infer([X, TensorType((2, 3, 1), "f32")], axis=1), "differ in more than axis 1"),
        (lambda: ai.ConcatOp.infer([X, TensorType((2, 3), "f16")], axis=0), r"one element type .*inputs\[1\]: f16"),
        (lambda: ai.ConcatOp.infer([X, X], axis=2), "axis 2 is out of range"),
        (lambda: ai.BroadcastToOp.infer(X, shape=[2, 4]), "do not broadcast"),
        (lambda: ai.BroadcastToOp.infer(X, shape=[3]), "does not broadcast to the shape"),
        (lambda: ai.BroadcastToOp.infer(X, shape=[2, 1]), "does not broadcast to the shape"),
    ],
)
def test_movement_refuses(infer, message):
    with pytest.raises(ValueError, match=message):
        infer()


def test_moves_are_free_of_arithmetic():
    assert ai.ReshapeOp.flops(X, shape=[6]) == 0
    assert ai.ConcatOp.flops([X, X], axis=0) == 0
