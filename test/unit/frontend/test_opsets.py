"""Every operator of the models in every opset from 7 to 28. Oracle: ONNX Runtime in the first opset of each form.

Between two forms only the types an operator takes have changed; what changes its meaning is a form of its own here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

from aiopt.frontend.onnx.registry import NEWEST_OPSET, OLDEST_OPSET, covered_opsets
from unit.frontend.single_node import equal, f32, i64, node_model, onnxruntime_run, run

X = f32(2, 3, 4)
IMAGE = f32(1, 4, 6, 8)
PAIR = {"a": X, "b": f32(3, 1, seed=1)}
FLAGS = np.array([[True], [False], [True]])
CHANNELS = {name: abs(f32(4, seed=seed)) for seed, name in enumerate(("scale", "bias", "mean", "variance"))}


@dataclass(frozen=True)
class Form:
    """What a node looks like in opsets since to until; inputs that are None are absent."""

    inputs: dict[str, Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    since: int = OLDEST_OPSET
    until: int = NEWEST_OPSET
    known: Sequence[str] = ()


def _axes(x: np.ndarray, axes: np.ndarray, change: int, **attributes: Any) -> list[Form]:
    """axes is an attribute first, an input later."""
    before = Form({"x": x}, {"axes": axes.tolist(), **attributes}, until=change - 1)
    return [before, Form({"x": x, "axes": axes}, attributes, since=change, known=["axes"])]


WINDOW = {"kernel_shape": [3, 3], "strides": [2, 1], "pads": [1, 1, 1, 1]}
RESIZE = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
SCALES, EMPTY = np.float32([1, 1, 2, 1.5]), np.zeros(0, np.float32)

FORMS: dict[str, list[Form]] = {
    **{name: [Form(PAIR)] for name in ("Add", "Div", "Mul", "Sub")},
    **{name: [Form({"a": X, "b": X + 1}, until=7), Form(PAIR, since=8)] for name in ("Max", "Sum")},
    **{name: [Form({"x": abs(X)})] for name in ("Exp", "Reciprocal", "Relu", "Sigmoid", "Sqrt", "Tanh", "Identity")},
    "AveragePool": [
        Form({"x": IMAGE}, {**WINDOW, "count_include_pad": 1}, until=18),
        Form({"x": IMAGE}, {**WINDOW, "count_include_pad": 1, "dilations": [1, 1]}, since=19),
    ],
    "BatchNormalization": [
        Form({"x": IMAGE, **CHANNELS}, {"epsilon": 0.1}, until=13),
        Form({"x": IMAGE, **CHANNELS}, {"epsilon": 0.1, "training_mode": 0}, since=14),
    ],
    "Cast": [Form({"x": X * 9}, {"to": 7})],
    "Clip": [
        Form({"x": X}, {"min": -0.5, "max": 0.5}, until=10),
        Form({"x": X, "min": np.float32(-0.5), "max": np.float32(0.5)}, since=11, known=["min", "max"]),
    ],
    "Concat": [Form({"a": X, "b": X}, {"axis": 1})],
    "Constant": [
        Form({}, {"value": numpy_helper.from_array(X)}),
        Form({}, {"value_ints": [1, 2]}, since=12),
    ],
    "ConstantOfShape": [
        Form({"shape": i64(2, 3)}, {"value": numpy_helper.from_array(np.int64([7]))}, since=9, known=["shape"])
    ],
    "Conv": [Form({"x": IMAGE, "w": f32(6, 2, 3, 3)}, {**WINDOW, "group": 2})],
    "ConvTranspose": [Form({"x": IMAGE, "w": f32(4, 3, 3, 3)}, {**WINDOW, "output_padding": [1, 0]})],
    "Dropout": [
        Form({"x": X}, {"ratio": 0.3}, until=11),
        Form({"x": X, "ratio": np.float32(0.3)}, {"seed": 1}, since=12, known=["ratio"]),
    ],
    "Equal": [Form({"a": i64(1, 2, 3), "b": i64(3, 2, 1)})],
    "Erf": [Form({"x": X}, since=9)],
    "Expand": [Form({"x": f32(3, 1), "shape": i64(2, 1, 4)}, since=8, known=["shape"])],
    "Gather": [Form({"x": X, "i": np.array([[1, 0], [0, 1]])}, {"axis": 1})],
    "Gemm": [Form({"a": f32(2, 3), "b": f32(4, 3), "c": f32(4)}, {"alpha": 0.5, "beta": 2.0, "transB": 1})],
    "GlobalAveragePool": [Form({"x": IMAGE})],
    "GlobalMaxPool": [Form({"x": IMAGE})],
    "HardSigmoid": [Form({"x": X}, {"alpha": 0.3, "beta": 0.4})],
    "LRN": [Form({"x": IMAGE}, {"size": 3, "alpha": 0.3})],
    "LayerNormalization": [Form({"x": X, "scale": f32(4), "bias": f32(4)}, {"epsilon": 0.1}, since=17)],
    "MatMul": [Form({"a": f32(2, 3, 4), "b": f32(4, 5)})],
    "MaxPool": [Form({"x": IMAGE}, WINDOW, until=9), Form({"x": IMAGE}, {**WINDOW, "dilations": [2, 1]}, since=10)],
    "Pow": [Form({"a": abs(X), "b": f32(4)}), Form({"a": abs(X), "b": i64(2)}, since=12)],
    "Range": [Form({"a": np.array(2), "b": np.array(9), "c": np.array(3)}, since=11, known=["a", "b", "c"])],
    "ReduceMax": _axes(X, i64(1), 18, keepdims=0),
    "ReduceMean": _axes(X, i64(0, 2), 18),
    "ReduceSum": _axes(X, i64(2), 13, keepdims=0),
    "Reshape": [Form({"x": X, "shape": i64(0, -1)}, known=["shape"])],
    "Resize": [
        Form({"x": IMAGE, "scales": SCALES}, {"mode": "linear"}, since=10, until=10, known=["scales"]),
        Form({"x": IMAGE, "roi": EMPTY, "scales": SCALES}, RESIZE, since=11, until=12, known=["roi", "scales"]),
        Form({"x": IMAGE, "roi": None, "scales": SCALES}, RESIZE, since=13, known=["scales"]),
    ],
    "Shape": [Form({"x": X}), Form({"x": X}, {"start": 1}, since=15)],
    "Slice": [
        Form({"x": X}, {"starts": [1], "ends": [3], "axes": [2]}, until=9),
        Form({"x": X, "s": i64(3), "e": i64(0), "a": i64(2), "p": i64(-2)}, since=10, known=["s", "e", "a", "p"]),
    ],
    "Softmax": [Form({"x": X}, until=12), Form({"x": X}, {"axis": 1}, until=12), Form({"x": X}, since=13)],
    "Split": [
        Form({"x": X}, {"axis": 2, "split": [1, 3]}, until=12),
        Form({"x": X, "split": i64(1, 3)}, {"axis": 2}, since=13, known=["split"]),
        Form({"x": X}, {"axis": 1, "num_outputs": 2}, since=18),
    ],
    "Squeeze": _axes(f32(1, 3, 1), i64(2), 13),
    "Transpose": [Form({"x": X}, {"perm": [2, 0, 1]})],
    "Unsqueeze": _axes(X, i64(0, 2), 13),
    "Where": [Form({"c": FLAGS, "a": X, "b": f32(4)}, since=9)],
}


@pytest.mark.parametrize(("op_type", "form"), [(name, form) for name, forms in FORMS.items() for form in forms])
def test_every_opset_of_a_form(op_type: str, form: Form) -> None:
    inputs = list(form.inputs.items())
    outputs = 2 if op_type == "Split" else 1
    arrays = {name: array for name, array in inputs if array is not None}

    def model(opset: int) -> Any:
        return node_model(op_type, inputs, opset, known=form.known, outputs=outputs, **form.attributes)

    want = onnxruntime_run(model(form.since), {name: a for name, a in arrays.items() if name not in form.known})
    for opset in range(form.since, form.until + 1):
        equal(run(model(opset), arrays), want, 1e-5)


@pytest.mark.parametrize("op_type", FORMS)
def test_forms_leave_no_opset_out(op_type: str) -> None:
    covered = {opset for form in FORMS[op_type] for opset in range(form.since, form.until + 1)}
    assert sorted(covered) == covered_opsets(op_type)


def test_all_operators_of_the_models_are_here() -> None:
    assert len(FORMS) == 50
