"""One valid use of every ai op: (operand types by slot, attributes)."""

from typing import Any

from aiopt.support.types import TensorType


def tensor(*shape: int, element: str = "f32") -> TensorType:
    return TensorType(shape, element)


_ONE = [tensor(2, 3)]
_TWO = [tensor(2, 3), tensor(3)]
_FLAGS = tensor(2, 3, element="i1")
_BITS = tensor(2, 3, element="ui8")
_IMAGE = tensor(1, 4, 8, 8)
_WINDOW: dict[str, Any] = {"kernel": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]}

EXAMPLES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    **{name: (_ONE, {}) for name in ("identity", "neg", "abs", "exp", "log", "sqrt", "tanh", "erf", "sigmoid", "relu")},
    **{name: (_ONE, {}) for name in ("floor", "ceil", "round", "expm1", "log1p")},
    **{
        name: (_ONE, {})
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")
    },
    **{name: ([_BITS, _BITS], {}) for name in ("shift_left", "shift_right")},
    **{name: (_ONE, {"axis": 1}) for name in ("cumsum", "cumprod")},
    "top_indices": (_ONE, {"axis": 1, "count": 2}),
    "insert": ([*_ONE, tensor(2, 7)], {"axis": 1, "start": 2, "size": 7}),
    "pad": ([*_ONE, tensor()], {"low": [1, 0], "high": [0, 2]}),
    "scatter": ([tensor(4, 3), tensor(2, element="i64"), tensor(2, 3)], {"reduction": "add"}),
    "bitcast": ([_BITS], {"to": "i8"}),
    **{name: (_TWO, {}) for name in ("add", "sub", "mul", "div", "pow", "remainder", "maximum", "minimum")},
    **{
        name: (_ONE, {"axes": [1], "keepdims": False})
        for name in ("reduce_sum", "reduce_prod", "reduce_mean", "reduce_max", "reduce_min")
    },
    **{name: (_TWO, {}) for name in ("equal", "less", "less_equal")},
    **{name: ([_FLAGS, _FLAGS], {}) for name in ("and", "or", "xor")},
    "not": ([_FLAGS], {}),
    "select": ([_FLAGS, *_TWO], {}),
    "cast": (_ONE, {"to": "ui8"}),
    "matmul": ([tensor(2, 3, 4), tensor(4, 5)], {}),
    "conv": ([_IMAGE, tensor(6, 2, 3, 3), tensor(6)], {"group": 2, "pads": [1, 1, 0, 0], "strides": [2, 1]}),
    "conv_transpose": (
        [_IMAGE, tensor(4, 3, 3, 2), tensor(6)],
        {"group": 2, "strides": [2, 1], "pads": [1, 0, 0, 1], "output_pads": [1, 0]},
    ),
    "quantize_linear": ([_IMAGE, tensor(4, 1, 1), tensor(element="i8")], {}),
    "dequantize_linear": ([tensor(2, 3, element="ui8"), tensor(element="f16"), tensor(3, element="ui8")], {}),
    "matmul_integer": (
        [tensor(2, 3, 4, element="ui8"), tensor(4, 5, element="i8"), tensor(element="ui8"), tensor(1, 5, element="i8")],
        {},
    ),
    "qlinear_matmul": (
        [
            *[tensor(2, 3, 4, element="ui8"), tensor(), tensor(element="ui8")],
            *[tensor(4, 5, element="i8"), tensor(5), tensor(5, element="i8"), tensor(), tensor(element="ui8")],
        ],
        {},
    ),
    "conv_integer": (
        [*[tensor(*s, element="i8") for s in ((1, 4, 8, 8), (6, 2, 3, 3), (), (6,))]],
        {"group": 2, "pads": [1, 1, 0, 0], "strides": [2, 1]},
    ),
    "layer_norm": ([tensor(2, 3, 4), tensor(3, 4), tensor(3, 4)], {"axis": 1, "epsilon": 1e-3}),
    "gather": ([tensor(4, 3), tensor(2, 5, element="i64")], {"axis": 0}),
    "resize": (
        [_IMAGE],
        {"shape": [1, 4, 12, 3], "scales": [1, 1, 1.5, 0.4], "mode": "linear", "coordinates": "asymmetric"},
    ),
    "batch_norm": ([_IMAGE, *[tensor(4)] * 4], {"epsilon": 1e-3}),
    "softmax": (_ONE, {"axis": 0}),
    "max_pool": ([_IMAGE], {**_WINDOW, "dilations": [1, 2]}),
    "max_pool_places": ([_IMAGE], {**_WINDOW, "dilations": [1, 2]}),
    "avg_pool": ([_IMAGE], {**_WINDOW, "count_include_pad": True}),
    "reshape": (_ONE, {"shape": [3, 1, 2]}),
    "transpose": (_ONE, {"permutation": [1, 0]}),
    "relayout": ([_IMAGE], {"to": "channels_last"}),
    "slice": (_ONE, {"starts": [1, 2], "sizes": [1, 2], "steps": [1, -2]}),
    "concat": ([[tensor(2, 3), tensor(2, 1)]], {"axis": 1}),
    "broadcast_to": ([tensor(3)], {"shape": [2, 3]}),
    "constant": ([], {"key": "conv.weight"}),
}
