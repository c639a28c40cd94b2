"""Ops that the kernel of their reader computes itself, as it loads its operands: decided before kernels are formed.

These are casts to 16 bits, transposes and slices that a matrix product can read through, parts and few channels of
images that a convolution finds where they are, and what comes before the second product of attention: scores, what is
done to them, and their softmax.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.ai import CastOp, ConvOp, MatMulOp, RelayoutOp, SoftmaxOp, Trait, TransposeOp
from aiopt.dialects.ai.packing import CHANNELS_LAST
from aiopt.passes.rewrite import PARTITION, TARGET, copy_placement, defining, has_one_use, users
from aiopt.passes.templates.access import is_load, is_turned, read_access, reads_matrix
from aiopt.passes.templates.kernel import computes_on_registers, is_part, is_root
from aiopt.passes.templates.read_kernel import Known, uncast
from aiopt.passes.templates.stages import IMAGE_RANK

FEW_CHANNELS = 4  # of an image whose channels are read where they are, each from a plane of its own

# By result: the hash of an op changes with its operands and attributes.
Use = tuple[ir.Value, int]  # an op and the number of an operand
Readers = dict[ir.Value, ext.Operation]  # an op that is absorbed -> the op that takes it into its kernel


def absorb(ops: Sequence[ext.Operation], max_ops: int, is_known: Known) -> Readers:
    """Decide which ops of a function are absorbed; one that several kernels take is copied, before each reader.

    max_ops: the most ops of a kernel of attention; with 1, products read nothing but casts through others.
    """
    search = _Search({_result(op): place for place, op in enumerate(ops)}, is_known)
    products = [op for op in ops if isinstance(op, MatMulOp) and is_root(op)]
    for product in products:
        search.readers.update((_result(op), product) for op in search.front(product, max_ops))
    if max_ops > 1:
        search.through = {use for product in products for use in search.uses_through(product)}
    for op in reversed(ops):
        if is_load(op) and search.is_taken(op):
            search.share(op)
    return search.readers


@dataclass
class _Search:
    order: dict[ir.Value, int]
    is_known: Known
    readers: Readers = field(default_factory=dict)
    through: set[Use] = field(default_factory=set)  # uses of loads through which a product can read

    def front(self, product: MatMulOp, max_ops: int) -> list[ext.Operation]:
        """What comes before the second product of attention: the first one, elementwise ops, softmax, casts."""
        softmax, casts = uncast(product.lhs)
        if not isinstance(softmax, SoftmaxOp) or softmax.axis.value != ext.type_of(softmax.input).rank - 1:
            return []
        behind = sorted(_behind(softmax.input), key=lambda op: self.order[_result(op)])
        first = next((op for op in reversed(behind) if isinstance(op, MatMulOp)), None)
        if first is None:
            return []
        members: list[ext.Operation] = [first]
        inside = {_result(first)}
        for op in behind:
            if not isinstance(op, MatMulOp) and any(value in inside for value in op.operation.operands):
                members.append(op)
                inside.add(_result(op))
        members += [softmax, *(op for op in casts if isinstance(op, ext.Operation))]
        inside = {_result(op) for op in (*members, product)}
        closed = all(_is_among(inside, user) for op in members for user in users(op.operation.results[0]))
        fits = closed and len(members) < max_ops and all(_partition(op) == _partition(product) for op in members)
        heads = ext.type_of(softmax.input).shape[:-2] == ext.type_of(product.out).shape[:-2]
        return members if fits and heads else []

    def uses_through(self, product: MatMulOp) -> Iterator[Use]:
        """The uses of casts, transposes and slices through which a product can read its operands."""
        is_attention = product.lhs in self.readers
        for number, value in enumerate(product.operation.operands):
            for depth in range(len(read_access(value).through), 0, -1):
                access = read_access(value, depth)
                if reads_matrix(access) and not (is_attention and number == 1 and is_turned(access)):
                    yield product.out, number
                    yield from ((_result(op), 0) for op in access.through[:-1])
                    break

    def is_taken(self, op: ext.Operation) -> bool:
        """True if all readers of a load take it into their kernels."""
        result, source = op.operation.results[0], op.operation.operands[0]
        uses = [(use.owner, use.operand_number) for use in result.uses]
        if not uses or not all(self._takes(user, number, op) for user, number in uses):
            return False
        by_product = all((_result(user), number) in self.through for user, number in uses)
        rounds = isinstance(op, CastOp) and _rounds(defining(source), by_product) and has_one_use(source)
        return not rounds

    def _takes(self, user: ir.OpView, number: int, op: ext.Operation) -> bool:
        if isinstance(op, CastOp) and _loads(user):
            return True
        if isinstance(user, ConvOp):
            return number == 0 and self._finds_image(user, op)
        is_reader = isinstance(user, MatMulOp) or _is_among(self.readers, user)
        return is_reader and (_result(user), number) in self.through and _partition(user) == _partition(op)

    def _finds_image(self, user: ConvOp, op: ext.Operation) -> bool:
        """True for convolutions of templates that read an image where its channels are."""
        turns = isinstance(op, RelayoutOp) and op.to.value == CHANNELS_LAST
        if not turns and not is_part(op):
            return False
        if user.layout is None or not self.is_known(user.weight) or not is_root(user) or _is_elsewhere(user):
            return False
        shape = ext.type_of(user.input).shape
        few = shape[-1] <= FEW_CHANNELS and user.group.value == 1
        return len(shape) == IMAGE_RANK and (few or not turns)

    def share(self, op: ext.Operation) -> None:
        """Give each reader of an op that is absorbed one of its own."""
        first, *others = [(use.owner, use.operand_number) for use in op.operation.results[0].uses]
        for user, number in others:
            copy = op.operation.clone(ir.InsertionPoint(user))
            user.operation.operands[number] = copy.operation.results[0]
            copy_placement(user, copy)  # pyright: ignore[reportArgumentType]
            self.readers[_result(copy)] = user  # pyright: ignore[reportArgumentType]
            if (_result(op), 0) in self.through:
                self.through.add((_result(copy), 0))
        copy_placement(first[0], op)
        self.readers[_result(op)] = first[0]  # pyright: ignore[reportArgumentType]


def _behind(value: ir.Value) -> list[ext.Operation]:
    """The elementwise ops of a value's shape that it is computed by, and the products they begin with."""
    shape, found, work = ext.type_of(value).shape, [], [value]
    while work:
        op = defining(work.pop())
        if not isinstance(op, ext.Operation) or op in found or ext.type_of(op.operation.results[0]).shape != shape:
            continue
        if isinstance(op, MatMulOp) and is_root(op):
            found.append(op)
        elif computes_on_registers(op):
            found.append(op)
            work.extend(op.operation.operands)
    return found


def _result(op: ir.OpView | ir.Operation) -> ir.Value:
    return op.operation.results[0]


def _is_among(results: Container[ir.Value], op: ir.OpView) -> bool:
    """True if the op makes one of these; what returns makes nothing."""
    return len(op.operation.results) == 1 and _result(op) in results


def _rounds(op: ir.OpView | None, by_product: bool) -> bool:
    """True for ops whose kernels may end with a cast; other movements copy, and would have to do it twice."""
    if not isinstance(op, ext.Operation) or Trait.VIEW in op.traits:
        return False
    return Trait.MOVEMENT not in op.traits or (isinstance(op, (TransposeOp, RelayoutOp)) and not by_product)


def _loads(op: ir.OpView) -> bool:
    """True for ops that may begin a kernel with a cast of what they read."""
    return isinstance(op, (TransposeOp, RelayoutOp)) or (
        isinstance(op, ext.Operation) and Trait.CONTRACTION in op.traits
    )


def _is_elsewhere(op: ir.OpView) -> bool:
    """True if another target than the CPU runs it: templates are the CPU's."""
    target = op.operation.attributes.get(TARGET)
    return target is not None and target != ir.StringAttr.get("cpu")


def _partition(op: ir.OpView) -> ir.Attribute | None:
    attributes = op.operation.attributes
    return attributes.get(PARTITION)
