"""Forms of branches and loops whose way is known: they are expanded or unrolled."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from unit.frontend.forms.form import X, f32, form, i64

ROW = f32(4)


def _value(name: str, kind: int, *shape: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _branch(array: np.ndarray) -> onnx.GraphProto:
    node = helper.make_node("Constant", [], ["of"], value=numpy_helper.from_array(array))
    return helper.make_graph([node], "branch", [], [_value("of", TensorProto.FLOAT, *array.shape)])


def _body(counted: bool) -> onnx.GraphProto:
    """Adds to a state what it is given, or its number; the state is stacked, too."""
    nodes = [
        helper.make_node("Cast", ["n"], ["taken"], to=TensorProto.FLOAT) if counted else None,
        helper.make_node("Add", ["s", "taken" if counted else "n"], ["t"]),
        helper.make_node("Identity", ["go"], ["goes"]) if counted else None,
        helper.make_node("Mul", ["t", "t"], ["each"]),
    ]
    state, float32 = _value("s", TensorProto.FLOAT, 4), TensorProto.FLOAT
    inputs = [_value("n", TensorProto.INT64), _value("go", TensorProto.BOOL), state]
    inputs = inputs if counted else [state, _value("n", float32, 4)]
    flag = [_value("goes", TensorProto.BOOL)] if counted else []
    outputs = [*flag, _value("t", float32, 4), _value("each", float32, 4)]
    return helper.make_graph([node for node in nodes if node], "body", inputs, outputs)


BRANCHES = {"then_branch": _branch(X), "else_branch": _branch(-X)}
FORMS = {
    "If": [form(np.array([flag]), known="a", **BRANCHES) for flag in (True, False)],
    "Loop": [form(i64(3)[0], np.array(True), ROW, known="ab", body=_body(True), outputs=2)],
    "Scan": [
        form(ROW, f32(3, 4, seed=1), num_scan_inputs=1, body=_body(False), since=9, outputs=2),
        form(
            ROW,
            f32(4, 3, seed=1),
            num_scan_inputs=1,
            body=_body(False),
            scan_input_axes=[1],
            scan_input_directions=[1],
            scan_output_axes=[-1],
            scan_output_directions=[1],
            since=11,
            outputs=2,
        ),
    ],
}
