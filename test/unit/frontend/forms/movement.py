"""Forms of operators that move, choose and make elements."""

import numpy as np
from onnx import numpy_helper

from unit.frontend.forms.form import IMAGE, REFERENCE, X, f32, form, i64, integers

PLACES = np.array([[1, 0], [0, 1]])
SCALES, EMPTY = np.float32([1, 1, 2, 1.5]), np.zeros(0, np.float32)
HALF = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
AT = {"indices": np.array([[[1, 0, 2, 1]]]), "updates": f32(1, 1, 4, seed=1)}
ROWS = i64(1, 0, 1).reshape(3, 1)
SEQUENCES = f32(4, 3, 2)
LENGTHS = i64(2, 4, 1)


def _axes(x: np.ndarray, axes: list[int], change: int) -> list:
    """axes is an attribute first, counted from the end too from opset 11 on, an input later."""
    back = [axis - x.ndim for axis in axes]
    return [
        form(x, axes=axes, until=change - 1),
        form(x, axes=back, since=11, until=change - 1),
        form(x, i64(*axes), since=change, known=True),
    ]


FORMS = {
    "CenterCropPad": [form(X, i64(4, 2), axes=[0, 2], since=18, known=True)],
    "Compress": [
        form(X, np.array([False, True, True]), axis=1, since=9, known=True),
        form(X, np.array([0, 1, 1, 0, 1]) > 0, since=9, known=True),
    ],
    "Concat": [form(X, X, axis=1), form(X, X, axis=-1, since=11)],
    "Constant": [
        form(value=numpy_helper.from_array(X)),
        *(
            form(since=12, **{f"value_{kind}": value})
            for kind, value in (("int", 3), ("ints", [1, 2]), ("float", 0.5), ("floats", [0.5]))
        ),
    ],
    "ConstantOfShape": [
        form(i64(2, 3), value=numpy_helper.from_array(i64(7)), since=9, known="a"),
        form(i64(2), since=9, known="a"),
    ],
    "DepthToSpace": [form(IMAGE, blocksize=2), form(IMAGE, blocksize=2, mode="CRD", since=11)],
    "SpaceToDepth": [form(IMAGE, blocksize=2)],
    "Expand": [form(f32(3, 1), i64(2, 1, 4), since=8, known=True)],
    "EyeLike": [form(f32(3, 4), k=1, since=9), form(f32(3, 4), k=-1, dtype=7, since=9)],
    "Flatten": [form(X, axis=2), form(X, axis=0), form(X, axis=-1, since=11)],
    "Gather": [form(X, PLACES, axis=1), form(X, PLACES - 2, axis=-1, since=11)],
    "GatherElements": [form(X, AT["indices"], axis=1, since=11), form(X, AT["indices"] - 3, axis=-2, since=11)],
    "GatherND": [form(X, PLACES, since=11), form(X, ROWS[:2], batch_dims=1, since=12)],
    "OneHot": [
        form(i64(0, 2, 1), np.array(4), np.float32([0.5, 3]), axis=0, since=9, known="b"),
        form(i64(0, -1, 9), np.array(4), np.float32([0.5, 3]), axis=-1, since=11, known="b"),
    ],
    "Pad": [
        form(X, pads=[0, 1, 2, 1, 0, 0], value=0.5, until=10),
        *(form(X, mode=mode, pads=[0, 1, 2, 1, 0, 1], until=10) for mode in ("edge", "reflect")),
        form(X, i64(0, 1, 2, 1, 0, 0), np.float32(0.5), since=11, known=True),
        form(X, i64(0, 1, 2, 1, 0, 1), mode="reflect", since=11, known=True),
        form(X, i64(1, 2), np.float32(0.5), i64(-2), since=18, known=True),
        form(X, i64(0, 1, 2, 1, 0, 1), mode="wrap", since=19, known=True),
    ],
    "Range": [
        form(2, 9, 3, since=11, known="abc"),
        form(np.float32(1), np.float32(0), np.float32(-0.3), since=11, known="abc"),
    ],
    "Reshape": [
        form(X, i64(0, -1), known=True),
        form(np.zeros((0, 3), "f4"), i64(3, 0), allowzero=1, since=14, known="ab"),
    ],
    "Resize": [
        form(IMAGE, SCALES, mode="linear", since=10, until=10, known=True),
        form(IMAGE, SCALES, since=10, until=10, known=True),
        form(IMAGE, EMPTY, SCALES, since=11, until=12, known=True, **HALF),
        form(IMAGE, None, SCALES, since=13, known=True, **HALF),
        form(IMAGE, EMPTY, EMPTY, i64(1, 4, 9, 5), since=11, known=True, mode="cubic", cubic_coeff_a=-0.5),
        form(IMAGE, None, None, i64(3, 4), since=18, known=True, mode="linear", antialias=1, axes=[2, 3]),
        form(
            IMAGE,
            None,
            None,
            i64(3, 5),
            since=18,
            known=True,
            mode="nearest",
            axes=[2, 3],
            keep_aspect_ratio_policy="not_larger",
        ),
        form(
            IMAGE,
            None,
            np.float32([1, 1, 1.3, 0.7]),
            since=19,
            known=True,
            mode="linear",
            coordinate_transformation_mode="half_pixel_symmetric",
        ),
    ],
    "ReverseSequence": [
        form(SEQUENCES, LENGTHS, since=10),
        form(SEQUENCES.transpose(1, 0, 2), LENGTHS, batch_axis=0, time_axis=1, since=10),
    ],
    "Scatter": [form(X, *AT.values(), axis=1, since=9, until=10)],
    "ScatterElements": [
        form(X, *AT.values(), axis=1, since=11),
        form(X, np.array([[[1, 1, 1]], [[0, 0, 0]]]) - 2, f32(2, 1, 3, seed=2), axis=1, since=16, reduction="add"),
        *(
            form(X, *AT.values(), axis=-2, since=since, reduction=how)
            for since, how in ((16, "mul"), (18, "max"), (18, "min"))
        ),
    ],
    "ScatterND": [
        form(f32(2, 4), ROWS[:2], f32(2, 4, seed=1), since=11),
        *(
            form(f32(2, 4), ROWS, f32(3, 4, seed=1), since=since, reduction=how)
            for since, how in ((16, "add"), (16, "mul"), (18, "max"), (18, "min"))
        ),
    ],
    "Shape": [form(X), form(X, start=1, since=15), form(X, start=-3, end=-1, since=15)],
    "Size": [form(X)],
    "Slice": [
        form(X, starts=[1], ends=[3], axes=[2], until=9),
        form(X, starts=[0, -2], ends=[99, -1], until=9),
        form(X, i64(3), i64(0), i64(2), i64(-2), since=10, known=True),
        form(X, i64(0), i64(-1), i64(-1), since=11, known=True),
    ],
    "Split": [
        form(X, axis=2, split=[1, 3], until=12, outputs=2),
        form(X, axis=-1, split=[1, 3], since=11, until=12, outputs=2),
        form(X, i64(1, 3), axis=2, since=13, known=True, outputs=2),
        form(X, axis=1, num_outputs=2, since=18, outputs=2),
    ],
    "Squeeze": [form(f32(1, 3, 1)), *_axes(f32(1, 3, 1), [2], 13)],
    "Unsqueeze": [
        form(X, axes=[0, 2], until=12),
        form(X, axes=[-1, 2], since=11, until=12),
        form(X, i64(0, -1), since=13, known=True),
    ],
    "TensorScatter": [form(f32(2, 1, 6, 3), f32(2, 1, 2, 3, seed=1), i64(1, 4), since=24, oracle=REFERENCE)],
    "Tile": [form(X, i64(2, 1, 3), known=True)],
    "TopK": [
        form(X, k=2, axis=1, until=9, outputs=2),
        form(X, i64(2), axis=1, since=10, known=True, outputs=2),
        form(X, i64(3), largest=0, axis=-1, since=11, known=True, outputs=2),
        form(integers(np.int64, 3, 5), i64(3), since=11, known=True, outputs=2),
    ],
    "Transpose": [form(X, perm=[2, 0, 1]), form(X)],
    "Trilu": [form(X, since=14), form(X, i64(1)[0], upper=0, since=14, known=True)],
    "Upsample": [
        form(IMAGE, scales=[1.0, 1.0, 2.0, 3.0], until=8),
        form(IMAGE, scales=[1.0, 1.0, 2.0, 3.0], mode="linear", until=8),
        form(IMAGE, np.float32([1, 1, 2, 3]), mode="linear", since=9, until=9, known=True),
    ],
}
