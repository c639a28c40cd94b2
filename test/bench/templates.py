"""Speed of the templates on one core, hot: a table of shapes, GFLOP/s and per cent of the core's multiply-add peak.

    python test/bench/templates.py [NAME ...] [--seconds S] [--winograd auto|off|2|4]

NAME picks the rows whose name contains it. The peak is measured in the same run, by a loop that stays in registers.
Times are CPU time, the least of many runs, so that other work on the machine disturbs little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.bench.peak import fma_peak, least_seconds
from aiopt.dialects import ai, ext
from aiopt.passes import pipeline
from aiopt.passes.io import new_context
from aiopt.passes.templates.select_route import AUTO, WINOGRAD
from aiopt.passes.unit import Unit
from aiopt.runtime.net import CompiledNet
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.types import TensorType
from aiopt.support.weights import WeightStore
from aiopt.targets import find_target

_RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """A kernel: its input and weights, and the ops on them."""

    name: str
    build: Callable[..., ir.Value]
    input: tuple[int, ...]
    weights: list[tuple[int, ...]]
    flops: int


def matmul(m: int, k: int, n: int) -> Case:
    """matmul + bias + relu."""

    def build(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
        return ai.ReluOp(ai.AddOp(ai.MatMulOp(x, w).out, b).out).out

    return Case(f"matmul {m}x{k}x{n}", build, (m, k), [(k, n), (n,)], 2 * m * k * n)


def conv(size: int, channels: int, filters: int, taps: int, stride: int, group: int = 1) -> Case:
    """conv + bias + relu on a square image with channels last."""

    def build(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
        pads = [taps // 2] * 4
        kernel = {"strides": [stride] * 2, "pads": pads, "dilations": [1, 1], "group": group}
        return ai.ReluOp(ai.ConvOp(x, w, b, layout="channels_last", **kernel).out).out

    count, depth = -(-size // stride), channels // group
    kind = "depthwise" if group == channels else f"group {group}" if group > 1 else "conv"
    name = f"{kind} {taps}x{taps}/{stride} {size}x{size}x{channels} -> {filters}"
    flops = 2 * count * count * filters * depth * taps * taps
    return Case(name, build, (1, size, size, channels), [(filters, depth, taps, taps), (filters,)], flops)


def pointwise(size: int, channels: int, filters: int) -> Case:
    """pointwise conv + bias + relu on a square image with channels first."""

    def build(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
        return ai.ReluOp(ai.ConvOp(x, w, b).out).out

    flops = 2 * size * size * filters * channels
    shapes = [(filters, channels, 1, 1), (filters,)]
    return Case(f"pointwise {channels}x{size}x{size} -> {filters}", build, (1, channels, size, size), shapes, flops)


def planes(size: int, channels: int, taps: int, stride: int) -> Case:
    """depthwise conv + bias + relu on a square image with channels first."""

    def build(x: ir.Value, w: ir.Value, b: ir.Value) -> ir.Value:
        window = {"strides": [stride] * 2, "pads": [taps // 2] * 4, "group": channels}
        return ai.ReluOp(ai.ConvOp(x, w, b, **window).out).out

    flops = 2 * (-(-size // stride)) ** 2 * channels * taps * taps
    shapes = [(channels, 1, taps, taps), (channels,)]
    return Case(
        f"planes {taps}x{taps}/{stride} {channels}x{size}x{size}", build, (1, channels, size, size), shapes, flops
    )


CASES = [
    matmul(512, 512, 512), matmul(768, 768, 768), matmul(1024, 1024, 1024), matmul(128, 384, 1536),
    matmul(1, 2048, 1000),
    # ResNet-50
    conv(224, 3, 64, 7, 2),
    conv(56, 64, 64, 1, 1), conv(56, 64, 64, 3, 1), conv(56, 64, 256, 1, 1), conv(56, 256, 64, 1, 1),
    conv(56, 256, 128, 1, 1), conv(56, 128, 128, 3, 2), conv(56, 256, 512, 1, 2),
    conv(28, 128, 128, 3, 1), conv(28, 128, 512, 1, 1), conv(28, 512, 128, 1, 1),
    conv(28, 512, 256, 1, 1), conv(28, 256, 256, 3, 2), conv(28, 512, 1024, 1, 2),
    conv(14, 256, 256, 3, 1), conv(14, 256, 1024, 1, 1), conv(14, 1024, 256, 1, 1),
    conv(14, 1024, 512, 1, 1), conv(14, 512, 512, 3, 2), conv(14, 1024, 2048, 1, 2),
    conv(7, 512, 512, 3, 1), conv(7, 512, 2048, 1, 1), conv(7, 2048, 512, 1, 1),
    pointwise(56, 64, 64), pointwise(56, 64, 256), pointwise(56, 256, 64), pointwise(56, 256, 128),
    pointwise(28, 128, 512), pointwise(28, 512, 128), pointwise(28, 512, 256),
    pointwise(14, 256, 1024), pointwise(14, 1024, 256), pointwise(14, 1024, 512),
    pointwise(7, 512, 2048), pointwise(7, 2048, 512),
    # MobileNet, ResNeXt
    conv(112, 32, 32, 3, 1, 32), conv(56, 128, 128, 3, 2, 128), conv(14, 512, 512, 3, 1, 512),
    conv(28, 120, 120, 5, 1, 120),
    planes(112, 32, 3, 1), planes(56, 128, 3, 1), planes(56, 128, 3, 2), planes(14, 512, 3, 1), planes(28, 120, 5, 1),
    planes(7, 512, 3, 1),
    conv(28, 256, 256, 3, 1, 32), conv(80, 24, 24, 3, 1),
]  # fmt: skip


def compile_case(case: Case, winograd: str = AUTO) -> tuple[CompiledNet, float, str]:
    """The compiled kernel, the seconds it took, and the template's parameters."""
    weights = WeightStore()
    target = find_target("cpu")
    with new_context(), ir.Location.unknown():
        kind = ext.to_ir(TensorType(case.input, "f32"))
        module = ir.Module.create()
        module.operation.attributes["ai.level"] = ir.StringAttr.get("graph")
        module.operation.attributes["ai.net"] = ir.StringAttr.get("net")
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ([kind], []))
            with ir.InsertionPoint(main.add_entry_block()):
                result = case.build(main.arguments[0], *(_constant(weights, shape) for shape in case.weights))
                func.ReturnOp([result])
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([kind], [result.type]))
        main.attributes["arg_attrs"] = _names("x")
        main.attributes["res_attrs"] = _names("y")
    unit = Unit(module, weights)
    pipeline.run(unit, "ai-group-kernels,ai-outline-kernels")
    start = time.perf_counter()
    choice = ""
    for stage in target.stages()[1:]:
        pipeline.run(unit, stage.pipeline.replace("ai-select-route{", f"ai-select-route{{winograd={winograd} ", 1))
        choice = choice or _choice(unit)
    code = target.build(unit, KernelCache())
    seconds = time.perf_counter() - start
    return target.load(unit, code, 1, {}), seconds, choice


def _constant(weights: WeightStore, shape: tuple[int, ...]) -> ir.Value:
    array = _RNG.standard_normal(shape, dtype=np.float32)
    return ai.ConstantOp(key=weights.add("w", array), results=[TensorType.of(array)]).results[0]


def _names(name: str) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(name)})])


def _choice(unit: Unit) -> str:
    for op in unit.module.body.operations:
        if "ai.template" in op.attributes:
            entries = ir.DictAttr(op.attributes["ai.template"])
            return (
                ir.StringAttr(entries["name"]).value
                + " "
                + " ".join(
                    f"{e.name}={ir.IntegerAttr(e.attr).value}"
                    for e in entries
                    if e.name not in ("name", "fma", "lanes")
                )
            )
    return "structured"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=0.3, help="to measure each shape")
    parser.add_argument("--winograd", default=AUTO, choices=list(WINOGRAD), help="see ai-select-route")
    arguments = parser.parse_args()
    best = fma_peak() / 1e9
    print(f"peak {best:.1f} GFLOP/s")
    print(f"{'shape':38s} {'GFLOP/s':>8s} {'% peak':>7s} {'compile s':>10s}  parameters")
    for case in CASES:
        if arguments.names and not any(name in case.name for name in arguments.names):
            continue
        net, compiling, choice = compile_case(case, arguments.winograd)
        inputs = {"x": _RNG.standard_normal(case.input, dtype=np.float32)}
        speed = case.flops / least_seconds(net, inputs, arguments.seconds) / 1e9
        print(f"{case.name:38s} {speed:8.1f} {100 * speed / best:6.0f}% {compiling:10.2f}  {choice}", flush=True)


if __name__ == "__main__":
    main()
