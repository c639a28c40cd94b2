"""Templates are found, and each legal number gives a right kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.templates import registry
from aiopt.passes.templates.base import LIBRARY_ROUTE, TEMPLATE_ROUTE, Facts, Template
from aiopt.passes.templates.select_route import known_arguments
from aiopt.passes.unit import Unit
from aiopt.targets import find_target
from unit.passes.templates.kernels import GROUPED, Kernel, check, unit_of

_FACTS = Facts(vector_bits=256, registers=16, l2_bytes=524288, cores=2, fma=True, winograd=(2, 4))
_RNG = np.random.default_rng(1)


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _conv(template: str, group: int, kernel: int, stride: int) -> Kernel:
    def build(x: ir.Value, w: ir.Value) -> ir.Value:
        window = {"strides": [stride] * 2, "pads": [1] * 4, "dilations": [1, 1], "group": group}
        return ai.ReluOp(ai.ConvOp(x, w, None, layout="channels_last", **window).out).out

    return Kernel(template, build, [_normal(1, 9, 13, 20)], [_normal(20, 20 // group, kernel, kernel)])


def _attention(q: ir.Value, k: ir.Value, v: ir.Value) -> ir.Value:
    scores = ai.MatMulOp(q, ai.TransposeOp(k, permutation=[0, 2, 1]).out).out
    return ai.MatMulOp(ai.SoftmaxOp(scores).out, v).out


def _pool(x: ir.Value) -> ir.Value:
    return ai.MaxPoolOp(x, kernel=[3, 3], strides=[2, 2], pads=[1] * 4, layout="channels_last").out


_KERNELS = {
    "attention": Kernel("attention", _attention, [_normal(2, 19, 12), _normal(2, 77, 12), _normal(2, 77, 21)]),
    "matmul": Kernel("matmul", lambda a, b: ai.MatMulOp(a, b).out, [_normal(23, 70)], [_normal(70, 45)]),
    "conv": _conv("conv", 1, 3, 1),
    "depthwise": _conv("depthwise", 20, 3, 2),
    "winograd": _conv("winograd", 1, 3, 1),
    "transpose": Kernel("transpose", lambda x: ai.TransposeOp(x, permutation=[1, 0]).out, [_normal(37, 90)]),
    "rows": Kernel("rows", lambda x: ai.SoftmaxOp(x, axis=1).out, [_normal(37, 90)]),
    "pool": Kernel("pool", _pool, [_normal(1, 9, 13, 20)]),
}


def test_templates_are_found() -> None:
    found = registry.registered()
    assert {name for name, template in found.items() if template.route == TEMPLATE_ROUTE} == set(_KERNELS)
    assert {name for name, template in found.items() if template.route == LIBRARY_ROUTE} == {"onednn", "openblas"}


def test_equal_names_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    template = registry.registered()["conv"]
    from aiopt.passes.templates import matmul

    monkeypatch.setattr(matmul, "TEMPLATE", template)
    registry.registered.cache_clear()
    with pytest.raises(TypeError, match="two templates are called conv"):
        registry.registered()
    monkeypatch.undo()
    registry.registered.cache_clear()


@pytest.mark.parametrize("name", _KERNELS)
def test_all_ranges_give_right_kernels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws of all numbers at once, from the ranges and independent of one another."""
    kernel, choose = _KERNELS[name], registry.choose
    ranges = _ranges(kernel)
    assert set(ranges) <= set(_parameters(kernel))
    for _ in range(4):
        drawn = {key: int(_RNG.choice(values)) for key, values in ranges.items()}

        def choose_drawn(function: func.FuncOp, known: frozenset[int], facts: Facts, drawn: dict[str, int] = drawn):
            choice = choose(function, known, facts)
            assert choice is not None
            return choice[0], {**choice[1], **drawn}

        monkeypatch.setattr("aiopt.passes.templates.select_route.choose", choose_drawn)
        check([kernel], winograd="4" if name == "winograd" else "off")


def _template(kernel: Kernel) -> tuple[Template, Any, Unit]:
    unit, _ = unit_of([kernel])
    pipeline.run(unit, GROUPED)
    known = known_arguments(unit)
    for op in unit.module.body.operations:
        if isinstance(op, func.FuncOp) and "ai.kernel" in op.attributes:
            template = registry.registered()[kernel.template]
            found = template.read(op, known[op.name.value])
            assert found is not None
            return template, found, unit  # the unit keeps the module alive
    raise AssertionError("there is a kernel")


def _ranges(kernel: Kernel) -> dict[str, list[int]]:
    template, found, _ = _template(kernel)
    return {key: list(values) for key, values in template.ranges(found, _FACTS).items()}


def _parameters(kernel: Kernel) -> dict[str, int]:
    template, found, _ = _template(kernel)
    return template.parameters(found, _FACTS)


def test_the_cpu_takes_templates() -> None:
    assert "ai-select-route" in find_target("cpu").stages()[1].pipeline
