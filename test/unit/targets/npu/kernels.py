"""Kernels for tests: matrix products one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.dialects.ai import AddOp, AiDialect, MatMulOp, MaximumOp, QLinearMatMulOp, ReluOp
from aiopt.support.types import TensorType
from aiopt.targets.npu.build import build_kernel
from aiopt.targets.npu.machine import Machine
from aiopt.targets.npu.program import Program


@dataclass(frozen=True)
class Dense:
    """relu(x @ weight + bias) in f32."""

    weight: np.ndarray
    bias: np.ndarray | None = None
    relu: bool = False

    def parameters(self) -> list[np.ndarray]:
        return [self.weight] if self.bias is None else [self.weight, self.bias]

    def build(self, x: ir.Value, parameters: Sequence[ir.Value]) -> ir.Value:
        value = MatMulOp(x, parameters[0]).out
        value = value if self.bias is None else AddOp(value, parameters[1]).out
        return ReluOp(value).out if self.relu else value


@dataclass(frozen=True)
class QLinear:
    """QLinearMatMul; with relu, the greater of that and its zero point. Scales and zero points: of x, weight, y."""

    weight: np.ndarray
    scales: tuple[np.ndarray, np.ndarray, np.ndarray]
    zeros: tuple[np.ndarray, np.ndarray, np.ndarray]
    relu: bool = False

    def parameters(self) -> list[np.ndarray]:
        (xs, ws, ys), (xz, wz, yz) = self.scales, self.zeros
        return [np.asarray(array) for array in (xs, xz, self.weight, ws, wz, ys, yz)]

    def build(self, x: ir.Value, parameters: Sequence[ir.Value]) -> ir.Value:
        value = QLinearMatMulOp(x, *parameters).out
        return MaximumOp(value, parameters[-1]).out if self.relu else value


def chain_program(x: TensorType, layers: Sequence[Dense | QLinear], machine: Machine, depth: int = 2) -> Program:
    """The program of a kernel that takes x through the layers, all of whose parameters are known."""
    context = ir.Context()
    context.enable_multithreading(False)
    AiDialect.load(context)
    with context, ir.Location.unknown():
        module = ir.Module.create()
        arrays = [array for layer in layers for array in layer.parameters()]
        kinds = [ext.to_ir(kind) for kind in (x, *map(TensorType.of, arrays))]
        with ir.InsertionPoint(module.body):
            kernel = func.FuncOp("kernel", (kinds, []))
        kernel.arg_attrs = [ir.DictAttr.get({"ai.name": ir.StringAttr.get("x")}), *[ir.DictAttr.get({})] * len(arrays)]
        with ir.InsertionPoint(kernel.add_entry_block()):
            value, at = kernel.arguments[0], 1
            for layer in layers:
                count = len(layer.parameters())
                value = layer.build(value, list(kernel.arguments)[at : at + count])
                at += count
            func.ReturnOp([value])
        kernel.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [value.type]))
    return build_kernel(module, machine, depth, dict(enumerate(arrays, 1)))
