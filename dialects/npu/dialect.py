"""The dialect class, and constraints on operands of its ops."""

from aiopt.dialects import segments
from aiopt.dialects.constraints import AnyMemRef, Opaque
from aiopt.dialects.ext import Dialect, Operation
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import IRError

DRAM, SPAD, ACC = "#npu.dram", "#npu.spad", "#npu.acc"


class NpuDialect(Dialect, name="npu"):
    """Programs for NPUs with a systolic array (docs/npu.md)."""

    types = ("token",)
    attributes = ("dram", "spad", "acc")


class DramMemRef(AnyMemRef):
    """In the memory all share."""

    spaces = frozenset({DRAM})
    text = f"a memref in {DRAM}"


class SpadMemRef(AnyMemRef):
    """In the scratchpad."""

    spaces = frozenset({SPAD})
    text = f"a memref in {SPAD}"


class AccMemRef(AnyMemRef):
    """Sums in the accumulators."""

    spaces = frozenset({ACC})
    elements = frozenset({"i32", "f32"})
    text = f"a memref of i32 or f32 in {ACC}"


class ChipMemRef(AnyMemRef):
    """What the vector unit reads and writes."""

    spaces = frozenset({SPAD, ACC})
    elements = frozenset({"i32", "f32"})
    text = f"a memref of i32 or f32 in {SPAD} or {ACC}"


class Token(Opaque):
    """A transfer that is under way."""

    base = "@npu::@token"
    spelling = "!npu.token"
    text = "a token"


def check_attribute_names(op: Operation) -> None:
    """An op has no attributes but its own: what is not there has a default, so a typing error counts."""
    for name in op.operation.attributes:
        if name not in op.attribute_slots and name != segments.KEY and "." not in name:
            raise IRError(f"{op.OPERATION_NAME} has no attribute '{name}'{did_you_mean(name, op.attribute_slots)}")
