"""The interpreter: levels, names, freeing, and inputs that do not fit."""

import gc
import weakref

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects.ai import AiDialect, IdentityOp
from aiopt.passes.interpret import interpret
from aiopt.support.errors import InputError, ModelError, SpecError
from aiopt.support.weights import WeightStore

X = np.arange(-3, 3, dtype=np.float32).reshape(2, 3)

GRAPH = """
module {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<2x3xf32> {ai.name = "y"}, tensor<2x3xf32>) {
    %w = "ai.constant"() {key = "w"} : () -> tensor<3xf32>
    %c = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %0 = "ai.add"(%x, %w) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %1 = "ai.mul"(%0, %c) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    return %1, %x : tensor<2x3xf32>, tensor<2x3xf32>
  }
}
"""

KERNELS = """
module {
  func.func @main(%x: tensor<2x3xf32> {ai.name = "x"}) -> (tensor<6xf32> {ai.name = "y"}) {
    %0 = call @k(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = call @k(%0) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %2 = "ai.reshape"(%1) {shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xf32>
    return %2 : tensor<6xf32>
  }
  func.func private @k(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = "ai.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
"""


@pytest.fixture
def context() -> ir.Context:
    context = ir.Context()
    AiDialect.load(context)
    return context


def parse(text: str, context: ir.Context) -> ir.Module:
    return ir.Module.parse(text, context)


def store(**arrays: np.ndarray) -> WeightStore:
    weights = WeightStore()
    for name, array in arrays.items():
        weights.add(name, array)
    return weights


def test_graph_with_constants_of_both_kinds(context: ir.Context) -> None:
    w = np.array([10, 20, 30], np.float32)
    have = interpret(parse(GRAPH, context), store(w=w), {"x": X})
    assert list(have) == ["y", "1"]
    np.testing.assert_array_equal(have["y"], (X + w) * np.array([[1], [2]], np.float32))
    np.testing.assert_array_equal(have["1"], X)
    have["1"][:] = 0
    assert X.any(), "outputs are copies"


def test_kernels(context: ir.Context) -> None:
    have = interpret(parse(KERNELS, context), WeightStore(), {"x": X})
    np.testing.assert_array_equal(have["y"], (4 * X).reshape(6))


def test_bool_and_integer_constants(context: ir.Context) -> None:
    text = """
    func.func @main()
        -> (tensor<3xi1> {ai.name = "b"}, tensor<2xui8> {ai.name = "u"}, tensor<2xf16> {ai.name = "h"}) {
      %b = arith.constant dense<[true, false, true]> : tensor<3xi1>
      %u = arith.constant dense<[1, 250]> : tensor<2xui8>
      %h = arith.constant dense<0x7E00> : tensor<2xf16>
      return %b, %u, %h : tensor<3xi1>, tensor<2xui8>, tensor<2xf16>
    }"""
    have = interpret(parse(text, context), WeightStore(), {})
    np.testing.assert_array_equal(have["b"], [True, False, True])
    np.testing.assert_array_equal(have["u"], np.array([1, 250], np.uint8))
    assert (have["u"].dtype, have["h"].dtype) == (np.dtype(np.uint8), np.dtype(np.float16))
    assert np.isnan(have["h"]).all()


@pytest.mark.parametrize("word", ["true", "false"])
def test_a_constant_of_many_equal_bools(word: str, context: ir.Context) -> None:
    """MLIR's buffer of such a constant ends after eight of them."""
    text = f"""func.func @main() -> tensor<7x1x7xi1> {{
      %b = arith.constant dense<{word}> : tensor<7x1x7xi1>
      return %b : tensor<7x1x7xi1>
    }}"""
    have = interpret(parse(text, context), WeightStore(), {})["0"]
    np.testing.assert_array_equal(have, np.full((7, 1, 7), word == "true"))


def test_values_are_freed_after_their_last_use(context: ir.Context, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[np.ndarray]] = []
    alive: list[int] = []

    def reference(input: np.ndarray) -> np.ndarray:
        gc.collect()
        alive.append(sum(array() is not None for array in made))
        array = input.copy()
        made.append(weakref.ref(array))
        return array

    monkeypatch.setattr(IdentityOp, "reference", staticmethod(reference))
    ops = "\n".join(f'%{i + 1} = "ai.identity"(%{i}) : (tensor<4xf32>) -> tensor<4xf32>' for i in range(20))
    text = f"func.func @main(%0: tensor<4xf32>) -> tensor<4xf32> {{\n{ops}\nreturn %20 : tensor<4xf32>\n}}"
    interpret(parse(text, context), WeightStore(), {"0": np.zeros(4, np.float32)})
    assert max(alive) == 1


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({}, "the inputs are x: 2x3xf32; given were none"),
        ({"x": X, "z": X}, "the inputs are x: 2x3xf32; given were x, z"),
        ({"x": X.T}, "input 'x' must be a tensor of 2x3xf32, but is 3x2xfloat32"),
        ({"x": X.astype(np.float64)}, "but is 2x3xfloat64"),
        ({"x": X.astype(str)}, "input 'x' must be a tensor of 2x3xf32"),
    ],
)
def test_inputs_that_do_not_fit(inputs: dict[str, np.ndarray], text: str, context: ir.Context) -> None:
    with pytest.raises(InputError, match=text):
        interpret(parse(GRAPH, context), store(w=np.zeros(3, np.float32)), inputs)


def test_constants_that_are_missing_or_of_another_type(context: ir.Context) -> None:
    with pytest.raises(ModelError, match="the value of constant 'w' is not known"):
        interpret(parse(GRAPH, context), WeightStore(), {"x": X})
    with pytest.raises(ModelError, match="constant 'w' is a tensor of 3xf32 in the IR, but its value is one of 2xf32"):
        interpret(parse(GRAPH, context), store(w=np.zeros(2, np.float32)), {"x": X})


def test_ops_without_a_reference_are_named(context: ir.Context) -> None:
    text = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = math.absf %x : tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    with pytest.raises(SpecError, match="'math.absf' has no reference to run"):
        interpret(parse(text, context), WeightStore(), {"0": np.zeros(2, np.float32)})
    with pytest.raises(SpecError, match="no function @main"):
        interpret(parse("module {}", context), WeightStore(), {})
