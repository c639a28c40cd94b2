"""Models that run in stages; oracle: ONNX Runtime, or numpy where a comment says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import aiopt
from aiopt.runtime.net import CompiledNet
from aiopt.staged import StagedNet
from aiopt.support.errors import AioptError, InputError, ModelError, UnsupportedError

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
X = np.random.default_rng(5).standard_normal((3, 4)).astype(np.float32)


def info(name: str, shape: list[Any] | None, kind: int = F32) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: list[onnx.NodeProto], inputs: dict[str, np.ndarray], outputs: list[str], opset: int = 17, **constants: Any
) -> onnx.ModelProto:
    kinds = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in inputs.items()}
    graph = helper.make_graph(
        nodes,
        "g",
        [info(name, list(array.shape), kinds[name]) for name, array in inputs.items()],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(proto: onnx.ModelProto, *inputs: dict[str, np.ndarray], kind: type = StagedNet) -> Any:
    """The net gives what ONNX Runtime gives, for each of the inputs."""
    with_types = onnx.shape_inference.infer_shapes(proto)
    session = onnxruntime.InferenceSession(with_types.SerializeToString(), providers=["CPUExecutionProvider"])
    net = aiopt.compile(proto, cache=False)
    assert isinstance(net, kind)
    for given in inputs:
        want = session.run(None, given)
        for have, expected in zip(net.run(given).values(), want, strict=True):
            assert have.dtype == expected.dtype
            assert have.shape == expected.shape
            np.testing.assert_allclose(have, expected, rtol=1e-5, atol=1e-6)
    return net


def node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(op, inputs, outputs, attributes.pop("name", ""), **attributes)


def test_a_node_without_a_lowering_runs_between_compiled_parts() -> None:
    nodes = [
        node("Relu", ["x"], ["r"]),
        node("Unique", ["r"], ["u", "", "", "count"], name="u1", sorted=1),
        node("Mul", ["u", "u"], ["y"]),
        node("Add", ["x", "x"], ["beside"]),
    ]
    net = check(model(nodes, {"x": X}, ["y", "count", "beside"]), {"x": X}, {"x": -X}, {"x": X})
    report = net.report()
    assert [(one["node"], one["op"]) for one in report["slow_route"]] == [("u1", "Unique")]
    assert "aiopt has no such operator" in report["slow_route"][0]["reason"]
    names = [name for name, _ in net.profile({"x": X})]
    assert "Unique u1" in names
    assert any("mul" in name for name in names)


@pytest.mark.parametrize("shape", [[2, 6], [12, 1], [-1, 2], [0, 2, 2]])
def test_a_shape_that_only_a_run_has(shape: list[int]) -> None:
    given = {"x": X, "s": np.array(shape)}
    nodes = [node("Add", ["s", "zero"], ["t"]), node("Reshape", ["x", "t"], ["r"]), node("Relu", ["r"], ["y"])]
    net = check(model(nodes, given, ["y"], zero=np.zeros(len(shape), np.int64)), given)
    assert net.report()["slow_route"] == []


def test_stages_are_made_once_per_contents() -> None:
    given = [{"x": X, "s": np.array(shape)} for shape in ([2, 6], [6, 2], [2, 6])]
    net = check(model([node("Reshape", ["x", "s"], ["r"]), node("Relu", ["r"], ["y"])], given[0], ["y"]), *given)
    assert len(net.report()["stages"]) == 2


def _branches() -> dict[str, onnx.GraphProto]:
    then = helper.make_graph([node("Add", ["x", "k"], ["a"])], "then", [], [info("a", None)])
    then.initializer.add().CopyFrom(onnx.numpy_helper.from_array(np.float32(3), "k"))
    other = helper.make_graph([node("Identity", ["x"], ["b"])], "else", [], [info("b", None)])
    return {"then_branch": then, "else_branch": other}


def test_a_branch_that_a_run_decides() -> None:
    nodes = [
        node("ReduceSum", ["x"], ["s"], keepdims=0),
        node("Greater", ["s", "zero"], ["c"]),
        node("If", ["c"], ["y"], **_branches()),
    ]
    check(model(nodes, {"x": X}, ["y"], zero=np.float32(0)), {"x": abs(X)}, {"x": -abs(X)})


@pytest.mark.parametrize("condition", [True, False])
def test_a_branch_that_is_known_costs_nothing(condition: bool) -> None:
    proto = model([node("If", ["c"], ["y"], **_branches())], {"x": X}, ["y"], c=np.array(condition))
    net = aiopt.compile(proto, cache=False)  # oracle: numpy; ONNX Runtime wants a type for an output of a subgraph
    assert isinstance(net, CompiledNet)
    np.testing.assert_array_equal(net(X)[0], X + 3 if condition else X)


def _loop_body(condition: onnx.NodeProto) -> onnx.GraphProto:
    """c -> c + x, scanned: c * c * i; `condition` makes k2."""
    nodes = [
        node("Add", ["c", "x"], ["c2"]),
        node("Cast", ["i"], ["f"], to=F32),
        node("Mul", ["c2", "f"], ["s"]),
        node("ReduceMax", ["c2"], ["m"], keepdims=0),
        condition,
    ]
    inputs = [info("i", [], I64), info("k", [], BOOL), info("c", [3, 4])]
    return helper.make_graph(nodes, "body", inputs, [info("k2", [], BOOL), info("c2", [3, 4]), info("s", [3, 4])])


KEEP = node("Identity", ["k"], ["k2"])
UNTIL = node("Less", ["m", "limit"], ["k2"])


@pytest.mark.parametrize("trips", [1, 4])
def test_a_short_loop_is_unrolled(trips: int) -> None:
    nodes = [node("Loop", ["n", "", "x"], ["y", "s"], body=_loop_body(KEEP))]
    check(model(nodes, {"x": X}, ["y", "s"], n=np.array(trips)), {"x": X}, kind=CompiledNet)


@pytest.mark.parametrize("known", [True, False])
def test_a_body_that_gives_one_tensor_several_times(known: bool) -> None:
    inputs = [info("i", [], I64), info("k", [], BOOL), info("c", [3, 4])]
    outputs = [info("k", [], BOOL), *[info("c2", [3, 4])] * 2, info("c", [3, 4])]
    body = helper.make_graph([node("Add", ["c", "c"], ["c2"])], "body", inputs, outputs)
    nodes, trips = [node("Loop", ["n", "", "x"], ["y", "s", "t"], body=body)], np.array(3)
    constants, given = ({"n": trips}, {"x": X}) if known else ({}, {"x": X, "n": trips})
    net = aiopt.compile(model(nodes, given, ["y", "s", "t"], **constants), cache=False)
    doubled = X * np.float32([2, 4, 8])[:, None, None]  # oracle: numpy; ONNX Runtime wants the names to differ
    for have, want in zip(net.run(given).values(), (doubled[-1], doubled, doubled / 2), strict=True):
        np.testing.assert_array_equal(have, want)


def test_a_loop_of_no_steps() -> None:
    nodes = [node("Loop", ["n", "", "x"], ["y", "s"], body=_loop_body(KEEP))]
    check(model(nodes, {"x": X}, ["y", "s"], n=np.array(0)), {"x": X})


def test_a_loop_whose_length_a_run_knows() -> None:
    nodes = [node("Loop", ["n", "", "x"], ["y", "s"], name="l", body=_loop_body(KEEP))]
    given = [{"x": X, "n": np.array(trips)} for trips in (2, 0, 5)]
    net = check(model(nodes, given[0], ["y", "s"]), *given)
    assert [one["node"] for one in net.report()["slow_route"]] == ["l"]


def test_a_long_loop_is_run_step_by_step() -> None:
    nodes = [node("Loop", ["n", "", "x"], ["y", "s"], body=_loop_body(KEEP))]
    check(model(nodes, {"x": X}, ["y", "s"], n=np.array(100)), {"x": X})


@pytest.mark.parametrize("count", ["", "n"])
def test_a_loop_that_ends_by_its_data(count: str) -> None:
    nodes = [node("Loop", [count, "go", "x"], ["y", "s"], body=_loop_body(UNTIL)), node("Neg", ["y"], ["z"])]
    proto = model(nodes, {"x": X}, ["z", "s"], go=np.array(True), limit=np.float32(9), n=np.array(7))
    check(proto, {"x": abs(X)}, {"x": abs(X) + 20})


def test_a_loop_inside_a_loop_reads_from_outside_both() -> None:
    inner = helper.make_graph(
        [node("Add", ["d", "x"], ["d2"]), node("Identity", ["q"], ["q2"])],
        "inner",
        [info("j", [], I64), info("q", [], BOOL), info("d", [3, 4])],
        [info("q2", [], BOOL), info("d2", [3, 4])],
    )
    outer = helper.make_graph(
        [node("Loop", ["two", "", "c"], ["c2"], body=inner), node("Identity", ["k"], ["k2"])],
        "outer",
        [info("i", [], I64), info("k", [], BOOL), info("c", [3, 4])],
        [info("k2", [], BOOL), info("c2", [3, 4])],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y"], body=outer)]
    check(model(nodes, {"x": X}, ["y"], two=np.array(2), n=np.array(3)), {"x": X}, kind=CompiledNet)
    given = {"x": X, "n": np.array(3)}
    check(model(nodes, given, ["y"], two=np.array(2)), given)


@pytest.mark.parametrize("length", [3, 100])
@pytest.mark.parametrize("turned", [0, 1])
def test_scan(length: int, turned: int) -> None:
    body = helper.make_graph(
        [node("Add", ["h", "e"], ["h2"]), node("Mul", ["h2", "w"], ["o"]), node("Neg", ["o"], ["p"])],
        "body",
        [info("h", [2]), info("e", [2])],
        [info("h2", [2]), info("o", [2]), info("p", [2])],
    )
    given = {"h0": np.ones(2, np.float32), "xs": np.random.default_rng(1).random((2, length), np.float32)}
    scan = {
        "num_scan_inputs": 1,
        "scan_input_axes": [1],
        "scan_input_directions": [turned],
        "scan_output_axes": [0, 1],
        "scan_output_directions": [0, turned],
    }
    nodes = [node("Scan", ["h0", "xs"], ["h", "o", "p"], body=body, **scan)]
    proto = model(nodes, given, ["h", "o", "p"], w=np.float32([0.5, 2]))
    check(proto, given, kind=CompiledNet if length == 3 else StagedNet)


def test_sequences_live_on_the_host() -> None:
    nodes = [
        node("SplitToSequence", ["x"], ["seq"], axis=0, keepdims=0),
        node("SequenceAt", ["seq", "one"], ["row"]),
        node("Mul", ["row", "row"], ["y"]),
    ]
    check(model(nodes, {"x": X}, ["y"], one=np.array(1)), {"x": X})


def test_open_dimensions_and_stages() -> None:
    graph = helper.make_graph(
        [node("NonZero", ["x"], ["i"]), node("Cast", ["i"], ["y"], to=F32)], "g", [info("x", ["n"])], [info("y", None)]
    )
    net = aiopt.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), cache=False)
    for size in (3, 7):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(net(x)[0], np.arange(1, size, dtype=np.float32)[None])  # oracle: numpy


def _staged() -> StagedNet:
    nodes = [node("NonZero", ["x"], ["i"], name="z"), node("Neg", ["i"], ["y"])]
    net = aiopt.compile(model(nodes, {"x": X}, ["y"]), cache=False)
    assert isinstance(net, StagedNet)
    return net


def test_it_is_called_like_a_compiled_net() -> None:
    net = _staged()
    with pytest.raises(InputError, match="has dtype float64"):
        net(X.astype(np.float64))
    with pytest.raises(InputError, match="was given 2 inputs, expected 1"):
        net(X, X)
    with pytest.raises(InputError, match="has no input 'z'"):
        net.run({"z": X})
    net.close()
    with pytest.raises(AioptError, match="has been closed"):
        net(X)


def test_it_cannot_be_bound() -> None:
    with pytest.raises(UnsupportedError, match="runs in stages and cannot be bound"):
        _staged().bind({}, {})


def test_it_cannot_be_saved(tmp_path) -> None:
    with pytest.raises(UnsupportedError, match=r"cannot be saved .* for z \(NonZero\)"):
        _staged().save(tmp_path / "m.aio")
    assert not list(tmp_path.iterdir())


def test_f16_needs_a_net_in_one_piece() -> None:
    proto = model([node("NonZero", ["x"], ["i"], name="z"), node("Neg", ["i"], ["y"])], {"x": X}, ["y"])
    with pytest.raises(UnsupportedError, match=r"amp=f16 must know all values .* NonZero \(opset 17\) at node 'z'"):
        aiopt.compile(proto, cache=False, amp="f16", calibration={"x": X})


def test_what_a_node_refuses_at_run_time_names_it() -> None:
    given = {"x": X, "i": np.array([[9, 9]])}
    nodes = [node("Unique", ["x"], ["u"]), node("Reshape", ["u", "s"], ["y"], name="bad")]
    net = aiopt.compile(model(nodes, {"x": X, "s": np.array([5, 5])}, ["y"]), cache=False)
    with pytest.raises(ModelError, match="node 'bad'"):
        net.run({"x": X, "s": given["i"][0]})


def test_what_nobody_can_run_is_refused_with_its_node() -> None:
    proto = model([node("Magic", ["x"], ["y"], name="m", domain="com.nobody")], {"x": X}, ["y"])
    proto.opset_import.append(helper.make_opsetid("com.nobody", 1))
    with pytest.raises(UnsupportedError, match=r"Magic \(domain 'com.nobody', opset 1\) at node 'm'"):
        aiopt.compile(proto, cache=False)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (node("Loop", ["n", "", "x", "x"], ["y", "s"], name="l", body=_loop_body(KEEP)), "node 'l'.*carries 2"),
        (node("If", ["c"], ["y"], name="b", then_branch=_branches()["then_branch"]), "node 'b'.*'else_branch'"),
        (node("Scan", ["x"], ["y"], name="s", body=_loop_body(KEEP)), "node 's'.*num_scan_inputs"),
    ],
)
def test_broken_control_flow(broken: onnx.NodeProto, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        aiopt.compile(model([broken], {"x": X}, ["y"], n=np.array(2), c=np.array(False)), cache=False)


def test_types_no_net_has_are_the_hosts() -> None:
    """4-bit weights become f32 when the model is compiled; 8-bit floats that are inputs are cast in each run."""
    import ml_dtypes

    weight = np.array([[-8, 7], [1, 0], [3, -2], [5, -5]], ml_dtypes.int4)
    nodes = [
        node("DequantizeLinear", ["w", "scale"], ["d"], name="dq"),
        node("MatMul", ["x", "d"], ["m"]),
        node("Cast", ["f8"], ["f"], name="c", to=F32),
        node("Add", ["m", "f"], ["y"]),
    ]
    small = np.array([0.5, -3], ml_dtypes.float8_e4m3fn)
    proto = model(nodes, {"x": X, "f8": small}, ["y"], 21, w=weight, scale=np.float32(0.5))
    net = aiopt.compile(proto, cache=False)
    want = X @ (weight.astype(np.float32) * 0.5) + small.astype(np.float32)  # oracle: numpy
    np.testing.assert_allclose(net.run({"x": X, "f8": small})["y"], want, rtol=1e-6)
    assert [one["node"] for one in net.report()["slow_route"]] == ["c"]


def test_a_sequence_is_an_input() -> None:
    nodes = [node("SequenceAt", ["s", "i"], ["a"]), node("Neg", ["a"], ["y"])]
    proto = model(nodes, {"x": X}, ["y"], i=np.array(1))
    proto.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("s", F32, None))
    net = aiopt.compile(proto, cache=False)
    np.testing.assert_array_equal(net.run({"s": [X, 2 * X]})["y"], -2 * X)


def test_outputs_are_new_arrays() -> None:
    """Also those that are an input, a constant, or what the host made of constants."""
    import ml_dtypes

    nodes = [
        node("NonZero", ["x"], ["i"]),
        node("Identity", ["x"], ["same"]),
        node("Identity", ["k"], ["constant"]),
        node("Cast", ["small"], ["folded"], to=F32),
    ]
    small = np.array([1, 2], ml_dtypes.float8_e4m3fn)
    net = aiopt.compile(model(nodes, {"x": X}, ["i", "same", "constant", "folded"], 21, k=X, small=small), cache=False)
    x = X.copy()
    first = net.run({"x": x})
    for array in first.values():
        array[...] = 7  # the caller's own
    np.testing.assert_array_equal(x, X)
    second = net.run({"x": x})
    np.testing.assert_array_equal(second["constant"], X)
    np.testing.assert_array_equal(second["folded"], [1, 2])
