"""Nets written in C by hand, to test the runtime without the compiler."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from aiopt.runtime.net import CompiledNet
from e2e.native import aligned, compile_c

# y = exp(x) * w[0] + w[1], element by element, in parallel
AFFINE = """
#include "aiopt.h"
#include <math.h>
#include <stdlib.h>
#ifndef ABI
#define ABI AIOPT_ABI_VERSION
#endif
#ifndef FEATURES
#define FEATURES ""
#endif
#ifndef STATUS
#define STATUS 0
#endif
#ifndef ARENA
#define ARENA 64
#endif
static const int64_t shape[] = {100, 3};
static const aiopt_tensor_info inputs[] = {{"x", shape, 2, AIOPT_F32}};
static const aiopt_tensor_info outputs[] = {{"y", shape, 2, AIOPT_F32}};
static const char *const launches[] = {"affine_exp"};
const aiopt_net_info aiopt_affine_info = {ABI, 1, 1, 1, ARENA, 8, inputs, outputs, FEATURES, launches};
static void hook(const aiopt_ctx *ctx, int32_t after) { if (ctx->hook) ctx->hook(ctx->hook_data, 0, after); }
static void part(void *const *args, int64_t begin, int64_t end) {
  const float *x = args[0], *w = args[1];
  float *y = args[2];
#ifdef ALLOCATES
  *(void *volatile *)args[3] = calloc(1, 8);
#endif
  for (int64_t i = begin; i < end; ++i) y[i] = expf(x[i]) * w[0] + w[1];
}
int32_t aiopt_affine_run(const aiopt_ctx *ctx, const aiopt_tensor *in, aiopt_tensor *out) {
  void *args[] = {in[0].data, (void *)ctx->weights, out[0].data, ctx->arena};
  hook(ctx, 0);
  ctx->parallel_for(ctx, part, args, 300, 300);
  hook(ctx, 1);
  return STATUS;
}
"""

# a: f32[] and flag: bool[2] -> sum: f64[] = a + flag[0] + flag[1], and none: i64[0]
MIXED = """
#include "aiopt.h"
static const int64_t two[] = {2}, zero[] = {0};
static const aiopt_tensor_info inputs[] = {{"a", 0, 0, AIOPT_F32}, {"flag", two, 1, AIOPT_BOOL}};
static const aiopt_tensor_info outputs[] = {{"sum", 0, 0, AIOPT_F64}, {"none", zero, 1, AIOPT_I64}};
const aiopt_net_info aiopt_mixed_info = {AIOPT_ABI_VERSION, 2, 2, 0, 0, 0, inputs, outputs, 0, 0};
int32_t aiopt_mixed_run(const aiopt_ctx *ctx, const aiopt_tensor *in, aiopt_tensor *out) {
  const int8_t *flag = in[1].data;
  *(double *)out[0].data = *(const float *)in[0].data + flag[0] + flag[1];
  return ctx->weights ? AIOPT_ERROR_ARGUMENT : AIOPT_OK;
}
"""

WEIGHTS = np.array([2, 1], np.float32)
X = np.linspace(-2, 2, 300, dtype=np.float32).reshape(100, 3)
Y = np.exp(X) * WEIGHTS[0] + WEIGHTS[1]


def affine(folder: Path, threads: int = 1, **macros: object) -> CompiledNet:
    """AFFINE with macros defined first."""
    code = compile_c(define(AFFINE, **macros), folder)
    return CompiledNet("affine", [code], aligned(WEIGHTS), {"launches": 1, "kernels": [{"ops": ["ai.exp"]}]}, threads)


def mixed(folder: Path) -> CompiledNet:
    return CompiledNet("mixed", [compile_c(MIXED, folder)], aligned(), {})


def define(source: str, **macros: object) -> str:
    return "".join(f"#define {name} {value}\n" for name, value in macros.items()) + source
