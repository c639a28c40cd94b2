"""Linalg and tosa as other front ends write them run to numbers. The oracle is numpy, written out by hand."""

from __future__ import annotations

import numpy as np
import pytest

import aiopt
from aiopt.passes import pipeline
from aiopt.passes.io import new_context, read_unit
from aiopt.support.errors import AioptError
from unit.plugins import EMBEDDING

LINALG = (EMBEDDING / "linalg.mlir").read_text()
TOSA = (EMBEDDING / "tosa.mlir").read_text()
KIND = "tensor<2x2xf32>"
RETURNED = [
    ("return %x, %x", lambda x: (x, x)),
    (f"%c = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : {KIND}\nreturn %c, %x", lambda x: ([[1, 2], [3, 4]], x)),
    (
        f"%0 = linalg.exp ins(%x : {KIND}) outs(%x : {KIND}) -> {KIND}\nreturn %0, %0",
        lambda x: (np.exp(x), np.exp(x)),
    ),
    (
        f"%s = arith.constant 3.0 : f32\n%e = tensor.empty() : {KIND}\n"
        f"%0 = linalg.fill ins(%s : f32) outs(%e : {KIND}) -> {KIND}\nreturn %0, %x",
        lambda x: (np.full((2, 2), 3), x),
    ),
    (
        f"%0 = linalg.add ins(%x, %x : {KIND}, {KIND}) outs(%x : {KIND}) -> {KIND}\n"
        f"%1 = tensor.collapse_shape %0 [[0, 1]] : {KIND} into tensor<4xf32>\n"
        f"%2 = tensor.expand_shape %1 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into {KIND}\nreturn %x, %2",
        lambda x: (x, 2 * x),
    ),
]


def test_linalg_of_torch_mlir_runs() -> None:
    random = np.random.default_rng(0)
    x, w = random.standard_normal((3, 4)).astype("f4"), random.standard_normal((5, 4)).astype("f4")
    net = aiopt.compile(LINALG.replace("DATA", w.tobytes().hex().upper()).encode())
    outputs = net.run({"x0": x})
    relu = np.maximum(x @ w.T + np.float32([0.5, -0.5, 0.25, -0.25, 0.0]), 0)
    powers = np.exp(relu - relu.max(axis=1, keepdims=True))
    np.testing.assert_allclose(outputs["y0"], relu, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(outputs["y1"], powers / powers.sum(axis=1, keepdims=True), rtol=1e-6)
    assert ["relu"] in [entry["nodes"] for entry in net.report()["kernels"]]


def test_tosa_runs() -> None:
    x = np.random.default_rng(1).standard_normal((1, 8, 8, 3)).astype("f4")
    net = aiopt.compile(TOSA.encode())
    padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    conv = windows.sum(axis=(3, 4, 5))[..., None] * np.float32(0.1) + np.float32([0.1, 0.2, 0.3, 0.4])
    sums = np.clip(conv, 0, 6).sum(axis=1)
    expected = np.tanh(np.repeat(sums.sum(axis=(1, 2), keepdims=True)[:, 0] * np.float32(0.01), 10, axis=1))
    np.testing.assert_allclose(net.run({"image": x})["scores"], expected, rtol=1e-5)


@pytest.mark.parametrize(("body", "expected"), RETURNED)
def test_what_is_returned_has_a_buffer_of_its_own(body: str, expected) -> None:
    used = "%u = tensor.empty() : tensor<1xf32>" if "linalg" not in body else ""  # else it is a graph already
    text = f"func.func @main(%x: {KIND}) -> ({KIND}, {KIND}) {{\n{used}\n{body} : {KIND}, {KIND}\n}}"
    x = np.float32([[1, -2], [0.5, 0]])
    for have, want in zip(aiopt.compile(text.encode())(x), expected(x), strict=True):
        np.testing.assert_allclose(have, want, rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n"
            "  %0 = linalg.exp ins(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>\n"
            "  return %0 : tensor<?xf32>\n}",
            r"'func.func' has a value of type tensor<\?xf32> .*static shape",
        ),
        (
            "func.func @main(%x: tensor<2xi1>) -> tensor<2xi1> {\n"
            "  %0 = linalg.copy ins(%x : tensor<2xi1>) outs(%x : tensor<2xi1>) -> tensor<2xi1>\n"
            "  return %0 : tensor<2xi1>\n}",
            "has a value of type tensor<2xi1> .*integers of 8 bits or more",
        ),
        (
            "func.func @a(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %0 = linalg.exp ins(%x : tensor<2xf32>) outs(%x : tensor<2xf32>) -> tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n}\n"
            "func.func @b(%x: tensor<2xf32>) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}",
            "one public function, @main where there are several; this module has @a, @b",
        ),
        (
            "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
            "  %w = arith.constant dense_resource<__elided__> : tensor<2xf32>\n"
            "  %0 = linalg.exp ins(%w : tensor<2xf32>) outs(%x : tensor<2xf32>) -> tensor<2xf32>\n"
            "  return %0 : tensor<2xf32>\n}",
            "has no value in the text: dense_resource<__elided__>",
        ),
    ],
)
def test_what_cannot_be_a_net_is_one_error(text: str, message: str) -> None:
    with pytest.raises(AioptError, match=message):
        aiopt.compile(text.encode())


def test_ir_of_a_level_is_refused() -> None:
    unit = read_unit(b'module attributes {ai.level = "graph"} { func.func @main() { return } }', new_context())
    with pytest.raises(AioptError, match="takes IR from elsewhere, but this is of level graph"):
        pipeline.run(unit, "ai-outline-linalg")
