"""The command that runs onnx's cases: outcomes, classes and a pool whose workers may die."""

from __future__ import annotations

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from bench.onnx_cases import report
from bench.onnx_suite import (
    CORE,
    SMALL,
    Case,
    Outcome,
    classify,
    compare,
    expected_failures,
    model_cases,
    node_cases,
    run_case,
    surprises,
)
from bench.worker_pool import run_all


def _model(op_type: str, element: int = TensorProto.FLOAT, domain: str = "") -> onnx.ModelProto:
    values = [helper.make_tensor_value_info(name, element, [2]) for name in "xy"]
    node = helper.make_node(op_type, ["x"], ["y"], domain=domain)
    graph = helper.make_graph([node], "one", values[:1], values[1:])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def _act(what: str) -> str:
    if what == "crash":
        os.kill(os.getpid(), signal.SIGABRT)
    if what == "exit":
        os._exit(3)
    if what == "hang":
        time.sleep(60)
    return what.upper()


def test_a_worker_that_dies_or_hangs_costs_one_case() -> None:
    found = run_all(_act, ["a", "crash", "b", "hang", "exit", "c"], workers=2, seconds=1)
    assert found == ["A", "crashed (SIGABRT)", "B", "took too long", "its process ended with status 3", "C"]


@pytest.mark.parametrize(
    ("op_type", "element", "domain", "kind"),
    [
        ("Relu", TensorProto.FLOAT, "", CORE),
        ("Relu", TensorProto.BFLOAT16, "", CORE),
        ("Identity", TensorProto.FLOAT8E4M3FN, "", SMALL),
        ("Identity", TensorProto.UINT2, "", SMALL),
        ("Identity", TensorProto.STRING, "", "string"),
        ("SplitToSequence", TensorProto.FLOAT, "", "sequence or optional"),
        ("Bernoulli", TensorProto.FLOAT, "", "random"),
        ("Adam", TensorProto.FLOAT, "ai.onnx.preview.training", "training"),
        ("Binarizer", TensorProto.STRING, "ai.onnx.ml", "ai.onnx.ml"),
    ],
)
def test_classes(op_type: str, element: int, domain: str, kind: str) -> None:
    assert classify(_model(op_type, element, domain)) == kind


def test_compare() -> None:
    want = np.array([1, np.nan, np.inf, 1e-9], np.float32)
    assert compare(want.copy(), want, 1e-3, 1e-7) == ""
    assert compare(want.astype(np.float64), want, 1e-3, 1e-7) == "is float64[4], not float32[4]"
    wrong = np.array([1, np.nan, 7, 1e-9], np.float32)
    assert compare(wrong, want, 1e-3, 1e-7) == "1 of 4 elements differ, the first: 7.0, not inf"


def test_outcomes_and_report() -> None:
    x = np.float32([-1, 2])

    def case(name: str, op_type: str, want: np.ndarray) -> Case:
        return Case(name, op_type, CORE, _model(op_type), [([x], [want])], 1e-3, 1e-7)

    cases = [
        case("right", "Relu", np.float32([0, 2])),
        case("wrong", "Relu", np.float32([0, 3])),
        case("strange", "Magic", x),
    ]
    cases[2].model.graph.node[0].domain = "com.nobody"
    cases[2].model.opset_import.append(helper.make_opsetid("com.nobody", 1))
    outcomes = [run_case(one) for one in cases]
    assert [outcome.status for outcome in outcomes] == ["passed", "failed", "unsupported"]
    unsupported, failed, counts = report(list(zip(cases, outcomes, strict=True)))
    assert failed == "   1 Relu failed: output 0: 1 of 2 elements differ, the first: 2.0, not 3.0 [wrong]"
    assert unsupported.startswith("   1 Magic unsupported: ")
    assert counts == "numeric core: 1 of 3 passed (0 not all compiled), 1 failed, 1 unsupported"


def test_an_unexpected_exception_is_an_outcome() -> None:
    broken = Case("broken", "Relu", CORE, SimpleNamespace(), [([], [])], 0, 0)  # pyright: ignore[reportArgumentType]
    assert run_case(broken) == Outcome(
        "failed", "AttributeError: 'types.SimpleNamespace' object has no attribute 'graph'"
    )


def test_what_is_expected_to_fail_must() -> None:
    cases = [Case(name, "Relu", CORE, _model("Relu"), [], 0, 0) for name in ("known", "mended", "broken", "fine")]
    statuses = [Outcome("unsupported", "no"), Outcome("passed"), Outcome("failed", "is 2"), Outcome("passed")]
    found = surprises(zip(cases, statuses, strict=True), {"known": "why", "mended": "why"})
    assert found == ["mended passed: take it out of onnx_expected_failures.toml", "broken failed: is 2"]


def test_each_expected_failure_is_a_case_and_has_a_reason() -> None:
    expected = expected_failures()
    names = {case.name for case in (*node_cases(), *model_cases())}
    assert expected.keys() <= names
    assert all(expected.values())
