"""aiopt.backend does what onnx's backend interface promises. Oracle: the expected outputs of onnx's node test cases."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.backend.base import Backend
from onnx.backend.test.case.node import collect_testcases

from aiopt import backend
from aiopt.support.errors import AioptError, InputError

# A few of onnx's cases for each family; the whole list is test/bench's.
CASES = [
    *("test_relu", "test_sigmoid", "test_add_bcast", "test_div", "test_matmul_3d", "test_gemm_all_attributes"),
    *(
        "test_softmax_axis_1",
        "test_softmax_large_number",
        "test_basic_conv_with_padding",
        "test_conv_with_strides_padding",
    ),
    *("test_maxpool_2d_pads", "test_averagepool_2d_pads_count_include_pad", "test_globalaveragepool"),
    *("test_batchnorm_epsilon", "test_transpose_all_permutations_3", "test_concat_2d_axis_1"),
    *("test_quantizelinear_axis", "test_dequantizelinear_blocked", "test_dynamicquantizelinear_min_adjusted"),
    *("test_qlinearconv", "test_qlinearmatmul_3D_int8_float32", "test_matmulinteger", "test_convinteger_with_padding"),
    *("test_flatten_axis2", "test_clip_example", "test_hardsigmoid", "test_sum_example"),
]


@pytest.fixture(scope="module")
def cases() -> dict[str, object]:
    with warnings.catch_warnings(action="ignore"):  # onnx overflows on purpose while it makes its cases
        return {case.name: case for case in collect_testcases("")}


def test_it_is_a_backend() -> None:
    assert issubclass(backend.AioptBackend, Backend)
    assert backend.supports_device("CPU")
    assert not backend.supports_device("CUDA")


@pytest.mark.parametrize("name", CASES)
def test_onnx_node_case(cases: dict[str, object], name: str) -> None:
    case = cases[name]
    for inputs, expected in case.data_sets:
        outputs = backend.run_model(case.model, inputs)
        assert len(outputs) == len(expected)
        for got, want in zip(outputs, expected, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=case.rtol, atol=case.atol)


def test_run_node_and_names_of_outputs() -> None:
    node = helper.make_node("Sub", ["a", "b"], ["difference"])
    outputs = backend.run_node(node, [np.float32([5, 7]), np.float32([1, 2])])
    assert list(outputs.difference) == [4, 5]


def test_prepared_model_takes_names_or_positions() -> None:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "negate", [value], [result])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), threads=2)
    x = np.float32([1, -2])
    for inputs in (x, [x], {"x": x}):
        assert list(prepared.run(inputs)[0]) == [-1, 2]
    with pytest.raises(InputError, match=r"takes 1 inputs \(x\), but was given 2"):
        prepared.run([x, x])


def test_errors() -> None:
    node = helper.make_node("StringNormalizer", ["x"], ["y"])
    with pytest.raises(AioptError, match="which aiopt does not have"):
        backend.run_node(node, [np.array(["a"], dtype=object)])
    with pytest.raises(ValueError, match="runs on CPU, not on 'CUDA'"):
        backend.prepare(onnx.ModelProto(), "CUDA")
