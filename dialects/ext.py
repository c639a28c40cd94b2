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
attributes as keywords, as Python values.

IRDL of 22.1.8 unifies the types of a variadic operand, so `Sequence[Operand[T]]` is declared as MAX_VARIADIC
optional slots with a constraint each.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, Union, get_args, get_origin

from mlir import ir
from mlir.dialects import irdl
from mlir.dialects._ods_common import _cext

from aiopt.dialects.constraints import AnyTensor
from aiopt.support.errors import IRError
from aiopt.support.types import TensorType

MAX_VARIADIC = 8
T = TypeVar("T")

if TYPE_CHECKING:

    class Operand(ir.Value, Generic[T]): ...

    class Result(ir.OpResult, Generic[T]): ...

else:

    class Operand(Generic[T]):
        """Annotation of an operand; `Operand[T] | None` is optional, `Sequence[Operand[T]]` variadic."""

    class Result(Generic[T]):
        """Annotation of a result."""


_IRDL_ATTRIBUTE: dict[type, str] = {
    ir.IntegerAttr: "#builtin.integer",
    ir.BoolAttr: "#builtin.integer",
    ir.FloatAttr: "#builtin.float",
    ir.StringAttr: "#builtin.string",
    ir.TypeAttr: "#builtin.type",
    ir.DenseI64ArrayAttr: "#builtin.dense_array",
}


@dataclass(frozen=True)
class Slot:
    """One declared operand or result."""

    name: str
    constraint: type[AnyTensor]
    kind: str = "single"  # single, optional or variadic

    @property
    def width(self) -> int:
        """IRDL slots it takes."""
        return MAX_VARIADIC if self.kind == "variadic" else 1


class Dialect:
    """Base of a dialect class. A subclass gets `Operation`, the base class of its ops, and `operations`."""

    namespace: ClassVar[str]
    operations: ClassVar[dict[str, type[Operation]]]
    Operation: ClassVar[type[Operation]]

    def __init_subclass__(cls, name: str) -> None:
        view = type(cls.__name__, (_cext.ir.Dialect,), {"DIALECT_NAMESPACE": name})
        cls.namespace = name
        cls.operations = {}
        cls.Operation = type("Operation", (Operation,), {"dialect": cls, "view": _cext.register_dialect(view)})
        _cext.globals.append_dialect_search_prefix("aiopt.dialects")

    @classmethod
    def load(cls, context: ir.Context) -> None:
        """Load the dialect into a context; does nothing where it is loaded (loading twice would abort)."""
        probe = next(iter(cls.operations.values())).OPERATION_NAME
        if context.is_registered_operation(probe):
            return
        with context, ir.Location.unknown(context):
            irdl.load_dialects(ir.Module.parse(cls.irdl()))

    @classmethod
    def irdl(cls) -> str:
        """The dialect as IRDL text that `mlir-opt --irdl-file=` loads."""
        body = "\n".join(op.irdl() for op in cls.operations.values())
        return f"irdl.dialect @{cls.namespace} {{\n{body}\n}}\n"


class Operation(ir.OpView):
    """Base of all ops of Python-defined dialects. Subclass `YourDialect.Operation`, not this."""

    dialect: ClassVar[type[Dialect]]
    view: ClassVar[type]
    operand_slots: ClassVar[tuple[Slot, ...]] = ()
    result_slots: ClassVar[tuple[Slot, ...]] = ()
    attribute_types: ClassVar[dict[str, type]] = {}
    traits: ClassVar[frozenset[Any]] = frozenset()

    infer: ClassVar[Callable[..., TensorType | tuple[TensorType, ...]]]
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
        results: Sequence[TensorType] | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
        **attributes: Any,
    ) -> None:
        """Build the op. Operands in slot order (None for an absent optional, a list for a variadic); attributes as
        Python values; result types are inferred unless given. Raises IRError if they do not fit."""
        cls = type(self)
        operands = operands + (None,) * (len(cls.operand_slots) - len(operands))
        types = [[type_of(v) for v in o] if isinstance(o, (list, tuple)) else o and type_of(o) for o in operands]
        attributes = {**cls.defaults(*types, **attributes), **attributes}
        if results is None:
            results = cls.infer_types(*types, **attributes)
        flat, segments = cls._flatten(operands)
        built = {key: _to_attribute(cls.attribute_types[key], value) for key, value in attributes.items()}
        if segments:
            built["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get(segments)
        super().__init__(
            cls.OPERATION_NAME,
            cls._ODS_REGIONS,
            None,
            None,
            attributes=built,
            results=[to_ir(t) for t in results],
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

    @classmethod
    def infer_types(cls, *operands: Any, **attributes: Any) -> tuple[TensorType, ...]:
        """`infer`, always as a tuple; a ValueError becomes an IRError that names the op."""
        try:
            types = cls.infer(*operands, **attributes)
        except ValueError as error:
            raise IRError(f"{cls.OPERATION_NAME}: {error}") from error
        return types if isinstance(types, tuple) else (types,)

    def operand_groups(self) -> list[ir.Value | list[ir.Value] | None]:
        """The operands by declared slot, as `infer` and `reference` take them."""
        values = list(self.operation.operands)
        if not self._is_segmented():
            return list(values)
        sizes, groups, at, index = self._segments(), [], 0, 0
        for slot in self.operand_slots:
            count = sum(sizes[index : index + slot.width])
            index += slot.width
            group = values[at : at + count]
            at += count
            groups.append(group if slot.kind == "variadic" else group[0] if group else None)
        return groups

    def python_attributes(self) -> dict[str, Any]:
        """The declared attributes as Python values."""
        attributes = self.operation.attributes
        return {key: from_attribute(attributes[key]) for key in self.attribute_types}

    def evaluate(self, operands: Sequence[Any]) -> list[Any]:
        """Run the numpy reference on arrays given by slot (see `operand_groups`)."""
        results = type(self).reference(*operands, **self.python_attributes())
        return list(results) if isinstance(results, tuple) else [results]

    def verify_op(self) -> None:
        """Check what IRDL cannot: segment sizes, element types, shapes. Raises IRError."""
        name = self.OPERATION_NAME
        if self._is_segmented():
            self._verify_segments()
        groups = self.operand_groups()
        for slot, group in zip(self.operand_slots, groups, strict=True):
            for value in group if isinstance(group, list) else [group] if group is not None else []:
                _check_constraint(name, "operand", slot, value)
        for slot, value in zip(self.result_slots, self.operation.results, strict=True):
            _check_constraint(name, "result", slot, value)
        types = [[type_of(v) for v in g] if isinstance(g, list) else g and type_of(g) for g in groups]
        expected = self.infer_types(*types, **self.python_attributes())
        for slot, value, want in zip(self.result_slots, self.operation.results, expected, strict=True):
            if (have := type_of(value)) != want:
                raise IRError(f"{name}: result '{slot.name}' has type tensor<{have}>, but must have tensor<{want}>")

    @classmethod
    def _is_segmented(cls) -> bool:
        return any(slot.kind != "single" for slot in cls.operand_slots)

    def _segments(self) -> list[int]:
        return list(self.operation.attributes["operandSegmentSizes"])

    def _verify_segments(self) -> None:
        if "operandSegmentSizes" not in self.operation.attributes:
            raise IRError(f"{self.OPERATION_NAME}: the attribute operandSegmentSizes is missing")
        sizes, slots = self._segments(), sum(slot.width for slot in self.operand_slots)
        bad = len(sizes) != slots or sum(sizes) != len(self.operation.operands) or not all(s in (0, 1) for s in sizes)
        if bad:
            raise IRError(
                f"{self.OPERATION_NAME}: operandSegmentSizes must be {slots} numbers, each 0 or 1, that add up to the "
                f"{len(self.operation.operands)} operands, but is {sizes}"
            )

    @classmethod
    def _flatten(cls, operands: Sequence[Any]) -> tuple[list[ir.Value], list[int]]:
        flat: list[ir.Value] = []
        segments: list[int] = []
        for slot, operand in zip(cls.operand_slots, operands, strict=True):
            group = list(operand) if slot.kind == "variadic" else [] if operand is None else [operand]
            if len(group) > slot.width or (slot.kind == "single" and not group):
                raise IRError(f"{cls.OPERATION_NAME}: operand '{slot.name}' takes 1 to {slot.width} values")
            flat += group
            segments += [1] * len(group) + [0] * (slot.width - len(group))
        return flat, segments if cls._is_segmented() else []

    @classmethod
    def irdl(cls) -> str:
        """This op as an `irdl.operation`."""
        lines: list[str] = []

        def constraint(base: str) -> str:
            lines.append(f'    %{len(lines)} = irdl.base "{base}"')
            return f"%{len(lines) - 1}"

        def slots(declared: tuple[Slot, ...]) -> str:
            parts = []
            for slot in declared:
                names = [f"{slot.name}_{i}" for i in range(slot.width)] if slot.kind == "variadic" else [slot.name]
                optional = "" if slot.kind == "single" else "optional "
                parts += [f"{name}: {optional}{constraint('!builtin.tensor')}" for name in names]
            return ", ".join(parts)

        operands, results = slots(cls.operand_slots), slots(cls.result_slots)
        declared = cls.attribute_types.items()
        attributes = ", ".join(f'"{key}" = {constraint(_IRDL_ATTRIBUTE[kind])}' for key, kind in declared)
        body = [*lines, f"    irdl.operands({operands})", f"    irdl.results({results})"]
        if attributes:
            body.append(f"    irdl.attributes {{ {attributes} }}")
        return "\n".join([f"  irdl.operation @{cls.OPERATION_NAME.split('.')[1]} {{", *body, "  }"])


def type_of(value: ir.Value | ir.Type) -> TensorType:
    """The TensorType of a value or type. Raises IRError unless it is a ranked tensor of static shape."""
    kind = value if isinstance(value, ir.Type) else value.type
    if not isinstance(kind, ir.RankedTensorType) or not kind.has_static_shape:
        raise IRError(f"expected a ranked tensor of static shape, got {kind}")
    return TensorType(tuple(kind.shape), str(kind.element_type))


def to_ir(kind: TensorType) -> ir.RankedTensorType:
    """The ranked tensor type in the current context."""
    return ir.RankedTensorType.get(list(kind.shape), ir.Type.parse(kind.element))


def from_attribute(attribute: ir.Attribute) -> Any:
    """An attribute's value: int, float, bool, str, list[int], or the text of a type."""
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.TypeAttr):
        return str(attribute.value)
    return attribute.value  # pyright: ignore[reportAttributeAccessIssue]


def operations(root: ir.Operation | ir.OpView | ir.Module) -> Iterator[ir.OpView]:
    """All operations under `root` in order, outer before inner. The caller may erase the op it was just given."""
    for region in root.operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                yield op
                yield from operations(op)


def verify(module: ir.Module) -> None:
    """Check every op of a Python-defined dialect. Raises IRError with the op's location."""
    for op in operations(module):
        if isinstance(op, Operation):
            try:
                op.verify_op()
            except IRError as error:
                raise IRError(f"{error} (at {describe(op.location)})") from error


def describe(location: ir.Location) -> str:
    """A location as a person would write it: node names, or file:line:column."""
    return str(location).removeprefix("loc(").removesuffix(")").replace('"', "'")


def _to_attribute(kind: type, value: Any) -> ir.Attribute:
    if isinstance(value, ir.Attribute):
        return value
    if kind is ir.IntegerAttr:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    if kind is ir.FloatAttr:
        return ir.FloatAttr.get(ir.F64Type.get(), value)
    if kind is ir.TypeAttr:
        return ir.TypeAttr.get(ir.Type.parse(value) if isinstance(value, str) else value)
    if kind is ir.DenseI64ArrayAttr:
        return ir.DenseI64ArrayAttr.get([int(v) for v in value])
    return kind.get(value)  # pyright: ignore[reportAttributeAccessIssue]


def _check_constraint(op: str, what: str, slot: Slot, value: ir.Value) -> None:
    kind = type_of(value)
    if kind.element not in slot.constraint.elements:
        raise IRError(f"{op}: {what} '{slot.name}' must be {slot.constraint.text}, but is tensor<{kind}>")


def _read_body(cls: type[Operation]) -> None:
    """Turn the annotations of a class body into slots, attribute types and accessors."""
    operands: list[Slot] = []
    results: list[Slot] = []
    attributes: dict[str, type] = {}
    for name, hint in inspect.get_annotations(cls, eval_str=True).items():
        if get_origin(hint) is ClassVar:
            continue
        slot, target = _read_slot(name, hint)
        if slot is None:
            attributes[name] = hint
            setattr(cls, name, property(lambda self, key=name: self.operation.attributes[key]))
        else:
            (operands if target is Operand else results).append(slot)
    cls.operand_slots, cls.result_slots, cls.attribute_types = tuple(operands), tuple(results), attributes
    for index, slot in enumerate(operands):
        setattr(cls, slot.name, property(lambda self, i=index: self.operand_groups()[i]))
    for index, slot in enumerate(results):
        setattr(cls, slot.name, property(lambda self, i=index: self.operation.results[i]))


def _read_slot(name: str, hint: Any) -> tuple[Slot | None, Any]:
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Operand, Result):
        return Slot(name, args[0]), origin
    if origin in (Union, UnionType):
        return Slot(name, get_args(args[0])[0], "optional"), Operand
    if origin is Sequence:
        return Slot(name, get_args(args[0])[0], "variadic"), Operand
    if hint not in _IRDL_ATTRIBUTE:
        raise TypeError(f"{name}: {hint} is neither an operand, a result nor an attribute aiopt.dialects.ext knows")
    return None, None
