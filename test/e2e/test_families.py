"""Families of operators on random shapes, axes, broadcasts, and numbers at the ends of their types, compiled.

Oracle of each: numpy, written from the operator's text; where ONNX Runtime agrees it is asked the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from onnx import TensorProto

from e2e.node_batch import Batch, Numbers

SEEDS = range(3)
INTEGERS = ("int8", "uint8", "int16", "int32", "int64", "uint32", "uint64")


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def _relu(x: np.ndarray) -> np.ndarray:
    return np.where(x > 0, x, np.where(np.isnan(x), x, 0)).astype(x.dtype)


def _larger(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x > y, x, y)).astype(x.dtype)


def _smaller(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(x < y, x, y)).astype(x.dtype)


Function = Callable[..., np.ndarray]
# Rounded once: to the bit. The others: relative to each element (f32 functions of at most 4 units in the last place).
UNARY: dict[str, tuple[Function, float]] = {
    "Abs": (np.abs, 0),
    "Neg": (np.negative, 0),
    "Relu": (_relu, 0),
    "Sqrt": (np.sqrt, 0),
    "Reciprocal": (lambda x: (1 / x).astype(x.dtype), 0),
    "Exp": (lambda x: np.exp(x.astype(np.float64)).astype(x.dtype), 5e-7),
    "Log": (lambda x: np.log(x.astype(np.float64)).astype(x.dtype), 5e-7),
    "Tanh": (lambda x: np.tanh(x.astype(np.float64)).astype(x.dtype), 5e-7),
    "Sigmoid": (lambda x: (1 / (1 + np.exp(-x.astype(np.float64)))).astype(x.dtype), 5e-7),
    "Identity": (lambda x: x, 0),
}
BINARY: dict[str, Function] = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": _larger,
    "Min": _smaller,
    "Less": np.less,
    "Greater": np.greater,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal,
}


@pytest.mark.parametrize("seed", SEEDS)
def test_elementwise_on_floats(seed: int) -> None:
    """Oracle: numpy and ONNX Runtime. NaN goes through Relu, Max and Min; exp, log, ... at infinities and NaN too."""
    numbers, batch = Numbers(seed), Batch()
    for name, (function, tolerance) in UNARY.items():
        x = numbers.array(numbers.shape(), "float32")
        # A subnormal result may be 0: 1 / 3.4e38, e^-90.
        want = function(x)
        keep = ~((np.abs(want) < np.finfo(np.float32).tiny) & (want != 0)) if name not in ("Abs", "Neg") else True
        x = np.where(keep, x, np.float32(0.5)).astype(np.float32)
        batch.add(name, [x], function(x), tolerance)
    for name, function in BINARY.items():
        x, y = (numbers.array(shape, "float32") for shape in numbers.broadcast_pair())
        batch.add(name, [x, y], function(x, y))
    low, high, x = np.float32(-1.5), np.float32(2), numbers.array((4, 5), "float32")
    batch.add("Clip", [x, low, high], np.where(np.isnan(x), x, np.minimum(np.maximum(x, low), high)))
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime("Sigmoid") == []  # its sigmoid is good to 1e-7 of 1, not of the result


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_elementwise_on_integers(seed: int, dtype: str) -> None:
    """Oracle: numpy, whose integers wrap; ONNX Runtime has not all of these types."""
    numbers, batch = Numbers(seed), Batch()
    for name in ("Add", "Sub", "Mul", "Less", "Greater", "LessOrEqual", "Equal"):
        x, y = (numbers.array(shape, dtype) for shape in numbers.broadcast_pair())
        batch.add(name, [x, y], BINARY[name](x, y))
    for name, function in (("Max", np.maximum), ("Min", np.minimum)):
        x, y = (numbers.array(shape, dtype) for shape in numbers.broadcast_pair())
        batch.add(name, [x, y], function(x, y))
    x, y = (numbers.array(shape, dtype) for shape in numbers.broadcast_pair())
    batch.add("Div", [x, y], _divided(x, y))
    x = numbers.array(numbers.shape(), dtype)
    batch.add("Abs", [x], np.abs(x))
    if not dtype.startswith("u"):
        batch.add("Neg", [x], np.negative(x))
    low, high = (np.array(value, dtype) for value in (2, 7))
    batch.add("Clip", [x, low, high], np.minimum(np.maximum(x, low), high))
    batch.add("Clip", [x, high, low], np.minimum(np.maximum(x, high), low))  # min above max: max
    assert batch.wrong_compiled() == []


def _divided(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Toward zero, in Python's integers; 0 over 0 divisors, the lowest over -1 wraps (docs of ai.div)."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    pairs = zip(np.broadcast_to(x, shape).ravel().tolist(), np.broadcast_to(y, shape).ravel().tolist(), strict=True)
    quotients = [0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
    low, high = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    return np.array([low if q > high else q for q in quotients], x.dtype).reshape(shape)


@pytest.mark.parametrize("seed", SEEDS)
def test_powers(seed: int) -> None:
    """Oracle: numpy in f64, Python's integers, and ONNX Runtime; x^0 and 1^x are 1 (C's pow)."""
    numbers, batch = Numbers(seed), Batch()
    x, y = (np.abs(numbers.array(shape, "float32", special=False)) for shape in numbers.broadcast_pair())
    x += np.float32(0.1)
    batch.add("Pow", [x, y], np.power(x.astype(np.float64), y).astype(np.float32), 2e-5)
    inf, nan = np.inf, np.nan
    base = np.array([nan, 1, 0, -2, -2, 0, inf, -0.0, -inf], np.float32)
    exponent = np.array([0, nan, 0, 3, 0.5, -1, -1, -1, 3], np.float32)
    want = np.array([1, 1, 1, -8, nan, inf, 0, -inf, -inf], np.float32)
    batch.add("Pow", [base, exponent], want)
    for square in (2.0, 3.0, -1.0, 0.5):
        x = np.abs(numbers.array(numbers.shape(), "float32", special=False)) + np.float32(0.1)
        batch.add("Pow", [x, np.float32(square)], np.power(x.astype(np.float64), square).astype(np.float32), 2e-6)
    x, y = np.arange(-4, 5, dtype=np.int32).reshape(9, 1), np.arange(5, dtype=np.int32)
    batch.add("Pow", [x, y], np.array([[a**b for b in range(5)] for a in range(-4, 5)], np.int32))
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_logic_and_choice(seed: int) -> None:
    """Oracle: numpy and ONNX Runtime."""
    numbers, batch = Numbers(seed), Batch()
    for name, function in (
        ("And", np.logical_and),
        ("Or", np.logical_or),
        ("Xor", np.logical_xor),
        ("Equal", np.equal),
    ):
        x, y = (numbers.array(shape, "bool") for shape in numbers.broadcast_pair())
        batch.add(name, [x, y], function(x, y))
    x = numbers.array(numbers.shape(), "bool")
    batch.add("Not", [x], ~x)
    for dtype in ("float32", "int64", "uint8"):
        left, right = numbers.broadcast_pair()
        x, y = numbers.array(left, dtype), numbers.array(right, dtype)
        condition = numbers.array(np.broadcast_shapes(left, right), "bool")
        batch.add("Where", [condition, x, y], np.where(condition, x, y))
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_casts(seed: int) -> None:
    """Oracle: numpy and ONNX Runtime: toward zero, integers keep their low bits, what is not 0 is true."""
    numbers, batch = Numbers(seed), Batch()
    types = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "int8": TensorProto.INT8,
             "uint8": TensorProto.UINT8, "int32": TensorProto.INT32, "int64": TensorProto.INT64,
             "uint32": TensorProto.UINT32, "bool": TensorProto.BOOL}  # fmt: skip
    for source in types:
        for target, code in types.items():
            to_integer = source.startswith("float") and "int" in target
            x = numbers.array(numbers.shape(), source, special=not to_integer)
            x = np.abs(x) if to_integer and target.startswith("u") else x  # beyond the type's range: undefined
            batch.add("Cast", [x], x.astype(target), to=code)
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_reductions(seed: int) -> None:
    """Oracle: numpy: sums of integers wrap, NaN wins, nothing gives the neutral element (ReduceMax: the lowest)."""
    numbers, batch = Numbers(seed), Batch()
    for dtype in ("float32", "int32", "int64", "uint8", "float64"):
        for name in ("ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean"):
            if (name == "ReduceMean" and "int" in dtype) or (name == "ReduceSum" and dtype == "uint8"):
                continue  # ReduceSum of uint8 is none of ONNX's
            exact = name in ("ReduceMax", "ReduceMin") or "int" in dtype
            x = numbers.array(numbers.shape(1), dtype, special=exact)
            axes = tuple(axis for axis in range(x.ndim) if numbers.rng.random() < 0.5) or (x.ndim - 1,)
            given = np.array([axis - x.ndim if numbers.rng.random() < 0.5 else axis for axis in axes], np.int64)
            keep = bool(numbers.rng.random() < 0.5)
            want = _reduced(name, x, axes, keep)
            if exact:
                batch.add_known(name, [x], given, want, keepdims=int(keep))
            else:  # of terms of one sign, so that an error is relative to the sum
                batch.add_known(
                    name, [np.abs(x)], given, _reduced(name, np.abs(x), axes, keep), 2e-6, keepdims=int(keep)
                )
    assert batch.wrong_compiled() == []


def _reduced(name: str, x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    limits = (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
    if name == "ReduceMax":
        return np.max(x, axis=axes, keepdims=keep, initial=limits[0])
    if name == "ReduceMin":
        return np.min(x, axis=axes, keepdims=keep, initial=limits[1])
    if x.dtype.kind != "f":
        return np.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)
    sums = np.sum(x.astype(np.float64), axis=axes, keepdims=keep)
    count = np.prod([x.shape[axis] for axis in axes])
    return (sums / count if name == "ReduceMean" else sums).astype(x.dtype)


def test_maximum_of_windows_of_unsigned() -> None:
    """Oracle: by hand. Above 127 a uint8 is not below 0, and padding never wins."""
    batch, x = Batch(), np.array([[[[250, 3], [0, 128]]]], np.uint8)
    batch.add("MaxPool", [x], np.array([[[[250, 250, 3], [250, 250, 128], [0, 128, 128]]]], np.uint8),
              kernel_shape=[2, 2], pads=[1, 1, 1, 1])  # fmt: skip
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_softmax(seed: int) -> None:
    """Oracle: numpy in f64. A row with NaN, with an infinity, or of -inf alone is NaN, as e^x / sum of e^x says."""
    numbers, batch = Numbers(seed), Batch()
    for _ in range(6):
        x = numbers.array(numbers.shape(1), "float32", special=False)
        axis = int(numbers.rng.integers(x.ndim))
        batch.add("Softmax", [x], _softmax(x, axis), 5e-6, axis=axis)
    inf, nan = np.inf, np.nan
    rows = np.array([[-inf, -inf, -inf], [-inf, 0, 0], [inf, 0, 0], [nan, 0, 0], [3e38, -3e38, 0]], np.float32)
    batch.add("Softmax", [rows], _softmax(rows, 1), 5e-6, axis=1)
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


def _softmax(x: np.ndarray, axis: int) -> np.ndarray:
    wide = x.astype(np.float64)
    powers = np.exp(wide - np.max(wide, axis=axis, keepdims=True, initial=-np.inf))
    return (powers / powers.sum(axis=axis, keepdims=True)).astype(x.dtype)


@pytest.mark.parametrize("seed", SEEDS)
def test_movements(seed: int) -> None:
    """Oracle: numpy and ONNX Runtime."""
    numbers, batch = Numbers(seed), Batch()
    for dtype in ("float32", "int64", "bool", "uint8"):
        x = numbers.array(numbers.shape(1), dtype)
        order = [int(axis) for axis in numbers.rng.permutation(x.ndim)]
        batch.add("Transpose", [x], np.transpose(x, order), perm=order)
        axis = int(numbers.rng.integers(x.ndim))
        batch.add("Concat", [x, x, x[tuple(slice(0, 1) if a == axis else slice(None) for a in range(x.ndim))]],
                  np.concatenate([x, x, np.take(x, range(min(1, x.shape[axis])), axis)], axis), axis=axis)  # fmt: skip
        flat = int(numbers.rng.integers(0, x.ndim + 1))
        rows = int(np.prod(x.shape[:flat], dtype=np.int64))
        batch.add("Flatten", [x], x.reshape(rows, int(np.prod(x.shape[flat:], dtype=np.int64))), axis=flat)
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


def test_gather_at_run_time_stays_inside() -> None:
    """Oracle: numpy. Negative indices count from the end; one out of range takes the nearest slice."""
    batch, x = Batch(), np.arange(12, dtype=np.float32).reshape(3, 4)
    inside = np.array([[0, -1], [-3, 2]], np.int64)
    batch.add("Gather", [x, inside], np.take(x, inside, 0), axis=0)
    batch.add("Gather", [x, inside], np.take(x, inside, 1), axis=1)
    largest = np.iinfo(np.int64)
    for indices in ([3, -4], [1 << 40, -(1 << 40)], [largest.max, largest.min]):
        batch.add("Gather", [x, np.array(indices, np.int64)], x[[2, 0]], axis=0)
    batch.add("Gather", [x, np.array([5, -9], np.int32)], x[:, [3, 0]], axis=1)
    assert batch.wrong_compiled() == []


@pytest.mark.parametrize("seed", SEEDS)
def test_contractions(seed: int) -> None:
    """Oracle: numpy in f64; the error is relative to the largest sum, of terms of one sign relative to each."""
    numbers, batch = Numbers(seed), Batch()
    rng = numbers.rng
    for lead in ((), (2,), (3, 1), (0,)):
        m, k, n = (int(rng.choice([0, 1, 2, 5, 9, 17])) for _ in range(3))
        left, right = (
            np.abs(numbers.array((*lead, m, k), "float32", False)),
            np.abs(numbers.array((k, n), "float32", False)),
        )
        batch.add("MatMul", [left, right], (left.astype(np.float64) @ right).astype(np.float32), 2e-6)
        flat = left.reshape(int(np.prod((*lead, m), dtype=np.int64)), k)
        turned = bool(rng.random() < 0.5)
        want = (0.5 * (flat.astype(np.float64) @ right)).astype(np.float32)
        batch.add("Gemm", [flat.T if turned else flat, right], want, 4e-6, alpha=0.5, transA=int(turned))
    nan = np.full((2, 2), np.nan, np.float32)
    batch.add("MatMul", [nan, np.zeros((2, 3), np.float32)], np.full((2, 3), np.nan, np.float32))
    inf = np.array([[np.inf, 1]], np.float32)
    batch.add("MatMul", [inf, np.array([[0, 1], [1, 1]], np.float32)], np.array([[np.nan, np.inf]], np.float32))
    assert batch.wrong_compiled() == []
    assert batch.wrong_onnxruntime() == []


def test_a_wrong_oracle_is_seen() -> None:
    batch, x = Batch(), np.array([1, np.nan], np.float32)
    batch.add("Relu", [x], np.array([1, 0], np.float32))
    assert len(batch.wrong_compiled()) == 1
    assert len(batch.wrong_onnxruntime()) == 1
