"""Forms of convolutions, pools, sampling, recurrent layers and attention."""

import numpy as np

from unit.frontend.forms.form import IMAGE, REFERENCE, X, f32, form, i64, integers, then_reference

WINDOW = {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 1, 1, 1]}
SAME = {"kernel_shape": [3, 2], "strides": [2, 2], "auto_pad": "SAME_UPPER"}
U8 = integers(np.uint8, 1, 2, 6, 5)
S8 = integers(np.int8, 3, 2, 3, 3, low=-64, high=63)
BOXES = np.float32([[0.3, 1.2, 6.1, 4.9], [-2, 0, 5.5, 9]])
COUNTED = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
GRID = np.tanh(f32(1, 3, 5, 2)) * np.float32(1.2)
STEPS, ITEMS, READ, HIDDEN = 3, 2, 4, 5
POSITIONS = integers(np.int64, 2, 3, low=0, high=6)


def _recurrent(gates: int, outputs: int) -> list:
    weights = (
        f32(2, gates * HIDDEN, READ, seed=1),
        f32(2, gates * HIDDEN, HIDDEN, seed=2),
        f32(2, 2 * gates * HIDDEN, seed=3),
    )
    x, lengths = f32(STEPS, ITEMS, READ), np.int32([2, 3])
    one = [weight[:1] for weight in weights]
    return [
        form(x, *one, known="bcd", hidden_size=HIDDEN, outputs=outputs),
        form(x, *weights, lengths, known="bcd", hidden_size=HIDDEN, direction="bidirectional", outputs=outputs),
    ]


POOLS = [
    form(IMAGE, **WINDOW),
    form(IMAGE, **SAME),
    form(IMAGE, kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1, since=10, until=21),
    form(IMAGE, kernel_shape=[2, 3], strides=[2, 2], ceil_mode=1, since=22, oracle=REFERENCE),
]

FORMS = {
    "AveragePool": [
        *POOLS,
        form(IMAGE, **WINDOW, count_include_pad=1),
        form(IMAGE, **WINDOW, dilations=[2, 1], since=19),
    ],
    "MaxPool": [
        *POOLS,
        form(IMAGE, **WINDOW, storage_order=1, since=8, outputs=2),
        form(IMAGE, **WINDOW, dilations=[2, 1], since=10),
        form(integers(np.uint8, 1, 2, 5, 5), kernel_shape=[2, 2], since=12),
    ],
    "LpPool": [
        form(IMAGE, p=3, **WINDOW),
        form(IMAGE, **SAME),
        form(IMAGE, **WINDOW, dilations=[2, 1], ceil_mode=1, since=18),
    ],
    **{name: [form(IMAGE), form(X)] for name in ("GlobalAveragePool", "GlobalMaxPool")},
    "GlobalLpPool": [
        form(IMAGE, p=3, until=21),
        form(X, p=3, since=22, want=np.cbrt(np.sum(abs(X) ** 3, axis=2, keepdims=True))),
    ],
    "MaxUnpool": [form(f32(1, 1, 2, 2), np.array([[[[1, 3], [4, 15]]]]), kernel_shape=[2, 2], strides=[2, 2], since=9)],
    "Conv": [form(IMAGE, f32(6, 2, 3, 3), f32(6), group=2, **WINDOW), form(X, f32(2, 3, 2), auto_pad="SAME_LOWER")],
    "ConvTranspose": [
        form(IMAGE, f32(4, 3, 3, 3), output_padding=[1, 0], **WINDOW),
        form(X, f32(3, 2, 2), output_shape=[9], strides=[2]),
    ],
    "ConvInteger": [form(U8, S8, np.uint8(9), np.int8(0), pads=[1, 1, 1, 1], since=10)],
    "QLinearConv": [
        form(
            U8,
            np.float32(0.3),
            np.uint8(9),
            S8,
            np.float32(0.2),
            np.int8(0),
            np.float32(30),
            np.uint8(7),
            integers(np.int32, 3, low=-99, high=99),
            known="bcdefghi",
            pads=[1, 1, 1, 1],
            since=10,
            tolerance=0,
        )
    ],
    "GridSample": [
        *(
            form(IMAGE, GRID, mode=mode, align_corners=1, since=16, until=19)
            for mode in ("bilinear", "nearest", "bicubic")
        ),
        *(form(IMAGE, GRID, mode=mode, padding_mode="reflection", since=20) for mode in ("linear", "nearest", "cubic")),
        form(f32(1, 2, 3, 4, 5), np.tanh(f32(1, 2, 3, 4, 3)), since=20),
    ],
    "AffineGrid": [
        form(f32(2, 2, 3), i64(2, 1, 3, 4), since=20, known=True),
        form(f32(1, 3, 4), i64(1, 1, 2, 3, 4), since=20, known=True, align_corners=1),
    ],
    "RoiAlign": then_reference(
        22,
        *(
            form(IMAGE, BOXES, i64(0, 0), output_height=2, output_width=3, sampling_ratio=2, mode=mode, since=10)
            for mode in ("avg", "max")
        ),
    ),
    "MaxRoiPool": [
        form(IMAGE, np.insert(BOXES, 0, 0, axis=1), pooled_shape=[2, 3], spatial_scale=0.5, until=21),
        form(COUNTED, np.float32([[0, 0, 0, 3, 3]]), pooled_shape=[2, 2], since=22, want=COUNTED[:, :, 1::2, 1::2]),
    ],
    "Col2Im": [
        form(f32(1, 12, 20), i64(4, 5), i64(2, 3), pads=[0, 1, 1, 1], dilations=[1, 1], since=18, known=True),
    ],
    "DeformConv": [form(IMAGE, f32(2, 4, 3, 3), f32(1, 18, 4, 6, seed=1), f32(2), f32(1, 9, 4, 6, seed=2), since=19)],
    "RNN": _recurrent(1, 2),
    "GRU": [
        *_recurrent(3, 2),
        form(
            f32(STEPS, ITEMS, READ),
            f32(1, 3 * HIDDEN, READ, seed=1),
            f32(1, 3 * HIDDEN, HIDDEN, seed=2),
            f32(1, 6 * HIDDEN, seed=3),
            known="bcd",
            hidden_size=HIDDEN,
            linear_before_reset=1,
        ),
    ],
    "LSTM": _recurrent(4, 3),
    "Attention": [
        form(f32(2, 4, 3, 8), f32(2, 2, 5, 8, seed=1), f32(2, 2, 5, 8, seed=2), is_causal=1, since=23, oracle=REFERENCE)
    ],
    "RotaryEmbedding": [
        form(f32(2, 4, 3, 8), f32(7, 4, seed=1), f32(7, 4, seed=2), POSITIONS, since=23, oracle=REFERENCE)
    ],
    "LinearAttention": [
        form(
            *(f32(2, 3, 8, seed=seed) for seed in range(3)),
            q_num_heads=2,
            kv_num_heads=2,
            since=27,
            oracle=REFERENCE,
            update_rule="linear",
            outputs=2,
        )
    ],
    "CausalConvWithState": [form(X, f32(3, 1, 3), f32(3), f32(2, 3, 2, seed=1), since=27, oracle=REFERENCE, outputs=2)],
}
