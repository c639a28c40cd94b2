"""The cases of onnx.backend.test: of which class each is, and whether aiopt computes what it expects."""

from __future__ import annotations

import re
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests

from aiopt import backend
from aiopt.support.errors import AioptError, UnsupportedError

CORE, SMALL = "numeric core", "small types"
CLASSES = (CORE, SMALL, "sequence or optional", "string", "ai.onnx.ml", "training", "random")
FOLDERS = ("simple", "pytorch-converted", "pytorch-operator")
EXPECTED = Path(__file__).with_name("onnx_expected_failures.toml")
_SMALL_TYPE = re.compile("FLOAT8|FLOAT4|U?INT[24]$")
_SEQUENCE_OP = re.compile("Sequence|Optional")
_RANDOM_OP = re.compile("Random|Bernoulli|Multinomial")


@dataclass(frozen=True)
class Case:
    """A model, its data sets and how near to the expected outputs it must come."""

    name: str
    group: str  # the operator it tests
    kind: str  # one of CLASSES, or a folder of onnx's models
    model: onnx.ModelProto
    data_sets: Sequence[tuple[Sequence[Any], Sequence[Any]]]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Outcome:
    """`status` is passed, failed or unsupported; `reason` is one line; `slow` are the operators on the slow route."""

    status: str
    reason: str = ""
    slow: tuple[str, ...] = ()


def node_cases() -> list[Case]:
    """The cases that onnx generates, of one operator each or of the function that defines it."""
    with warnings.catch_warnings(action="ignore"):  # onnx overflows on purpose while it makes its cases
        found = collect_testcases("")
    operators = {case.name: case.model.graph.node[0].op_type for case in found if len(case.model.graph.node) == 1}
    return [
        Case(
            case.name,
            operators.get(re.sub("_expanded.*", "", case.name), case.model.graph.node[0].op_type),
            classify(case.model),
            case.model,
            case.data_sets,
            case.rtol,
            case.atol,
        )
        for case in found
    ]


def model_cases() -> Iterator[Case]:
    """The small models that lie in onnx's package with their data."""
    for folder in FOLDERS:
        for case in load_model_tests(kind=folder):
            model = onnx.load(f"{case.model_dir}/model.onnx")
            yield Case(case.name, folder, folder, model, [_read_data(case.model_dir, model)], case.rtol, case.atol)


def expected_failures() -> dict[str, str]:
    """Why each case does not pass that is known not to, by name."""
    groups = tomllib.loads(EXPECTED.read_text())["group"]
    reasons: dict[str, str] = {}
    for group in groups:
        for name in group["cases"]:
            if name in reasons:
                raise ValueError(f"{EXPECTED.name} has '{name}' twice")
            reasons[name] = group["reason"]
    return reasons


def surprises(results: Iterable[tuple[Case, Outcome]], expected: Mapping[str, str]) -> list[str]:
    """A line for each case that does not pass and is not known not to, and for one that is and does."""
    lines = []
    for case, outcome in results:
        if outcome.status != "passed" and case.name not in expected:
            lines.append(f"{case.name} {outcome.status}: {outcome.reason}")
        elif outcome.status == "passed" and case.name in expected:
            lines.append(f"{case.name} passed: take it out of {EXPECTED.name}")
    return lines


def classify(model: onnx.ModelProto) -> str:
    """One of CLASSES, by the types of the values and the operators in a model."""
    domains = {node.domain for node in model.graph.node}
    operators = " ".join(node.op_type for node in model.graph.node)
    types = _value_types(model.graph)
    if "ai.onnx.ml" in domains:
        return "ai.onnx.ml"
    if "ai.onnx.preview.training" in domains:
        return "training"
    if "STRING" in types:
        return "string"
    if types & {"sequence_type", "optional_type", "map_type"} or _SEQUENCE_OP.search(operators):
        return "sequence or optional"
    if _RANDOM_OP.search(operators):
        return "random"
    return SMALL if any(_SMALL_TYPE.match(name) for name in types) else CORE


def run_case(case: Case) -> Outcome:
    """Compile the case's model, run it, compare. Whatever is raised is an outcome: one case must not end the others."""
    slow: set[str] = set()
    try:
        for inputs, expected in case.data_sets:
            outputs, hosted = _run(case.model, [_array(value) for value in inputs])
            slow.update(hosted)
            for index, (have, want) in enumerate(zip(outputs, map(_array, expected), strict=True)):
                if difference := compare(have, want, case.rtol, case.atol):
                    return Outcome("failed", f"output {index}: {difference}")
    except UnsupportedError as error:
        return Outcome("unsupported", reason_of(error))
    except AioptError as error:
        return Outcome("failed", f"{type(error).__name__}: {reason_of(error)}")
    except Exception as error:
        return Outcome("failed", f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    return Outcome("passed", slow=tuple(sorted(slow)))


def _run(model: onnx.ModelProto, inputs: list[Any]) -> tuple[Sequence[Any], list[str]]:
    """The outputs, and the operators that the net does not compile."""
    constants = {tensor.name for tensor in model.graph.initializer}
    names = [value.name for value in model.graph.input if value.name not in constants]
    given = dict(zip(names, inputs, strict=True))
    shapes = {name: value.shape for name, value in given.items() if isinstance(value, np.ndarray)}
    prepared = backend.prepare(model, shapes=shapes)
    outputs = prepared.run(given)
    return outputs, [node["op"] for node in prepared.net.report().get("slow_route", [])]


def reason_of(error: Exception) -> str:
    """The text of an error without the names of the node, so that equal reasons are equal texts."""
    return re.sub(r"^node '.*?' \(\w+, opset \d+\): | at node '.*?'|(?<=\w) \(opset \d+\)", "", str(error))


def compare(have: Any, want: Any, rtol: float, atol: float) -> str:
    """What is wrong, or nothing. Source: onnx.backend.test.runner, with floats of 8 bits and fewer compared as f32."""
    if isinstance(want, (list, tuple)):
        if not isinstance(have, (list, tuple)) or len(have) != len(want):
            return "is not as many"
        return next(filter(None, (compare(*pair, rtol, atol) for pair in zip(have, want, strict=True))), "")
    if want is None or want.dtype == object:
        return "" if np.array_equal(have, want) else "differs"
    have = np.asarray(have)
    if (have.dtype, have.shape) != (want.dtype, want.shape):
        return f"is {have.dtype}{list(have.shape)}, not {want.dtype}{list(want.shape)}"
    if want.dtype.kind not in "biufc":
        rtol = max(rtol, 2**-6) if want.dtype.name == "bfloat16" else rtol
        have, want = have.astype(np.float32), want.astype(np.float32)
    near = np.isclose(have, want, rtol=rtol, atol=atol, equal_nan=True)
    if near.all():
        return ""
    at = tuple(int(index) for index in np.argwhere(~near)[0])
    return f"{np.count_nonzero(~near)} of {near.size} elements differ, the first: {have[at]}, not {want[at]}"


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _value_types(graph: onnx.GraphProto) -> set[str]:
    found: set[str] = set()
    for value in (*graph.input, *graph.output, *graph.value_info):
        kind = str(value.type.WhichOneof("value"))
        found.add(TensorProto.DataType.Name(value.type.tensor_type.elem_type) if kind == "tensor_type" else kind)
    return found


def _read_data(folder: str, model: onnx.ModelProto) -> tuple[list[Any], list[Any]]:
    def read(kind: str, count: int) -> list[Any]:
        tensors = [TensorProto() for _ in range(count)]
        for index, tensor in enumerate(tensors):
            with open(f"{folder}/test_data_set_0/{kind}_{index}.pb", "rb") as file:
                tensor.ParseFromString(file.read())
        return [numpy_helper.to_array(tensor) for tensor in tensors]

    fed = {value.name for value in model.graph.input} - {tensor.name for tensor in model.graph.initializer}
    return read("input", len(fed)), read("output", len(model.graph.output))
