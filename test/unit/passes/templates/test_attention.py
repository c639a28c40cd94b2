"""Attention against the interpreter: shapes, masks, and what softmax makes of infinities and NaN."""

from __future__ import annotations

import numpy as np
import pytest
from mlir import ir

from aiopt.dialects import ai
from aiopt.passes import pipeline
from aiopt.passes.templates import registry
from unit.passes.templates.kernels import GROUPED, Kernel, check, choices, splat, unit_of

_RNG = np.random.default_rng(7)
_ORDER = [0, 2, 1, 3]


def _normal(*shape: int) -> np.ndarray:
    return _RNG.standard_normal(shape, dtype=np.float32)


def _heads(x: ir.Value) -> ir.Value:
    return ai.TransposeOp(x, permutation=_ORDER).out


def _attention(q: ir.Value, k: ir.Value, v: ir.Value, *mask: ir.Value) -> ir.Value:
    """As exporters write it: [B, S, H, D], [B, T, H, D], [B, T, H, E] -> [B, S, H, E]."""
    turned = ai.TransposeOp(k, permutation=[0, 2, 3, 1]).out
    scores = ai.DivOp(ai.MatMulOp(_heads(q), turned).out, splat(2.5)).out
    for each in mask:
        scores = ai.AddOp(scores, each).out
    return _heads(ai.MatMulOp(ai.SoftmaxOp(scores).out, _heads(v)).out)


def _operands(b: int, h: int, s: int, t: int, d: int, e: int) -> list[np.ndarray]:
    return [_normal(b, s, h, d), _normal(b, t, h, d), _normal(b, t, h, e)]


@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1, 1, 1, 1),
        (1, 2, 1, 37, 16, 16),
        (2, 3, 13, 13, 20, 9),
        (1, 2, 40, 7, 33, 64),
        (1, 4, 64, 64, 64, 64),
        (3, 1, 5, 150, 8, 24),
        (1, 1, 7, 1100, 16, 17),
    ],
    ids=str,
)
def test_shapes(shape: tuple[int, ...]) -> None:
    b, _, s, t, *_ = shape
    padding = np.where(np.arange(t) < max(1, t - 3), 0, -np.inf).astype(np.float32)
    inputs = [*_operands(*shape), np.broadcast_to(padding, (b, 1, 1, t)).copy(), _normal(1, 1, s, t)]
    check([Kernel("attention", _attention, inputs), Kernel("attention", _attention, inputs[:3])])


def test_causal_masks() -> None:
    def by_select(q: ir.Value, k: ir.Value, v: ir.Value, seen: ir.Value) -> ir.Value:
        scores = ai.MatMulOp(q, ai.TransposeOp(k, permutation=[0, 2, 1]).out).out
        return ai.MatMulOp(ai.SoftmaxOp(ai.SelectOp(seen, scores, splat(-np.inf)).out).out, v).out

    def by_products(q: ir.Value, k: ir.Value, v: ir.Value, seen: ir.Value, bias: ir.Value) -> ir.Value:
        scores = ai.MatMulOp(q, ai.TransposeOp(k, permutation=[0, 2, 1]).out).out
        return ai.MatMulOp(ai.SoftmaxOp(ai.SubOp(ai.MulOp(scores, seen).out, bias).out).out, v).out

    inputs = [_normal(3, 21, 12) for _ in range(3)]
    seen = np.tril(np.ones((1, 21, 21), np.bool_))
    numbers = seen.astype(np.float32)
    check(
        [
            Kernel("attention", by_select, inputs, [seen]),
            Kernel("attention", by_select, [*inputs, seen[:, :, :1].repeat(21, axis=2)]),
            Kernel("attention", by_products, inputs, [numbers, (1 - numbers) * np.float32(1e4)]),
        ]
    )


@pytest.mark.parametrize("keys", [8, 24, 32])
def test_blocks_of_keys_give_what_softmax_gives(keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows without a key, infinite scores and NaN, whole and in blocks of keys, the first or last of them masked."""
    choose = registry.choose

    def in_blocks(*arguments: object) -> tuple[str, dict[str, int]] | None:
        choice = choose(*arguments)  # pyright: ignore[reportArgumentType]
        assert choice is not None
        return choice[0], {**choice[1], "keys": keys}

    monkeypatch.setattr("aiopt.passes.templates.select_route.choose", in_blocks)
    inputs = _operands(1, 2, 9, 32, 8, 8)
    mask = np.zeros((1, 1, 9, 32), np.float32)
    mask[..., 0, :] = -np.inf
    mask[..., 1, :30] = -np.inf
    mask[..., 2, 4:] = -np.inf
    mask[..., 3, 31] = np.inf
    mask[..., 4, 0] = np.inf
    mask[..., 5, 17] = np.nan
    mask[..., 6, :] = np.finfo(np.float32).min
    mask[..., 7, 3:] = -100  # denormal weights
    check([Kernel("attention", _attention, [*inputs, mask])])


def test_what_is_done_to_scores_and_to_the_result() -> None:
    def capped(q: ir.Value, k: ir.Value, v: ir.Value, gate: ir.Value) -> ir.Value:
        scores = ai.MulOp(ai.TanhOp(ai.MatMulOp(q, k).out).out, splat(20.0)).out
        return ai.MulOp(ai.MatMulOp(ai.SoftmaxOp(scores).out, v).out, gate).out

    check([Kernel("attention", capped, [_normal(2, 9, 6), _normal(2, 6, 19), _normal(1, 19, 5), _normal(2, 9, 5)])])


def test_slices_of_one_product_are_read_in_place() -> None:
    def build(qkv: ir.Value) -> ir.Value:
        parts = [ai.SliceOp(qkv, starts=[0, 0, at, 0], sizes=[1, 11, 4, 8], steps=[1, 1, 1, 1]).out for at in (0, 4, 8)]
        return _attention(*parts)

    check([Kernel("attention", build, [_normal(1, 11, 12, 8)])])


def test_other_softmaxes_keep_their_kernels() -> None:
    """Not along the last axis; read twice; of something else than a product; spread over more heads."""

    def across(q: ir.Value, k: ir.Value, v: ir.Value) -> ir.Value:
        return ai.MatMulOp(ai.SoftmaxOp(ai.MatMulOp(q, k).out, axis=1).out, v).out

    def spread(q: ir.Value, k: ir.Value, v: ir.Value) -> ir.Value:
        return ai.MatMulOp(ai.SoftmaxOp(ai.MatMulOp(q, k).out).out, v).out

    kernels = [
        Kernel("", across, [_normal(2, 3, 4), _normal(2, 4, 5), _normal(2, 5, 6)]),
        Kernel("", spread, [_normal(1, 3, 4), _normal(1, 4, 5), _normal(2, 5, 6)]),
    ]
    unit, _ = unit_of(kernels)
    pipeline.run(unit, f"{GROUPED},ai-select-route")
    assert [name == "matmul" for name in choices(unit)] == [True, False, True] * 2
