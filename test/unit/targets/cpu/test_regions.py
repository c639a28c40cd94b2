"""Short kernels that do not depend on each other run side by side."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, reference

from aiopt import driver
from aiopt.passes import io, pipeline, report
from aiopt.passes.lower.plan_memory import pack_weights
from aiopt.passes.unit import Unit
from aiopt.runtime.library import set_affinity
from aiopt.runtime.net import CompiledNet
from aiopt.support.kernel_cache import KernelCache
from aiopt.targets.cpu import codegen
from aiopt.targets.cpu.record import host

BRANCHES = 5


@pytest.fixture(scope="module")
def model() -> onnx.ModelProto:
    """Branches of a matrix product and a softmax each, too short to be split, and their sum."""
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.normal(0, 0.3, (64, 48 + 8 * i)).astype(np.float32), f"w{i}")
        for i in range(BRANCHES)
    ]
    nodes = []
    for i in range(BRANCHES):
        nodes += [
            helper.make_node("MatMul", ["x", f"w{i}"], [f"m{i}"]),
            helper.make_node("Softmax", [f"m{i}"], [f"s{i}"]),
        ]
    nodes.append(helper.make_node("Concat", [f"s{i}" for i in range(BRANCHES)], ["y"], axis=1))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 64])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, None])
    graph = helper.make_graph(nodes, "net", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


@pytest.fixture(scope="module")
def unit(model: onnx.ModelProto) -> Unit:
    """At level LLVM, for two cores."""
    unit = driver.load_unit(model, io.new_context())
    pipeline.run(unit, f"ai-kernels-pipeline,{codegen.tensor_pipeline(host())},ai-loops-pipeline{{cores=2}}")
    entries = report.kernels(unit.module)
    assert {entry["serial"] for entry in entries if "region" in entry} == {True}
    assert sum("region" in entry for entry in entries) >= BRANCHES
    pipeline.run(unit, codegen.lower_pipeline(host()))
    return unit


@pytest.fixture
def places() -> Iterator[None]:
    set_affinity([min(os.sched_getaffinity(0))] * 4)
    yield
    set_affinity("auto")


@pytest.mark.usefixtures("places")
def test_bits_do_not_depend_on_threads(model: onnx.ModelProto, unit: Unit) -> None:
    """Compiled kernel by kernel, as nets are; the oracle is onnx's reference."""
    objects = codegen.to_objects(unit, host(), KernelCache())
    weights = pack_weights(unit.module, unit.weights)
    x = np.random.default_rng(1).normal(0, 1, (16, 64)).astype(np.float32)
    (wanted,) = reference.ReferenceEvaluator(model).run(None, {"x": x})
    results = []
    for threads in (1, 2, 3, 4):
        with CompiledNet("net", objects, weights, {}, threads) as net:
            for _ in range(20):
                results.append(net.run({"x": x})["y"])
            profile = net.profile({"x": x})
            assert len(profile) == len(net.launches)
            assert any(name.count("|") >= 1 for name in net.launches)
    np.testing.assert_allclose(results[0], wanted, rtol=1e-5, atol=1e-6)
    assert all(np.array_equal(result, results[0]) for result in results)


def test_kernels_of_a_region_are_objects_of_their_own(unit: Unit) -> None:
    """The entry calls them; it holds no copies."""
    kernels = [op for op in unit.module.body.operations if "ai.kernel" in op.attributes]
    assert len(codegen.to_objects(unit, host(), KernelCache())) == 1 + len(kernels)
