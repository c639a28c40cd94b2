"""Units as files: MLIR text or bytecode, with the values of the constants in a safetensors file beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mlir import ir

from aiopt.dialects import ext
from aiopt.dialects.registry import load_dialects
from aiopt.passes import spec
from aiopt.passes.level import Level
from aiopt.passes.text import BYTECODE_MAGIC, Source, parse_file, parse_source, to_bytes
from aiopt.passes.unit import Unit
from aiopt.passes.values import check_values, referenced_keys
from aiopt.support.errors import IRError, OutputError, OverwriteError, ParseError, WeightsError
from aiopt.support.files import is_same_file, is_special, read_input, refuse_sources, staged, write_output
from aiopt.support.weights import ELIDED, WeightStore

_ESCAPED = re.compile(rb"(?<!\\)(?:\\\\)*((?:\\[89A-F][0-9A-F])+)")  # as MLIR prints what is not ASCII

# Upstream's dialects whose ops our passes build from Python.
_BUILT = (
    *("affine", "arith", "bufferization", "cf", "func", "index", "linalg", "llvm"),
    *("math", "memref", "scf", "tensor", "transform", "ub", "vector"),
)


def new_context() -> ir.Context:
    """A context with upstream's dialects, ours and those of plug-ins; others are refused.

    It never has threads, so forks stay safe. As in mlir-opt, a dialect that nothing of ours builds is loaded by the
    first text or pass that uses it: each loaded one makes every canonicalization slower.
    """
    context = ir.Context(load_on_create_dialects=list(_BUILT))  # pyright: ignore[reportCallIssue]
    context.enable_multithreading(False)
    load_dialects(context)
    return context


_USES = 64  # types, attributes and names of all nets stay in a context: after so many nets it is given up
_spare: list[tuple[ir.Context, int]] = []  # and how often each was used


@contextmanager
def borrowed_context() -> Iterator[ir.Context]:
    """A context as new_context makes them, for a block that keeps nothing of it; often one that was used before.

    One in which something failed is not used again.
    """
    try:
        context, uses = _spare.pop()
    except IndexError:  # asked so, and not by looking first: other threads borrow too
        context, uses = new_context(), 0
    yield context
    if uses + 1 < _USES:
        _spare.append((context, uses + 1))


def is_mlir(model: object) -> bool:
    """True for MLIR text or bytecode, given as a path or as bytes; False for anything else, such as an ONNX model.

    A name that ends in .mlir, .mlirbc or .onnx decides, else the contents. Raises ModelError for an unreadable file.
    """
    if isinstance(model, (str, Path)):
        suffix = Path(model).suffix
        if suffix in (".mlir", ".mlirbc", ".onnx"):
            return suffix != ".onnx"
        model = read_input(model)
    return isinstance(model, bytes) and _looks_like_mlir(model)


def read_unit(source: str | Path | bytes, context: ir.Context, folder: Path | None = None) -> Unit:
    """Read a unit from a file, or from the bytes of MLIR text or bytecode, which errors call `<stdin>`.

    `ai.weights` is relative to the file's folder, or to `folder` (default: the current one).
    Raises IRError with file:line:column if the IR is invalid, ModelError if the file or its weights cannot be read, or
    the weights are not those the constants speak of.
    """
    if isinstance(source, bytes):
        return unit_of(parse_source(Source(source, "<stdin>"), context), "<stdin>", folder or Path())
    unit = unit_of(parse_file(source, context), str(source), Path(source).parent)
    unit.sources = (Path(source), *unit.sources)
    return unit


def unit_of(module: ir.Module, name: str, folder: Path) -> Unit:
    """A unit from a module that was just read, with the weights its text names. Raises as read_unit does."""
    _check_strings(module, name)
    unit = Unit(module)
    with module.context:
        ext.verify(module)
        _check_level(unit)
    if weights := _weights_file(module, folder):
        unit.weights = WeightStore.load(weights)
        unit.sources += (weights,)
        with module.context, ir.Location.unknown():
            check_values(module, unit.weights, str(weights))
    return unit


def write_unit(unit: Unit, output: Path | None, elide: bool = False, debug_info: bool = False) -> None:
    """Write a unit as text to a file, None being the standard output.

    The values its constants refer to go to `<stem>.safetensors` beside the file. They are left out, and
    `ai.weights` is "elided", on `elide`, on the standard output, and if no value is known (text read without weights).
    Raises OutputError if a file cannot be written, or if the weights would replace a file that aiopt did not write or
    that of another text, which the unit was read from; ModelError if some values are known and some are not.
    """
    keys = referenced_keys(unit.module)
    beside = output is not None and not elide and not is_special(output) and any(key in unit.weights for key in keys)
    if not beside or output is None:
        text = _print(unit.module, ELIDED if keys else None, debug_info)
        write_output(output, text)
        return
    for key in keys:
        unit.weights[key]
    weights = output.with_suffix(".safetensors")
    if weights == output:
        raise OverwriteError(f"cannot write '{output}': the weights go into a file of this name; end it in .mlir")
    if unit.sources and not is_same_file(output, unit.sources[0]):
        refuse_sources(weights, unit.sources)
    text = _print(unit.module, weights.name, debug_info)
    with staged(output, text):  # the text takes its name last, so that it never stands beside weights not its own
        _save_weights(unit.weights, weights, keys)


def _looks_like_mlir(data: bytes) -> bool:
    if data.startswith(BYTECODE_MAGIC):
        return True
    try:
        # ONNX files can be valid UTF-8 by chance, but hold bytes that text does not: 8 is the tag of ir_version.
        return not any(character in data.decode() for character in "\0\b")
    except UnicodeDecodeError:
        return False


def _check_strings(module: ir.Module, name: str) -> None:
    """Names and other strings are UTF-8: the bindings cannot give out others. Raises IRError."""
    text: Any = module.operation.get_asm(binary=True, enable_debug_info=True, assume_verified=True)
    for escaped in _ESCAPED.findall(text):
        try:
            bytes.fromhex(escaped.replace(b"\\", b"").decode()).decode()
        except UnicodeDecodeError as error:
            raise ParseError(f"{name}: the bytes {escaped.decode()} in a string are not UTF-8") from error


def _check_level(unit: Unit) -> None:
    attributes = unit.module.operation.attributes
    if "ai.level" not in attributes:
        return
    known = [level.value for level in Level]
    value = attributes["ai.level"]
    if not isinstance(value, ir.StringAttr) or value.value not in known:
        raise IRError(f"ai.level must be one of {', '.join(known)}, not {value}")
    spec.check(unit.module, Level(value.value))


def _weights_file(module: ir.Module, folder: Path) -> Path | None:
    attributes = module.operation.attributes
    if "ai.weights" not in attributes:
        return None
    name = attributes["ai.weights"]
    if not isinstance(name, ir.StringAttr):
        raise IRError(f"ai.weights must be the name of a safetensors file, not {name}")
    if name.value == ELIDED:
        raise WeightsError(
            'this text was written without its weights (ai.weights = "elided") and cannot be loaded: '
            "write it to a file (-o) without --elide-weights"
        )
    path = folder / name.value
    if not path.exists():
        raise WeightsError(
            f"the weights '{path}' (attribute ai.weights) are missing: move the file beside the text, or remove the "
            "attribute to work without values"
        )
    return path


def _print(module: ir.Module, weights: str | None, debug_info: bool) -> bytes:
    """The text, with `ai.weights` set for as long as it takes to print it."""
    attributes = module.operation.attributes
    before = attributes.get("ai.weights")
    with module.context:
        _set(attributes, ir.StringAttr.get(weights) if weights else None)
    try:
        return to_bytes(module.operation, debug_info)
    finally:
        _set(attributes, before)


def _set(attributes: ir.OpAttributeMap, value: ir.Attribute | None) -> None:
    if value is not None:
        attributes["ai.weights"] = value
    elif "ai.weights" in attributes:
        del attributes["ai.weights"]


def _save_weights(weights: WeightStore, path: Path, keys: set[str]) -> None:
    # Imported here as in WeightStore.save: most runs of a pass write no weights.
    from safetensors import SafetensorError

    try:
        weights.save(path, keys)
    except (OSError, SafetensorError) as error:
        raise OutputError(f"cannot write the weights '{path}': {error}") from error
