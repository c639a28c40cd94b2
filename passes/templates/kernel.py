"""What templates see of a kernel: one contraction or pooling, and elementwise ops on its result."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

from mlir import ir
from mlir.dialects import arith, func

from aiopt.dialects import ai
from aiopt.dialects.ai import Trait
from aiopt.dialects.ext import Operation, type_of
from aiopt.passes.lower.linalg.elementwise import BINARY, UNARY
from aiopt.passes.lower.linalg.rules import splat_operand
from aiopt.support.types import LOW_FLOATS, TensorType

ACCUMULATOR = "f32"
ELEMENTS = LOW_FLOATS | {ACCUMULATOR}  # of what is in memory; in registers all is f32
Weighted = ai.MatMulOp | ai.ConvOp
Root = Weighted | ai.MaxPoolOp | ai.AvgPoolOp
POINTWISE = frozenset(UNARY) | frozenset(BINARY) | {ai.CastOp}


@dataclass(frozen=True)
class Contraction:
    """A matmul, conv or pooling on arguments of the kernel, or on casts of them, and the elementwise ops that follow.

    Each op of the epilogue, in order, has the shape of the root's result; its operands are results of ops before it,
    arguments that broadcast, and equal-element constants.
    """

    root: Root
    epilogue: tuple[Operation, ...]
    packable: bool  # the weight (rhs) is packed, or can be: its value is known wherever the kernel is called
    loads: frozenset[ir.Value] = frozenset()  # operands of the root that are casts of arguments

    def source(self, operand: ir.Value) -> ir.Value:
        """The argument that an operand of the root is loaded from, in its type or cast."""
        return ir.OpResult(operand).owner.operands[0] if operand in self.loads else operand

    @property
    def out(self) -> TensorType:
        return type_of(self.root.operation.results[0])

    @property
    def pack(self) -> int | None:
        """Columns or filters in a block of the weight; None if it is not packed."""
        given = self.root.pack if isinstance(self.root, Weighted) else None
        return None if given is None else ir.IntegerAttr(given).value

    @property
    def interleave(self) -> bool:
        """True if the weight is packed in pairs of rows."""
        return isinstance(self.root, Weighted) and self.root.interleave is not None

    @property
    def weighted(self) -> Weighted:
        """The root of a kernel that has weights."""
        assert isinstance(self.root, Weighted), "asked of kernels that are known to"
        return self.root

    @property
    def winograd(self) -> int | None:
        """The size of the tiles that the weight is transformed for; None if it is not."""
        given = self.root.winograd if isinstance(self.root, ai.ConvOp) else None
        return None if given is None else given.value

    @property
    def has_low_result(self) -> bool:
        """True if sums cannot be kept in the result's buffer until the next part of a reduction."""
        return type_of(self.result).element in LOW_FLOATS

    @property
    def result(self) -> ir.Value:
        """The value the kernel returns."""
        return (self.epilogue[-1] if self.epilogue else self.root).operation.results[0]

    def side_operands(self) -> list[ir.Value]:
        """The arguments that the epilogue reads."""
        operands = [value for op in self.epilogue for value in op.operation.operands]
        return [value for value in dict.fromkeys(operands) if isinstance(value, ir.BlockArgument)]


def weight_of(root: Weighted) -> ir.Value:
    """The operand that packing rearranges."""
    return root.rhs if isinstance(root, ai.MatMulOp) else root.weight


def is_pointwise(op: ai.ConvOp) -> bool:
    """A dense convolution that looks at one pixel for each pixel of its result, which has as many."""
    if op.group.value != 1:
        return False
    shape = type_of(op.weight).shape
    kernel = shape[1:-2] if op.pack is not None else shape[2:]
    return all(size == 1 for size in [*kernel, *op.strides]) and not any(op.pads)


def is_root(op: Operation) -> bool:
    """True if it is one that templates are for (whether there is one depends on its shapes, too)."""
    if isinstance(op, (ai.MaxPoolOp, ai.AvgPoolOp)):
        return op.layout is not None and len(list(op.kernel)) == 2 and type_of(op.input).element in ELEMENTS
    return isinstance(op, Weighted) and str(op.acc.value) == ACCUMULATOR


def computes_on_registers(op: Operation) -> bool:
    """True if templates know the op, on the types of these operands, as a step of an epilogue."""
    values = [*op.operation.operands, *op.operation.results]
    return type(op) in POINTWISE and all(type_of(value).element in ELEMENTS for value in values)


def read_contraction(function: func.FuncOp, known: frozenset[int]) -> Contraction | None:
    """The kernel as a contraction with an epilogue; None if it is something else.

    known: the arguments (by number) that are constants of known value at every call.
    """
    ops = [op for op in function.entry_block.operations if not isinstance(op, (arith.ConstantOp, func.ReturnOp))]
    casts = list(takewhile(lambda op: isinstance(op, ai.CastOp), ops))
    root = ops[len(casts)] if len(ops) > len(casts) else None
    loads = frozenset(op.operation.results[0] for op in casts)
    if not isinstance(root, Root) or not is_root(root):
        return None
    read = [value for op in (*casts, root) for value in op.operation.operands]
    if not all(isinstance(v, ir.BlockArgument) or v in loads for v in read):
        return None
    if not all(type_of(v).element in ELEMENTS for v in read):
        return None
    if any(type_of(value).size == 0 for value in (*root.operation.operands, *root.operation.results)):
        return None  # loops without iterations
    after = ops[len(casts) + 1 :]
    epilogue = tuple(op for op in after if isinstance(op, Operation))
    found = Contraction(root, epilogue, _is_packable(root, known), loads)
    if len(epilogue) != len(after) or not all(_is_pointwise(op, found.out) for op in epilogue):
        return None
    end = function.entry_block.operations[len(function.entry_block.operations) - 1]
    return found if list(end.operands) == [found.result] else None


def _is_packable(root: Root, known: frozenset[int]) -> bool:
    if not isinstance(root, Weighted) or root.pack is not None:
        return isinstance(root, Weighted)
    weight = weight_of(root)
    is_known = isinstance(weight, ir.BlockArgument) and _is_single_use(weight) and weight.arg_number in known
    return _takes_packed(root) and is_known


def _takes_packed(root: Weighted) -> bool:
    """With channels first, vectors are of pixels: weights are read an element at a time, as they are."""
    return isinstance(root, ai.MatMulOp) or root.layout is not None


def _is_single_use(value: ir.Value) -> bool:
    return sum(1 for _ in value.uses) == 1


def _is_pointwise(op: Operation, out: TensorType) -> bool:
    if not computes_on_registers(op) or type_of(op.operation.results[0]).shape != out.shape:
        return False
    return all(_is_side_operand(value) for value in op.operation.operands)


def _is_side_operand(value: ir.Value) -> bool:
    """A value the epilogue can have in registers: an op's result, a constant of equal elements, an argument."""
    if isinstance(value, ir.BlockArgument):
        return True
    owner = value.owner.opview if isinstance(value.owner, ir.Operation) else value.owner
    return isinstance(owner, Operation) or splat_operand(value) is not None


assert all(op.traits & {Trait.ELEMENTWISE} for op in POINTWISE), "what the tables hold is elementwise"
