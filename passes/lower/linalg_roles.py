"""What each op of a linalg function becomes: a kernel, a view, a weight, or a part of the kernels that read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ext
from aiopt.dialects.ext import type_of
from aiopt.passes.base import functions
from aiopt.passes.rewrite import SMALL_BYTES
from aiopt.support.errors import IRError, UnsupportedError

_RESHAPES = frozenset({"tensor.expand_shape", "tensor.collapse_shape"})
_CHEAP = frozenset(
    f"tensor.{name}" for name in ("empty", "pad", "extract_slice", "cast", "extract", "splat", "from_elements")
)


class Role(Enum):
    """What becomes of an op."""

    KERNEL = "a kernel computes it"
    VIEW = "the same buffer in another shape"
    CONSTANT = "a weight"
    PART = "made again in each kernel that reads it"


def role(op: ir.OpView, known: Mapping[ir.Operation, Role]) -> Role:
    """The role of an op, `known` being those of the ops before it."""
    name = op.operation.name
    if isinstance(op, arith.ConstantOp):
        return Role.CONSTANT if _is_weight(op) else Role.PART
    if name in _RESHAPES:
        source = op.operands[0]
        is_part = isinstance(source, ir.OpResult) and known[source.owner.operation] is Role.PART
        return Role.PART if is_part else Role.VIEW
    tensors = [value.type for value in op.results if isinstance(value.type, ir.RankedTensorType)]
    if name in _CHEAP or not tensors or any(str(kind.element_type) in ("i1", "index") for kind in tensors):
        return Role.PART
    return Role.PART if name.startswith("linalg.") and _only_places(op) else Role.KERNEL


def _is_weight(op: arith.ConstantOp) -> bool:
    if not isinstance(op.result.type, ir.RankedTensorType):
        return False
    kind = type_of(op.result)
    splat = isinstance(op.value, ir.DenseElementsAttr) and op.value.is_splat
    return not splat or kind.size * kind.dtype.itemsize > SMALL_BYTES


def _only_places(op: ir.OpView) -> bool:
    """True for a fill or a broadcast: nothing is computed, and no element is read more than once to make one."""
    (region,) = op.operation.regions
    kinds = [str(kind) for kind in op.operation.attributes.get("iterator_types") or ()]  # pyright: ignore[reportGeneralTypeIssues]
    parallel = bool(kinds) and all(kind == "#linalg.iterator_type<parallel>" for kind in kinds)
    grows = sum(isinstance(v.type, ir.RankedTensorType) and v.type.rank == len(kinds) for v in op.operands) == 1
    return op.operation.name == "linalg.fill" or (parallel and grows and len(region.blocks[0].operations) == 1)


def used_values(op: ir.Operation) -> list[ir.Value]:
    """The values from outside that an op or its regions read."""
    inner = [op, *(nested.operation for nested in ext.operations(op))]
    made = {result for nested in inner[1:] for result in nested.results}
    made.update(argument for nested in inner for r in nested.regions for b in r.blocks for argument in b.arguments)
    return [value for value in dict.fromkeys(v for nested in inner for v in nested.operands) if value not in made]


def entry_function(module: ir.Module) -> func.FuncOp:
    """@main, or the one public function. Raises IRError."""
    public = [f for f in functions(module) if "sym_visibility" not in f.attributes or f.visibility.value == "public"]
    named = [function for function in public if function.name.value == "main"]
    if len(named or public) != 1:
        names = ", ".join(f"@{function.name.value}" for function in public) or "none"
        raise IRError(f"a net is one public function, @main where there are several; this module has {names}")
    return (named or public)[0]


def literal_value(op: arith.ConstantOp, module: ir.Module) -> np.ndarray:
    """The elements of a constant, in the text or in a resource. Raises UnsupportedError for elided ones."""
    kind = type_of(op.result)
    if isinstance(op.value, ir.DenseElementsAttr):
        return ext.dense_array(op.value, kind)
    key = re.fullmatch(r"dense_resource<(.+)> : .*", str(op.value))
    # The bindings do not give out the bytes of a resource; its text is their hexadecimal digits, behind the alignment.
    text: Any = module.operation.get_asm()
    found = re.search(rf'^\s*{re.escape(key[1])}: "0x([0-9A-Fa-f]+)"', text, re.MULTILINE) if key else None
    data = bytes.fromhex(found[1])[4:] if found else b""
    if len(data) != kind.size * kind.dtype.itemsize:
        raise UnsupportedError(f"the constant at {ext.describe(op.location)} has no value in the text: {op.value}")
    return np.frombuffer(data, kind.dtype).reshape(kind.shape)
