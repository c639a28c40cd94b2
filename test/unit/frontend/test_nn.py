"""Contractions and normalisation. Oracle: ONNX Runtime, unless a test names another."""

from typing import Any

import numpy as np
import pytest

from aiopt.dialects.ai import MatMulOp, TransposeOp
from aiopt.dialects.ext import operations
from aiopt.support.errors import ModelError, UnsupportedError
from unit.frontend.single_node import check, equal, f32, imported, node_model, run

IMAGE, WEIGHT, BIAS = f32(2, 4, 9, 8), f32(6, 4, 3, 3, seed=1), f32(6, seed=2)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"kernel_shape": [3, 3], "pads": [1, 0, 2, 1]},
        {"strides": [2, 3], "dilations": [2, 1]},
        {"auto_pad": "VALID"},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [2, 3]},
    ],
)
@pytest.mark.parametrize("opset", [7, 11])
def test_conv(attributes: dict[str, Any], opset: int) -> None:
    check("Conv", {"x": IMAGE, "w": WEIGHT, "b": BIAS}, opset, **attributes)


def test_conv_in_groups_without_bias() -> None:
    check("Conv", {"x": IMAGE, "w": f32(8, 1, 3, 3)}, 13, group=4)


@pytest.mark.parametrize("shape", [(7,), (5, 6, 7)])
def test_conv_of_other_ranks(shape: tuple[int, ...]) -> None:
    check("Conv", {"x": f32(1, 2, *shape), "w": f32(3, 2, *[2] * len(shape))}, 13, auto_pad="SAME_UPPER")


def test_same_padding_spans_dilated_windows() -> None:
    attributes = {"strides": [2, 2], "dilations": [2, 2]}
    same = node_model("Conv", _image(), 13, auto_pad="SAME_UPPER", **attributes)
    # By hand: ceil(9 / 2) x ceil(8 / 2) windows of extent 5 take 4 and 3 elements of padding; ONNX Runtime
    # refuses dilations here.
    explicit = node_model("Conv", _image(), 13, pads=[2, 1, 2, 2], **attributes)
    equal(run(same, _image()), run(explicit, _image()), 0)


def _image() -> dict[str, np.ndarray]:
    return {"x": IMAGE, "w": WEIGHT}


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        ({"kernel_shape": [2, 2]}, r"kernel_shape \[2, 2\] contradicts the weight's \[3, 3\]"),
        ({"pads": [1, 1]}, r"pads must be 4 numbers of 0 or more, but is \[1, 1\]"),
        ({"pads": [0, 0, -1, 0]}, "pads must be 4 numbers of 0 or more"),
        ({"strides": [0, 1]}, "strides must be 2 numbers of 1 or more"),
        ({"dilations": [9, 9]}, "window"),
        ({"auto_pad": "SAME"}, "auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID, not 'SAME'"),
        ({"auto_pad": "VALID", "pads": [1, 1, 1, 1]}, "exclude each other"),
        ({"group": 3}, "groups"),
        ({"group": 0}, "group"),
        ({"strides": "wide"}, "attribute 'strides' must be of type INTS, but is STRING"),
    ],
)
def test_conv_errors(attributes: dict[str, Any], text: str) -> None:
    with pytest.raises(ModelError, match=rf"^node 'the_node' \(Conv, opset 13.*\): .*{text}"):
        run(node_model("Conv", _image(), 13, **attributes), {})


def test_conv_of_another_rank_than_the_weight() -> None:
    with pytest.raises(ModelError, match="must have one rank"):
        run(node_model("Conv", {"x": f32(1, 4, 9), "w": WEIGHT}, 13), {})


def test_an_attribute_no_one_knows_is_refused() -> None:
    with pytest.raises(ModelError, match="attribute 'paddings' is none of the operator"):
        run(node_model("Conv", _image(), 13, paddings=[1]), {})


@pytest.mark.parametrize(
    ("lhs", "rhs"),
    [
        ((3, 4), (4, 5)),
        ((2, 3, 4), (4, 5)),
        ((2, 1, 3, 4), (5, 4, 2)),
        ((4,), (4, 5)),
        ((2, 3, 4), (4,)),
        ((4,), (4,)),
        ((4,), (2, 4, 3)),
    ],
)
@pytest.mark.parametrize("opset", [7, 13])
def test_matmul(lhs: tuple[int, ...], rhs: tuple[int, ...], opset: int) -> None:
    check("MatMul", {"a": f32(*lhs), "b": f32(*rhs, seed=1)}, opset)


def test_matmul_errors() -> None:
    with pytest.raises(ModelError, match="inner dimensions 3 and 4 differ"):
        run(node_model("MatMul", {"a": f32(2, 3), "b": f32(4, 2)}, 13), {})
    with pytest.raises(ModelError, match="a scalar cannot be an operand"):
        run(node_model("MatMul", {"a": f32(), "b": f32(4, 2)}, 13), {})
    with pytest.raises(UnsupportedError, match="ai.matmul takes a tensor of floats as lhs, not 2x2xi32"):
        run(node_model("MatMul", {"a": np.ones((2, 2), np.int32), "b": np.ones((2, 2), np.int32)}, 13), {})


@pytest.mark.parametrize("opset", [7, 9, 11, 13])
@pytest.mark.parametrize("attributes", [{}, {"alpha": 0.5, "beta": 2.0}, {"transA": 1}, {"transB": 1}])
@pytest.mark.parametrize("addend", [(3, 5), (5,), (3, 1), ()])
def test_gemm(attributes: dict[str, Any], addend: tuple[int, ...], opset: int) -> None:
    lhs = f32(*((4, 3) if attributes.get("transA") else (3, 4)))
    rhs = f32(*((5, 4) if attributes.get("transB") else (4, 5)), seed=1)
    check("Gemm", {"a": lhs, "b": rhs, "c": f32(*addend, seed=2)}, opset, **attributes)


def test_gemm_without_addend() -> None:
    check("Gemm", {"a": f32(3, 4), "b": f32(4, 5)}, 13, alpha=0.25)


def test_gemm_transposes_a_constant_weight_at_once() -> None:
    model = node_model("Gemm", {"a": f32(3, 4), "fc.weight": f32(5, 4)}, 13, known=["fc.weight"], transB=1)
    module, weights = imported(model)
    ops = [type(op) for op in operations(module)]
    assert MatMulOp in ops
    assert TransposeOp not in ops
    assert list(weights) == ["fc.weight.transpose"]


def test_gemm_errors() -> None:
    with pytest.raises(ModelError, match="C of shape .* does not broadcast to the product's"):
        run(node_model("Gemm", {"a": f32(1, 4), "b": f32(4, 5), "c": f32(3, 5)}, 13), {})
    with pytest.raises(ModelError, match="A and B must be matrices, but have ranks 3 and 2"):
        run(node_model("Gemm", {"a": f32(1, 1, 4), "b": f32(4, 5)}, 13), {})
    with pytest.raises(ModelError, match="attribute 'transA' must be 0 or 1, but is 2"):
        run(node_model("Gemm", {"a": f32(1, 4), "b": f32(4, 5)}, 13, transA=2), {})


def _statistics() -> dict[str, np.ndarray]:
    return {"x": IMAGE, "s": f32(4), "b": f32(4, seed=1), "m": f32(4, seed=2), "v": np.abs(f32(4, seed=3)) + 0.5}


@pytest.mark.parametrize(
    ("opset", "attributes"),
    [(7, {"spatial": 1, "momentum": 0.8}), (9, {"epsilon": 0.1}), (14, {}), (15, {"training_mode": 0})],
)
def test_batch_norm(opset: int, attributes: dict[str, Any]) -> None:
    check("BatchNormalization", _statistics(), opset, **attributes)


def test_batch_norm_with_wider_statistics() -> None:
    # Oracle onnx.reference: ONNX Runtime has no kernel for these types.
    half = {name: array.astype(np.float16 if name == "x" else np.float32) for name, array in _statistics().items()}
    check("BatchNormalization", half, 15, oracle="onnx.reference", tolerance=1e-3)


@pytest.mark.parametrize("opset", [7, 9])
def test_batch_norm_of_several_outputs_is_training(opset: int) -> None:
    check("BatchNormalization", _statistics(), opset, outputs=5, momentum=0.7, epsilon=0.1, tolerance=3e-6)


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 1, 3), (3, 1, 3), (3, 3), (1, 2, 3, 4)])
def test_batch_norm_by_element(shape: tuple[int, ...]) -> None:
    numbers = {name: f32(*shape[1:], seed=seed) for seed, name in enumerate("sbm", 1)}
    inputs = {"x": f32(*shape), **numbers, "v": abs(f32(*shape[1:], seed=5)) + 0.1}
    check("BatchNormalization", inputs, 7, spatial=0)


@pytest.mark.parametrize("opset", [9, 14, 15])
def test_batch_norm_of_one_dimension_has_one_channel(opset: int) -> None:
    inputs = {"x": f32(5), "s": f32(1), "b": f32(1, seed=1), "m": f32(1, seed=2), "v": abs(f32(1, seed=3))}
    check("BatchNormalization", inputs, opset)


def test_batch_norm_by_element_has_no_training_mode() -> None:
    inputs = dict.fromkeys("sbmv", np.ones((3, 4), np.float32))
    with pytest.raises(UnsupportedError, match="spatial=0.*training mode"):
        run(node_model("BatchNormalization", {"x": f32(2, 3, 4), **inputs}, 7, outputs=5, spatial=0), {})
    with pytest.raises(ModelError, match=r"must have the shape \[3, 4\]"):
        run(node_model("BatchNormalization", {"x": f32(2, 3, 4), **inputs, "m": f32(3)}, 7, spatial=0), {})


def test_a_missing_input_is_named_by_number() -> None:
    with pytest.raises(ModelError, match="input 4 is missing"):
        run(node_model("BatchNormalization", list(_statistics().items())[:4], 9), {})


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
@pytest.mark.parametrize("opset", [7, 11, 12])
def test_softmax_of_the_flattened_matrix(axis: int | None, opset: int) -> None:
    check("Softmax", {"x": f32(2, 3, 4)}, opset, **({} if axis is None else {"axis": axis}))


def test_softmax_with_a_negative_axis_at_11() -> None:
    check("Softmax", {"x": f32(2, 3, 4)}, 11, axis=-2)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_softmax_along_one_axis(axis: int | None) -> None:
    check("Softmax", {"x": f32(2, 3, 4)}, 13, **({} if axis is None else {"axis": axis}))


def test_softmax_axis_out_of_range() -> None:
    for opset in (11, 13):
        with pytest.raises(ModelError, match="axis 5 is out of range for a tensor of rank 2"):
            run(node_model("Softmax", {"x": f32(2, 3)}, opset, axis=5), {})
