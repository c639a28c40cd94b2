"""GRAPH-level modules of one function, for tests that compile them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir
from mlir.dialects import func

from aiopt.dialects import ext
from aiopt.support.types import TensorType

Build = Callable[..., ir.Value]


def module_of(build: Build, arrays: list[np.ndarray]) -> ir.Module:
    """@main that returns, as y, what `build` makes of its arguments x0, x1 ..., which have the types of the arrays."""
    kinds = [ext.to_ir(TensorType.of(array)) for array in arrays]
    module = ir.Module.create()
    module.operation.attributes["ai.level"] = ir.StringAttr.get("graph")
    module.operation.attributes["ai.net"] = ir.StringAttr.get("net")
    with ir.InsertionPoint(module.body):
        main = func.FuncOp("main", (kinds, []))
        with ir.InsertionPoint(main.add_entry_block()):
            result = build(*main.arguments)
            func.ReturnOp([result])
    main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, [result.type]))
    main.attributes["arg_attrs"] = _names([f"x{i}" for i in range(len(arrays))])
    main.attributes["res_attrs"] = _names(["y"])
    return module


def _names(names: list[str]) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([ir.DictAttr.get({"ai.name": ir.StringAttr.get(name)}) for name in names])
