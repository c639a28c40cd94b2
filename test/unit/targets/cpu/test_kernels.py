"""Hand-written loops compute what numpy computes, with one thread and with two. Oracle: numpy."""

from collections.abc import Callable

import numpy as np
import pytest

from unit.targets.cpu.loops import module, run

_RNG = np.random.default_rng(0)

_MATMUL = module(
    """
    %c24 = arith.constant 24 : index
    %c40 = arith.constant 40 : index
    scf.forall (%i) in (30) {
      scf.for %j = %c0 to %c40 step %c1 { memref.store %zero, %z[%i, %j] : memref<30x40xf32> }
      scf.for %k = %c0 to %c24 step %c1 {
        %a = memref.load %x[%i, %k] : memref<30x24xf32>
        scf.for %j = %c0 to %c40 step %c1 {
          %b = memref.load %y[%k, %j] : memref<24x40xf32>
          %o = memref.load %z[%i, %j] : memref<30x40xf32>
          %p = arith.mulf %a, %b : f32
          %s = arith.addf %o, %p : f32
          memref.store %s, %z[%i, %j] : memref<30x40xf32>
        }
      }
    }""",
    {"x": "memref<30x24xf32>", "y": "memref<24x40xf32>"},
    {"z": "memref<30x40xf32>"},
)

_SOFTMAX = module(
    """
    %c37 = arith.constant 37 : index
    scf.forall (%i, %j) in (5, 7) {
      %exps = memref.alloca() : memref<37xf32>
      %lowest = arith.constant 0xFF800000 : f32
      %max = scf.for %k = %c0 to %c37 step %c1 iter_args(%m = %lowest) -> f32 {
        %v = memref.load %x[%i, %j, %k] : memref<5x7x37xf32>
        %n = arith.maximumf %m, %v : f32
        scf.yield %n : f32
      }
      %sum = scf.for %k = %c0 to %c37 step %c1 iter_args(%s = %zero) -> f32 {
        %v = memref.load %x[%i, %j, %k] : memref<5x7x37xf32>
        %d = arith.subf %v, %max : f32
        %e = math.exp %d : f32
        memref.store %e, %exps[%k] : memref<37xf32>
        %t = arith.addf %s, %e : f32
        scf.yield %t : f32
      }
      %row = memref.subview %z[%i, %j, 0] [1, 1, 37] [1, 1, 1]
          : memref<5x7x37xf32> to memref<37xf32, strided<[1], offset: ?>>
      scf.for %k = %c0 to %c37 step %c1 {
        %e = memref.load %exps[%k] : memref<37xf32>
        %q = arith.divf %e, %sum : f32
        memref.store %q, %row[%k] : memref<37xf32, strided<[1], offset: ?>>
      }
    }""",
    {"x": "memref<5x7x37xf32>"},
    {"z": "memref<5x7x37xf32>"},
)

# Every third row from 1 on, last dimension innermost, and a serial part before and after.
_STRIDED = module(
    """
    %c4 = arith.constant 4 : index
    %c11 = arith.constant 11 : index
    %one = arith.constant 1.0 : f32
    scf.for %i = %c0 to %c11 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 { memref.store %zero, %z[%i, %j] : memref<11x4xf32> }
    }
    scf.forall (%i, %j) = (1, 0) to (11, 4) step (3, 2) {
      %v = memref.load %x[%i, %j] : memref<11x4xf32>
      %w = arith.addf %v, %one : f32
      memref.store %w, %z[%i, %j] : memref<11x4xf32>
    }
    %first = memref.load %x[%c0, %c0] : memref<11x4xf32>
    memref.store %first, %z[%c0, %c0] : memref<11x4xf32>""",
    {"x": "memref<11x4xf32>"},
    {"z": "memref<11x4xf32>"},
)

# A view made outside of the loop and a chain of cheap values are made again inside.
_CAPTURES = module(
    """
    %c3 = arith.constant 3 : index
    %c6 = arith.muli %c3, %c3 : index
    %flat = memref.collapse_shape %x [[0, 1]] : memref<4x9xf32> into memref<36xf32>
    %scratch = memref.alloca() : memref<1xf32>
    memref.store %zero, %scratch[%c0] : memref<1xf32>
    scf.forall (%i, %j, %k) in (2, 2, 9) {
      %q = affine.apply affine_map<(d0, d1, d2)[s0] -> ((d0 * 2 + d1) * s0 + d2)>(%i, %j, %k)[%c6]
      %v = memref.load %flat[%q] : memref<36xf32>
      %s = memref.load %scratch[%c0] : memref<1xf32>
      %w = arith.subf %s, %v : f32
      memref.store %w, %z[%q] : memref<36xf32>
    }""",
    {"x": "memref<4x9xf32>"},
    {"z": "memref<36xf32>"},
)


def _softmax(x: np.ndarray) -> np.ndarray:
    exps = np.exp(x - x.max(-1, keepdims=True))
    return exps / exps.sum(-1, keepdims=True)


def _strided(x: np.ndarray) -> np.ndarray:
    z = np.zeros_like(x)
    z[1::3, ::2] = x[1::3, ::2] + 1
    z[0, 0] = x[0, 0]
    return z


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("text", "shapes", "oracle"),
    [
        pytest.param(_MATMUL, [(30, 24), (24, 40)], np.matmul, id="matmul"),
        pytest.param(_SOFTMAX, [(5, 7, 37)], _softmax, id="softmax"),
        pytest.param(_STRIDED, [(11, 4)], _strided, id="strided"),
        pytest.param(_CAPTURES, [(4, 9)], lambda x: -x.reshape(-1), id="captures"),
    ],
)
def test_kernel(text: str, shapes: list[tuple[int, ...]], oracle: Callable[..., np.ndarray], threads: int) -> None:
    arrays = [_RNG.standard_normal(shape, dtype=np.float32) for shape in shapes]
    inputs = dict(zip("xy", arrays, strict=False))
    result = run(text, inputs, threads)["z"]
    np.testing.assert_allclose(result, oracle(*arrays), rtol=1e-5, atol=1e-5)
    assert np.array_equal(result, run(text, inputs, serial=True)["z"]), "bits must not depend on how it is split"


_UNARY = {
    "exp": ("math.exp", np.exp),
    "log": ("math.log", np.log),
    "sqrt": ("math.sqrt", np.sqrt),
    "tanh": ("math.tanh", np.tanh),
    "floor": ("math.floor", np.floor),
    "abs": ("math.absf", np.abs),
    "rsqrt": ("math.rsqrt", lambda x: 1 / np.sqrt(x)),
}


@pytest.mark.parametrize("name", _UNARY)
def test_math(name: str) -> None:
    op, oracle = _UNARY[name]
    kind = "memref<37xf32>"
    body = f"""
    scf.forall (%i) in (37) {{
      %v = memref.load %x[%i] : {kind}
      %r = {op} %v : f32
      memref.store %r, %z[%i] : {kind}
    }}"""
    x = np.concatenate([_RNG.random(33, dtype=np.float32) * 3, np.array([0, np.inf, np.nan, 1e-40], np.float32)])
    result = run(module(body, {"x": kind}, {"z": kind}), {"x": x})["z"]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(result, oracle(x), rtol=2e-6, atol=1e-7)


def test_erf_of_half() -> None:
    """Oracle: math.erf, rounded to half."""
    import math

    kind = "memref<64xf16>"
    body = f"""
    scf.forall (%i) in (64) {{
      %v = memref.load %x[%i] : {kind}
      %r = math.erf %v : f16
      memref.store %r, %z[%i] : {kind}
    }}"""
    x = _RNG.standard_normal(64).astype(np.float16)
    result = run(module(body, {"x": kind}, {"z": kind}), {"x": x})["z"]
    want = np.array([math.erf(v) for v in x], np.float16)
    np.testing.assert_allclose(result.astype(np.float32), want.astype(np.float32), rtol=1e-3)


def test_maximum_propagates_nan() -> None:
    kind = "memref<19xf32>"
    body = f"""
    scf.forall (%i) in (19) {{
      %v = memref.load %x[%i] : {kind}
      %r = arith.maximumf %v, %zero : f32
      memref.store %r, %z[%i] : {kind}
    }}"""
    x = np.where(np.arange(19) % 5 == 2, np.nan, np.arange(19) - 9).astype(np.float32)
    result = run(module(body, {"x": kind}, {"z": kind}), {"x": x})["z"]
    np.testing.assert_array_equal(result, np.maximum(x, 0))


def test_temporaries_and_weights() -> None:
    text = """module attributes {ai.level = "tensor", ai.net = "net"} {
      func.func @main(%x: memref<64xf32> {ai.name = "x"}, %z: memref<64xf32> {ai.name = "z", ai.output}) {
        %w = arith.constant dense<2.5> : tensor<64xf32>
        %m = bufferization.to_buffer %w read_only : tensor<64xf32> to memref<64xf32>
        %a = memref.alloc() : memref<64xf32>
        %b = memref.alloc() : memref<64xf32>
        call @mul(%x, %m, %a) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
        call @mul(%a, %a, %b) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
        call @mul(%b, %m, %z) : (memref<64xf32>, memref<64xf32>, memref<64xf32>) -> ()
        return
      }
      func.func private @mul(%a: memref<64xf32>, %b: memref<64xf32>, %c: memref<64xf32>) attributes {ai.kernel} {
        scf.forall (%i) in (64) {
          %v = memref.load %a[%i] : memref<64xf32>
          %w = memref.load %b[%i] : memref<64xf32>
          %p = arith.mulf %v, %w : f32
          memref.store %p, %c[%i] : memref<64xf32>
        }
        return
      }
    }"""
    x = _RNG.standard_normal(64, dtype=np.float32)
    first = x * np.float32(2.5)
    want = first * first * np.float32(2.5)
    for threads in (1, 2):
        np.testing.assert_array_equal(run(text, {"x": x}, threads)["z"], want)
