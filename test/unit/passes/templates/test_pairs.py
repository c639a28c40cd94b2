"""Templates that sum pairs of bf16 products. Oracle: the order of VDPBF16PS (Intel SDM) in numpy, bit for bit.

Here the loops run with the instruction taken apart into f32 arithmetic (ai-expand-bf16): packing, addresses and order
are those of the instruction's.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from mlir import ir

from aiopt import driver
from aiopt.dialects import ai
from aiopt.dialects.ai.packing import deinterleaved, interleaved
from aiopt.passes import pipeline
from aiopt.passes.interpret import interpret
from aiopt.passes.unit import Unit
from aiopt.support.errors import CompileError, IRError, OptionError
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.types import TensorType, numpy_dtype
from aiopt.targets import find_target
from unit.passes.templates.kernels import GROUPED, Kernel, choices, unit_of

_RANDOM = np.random.default_rng(0)
_FACTS = "vector-bits=256 registers=16 fma=true dot=true"
_IMAGE = {"strides": [2, 1], "pads": [1, 1, 1, 1], "layout": "channels_last", "to": "f32"}


def _bf16(*shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype(numpy_dtype("bf16"))


def _f32(*shape: int) -> np.ndarray:
    return _RANDOM.standard_normal(shape).astype(np.float32)


def _matmul(x: ir.Value, w: ir.Value) -> ir.Value:
    return ai.MatMulOp(x, w, to="f32").out


def _rounding(x: ir.Value, w: ir.Value) -> ir.Value:
    return ai.MatMulOp(ai.CastOp(x, to="bf16").out, w, to="f32").out


def _conv(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
    return ai.ConvOp(x, w, b, **_IMAGE).out


def _in_pairs(rows: np.ndarray, columns: np.ndarray, start: np.ndarray) -> np.ndarray:
    """start + rows [m, k] x columns [k, n], two products at a time, the second of each pair first; f32."""
    rows, columns = rows.astype(np.float32), columns.astype(np.float32)
    total = np.broadcast_to(start, (rows.shape[0], columns.shape[1])).astype(np.float32)
    for k in range(0, rows.shape[1], 2):
        for each in (k + 1, k):
            total = total + rows[:, each : each + 1] * columns[each : each + 1]
    return total


def _patches(image: np.ndarray) -> np.ndarray:
    """[windows, taps * channels] of a 3x3 convolution with the geometry of _IMAGE."""
    padded = np.pad(image.astype(np.float32), [(0, 0), (1, 1), (1, 1), (0, 0)])[0]
    y, x = padded.shape[0] - 2, padded.shape[1] - 2
    return np.array([padded[i : i + 3, j : j + 3].ravel() for i in range(0, y, 2) for j in range(x)])


def _lower(unit: Unit, facts: str) -> None:
    pipeline.run(unit, f"{GROUPED},ai-select-route{{{facts}}}")


def _run(unit: Unit, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    target = find_target("cpu")
    for text in ("ai-pack-weights,convert-ai-to-linalg", *(stage.pipeline for stage in target.stages()[2:])):
        pipeline.run(unit, text)
    return target.load(unit, target.build(unit, KernelCache()), 2, {}).run(inputs)


def test_bits_are_those_of_the_instruction() -> None:
    a, wide, image = _bf16(37, 70), _f32(9, 600), _bf16(1, 9, 11, 6)
    w, v, f, b = _bf16(70, 45), _bf16(600, 33), _bf16(21, 6, 3, 3), _f32(21)
    kernels = [
        Kernel("matmul", _matmul, [a], [w]),
        Kernel("matmul", _rounding, [wide], [v]),
        Kernel("conv", _conv, [image], [f, b]),
    ]
    unit, inputs = unit_of(kernels)
    near = interpret(unit.module, unit.weights, inputs)
    _lower(unit, _FACTS)
    assert choices(unit) == [kernel.template for kernel in kernels]
    assert str(unit.module).count("dot = 1") == 3
    have = _run(unit, inputs)
    filters = np.moveaxis(f.astype(np.float32), 0, -1).transpose(1, 2, 0, 3).reshape(-1, 21)
    want = {
        "y0": _in_pairs(a, w, np.float32(0)),
        "y1": _in_pairs(wide.astype(numpy_dtype("bf16")), v, np.float32(0)),
        "y2": _in_pairs(_patches(image), filters, b).reshape(1, 5, 11, 21),
    }
    for name, array in want.items():
        np.testing.assert_array_equal(have[name].view(np.uint32), array.view(np.uint32), err_msg=name)
        np.testing.assert_allclose(have[name], near[name], rtol=1e-4, atol=1e-4)


def test_packed_values_stay_what_they_are() -> None:
    """The reference on packed, interleaved weights is that on plain ones."""
    kernels = [Kernel("matmul", _matmul, [_bf16(8, 16)], [_bf16(16, 21)])]
    kernels.append(Kernel("conv", _conv, [_bf16(1, 5, 6, 4)], [_bf16(9, 4, 3, 3), _f32(9)]))
    unit, inputs = unit_of(kernels)
    want = interpret(unit.module, unit.weights, inputs)
    _lower(unit, _FACTS)
    pipeline.run(unit, "ai-pack-weights")
    assert str(unit.module).count("interleave = 2") == 2
    for name, array in interpret(unit.module, unit.weights, inputs).items():
        np.testing.assert_array_equal(array, want[name])


def test_pairs_side_by_side() -> None:
    packed = np.arange(8).reshape(1, 4, 2)
    np.testing.assert_array_equal(interleaved(packed)[0], [[0, 2], [1, 3], [4, 6], [5, 7]])
    np.testing.assert_array_equal(deinterleaved(interleaved(packed)), packed)


def test_what_has_no_pairs() -> None:
    """An odd depth, f16, weights that are computed."""
    kernels = [
        Kernel("matmul", _matmul, [_bf16(8, 15)], [_bf16(15, 16)]),
        Kernel(
            "matmul", _matmul, [_RANDOM.standard_normal((8, 16)).astype(np.float16)], [np.ones((16, 9), np.float16)]
        ),
        Kernel("matmul", _matmul, [_bf16(8, 16), _bf16(16, 16)]),
    ]
    unit, _ = unit_of(kernels)
    _lower(unit, _FACTS)
    assert "dot = 1" not in str(unit.module)
    with pytest.raises(IRError, match="interleave must be 2, with pack and an even depth"):
        ai.MatMulOp.infer_types(*(TensorType((4, 4), "bf16"),) * 2, acc="f32", interleave=2)


def test_packed_without_pairs() -> None:
    """A choice that was changed after packing is found out."""
    unit, _ = unit_of([Kernel("matmul", _matmul, [_bf16(8, 16)], [_bf16(16, 16)])])
    _lower(unit, _FACTS)
    pipeline.run(unit, "ai-pack-weights")
    text = str(unit.module).replace("interleave = 2 : i64, ", "")
    with unit.module.context:
        changed = Unit(ir.Module.parse(text), unit.weights)
    with pytest.raises(CompileError, match="packed in pairs if and only if dot is 1"):
        pipeline.run(changed, "convert-ai-to-linalg")


@pytest.mark.parametrize("cpu", ["cooperlake", "znver4", "sapphirerapids"])
def test_inner_loops_are_of_the_instruction(cpu: str) -> None:
    """Each innermost loop with products: broadcasts, loads, vdpbf16ps, counters."""
    kernels = [
        Kernel("matmul", _matmul, [_bf16(64, 128)], [_bf16(128, 64)]),
        Kernel("conv", _conv, [_bf16(1, 28, 28, 32)], [_bf16(64, 32, 3, 3), _f32(64)]),
    ]
    unit, _ = unit_of(kernels)
    text = driver.emit(unit, "asm", machine=cpu).decode()
    assert "bf2" not in text
    loops = [block for block in re.split(r"^\.L\w+:.*$", text, flags=re.M) if block.count("vdpbf16ps") > 8]
    assert len(loops) >= 2
    for loop in loops:
        assert "vcvt" not in loop
        assert "vfmadd" not in loop
        assert loop.count("vdpbf16ps") > loop.count("vbroadcastss") > 0


def test_machines_have_names() -> None:
    with pytest.raises(OptionError, match="there is no CPU 'z80'"):
        find_target("cpu").on("z80")
