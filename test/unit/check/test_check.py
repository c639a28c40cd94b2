"""aiopt.check: what it says of a model is what aiopt.compile does with it."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import aiopt
from aiopt.check import BROKEN, LATE, SLOW, UNSUPPORTED, check_model
from aiopt.runtime.net import CompiledNet
from aiopt.staged import StagedNet
from aiopt.support.errors import DeclarationError, ModelError, UnsupportedError
from bench import seeds


def chain(*operators: str, shape: tuple[int | str, ...] = (2, 3), kind: int = TensorProto.FLOAT) -> onnx.ModelProto:
    """Operators of one input, `domain.Name` or `Name`, one after the other."""
    nodes = []
    for index, text in enumerate(operators):
        domain, _, name = text.rpartition(".")
        nodes.append(helper.make_node(name, [f"t{index}"], [f"t{index + 1}"], f"node_{index}", domain=domain))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("t0", kind, shape)],
        [helper.make_tensor_value_info(f"t{len(nodes)}", TensorProto.UNDEFINED, None)],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("far", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def statuses(model: onnx.ModelProto) -> list[tuple[str, str]]:
    return [(finding.node, finding.status) for finding in check_model(model).findings]


@pytest.mark.parametrize("make", [seeds._convolution, seeds._function, seeds._quantised, seeds._loop, seeds._scan])
def test_a_model_that_is_compiled_has_no_findings(make) -> None:
    report = check_model(make())
    assert report.findings == ()
    assert report.is_supported
    assert isinstance(aiopt.compile(make(), cache=False), CompiledNet)


def test_the_slow_route_is_named_with_node_types_and_code() -> None:
    report = check_model(seeds._staged())
    assert report.is_supported
    (slow,) = [finding for finding in report.findings if finding.status == SLOW]
    assert (slow.node, slow.operator, slow.opset, slow.code) == ("nonzero", "NonZero", 18, "AI0202")
    assert slow.inputs == {"r": "2x3xf32"}
    with aiopt.compile(seeds._staged(), cache=False) as net:
        assert isinstance(net, StagedNet)
        net.run({"x": np.ones((2, 3), np.float32)})
        assert [(entry["node"], entry["op"]) for entry in net.report()["slow_route"]] == [(slow.node, slow.operator)]


def test_what_waits_for_it_says_on_what_it_depends() -> None:
    late = {f.node: f.reason for f in check_model(seeds._staged()).findings if f.status == LATE}
    assert set(late) == {"cast", "sum"}
    assert late["cast"].endswith("its shapes depend on 'n'")


def test_a_branch_is_compiled_when_its_condition_is_known() -> None:
    (finding,) = check_model(seeds._branches()).findings
    assert (finding.node, finding.status, finding.code) == ("if", LATE, "AI0206")


def test_all_that_is_not_supported_is_listed_at_once() -> None:
    model = chain("Relu", "far.One", "far.Two", "Relu")
    assert statuses(model) == [("node_1", UNSUPPORTED), ("node_2", UNSUPPORTED), ("node_3", LATE)]
    report = check_model(model)
    assert not report.is_supported
    assert report.findings[0].domain == "far"
    with pytest.raises(UnsupportedError, match="One"):
        aiopt.compile(model, cache=False)


def test_what_stands_behind_the_slow_route_is_looked_at_too() -> None:
    assert ("node_2", UNSUPPORTED) in statuses(chain("NonZero", "Neg", "far.One"))


def test_open_dimensions_are_assumed_and_said() -> None:
    model = chain("Relu", shape=("batch", 3))
    assert check_model(model).assumed == {"t0": (1, 3)}
    assert check_model(model, {"t0": (4, 3)}).assumed == {}


def test_broken_nodes_are_listed_with_all_others() -> None:
    model = chain("Relu", "MatMul", "far.One", "NonZero")
    model.graph.node.append(helper.make_node("Softmax", ["t0"], ["s"], "bogus", size=3))
    model.graph.node.append(helper.make_node("Add", ["t0", "nothing"], ["a"], "undefined"))
    report = check_model(model)
    assert not report.is_supported
    found = {finding.node: (finding.status, finding.code) for finding in report.findings}
    assert found == {
        "node_1": (BROKEN, "AI0111"),
        "bogus": (BROKEN, "AI0110"),
        "undefined": (BROKEN, "AI0107"),
        "node_2": (UNSUPPORTED, "AI0202"),
        "node_3": (SLOW, "AI0202"),
    }


def test_branches_that_a_run_chooses_are_looked_at() -> None:
    model = seeds._branches()
    (choice,) = [node for node in model.graph.node if node.op_type == "If"]
    graph = next(attribute.g for attribute in choice.attribute if attribute.name == "else_branch")
    graph.node[0].op_type, graph.node[0].domain = "One", "far"
    model.opset_import.append(helper.make_opsetid("far", 1))
    found = [(finding.status, finding.domain) for finding in check_model(model).findings]
    assert found == [(LATE, ""), (UNSUPPORTED, "far")]


def test_a_broken_model_is_an_error_that_says_what_was_assumed() -> None:
    model = chain("Relu", shape=("batch", 3))
    model.graph.output[0].name = "nothing"
    with pytest.raises(ModelError, match="open dimensions taken as 1"):
        check_model(model)


def test_a_declaration_that_is_wrong_is_the_error_of_compile() -> None:
    model = chain("Relu")
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("t1", TensorProto.INT64, [2, 3]))
    for look in (check_model, lambda m: aiopt.compile(m, cache=False)):
        with pytest.raises(DeclarationError):
            look(model)


def test_seeds_agree_with_compile() -> None:
    """A twelfth of the fuzzer's models: those without findings become a net in one piece, the others do not."""
    for data in seeds.seeds()[::12]:
        name = onnx.ModelProto.FromString(data).graph.name
        try:
            report = check_model(data)
        except aiopt.AioptError as error:
            with pytest.raises(type(error)):
                aiopt.compile(data, cache=False)
            continue
        try:
            with aiopt.compile(data, cache=False) as net:
                assert isinstance(net, CompiledNet) == (not report.findings), name
        except UnsupportedError:
            assert not report.is_supported, name
