"""ai-amp: where the casts are, on random abstract graphs and on random graphs of ops; ranges of f16."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ai, ext
from aiopt.dialects.ai import Trait
from aiopt.passes import pipeline
from aiopt.passes.graph.amp_choice import INPUT, Kind, Node, choose_low
from aiopt.passes.io import new_context
from aiopt.passes.unit import Unit
from aiopt.support.errors import InputError, OptionError
from aiopt.support.types import LOW_FLOATS
from unit.passes.graph.graphs import SHAPES, Builder, random_inputs, random_unit, run

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def abstract_graphs(draw: st.DrawFn) -> list[Node]:
    nodes: list[Node] = []
    for index in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(Kind))
        operands = draw(st.lists(st.integers(INPUT, index - 1), min_size=kind is Kind.MOVEMENT, max_size=3))
        flags = [draw(st.booleans()) for _ in range(3)]
        nodes.append(Node(kind, () if kind is Kind.APART else tuple(operands), *flags))
    return nodes


@given(abstract_graphs())
def test_what_may_be_low(nodes: list[Node]) -> None:
    low = choose_low(nodes)
    for node, is_low in zip(nodes, low, strict=True):
        if is_low:
            assert node.may_be_low
            assert node.kind not in (Kind.SENSITIVE, Kind.APART)
        if node.kind in (Kind.CONTRACTION, Kind.ALLOWED):
            assert is_low == node.may_be_low
        if node.kind is Kind.FOLLOWER and is_low:
            assert node.operands, "nothing to follow"


def test_the_widest_wins() -> None:
    """Sums are high; what was allowed to be low is followed."""
    allowed, sensitive = Node(Kind.ALLOWED, (INPUT,)), Node(Kind.SENSITIVE, (0,))
    nodes = [
        allowed,
        sensitive,
        Node(Kind.FOLLOWER, (0, 0)),
        Node(Kind.FOLLOWER, (0, 1)),
        Node(Kind.FOLLOWER, (INPUT,)),
        Node(Kind.CONTRACTION, (0,)),
        Node(Kind.FOLLOWER, (5,)),
    ]
    assert choose_low(nodes) == [True, False, True, False, False, True, False]


def test_movements_move_the_smaller_values() -> None:
    """Before a contraction they are narrowed first; not if something else reads them."""
    nodes = [
        Node(Kind.MOVEMENT, (INPUT,)),
        Node(Kind.MOVEMENT, (0,)),
        Node(Kind.CONTRACTION, (1,)),
        Node(Kind.MOVEMENT, (2,)),
        Node(Kind.CONTRACTION, (3,)),
        Node(Kind.SENSITIVE, (3,)),
    ]
    assert choose_low(nodes) == [True, True, True, False, True, False]
    assert choose_low([Node(Kind.MOVEMENT, (INPUT,), is_output=True), Node(Kind.CONTRACTION, (0,))]) == [False, True]


def test_what_loads_without_rounding_reads_what_is_made_low() -> None:
    def chosen(*others: Node) -> bool:
        made = [Node(Kind.SENSITIVE), Node(Kind.MOVEMENT, (0,), is_free=True), Node(Kind.CONTRACTION, (1,))]
        return choose_low([*made, *others])[1]

    assert chosen()
    assert chosen(Node(Kind.CONTRACTION, (0,)))
    assert not chosen(Node(Kind.SENSITIVE, (0,)))
    assert not choose_low([Node(Kind.MOVEMENT, (INPUT,), is_free=True), Node(Kind.CONTRACTION, (0,))])[0]


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, amp=st.sampled_from(["bf16", "f16 bound=100"]))
def test_random_graphs(seed: int, amp: str) -> None:
    """At most one cast per value and type, none undone by another, no cast beside those counted, borders as before."""
    with new_context(), ir.Location.unknown():
        unit = random_unit(seed)
        before = str(unit.module.body.operations[0].type)
        pipeline.run(unit, f"ai-graph-pipeline,ai-amp{{type={amp} gain=false}}")
        (main,) = [op for op in unit.module.body.operations if isinstance(op, func.FuncOp)]
        assert str(main.type) == before
        casts = [op for op in ext.operations(main) if isinstance(op, ai.CastOp)]
        assert len({(op.input, str(op.to)) for op in casts}) == len(casts)
        assert not any(isinstance(op.input.owner, ai.CastOp) for op in casts)
        assert unit.module.operation.attributes["ai.amp"]["casts"].value == len(casts)
        moved = {Trait.MOVEMENT, Trait.VIEW, Trait.CONSTANT}
        for op in ext.operations(main):
            if isinstance(op, ext.Operation) and not op.traits & moved and not isinstance(op, ai.CastOp):
                assert all(ext.type_of(value).element not in LOW_FLOATS for value in op.operation.results)
        run(unit, random_inputs(seed))


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS)
def test_numbers_are_near(seed: int) -> None:
    """A few convolutions and followers: bf16 has 8 bits, of which each op may lose half a one."""
    with new_context(), ir.Location.unknown():
        builder = Builder(seed, SHAPES[:1])
        with ir.InsertionPoint(builder.block):
            value = builder.values[0]
            for _ in range(3):
                weights = builder.constant(builder.random.normal(size=(3, 3, 3, 3)))
                value = builder.add(ai.ReluOp, builder.add(ai.ConvOp, value, weights, builder.weights(3), pads=[1] * 4))
        unit = builder.finish([value])
        inputs = {"x0": random_inputs(seed)["x0"]}
        want = run(unit, inputs)["y0"]
        pipeline.run(unit, "ai-amp{type=bf16 gain=false}")
        have = run(unit, inputs)["y0"]
    assert np.square(have - want).sum() <= 1e-4 * np.square(want).sum()  # 40 dB


def _overflowing() -> Unit:
    """Three products in a row; what the second gives and the third reads is too large for f16."""
    builder = Builder(0, [(4, 4)])
    with ir.InsertionPoint(builder.block):
        weights = np.full((4, 4), 3.0) + np.eye(4)
        small = builder.add(ai.MatMulOp, builder.values[0], builder.constant(weights))
        large = builder.add(ai.MatMulOp, small, builder.constant(5e3 * weights))
        back = builder.add(ai.MatMulOp, large, builder.constant(2e-4 * weights))
    return builder.finish([small, back])


def _elements(unit: Unit) -> list[str]:
    ops = [op for op in ext.operations(unit.module) if isinstance(op, ai.MatMulOp)]
    return [ext.type_of(op.lhs).element for op in ops]


_SOME = {"x0": np.random.default_rng(0).uniform(1, 2, (4, 4)).astype(np.float32)}


def test_calibration_keeps_what_overflows_f16_in_f32(context: ir.Context, tmp_path: Path) -> None:
    np.savez(tmp_path / "inputs.npz", **_SOME)  # pyright: ignore[reportArgumentType]
    for option in ("", f" calibration={tmp_path / 'inputs.npz'}"):
        unit = _overflowing()
        want = run(unit, _SOME)
        if not option:
            unit.calibration = _SOME
        pipeline.run(unit, f"ai-amp{{type=f16 gain=false{option}}}")
        assert _elements(unit) == ["f16", "f16", "f32"]
        assert any("matmul_3 stays f32: a value reaches" in remark for remark in unit.remarks)
        have = run(unit, _SOME)
        for name, array in want.items():
            assert np.isfinite(have[name]).all()
            np.testing.assert_allclose(have[name], array, rtol=5e-3)


def test_a_wrong_bound_overflows(context: ir.Context) -> None:
    """What the test above rests on: f16 everywhere ends at infinity."""
    unit = _overflowing()
    pipeline.run(unit, "ai-amp{type=f16 bound=100 gain=false}")
    assert _elements(unit) == ["f16"] * 3
    assert not np.isfinite(run(unit, _SOME)["y1"]).all()


def test_what_is_not_there_fits_no_f16(context: ir.Context) -> None:
    unit = _overflowing()
    pipeline.run(unit, "ai-amp{type=f16 bound=1e9 gain=false}")
    assert _elements(unit) == ["f32"] * 3
    unit = _overflowing()
    unit.calibration = {"x0": np.full((4, 4), np.nan, np.float32)}
    pipeline.run(unit, "ai-amp{type=f16 gain=false}")
    assert _elements(unit) == ["f32"] * 3


def test_calibration_inputs_must_fit(context: ir.Context, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="f16 needs to know how large values get"):
        pipeline.run(_overflowing(), "ai-amp{type=f16 gain=false}")
    unit = _overflowing()
    unit.calibration = {"x1": np.zeros((4, 4), np.float32)}
    with pytest.raises(InputError, match="the inputs are x0"):
        pipeline.run(unit, "ai-amp{type=f16 gain=false}")
    (tmp_path / "broken.npz").write_bytes(b"no archive")
    with pytest.raises(InputError, match="cannot read calibration inputs"):
        pipeline.run(_overflowing(), f"ai-amp{{type=f16 calibration={tmp_path / 'broken.npz'} gain=false}}")


def test_masks_stay_finite(context: ir.Context) -> None:
    """The lowest f32 would round to -infinity."""
    builder = Builder(0, [(4, 4)])
    with ir.InsertionPoint(builder.block):
        product = builder.add(ai.MatMulOp, builder.values[0], builder.weights(4, 4))
        builder.add(ai.AddOp, product, builder.constant(np.full((4, 4), np.finfo(np.float32).min)))
    unit = builder.finish(builder.values[-1:])
    pipeline.run(unit, "ai-amp{type=bf16 gain=false}")
    assert np.isfinite(run(unit, {"x0": np.ones((4, 4), np.float32)})["y0"]).all()
