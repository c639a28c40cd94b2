"""Forms of reductions, products, norms, softmax and its kin, and quantised operators."""

import numpy as np

from unit.frontend.forms.form import IMAGE, REFERENCE, X, code, f32, form, i64, integers, then_reference

CHANNELS = [abs(f32(4, seed=seed)) for seed in range(4)]
GROUPS = f32(2, seed=4), f32(2, seed=5)
U8, S8 = integers(np.uint8, 3, 4, 5), integers(np.int8, 3, 4, 5, low=-64, high=63)
STEP, STEPS = np.float32(0.3), abs(f32(4)) + np.float32(0.1)
BYTES = integers(np.uint8, 3, 5, high=4)
BOOLS = {"ReduceMax": (BYTES > 2).any(0, keepdims=True), "ReduceMin": (BYTES > 2).all(0, keepdims=True)}
EXTREMES = tuple(BOOLS)
LOGARITHMS = ("ReduceLogSum",)


def _reduction(name: str) -> list:
    """axes is an attribute first, counted from the end too from opset 11 on, an input later."""
    x, change = (abs(X) if name in LOGARITHMS else X), (13 if name == "ReduceSum" else 18)
    return [
        form(x, axes=[1], keepdims=0, until=change - 1),
        form(x, until=change - 1),
        form(x, axes=[-1, 0], since=11, until=change - 1),
        *([form(BYTES, axes=[0], since=12, until=17)] if name in EXTREMES else []),
        *([form(BYTES > 2, i64(0), since=20, known=True, want=BOOLS[name])] if name in EXTREMES else []),
        form(x, i64(2, 0), since=change, known=True),
        form(x, keepdims=0, since=change),
        form(x, noop_with_empty_axes=1, since=change),
    ]


REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

FORMS = {
    **{f"Reduce{kind}": _reduction(f"Reduce{kind}") for kind in REDUCTIONS},
    **{
        name: [
            form(X, axis=1, keepdims=0),
            form(X, axis=-1, since=11),
            form(np.float32([[2, 3, 3, 1, 1]]), axis=1, select_last_index=1, since=12),
        ]
        for name in ("ArgMax", "ArgMin")
    },
    **{
        name: [form(X, until=12), form(X, axis=-1, since=11), form(X, axis=1), form(X, since=13)]
        for name in ("Softmax", "LogSoftmax", "Hardmax")
    },
    "CumSum": [
        form(X, i64(1)[0], since=11, known=True),
        form(X, i64(-1)[0], since=11, known=True, exclusive=1, reverse=1),
    ],
    "CumProd": [form(X, i64(1)[0], since=26, known=True, exclusive=1, oracle=REFERENCE)],
    "Gemm": [
        form(f32(2, 3), f32(4, 3), f32(4), alpha=0.5, beta=2.0, transB=1),
        form(f32(3, 2), f32(3, 4), transA=1, since=11),
    ],
    "MatMul": [form(X, f32(4, 5)), form(f32(4), X.transpose(0, 2, 1))],
    "Einsum": [form(X, f32(4, 5), equation="bij,jk->bik", since=12), form(X, equation="bij", since=12)],
    "Det": [form(f32(2, 3, 3), since=11, tolerance=1e-5)],
    "BatchNormalization": [
        form(IMAGE, *CHANNELS, epsilon=0.1),
        form(IMAGE, *CHANNELS, epsilon=0.1, momentum=0.7, until=13, outputs=5),
        form(X, *[abs(X[0])] * 4, epsilon=0.1, spatial=0, until=8),
        form(IMAGE, *CHANNELS, epsilon=0.1, training_mode=1, momentum=0.7, since=14, outputs=3),
    ],
    "InstanceNormalization": [form(IMAGE, *CHANNELS[:2], epsilon=0.1)],
    "LayerNormalization": [
        form(X, f32(4), f32(4, seed=1), epsilon=0.1, since=17),
        form(X, f32(3, 4), axis=1, since=17),
    ],
    "RMSNormalization": [form(X, f32(4), epsilon=0.1, since=23)],
    "GroupNormalization": [
        form(IMAGE, *GROUPS, num_groups=2, epsilon=0.1, since=18, until=20),  # scale and bias of each group
        form(IMAGE, *CHANNELS[:2], num_groups=2, epsilon=0.1, since=21),
    ],
    "LpNormalization": [form(X, p=1, axis=1), form(X)],
    "MeanVarianceNormalization": [form(IMAGE, since=9), form(X, axes=[0, 2], since=9)],
    "MatMulInteger": [form(U8, S8[0].T, np.uint8(9), np.int8(3), since=10)],
    "QLinearMatMul": [
        form(
            U8,
            STEP,
            np.uint8(9),
            S8[0].T,
            np.float32(0.2),
            np.int8(3),
            np.float32(30),
            np.uint8(7),
            since=10,
            tolerance=0,
        )
    ],
    "QuantizeLinear": then_reference(
        28,
        form(X * 40, STEP, np.uint8(5), since=10, tolerance=0),
        form(X * 40, STEPS, integers(np.int8, 4), axis=-1, since=13, tolerance=0),
        form(X * 40, STEP, np.int16(5), since=21, tolerance=0),
        form(X * 40, abs(f32(2, 3, 2)) + 1, axis=-1, block_size=2, output_dtype=code("int8"), since=21, tolerance=0),
    ),
    "DequantizeLinear": then_reference(
        28,
        form(U8, STEP, np.uint8(5), since=10),
        form(S8, STEPS, integers(np.int8, 4), axis=-2, since=13),
        form(U8, abs(f32(3, 2, 5)), integers(np.uint8, 3, 2, 5), axis=1, block_size=2, since=21),
    ),
    **{
        name: [form(np.array(10), since=17, known="a"), form(np.array(9), periodic=0, since=17, known="a")]
        for name in ("BlackmanWindow", "HammingWindow", "HannWindow")
    },
    "MelWeightMatrix": [form(8, 64, 8000, np.float32(20), np.float32(3000), since=17, known="abcde")],
    "DFT": [
        form(f32(2, 6, 1), axis=1, since=17, until=19),
        form(f32(2, 6, 2), axis=1, inverse=1, since=17, until=19),
        form(f32(2, 6, 1), None, i64(1)[0], onesided=1, since=20, known=True),
    ],
    "STFT": [form(f32(1, 32, 1), i64(8)[0], abs(f32(16)), since=17, known="bc")],
    "NegativeLogLikelihoodLoss": [
        form(f32(3, 5, 2), integers(np.int64, 3, 2, low=0, high=4), abs(f32(5, seed=1)), since=12),
        form(f32(3, 5), i64(1, 0, 4), reduction="none", ignore_index=4, since=12),
    ],
    "SoftmaxCrossEntropyLoss": [
        form(f32(3, 5, 2), integers(np.int64, 3, 2, low=0, high=4), abs(f32(5, seed=1)), since=12, outputs=2),
        form(f32(3, 5), i64(1, 0, 4), reduction="sum", ignore_index=4, since=12),
    ],
}
