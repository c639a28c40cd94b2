"""Dialects as Python classes: a class body becomes an IRDL definition and an OpView class.

The surface follows upstream's `mlir.dialects.ext` (LLVM 23), which the 22.1.8 wheels do not have:

    class AiDialect(Dialect, name="ai"):
        "Neural network operations."

    class ReluOp(AiDialect.Operation, name="relu"):
        input: Operand[NumericTensor]
        out: Result[NumericTensor]

        @staticmethod
        def infer(input: TensorType) -> TensorType: ...     # result types from operand types; also the shape check
        @staticmethod
        def reference(input: np.ndarray) -> np.ndarray: ...  # what the op means

`infer` and `reference` take the operands in order (an absent optional is None, a sequence is a list) and the
attributes as keywords, as Python values. Types are `PlainType`s: TensorType, BufferType for a memref, or OpaqueType.

IRDL of 22.1.8 unifies the types of a variadic operand, so `Sequence[Operand[T]]` is declared as MAX_VARIADIC
optional slots with a constraint each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from mlir import ir
from mlir.dialects import irdl
from mlir.dialects._ods_common import _cext

from aiopt.dialects import segments
from aiopt.dialects.irdl_text import dialect_text, operation_text
from aiopt.dialects.slots import MAX_VARIADIC, Attribute, Operand, Result, Slot, check_slot, read_slots
from aiopt.dialects.values import (
    BufferType,
    OpaqueType,
    PlainType,
    buffer_type,
    check_attribute,
    dense_array,
    describe,
    from_attribute,
    ir_type,
    map_arrays,
    node_names,
    plain_type,
    signature,
    spell,
    to_attribute,
    to_ir,
    type_of,
    widened,
)
from aiopt.support.errors import IRError, PluginError
from aiopt.support.types import LOW_FLOATS, TensorType

__all__ = [
    "MAX_VARIADIC",
    "BufferType",
    "Dialect",
    "OpaqueType",
    "Operand",
    "Operation",
    "Result",
    "Slot",
    "buffer_type",
    "check_attribute",
    "check_slot",
    "dense_array",
    "describe",
    "from_attribute",
    "node_names",
    "operations",
    "tensor_namespaces",
    "to_attribute",
    "to_ir",
    "type_of",
    "verify",
]

_defined: dict[str, type[Dialect]] = {}  # all dialects, by namespace


class Dialect:
    """Base of a dialect class. A subclass gets `Operation`, the base class of its ops, and `operations`."""

    on_tensors: ClassVar[bool] = False  # its ops may stand at levels graph and kernels, where the nets are
    namespace: ClassVar[str]
    types: ClassVar[tuple[str, ...]] = ()  # names of those it has, all without parameters
    attributes: ClassVar[tuple[str, ...]] = ()
    operations: ClassVar[dict[str, type[Operation]]]
    Operation: ClassVar[type[Operation]]

    def __init_subclass__(cls, name: str) -> None:
        parts = cls.__module__.split(".")
        if name not in parts[1:]:
            raise TypeError(f"{cls}: MLIR finds op classes by name, so define it in or below a module <package>.{name}")
        if name in _defined:
            raise PluginError(f"two dialects are called {name}: {_title(_defined[name])} and {_title(cls)}")
        view = type(cls.__name__, (_cext.ir.Dialect,), {"DIALECT_NAMESPACE": name})
        cls.namespace = name
        _defined[name] = cls
        cls.operations = {}
        cls.Operation = type("Operation", (Operation,), {"dialect": cls, "view": _cext.register_dialect(view)})
        _cext.globals.append_dialect_search_prefix(".".join(parts[: parts.index(name, 1)]))

    @classmethod
    def load(cls, context: ir.Context) -> None:
        """Load the dialect into a context; does nothing where it is loaded (loading twice would abort)."""
        probe = next(iter(cls.operations.values())).OPERATION_NAME
        if context.is_registered_operation(probe):
            return
        with context, ir.Location.unknown(context):
            irdl.load_dialects(ir.Module.parse(cls.irdl()))  # pyright: ignore[reportAttributeAccessIssue]

    @classmethod
    def irdl(cls) -> str:
        """The dialect as IRDL text that `mlir-opt --irdl-file=` loads."""
        operations = [op.irdl() for op in cls.operations.values()]
        return dialect_text(cls.namespace, cls.types, cls.attributes, operations)


class Operation(ir.OpView):
    """Base of all ops of Python-defined dialects. Subclass `YourDialect.Operation`, not this."""

    dialect: ClassVar[type[Dialect]]
    view: ClassVar[type]
    operand_slots: ClassVar[tuple[Slot, ...]] = ()
    result_slots: ClassVar[tuple[Slot, ...]] = ()
    attribute_slots: ClassVar[dict[str, Attribute]] = {}
    traits: ClassVar[frozenset[Any]] = frozenset()

    infer: ClassVar[Callable[..., Any]]  # a PlainType or a tuple of them
    reference: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, name: str | None = None) -> None:
        if name is None:
            return
        _read_body(cls)
        cls.OPERATION_NAME = f"{cls.dialect.namespace}.{name}"
        cls._ODS_REGIONS = (0, True)
        if name in cls.dialect.operations:
            raise TypeError(f"two classes define {cls.OPERATION_NAME}: {cls.dialect.operations[name]} and {cls}")
        cls.dialect.operations[name] = cls
        _cext.register_operation(cls.view)(cls)

    def __init__(
        self,
        *operands: Any,
        results: Sequence[PlainType] | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
        **attributes: Any,
    ) -> None:
        """Build the op. Operands in slot order (None for an absent optional, a list for a variadic); attributes as
        Python values; result types are inferred unless given. Raises IRError if they do not fit."""
        cls = type(self)
        operands = operands + (None,) * (len(cls.operand_slots) - len(operands))
        types = map_arrays(plain_type, operands)
        attributes = {**cls.defaults(*types, **attributes), **attributes}
        if results is None:
            results = cls.infer_types(*types, **attributes)
        flat, sizes = segments.flatten(cls.OPERATION_NAME, cls.operand_slots, operands)
        given = {key: value for key, value in attributes.items() if value is not None}
        built = {key: to_attribute(cls.attribute_slots[key].kind, value) for key, value in given.items()}
        if segments.is_segmented(cls.operand_slots):
            built[segments.KEY] = ir.DenseI32ArrayAttr.get(sizes)
        super().__init__(
            cls.OPERATION_NAME,
            cls._ODS_REGIONS,
            None,
            None,
            attributes=built,
            results=[ir_type(t) for t in results],
            operands=flat,
            successors=None,
            regions=None,
            loc=loc,
            ip=ip,
        )

    @classmethod
    def defaults(cls, *operands: Any, **attributes: Any) -> dict[str, Any]:
        """Attribute values to use where the builder was given none; takes what `infer` takes."""
        return {}

    @staticmethod
    def flops(*operands: Any, **attributes: Any) -> int:
        """Arithmetic operations of one execution, from what `infer` takes: a multiply-add counts 2, a move 0."""
        return 0

    @classmethod
    def infer_types(cls, *operands: Any, **attributes: Any) -> tuple[Any, ...]:
        """`infer`, always as a tuple; a ValueError becomes an IRError that names the op."""
        try:
            types = cls.infer(*operands, **attributes)
        except ValueError as error:
            raise IRError(f"{cls.OPERATION_NAME}: {error}") from error
        return types if isinstance(types, tuple) else (types,)

    def operand_groups(self) -> list[ir.Value | list[ir.Value] | None]:
        """The operands by declared slot, as `infer` and `reference` take them."""
        values = list(self.operation.operands)
        if not segments.is_segmented(self.operand_slots):
            return list(values)
        return segments.group(self.operand_slots, segments.read_sizes(self.operation), values)

    def python_attributes(self) -> dict[str, Any]:
        """The declared attributes that are there, as Python values."""
        attributes = self.operation.attributes
        return {key: from_attribute(attributes[key]) for key in self.attribute_slots if key in attributes}

    def evaluate(self, operands: Sequence[Any]) -> list[np.ndarray]:
        """Run the numpy reference on arrays given by slot (see `operand_groups`)."""
        return self.compute(operands, **self.python_attributes())

    @classmethod
    def compute(cls, operands: Sequence[Any], **attributes: Any) -> list[np.ndarray]:
        """`reference` on arrays given by slot, always as a list; f16 and bf16 are computed in f32, rounded once."""
        groups = [group if isinstance(group, (list, tuple)) else [group] for group in operands]
        types = [TensorType.of(array) for group in groups for array in group if array is not None]
        low = any(kind.element in LOW_FLOATS for kind in types)
        results = cls.reference(*(map_arrays(widened, operands) if low else operands), **attributes)
        arrays = [np.asarray(result) for result in (results if isinstance(results, tuple) else (results,))]
        if not low:
            return arrays
        kinds = cls.infer_types(*map_arrays(TensorType.of, operands), **attributes)
        return [array.astype(kind.dtype, copy=False) for array, kind in zip(arrays, kinds, strict=True)]

    def verify_op(self) -> None:
        """Check what IRDL cannot: segment sizes, attribute kinds, element types, shapes. Raises IRError."""
        name = self.OPERATION_NAME
        for key, declared in self.attribute_slots.items():
            if key in self.operation.attributes:  # IRDL has checked that the required ones are
                check_attribute(name, key, declared.kind, self.operation.attributes[key])
        if segments.is_segmented(self.operand_slots):
            segments.check_sizes(name, self.operand_slots, self.operation)
        groups = self.operand_groups()
        for slot, group in zip(self.operand_slots, groups, strict=True):
            for value in group if isinstance(group, list) else [group] if group is not None else []:
                check_slot(name, "operand", slot, value)
        for slot, value in zip(self.result_slots, self.operation.results, strict=True):
            check_slot(name, "result", slot, value)
        types = map_arrays(plain_type, groups)
        expected = self.infer_types(*types, **self.python_attributes())
        for slot, value, want in zip(self.result_slots, self.operation.results, expected, strict=True):
            if (have := plain_type(value)) != want:
                raise IRError(f"{name}: result '{slot.name}' has type {spell(have)}, but must have {spell(want)}")

    @classmethod
    def irdl(cls) -> str:
        """This op as an `irdl.operation`."""
        name = cls.OPERATION_NAME.split(".")[1]
        return operation_text(name, cls.operand_slots, cls.result_slots, cls.attribute_slots)


def operations(root: ir.Operation | ir.OpView | ir.Module) -> Iterator[ir.OpView]:
    """All operations under `root` in order, outer before inner. The caller may erase the op it was just given
    if that has no regions."""
    for region in root.operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                nested = len(op.operation.regions) > 0  # asked first: the caller may erase the op
                yield op
                if nested:
                    yield from operations(op)


def verify(module: ir.Module) -> None:
    """Check every op of a Python-defined dialect, equal ones once. Raises IRError with the op's location."""
    found: list[ir.Operation] = []
    others: set[str] = set()  # names of ops that are not ours

    def visit(op: ir.Operation) -> ir.WalkResult:  # far cheaper than making an OpView of every op
        if (name := op.name) not in others:
            (found.append(op) if name.partition(".")[0] in _defined else others.add(name))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    checked: set[Any] = set()
    with module.context:
        for op in found:
            if (seen := signature(op)) in checked:
                continue
            checked.add(seen)
            if isinstance(view := op.opview, Operation):
                try:
                    view.verify_op()
                except IRError as error:
                    raise IRError(f"{error} (at {describe(op.location)})") from error


def tensor_namespaces() -> frozenset[str]:
    """The dialects whose ops may stand at levels graph and kernels."""
    return frozenset(name for name, cls in _defined.items() if cls.on_tensors)


def _title(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _attribute_property(key: str, declared: Attribute) -> property:
    if declared.optional:
        return property(lambda self: self.operation.attributes.get(key))
    return property(lambda self: self.operation.attributes[key])


def _read_body(cls: type[Operation]) -> None:
    """Turn the annotations of a class body into slots, attribute types and accessors."""
    cls.operand_slots, cls.result_slots, cls.attribute_slots = read_slots(cls)
    for name, declared in cls.attribute_slots.items():
        setattr(cls, name, _attribute_property(name, declared))
    for index, slot in enumerate(cls.operand_slots):
        setattr(cls, slot.name, property(lambda self, i=index: self.operand_groups()[i]))
    for index, slot in enumerate(cls.result_slots):
        setattr(cls, slot.name, property(lambda self, i=index: self.operation.results[i]))
