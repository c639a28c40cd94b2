"""Forms of operators on elements, casts and comparisons."""

import numpy as np

from unit.frontend.forms.form import IMAGE, REFERENCE, X, code, f32, form, i64, integers

B = f32(3, 1, seed=1)
FLAGS, MORE_FLAGS = np.array([[True], [False], [True]]), np.array([True, False])
INSIDE = np.tanh(X)
BYTES, BITS = integers(np.int8, 2, 3), integers(np.uint8, 2, 3, seed=1)
COUNTS, SMALL = integers(np.int32, 3, 4, low=0, high=99), integers(np.uint8, 3, 4)
SPECIAL = np.float32([np.nan, np.inf, -np.inf, 0, 1])

UNARY = {
    7: "Abs Ceil Cos Elu Exp Floor HardSigmoid Identity LeakyRelu Neg Selu Sigmoid Sin Softplus Softsign Tan Tanh",
    9: "Cosh Erf Sign Shrink Sinh Asinh",
    10: "ThresholdedRelu",
    11: "Round",
    12: "Celu",
    14: "HardSwish",
    18: "Mish",
}
ATTRIBUTES = {
    "Celu": {"alpha": 0.7},
    "Elu": {"alpha": 0.7},
    "HardSigmoid": {"alpha": 0.3, "beta": 0.4},
    "LeakyRelu": {"alpha": 0.3},
    "Selu": {"alpha": 1.5, "gamma": 0.8},
    "Shrink": {"lambd": 0.5, "bias": 0.2},
    "ThresholdedRelu": {"alpha": 0.4},
}

FORMS = {
    **{
        name: [form(X, since=since, **ATTRIBUTES.get(name, {}))]
        for since, names in UNARY.items()
        for name in names.split()
    },
    **{name: [form(abs(X) + 1)] for name in ("Log", "Reciprocal", "Sqrt")},
    **{name: [form(INSIDE)] for name in ("Acos", "Asin", "Atan")},
    "Acosh": [form(abs(X) + 1, since=9)],
    "Atanh": [form(INSIDE, since=9)],
    **{
        name: [
            form(X, B),
            form(COUNTS, COUNTS[0] | 1),
            form(SMALL, SMALL[0] | 1, since=14, want=function(SMALL, SMALL[0] | 1)),  # 8 bits wrap
        ]
        for name, function in (("Add", np.add), ("Div", np.floor_divide), ("Mul", np.multiply), ("Sub", np.subtract))
    },
    **{name: [form(X, X + 1, until=7), form(X, B, since=8)] for name in ("Max", "Mean", "Min", "Sum")},
    "Relu": [form(X), form(BYTES, since=14, want=np.maximum(BYTES, 0))],
    "Pow": [form(abs(X), f32(4)), form(abs(X), i64(2), since=12)],
    "PRelu": [form(X, B), form(X, f32(4))],
    "Mod": [form(integers(np.int32, 9), np.int32([5]), since=10), form(X, B, since=10, fmod=1)],
    **{name: [form(FLAGS, MORE_FLAGS)] for name in ("And", "Or", "Xor")},
    "Not": [form(FLAGS)],
    "Equal": [form(i64(1, 2, 3), i64(3, 2, 1)), form(X, X[0], since=11)],
    **{name: [form(X, B)] for name in ("Greater", "Less")},
    **{name: [form(X, X[:, :1], since=12)] for name in ("GreaterOrEqual", "LessOrEqual")},
    "IsNaN": [form(SPECIAL, since=9)],
    "IsInf": [form(SPECIAL, since=10), form(SPECIAL, since=10, detect_negative=0)],
    "Where": [form(FLAGS, X, f32(4), since=9)],
    "Clip": [
        form(X, min=-0.5, max=0.5, until=10),
        form(X, np.float32(-0.5), np.float32(0.5), since=11, known=True),
        form(i64(-9, 0, 9), i64(-3)[0], None, since=12),
    ],
    "Cast": [form(X * 9, to=code("int64")), form(X, to=code("float64")), form(BYTES, to=code("float32"))],
    "CastLike": [form(X * 9, BYTES, since=15)],
    "BitShift": [form(BITS, BITS % 8, direction=way, since=11) for way in ("LEFT", "RIGHT")],
    **{name: [form(BYTES, BYTES[0], since=18)] for name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor")},
    "BitwiseNot": [form(BYTES, since=18)],
    "BitCast": [form(X, since=26, to=code("int32"), want=X.view(np.int32))],
    "Gelu": [form(X, since=20), form(X, since=20, approximate="tanh")],
    "Swish": [form(X, since=24, alpha=0.7, oracle=REFERENCE)],
    "SwiGLU": [form(X, f32(2, 3, 4, seed=1), since=28, oracle=REFERENCE)],
    "Dropout": [
        form(X, ratio=0.3, until=11),
        form(X, ratio=0.3, until=11, outputs=2),
        form(X, np.float32(0.3), seed=1, since=12, known=True, outputs=2),
        form(X, np.float32(0.3), seed=1, since=12, known=True),
        form(X, np.float32(0.3), np.array(False), since=12, known=True),
    ],
    "DynamicQuantizeLinear": [form(X, since=11, outputs=3)],
    "LRN": [form(IMAGE, size=3, alpha=0.3)],
}
