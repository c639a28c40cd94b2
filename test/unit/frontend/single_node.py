"""Models of one node: imported, run by the interpreter, and held against other people's code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
from mlir import ir
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from aiopt.dialects import ext
from aiopt.frontend.onnx import import_model
from aiopt.passes import spec
from aiopt.passes.interpret import interpret
from aiopt.passes.spec import Level
from aiopt.support.weights import WeightStore

Arrays = Mapping[str, np.ndarray]

NAME = "the_node"


def f32(*shape: int, seed: int = 0) -> np.ndarray:
    """Standard normal numbers."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def i64(*values: int) -> np.ndarray:
    """A list of integers."""
    return np.array(values, np.int64)


def node_model(
    op_type: str,
    inputs: Arrays | Sequence[tuple[str, np.ndarray | None]],
    opset: int,
    *,
    known: Sequence[str] = (),
    outputs: int | Sequence[str] = 1,
    domain_opset: int = 1,
    **attributes: Any,
) -> onnx.ModelProto:
    """A model of one node; inputs named in `known` are initializers, an input that is None is absent ("").

    A domain among the attributes is that of the operator, in its opset `domain_opset`.
    """
    operands = list(inputs.items()) if isinstance(inputs, Mapping) else list(inputs)
    names = [name if array is not None else "" for name, array in operands]
    while names and not names[-1]:
        del names[-1]  # ONNX Runtime refuses some trailing empty names
    out = [f"y{index}" for index in range(outputs)] if isinstance(outputs, int) else list(outputs)
    node = helper.make_node(op_type, names, out, name=NAME, **attributes)
    given = {name: array for name, array in operands if array is not None}
    graph = helper.make_graph(
        [node],
        "single",
        [_info(name, array) for name, array in given.items() if name not in known],
        [onnx.ValueInfoProto(name=name) for name in out if name],
        [numpy_helper.from_array(array, name) for name, array in given.items() if name in known],
    )
    domains = {"": opset} | ({attributes["domain"]: domain_opset} if "domain" in attributes else {})
    opsets = [helper.make_opsetid(domain, version) for domain, version in domains.items()]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def run(model: onnx.ModelProto, inputs: Arrays) -> dict[str, np.ndarray]:
    """Import, verify, hold against the level's spec, interpret."""
    module, weights = imported(model)
    names = [value.name for value in model.graph.input]
    return interpret(module, weights, {name: inputs[name] for name in names})


def imported(
    model: onnx.ModelProto | bytes, shapes: Mapping[str, Sequence[int]] | None = None
) -> tuple[ir.Module, WeightStore]:
    """Import into a context of its own and check the module."""
    context = ir.Context()
    module, weights = import_model(model, context, shapes)
    with context, ir.Location.unknown():
        assert module.operation.verify()
        ext.verify(module)
        spec.check(module, Level.GRAPH)
    return module, weights


def onnxruntime_run(model: onnx.ModelProto, inputs: Arrays) -> dict[str, np.ndarray]:
    """Oracle: ONNX Runtime, optimisations off."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, map(np.asarray, session.run(names, dict(inputs))), strict=True))


def reference_run(model: onnx.ModelProto, inputs: Arrays) -> dict[str, np.ndarray]:
    """Oracle: onnx.reference."""
    names = [output.name for output in model.graph.output]
    results = ReferenceEvaluator(model).run(None, dict(inputs))
    return dict(zip(names, map(np.asarray, results), strict=True))  # pyright: ignore[reportArgumentType]


def equal(have: Arrays, want: Arrays, tolerance: float = 1e-6) -> None:
    """Same names, types and shapes; values within `tolerance` of the largest one."""
    assert list(have) == list(want)
    for name, array in want.items():
        assert (have[name].dtype, have[name].shape) == (array.dtype, array.shape), name
        finite = np.abs(array[np.isfinite(array)].astype(np.float64))
        np.testing.assert_allclose(have[name], array, rtol=0, atol=tolerance * float(finite.max(initial=0)))


def _info(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


def check(
    op_type: str,
    inputs: Arrays | Sequence[tuple[str, np.ndarray | None]],
    opset: int,
    *,
    known: Sequence[str] = (),
    oracle: str = "onnxruntime",
    outputs: int | Sequence[str] = 1,
    tolerance: float = 1e-6,
    **attributes: Any,
) -> None:
    """Twice against the oracle: with the inputs at run time (but those `known`), and folded from initializers."""
    given = {name: array for name, array in dict(inputs).items() if array is not None}
    model = node_model(op_type, inputs, opset, known=known, outputs=outputs, **attributes)
    # The oracle gets the outputs' types by inference: onnxruntime wants none, but a name.
    runtime = {name: array for name, array in given.items() if name not in known}
    want = {"onnxruntime": onnxruntime_run, "onnx.reference": reference_run}[oracle](model, runtime)
    equal(run(model, given), want, tolerance)
    folded = node_model(op_type, inputs, opset, known=list(given), outputs=outputs, **attributes)
    module, weights = imported(folded)
    assert not [op for op in ext.operations(module) if op.operation.name not in _CONSTANTS], "everything folds"
    equal(interpret(module, weights, {}), want, tolerance)


_CONSTANTS = ("func.func", "func.return", "ai.constant", "arith.constant")
