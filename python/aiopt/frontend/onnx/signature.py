"""The model's inputs with static shapes, from what the model says and what the user gave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral

import onnx

from aiopt.frontend.onnx.tensors import element_type
from aiopt.support.errors import (
    DeclarationError,
    DefinitionError,
    GivenShapeError,
    MissingShapeError,
    UnsupportedError,
    UnsupportedTypeError,
)
from aiopt.support.types import TensorType

Dim = int | str | None  # a size, the name of a size, or neither


@dataclass(frozen=True)
class Declared:
    """An input as the model declares it; `dims` is None where not even the rank is known."""

    name: str
    element: str
    dims: tuple[Dim, ...] | None

    def __str__(self) -> str:
        shape = "unknown rank" if self.dims is None else ", ".join("?" if d is None else str(d) for d in self.dims)
        return f"{self.name}: {self.element}[{shape}]"


def read_inputs(
    graph: onnx.GraphProto, shapes: Mapping[str, Sequence[int]] | None, skip: Collection[str] = ()
) -> dict[str, TensorType]:
    """The type of each input in order; inputs that are also initializers are constants and left out, as is `skip`.

    Errors: InputError if a given shape does not fit or one is missing, UnsupportedError for inputs that are no
    tensors of a type aiopt has, ModelError for a name that stands twice.
    """
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for value in graph.input:
        if value.name in constants:
            _check_default(value, constants[value.name])
    declared = _by_name(_declare(value) for value in graph.input if value.name not in constants.keys() | set(skip))
    given = {name: _check_given(name, shape, declared) for name, shape in (shapes or {}).items() if name not in skip}
    sizes = _bind_names(declared, given)
    return {name: TensorType(_resolve(d, given, sizes), d.element) for name, d in declared.items()}


def _check_default(value: onnx.ValueInfoProto, tensor: onnx.TensorProto) -> None:
    """An initializer is of the type and shape of the input of its name. Errors: DeclarationError."""
    kind, dims = value.type.tensor_type.elem_type, declared_dims(value)
    if kind and kind != tensor.data_type:
        codes = {code: name.lower() for name, code in onnx.TensorProto.DataType.items()}
        declared, held = (codes.get(code, code) for code in (kind, tensor.data_type))
        raise DeclarationError(f"input '{value.name}' is declared as {declared}, but its initializer is {held}")
    fits = dims is None or (
        len(dims) == len(tensor.dims)
        and all(not isinstance(dim, int) or dim == size for dim, size in zip(dims, tensor.dims, strict=True))
    )
    if not fits:
        shown = ", ".join("?" if dim is None else str(dim) for dim in dims or ())
        raise DeclarationError(
            f"input '{value.name}' is declared with shape [{shown}], but its initializer has {list(tensor.dims)}"
        )


def foreign_inputs(graph: onnx.GraphProto) -> set[str]:
    """The inputs no net takes: sequences, optionals, tensors of types aiopt does not have."""
    constants = {tensor.name for tensor in graph.initializer}
    return foreign_names(value for value in graph.input if value.name not in constants)


def foreign_names(values: Iterable[onnx.ValueInfoProto]) -> set[str]:
    """The names of those that are declared as what no net takes."""
    foreign = set()
    for value in values:
        try:
            _declare(value)
        except UnsupportedError:
            foreign.add(value.name)
    return foreign


def _declare(value: onnx.ValueInfoProto) -> Declared:
    if not value.type.HasField("tensor_type"):
        kind = value.type.WhichOneof("value") or "no type"
        raise UnsupportedTypeError(f"input '{value.name}' is of {kind}; only tensors can be inputs")
    tensor = value.type.tensor_type
    return Declared(value.name, element_type(tensor.elem_type, f"input '{value.name}'"), declared_dims(value))


def declared_dims(value: onnx.ValueInfoProto) -> tuple[Dim, ...] | None:
    """The dimensions of an input or output as far as the model gives them; None where not even the rank is known."""
    tensor = value.type.tensor_type
    return tuple(_dim(dim) for dim in tensor.shape.dim) if tensor.HasField("shape") else None


def _dim(dim: onnx.TensorShapeProto.Dimension) -> Dim:
    """Exporters write an unknown size as nothing, 0, -1, "" or "?". Errors: DeclarationError for a size below -1."""
    if dim.HasField("dim_value"):
        if dim.dim_value < -1:
            raise DeclarationError(f"a dimension of an input or output is declared as {dim.dim_value}, not 1 or more")
        return dim.dim_value if dim.dim_value > 0 else None
    return dim.dim_param if dim.dim_param not in ("", "?") else None


def _by_name(inputs: Iterable[Declared]) -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for declared in inputs:
        if not declared.name or declared.name in found:
            raise DefinitionError(f"two inputs are called '{declared.name}', or one has no name")
        found[declared.name] = declared
    return found


def _check_given(name: str, shape: Sequence[int], declared: Mapping[str, Declared]) -> tuple[int, ...]:
    if name not in declared:
        listed = "; ".join(map(str, declared.values())) or "none"
        raise GivenShapeError(
            f"a shape was given for '{name}', which is no input of the model (its inputs are {listed})"
        )
    try:
        if not all(isinstance(size, Integral) and not isinstance(size, bool) and size >= 0 for size in shape):
            raise TypeError
    except TypeError:
        raise GivenShapeError(
            f"the shape given for input '{name}' must be a tuple of whole numbers, not {shape!r}"
        ) from None
    sizes = tuple(map(int, shape))
    dims = declared[name].dims
    if dims is None:
        return sizes
    if len(sizes) != len(dims):
        raise GivenShapeError(
            f"the shape {sizes} given for input '{name}' has {len(sizes)} dimensions, but the model has "
            f"{len(dims)} ({declared[name]})"
        )
    for index, (size, dim) in enumerate(zip(sizes, dims, strict=True)):
        if isinstance(dim, int) and size != dim:
            raise GivenShapeError(
                f"the shape {sizes} given for input '{name}' has {size} as dimension {index}, but the model fixes it "
                f"to {dim} ({declared[name]})"
            )
    return sizes


def _bind_names(declared: Mapping[str, Declared], given: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Sizes of the named dimensions. Errors: InputError if two given shapes disagree on one."""
    sizes: dict[str, tuple[int, str]] = {}
    for name, shape in given.items():
        for size, dim in zip(shape, declared[name].dims or (), strict=False):
            if isinstance(dim, str):
                first, where = sizes.setdefault(dim, (size, name))
                if first != size:
                    raise GivenShapeError(
                        f"dimension '{dim}' must have one size, but the given shapes make it {first} (input '{where}') "
                        f"and {size} (input '{name}')"
                    )
    return {dim: size for dim, (size, _) in sizes.items()}


def _resolve(declared: Declared, given: Mapping[str, tuple[int, ...]], sizes: Mapping[str, int]) -> tuple[int, ...]:
    if declared.name in given:
        return given[declared.name]
    if declared.dims is not None:
        shape = tuple(sizes.get(dim) if isinstance(dim, str) else dim for dim in declared.dims)
        if all(size is not None for size in shape):
            return shape  # pyright: ignore[reportReturnType]
    example = tuple(dim if isinstance(dim, int) else 1 for dim in declared.dims or (1, 3, 224, 224))
    raise MissingShapeError(
        f"the size of input {declared} is not fixed: give its shape, for example "
        f'shapes={{"{declared.name}": {example}}} or --shape {declared.name}={"x".join(map(str, example))}'
    )
