"""Forms of ONNX Runtime's own operators. A quantised result may be a step apart: ONNX Runtime approximates."""

import numpy as np

from unit.frontend.forms.form import IMAGE, X, f32, form, integers

U8, WEIGHT = integers(np.uint8, 3, 8, high=200), integers(np.int8, 8, 5, low=-64, high=63)
STEP, ZERO, STEPS = np.float32(0.03), np.uint8(100), np.abs(f32(5)) + np.float32(0.01)
PIXELS = integers(np.uint8, 1, 3, 6, 5)
ONTO = (np.float32(0.05), np.uint8(7))
A_STEP = 1 / 200  # of the largest of 8 bits
HIDDEN = 24
IDS = integers(np.int32, 2, 5, low=0, high=6)

FORMS = {
    **{name: [form(X)] for name in ("Gelu", "QuickGelu", "FastGelu")},
    "BiasGelu": [form(X, f32(4, seed=1))],
    "FusedConv": [form(IMAGE, f32(6, 2, 3, 3), f32(6), group=2, pads=[1, 1, 1, 1], activation="Relu")],
    "FusedGemm": [
        form(f32(5, 4), f32(5, 6), f32(6), transA=1, alpha=0.5, activation="LeakyRelu", activation_alpha=0.2)
    ],
    "FusedMatMul": [form(X, f32(2, 5, 4), transB=1, alpha=0.5)],
    "MatMulNBits": [
        form(
            f32(2, 32),
            integers(np.uint8, 8, 1, 16),
            abs(f32(8, 1)),
            known=True,
            K=32,
            N=8,
            bits=4,
            block_size=32,
            tolerance=1e-5,
        )
    ],
    "SkipLayerNormalization": [form(X, f32(2, 3, 4, seed=1), f32(4, seed=2), f32(4, seed=3), epsilon=0.1)],
    "SkipSimplifiedLayerNormalization": [form(X, f32(2, 3, 4, seed=1), f32(4, seed=2), epsilon=0.1)],
    "EmbedLayerNormalization": [
        form(IDS, IDS % 2, f32(7, 8), f32(5, 8, seed=1), f32(2, 8, seed=2), f32(8, seed=3), f32(8, seed=4), outputs=2)
    ],
    "Attention": [
        form(f32(2, 5, 7), f32(7, 3 * HIDDEN, seed=1), f32(3 * HIDDEN, seed=2), num_heads=3, unidirectional=1)
    ],
    "MultiHeadAttention": [form(*(f32(2, 5, HIDDEN, seed=seed) for seed in range(3)), num_heads=3)],
    "GroupQueryAttention": [
        form(
            f32(2, 5, 64),
            f32(2, 5, 32, seed=1),
            f32(2, 5, 32, seed=2),
            None,
            None,
            np.int32([4, 4]),
            np.int32(5),
            known="g",
            num_heads=4,
            kv_num_heads=2,
            outputs=3,
        )
    ],
    "RotaryEmbedding": [
        form(f32(2, 3, 16), integers(np.int64, 2, 3, low=0, high=6), f32(7, 4, seed=1), f32(7, 4, seed=2), num_heads=2)
    ],
    "QuantizeLinear": [form(X * 40, STEP, integers(np.uint16, 1)[0], tolerance=0)],
    "DequantizeLinear": [form(integers(np.uint16, 9), STEP, np.uint16(9))],
    **{
        name: [form(U8, STEP, ZERO, U8[:1], STEP, ZERO, *ONTO, tolerance=A_STEP)]
        for name in ("QLinearAdd", "QLinearMul")
    },
    "QLinearSigmoid": [form(U8, STEP, ZERO, np.float32(1 / 255), np.uint8(0), tolerance=A_STEP)],
    "QLinearLeakyRelu": [form(U8, STEP, ZERO, *ONTO, alpha=0.3, tolerance=A_STEP)],
    "QLinearAveragePool": [form(PIXELS, STEP, ZERO, *ONTO, kernel_shape=[3, 2], tolerance=A_STEP)],
    "QLinearGlobalAveragePool": [form(PIXELS, STEP, ZERO, *ONTO, channels_last=0, tolerance=0)],
    "QLinearConcat": [form(*ONTO, U8, STEP, ZERO, U8, np.float32(0.04), np.uint8(3), axis=1, tolerance=0)],
    "QGemm": [
        form(
            U8,
            STEP,
            ZERO,
            WEIGHT,
            np.float32(0.02),
            np.int8(3),
            integers(np.int32, 5, low=-99, high=99),
            np.float32(0.9),
            np.uint8(7),
            tolerance=0,
        )
    ],
    "MatMulIntegerToFloat": [form(U8, WEIGHT, STEP, STEPS, ZERO, np.zeros(5, np.int8), f32(5))],
    "DynamicQuantizeMatMul": [form(f32(2, 3, 8), WEIGHT, STEPS, np.zeros(5, np.int8))],
}
