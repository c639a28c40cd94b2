"""One LLVM module per kernel: they are compiled in parallel, and an unchanged kernel need not be compiled again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlir import ir
from mlir.dialects import llvm

from aiopt.passes.spec.interface import net_name
from aiopt.passes.templates.registry import has_emitted_loops
from aiopt.passes.walk import ops_named
from aiopt.targets.cpu.llvmc import Code

_SYMBOL_OPS = ("llvm.call", "llvm.mlir.addressof")
_SYMBOL_ATTRIBUTES = ("callee", "global_name")  # of these
_HIDDEN = 1  # LLVM's visibility: other objects of the net see it, other libraries do not


@dataclass(frozen=True)
class Part:
    """A module to compile, what symbols of the object are to be called then, and what code it is."""

    module: ir.Module
    symbols: Mapping[str, str]
    code: Code = Code.LOOPS


def split_kernels(module: ir.Module) -> list[Part]:
    """The module of level LLVM as several: first the entry with @main, then one for each kernel @main calls.

    A kernel takes along what it refers to (tasks, launchers, constants, declarations). It is compiled under names that
    say nothing of net and number, so that equal kernels of two nets have equal modules; afterwards it is called
    `aiopt_<net>_<kernel>`, so that objects of several nets can be linked into one program.
    """
    symbols = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in module.body.operations}
    net = net_name(module)
    prefix = f"aiopt_{net}_"
    entry = _reachable([f"{prefix}main"], symbols, stop={name for name in symbols if not name.startswith(prefix)})
    referenced = dict.fromkeys(name for function in entry for name in _references(symbols[function]))
    kernels = [name for name in referenced if name in entry and _is_kernel(symbols[name], prefix)]
    with module.context, ir.Location.unknown():
        inside: set[str] = set()
        parts = []
        for kernel in kernels:
            needed = _reachable([kernel], symbols)
            inside.update(name for name in needed if _is_defined(symbols[name]))
            names = _neutral_names(kernel, [name for name in needed if _is_defined(symbols[name])])
            part = _extract(needed, symbols, names, exported={kernel})
            renaming = {new: prefix + old if old == kernel else old for old, new in names.items()}
            code = Code.TEMPLATE if has_emitted_loops(symbols[kernel]) else Code.LOOPS
            parts.append(Part(part, renaming, code))
        rest = [name for name in symbols if name not in inside or name in kernels]
        rest = _reachable([name for name in rest if name not in kernels], symbols, stop=set(kernels))
        renamed = {kernel: prefix + kernel for kernel in kernels}
        return [Part(_extract(rest, symbols, renamed, declared=set(kernels)), {}, Code.ENTRY), *parts]


def _neutral_names(kernel: str, defined: list[str]) -> dict[str, str]:
    """kernel, kernel_task_0, kernel_task_0_launch ...; all else that is defined with it is a constant."""
    own = [name for name in defined if name == kernel or name.startswith(f"{kernel}_")]
    constants = [name for name in defined if name not in own]
    names = {name: "kernel" + name.removeprefix(kernel) for name in own}
    return names | {name: f"constant_{i}" for i, name in enumerate(constants)}


def _is_defined(op: ir.OpView) -> bool:
    return not isinstance(op, llvm.LLVMFuncOp) or len(op.body.blocks) > 0


def _is_kernel(op: ir.OpView, prefix: str) -> bool:
    name = ir.StringAttr(op.attributes["sym_name"]).value
    return isinstance(op, llvm.LLVMFuncOp) and _is_defined(op) and not name.startswith(prefix)


def _references(op: ir.OpView) -> list[str]:
    """The symbols an op and those inside it refer to, in order."""
    found = []
    for inner in ops_named(op, *_SYMBOL_OPS):
        for key in _SYMBOL_ATTRIBUTES:
            if key in inner.attributes:
                found.append(ir.FlatSymbolRefAttr(inner.attributes[key]).value)
    return found


def _reachable(roots: Iterable[str], symbols: dict[str, ir.OpView], stop: frozenset[str] | set[str] = frozenset()):
    """The roots and all they refer to, in a stable order; references of `stop` are not followed."""
    found: dict[str, None] = {}
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found[name] = None
        if name not in stop:
            pending += _references(symbols[name])
    return [name for name in symbols if name in found]


def _extract(
    names: list[str],
    symbols: dict[str, ir.OpView],
    renamed: dict[str, str],
    declared: set[str] | frozenset[str] = frozenset(),
    exported: set[str] | frozenset[str] = frozenset(),
) -> ir.Module:
    part = ir.Module.create()
    with ir.InsertionPoint(part.body):
        for name in names:
            op = _declare(symbols[name]) if name in declared else symbols[name].operation.clone()
            if name in renamed:
                op.attributes["sym_name"] = ir.StringAttr.get(renamed[name])
            if name in declared or name in exported:
                op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
                op.attributes["visibility_"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _HIDDEN)
    for op in ops_named(part.operation, *_SYMBOL_OPS):
        for key in _SYMBOL_ATTRIBUTES:
            if key in op.attributes:
                target = ir.FlatSymbolRefAttr(op.attributes[key]).value
                if target in renamed:
                    op.attributes[key] = ir.FlatSymbolRefAttr.get(renamed[target])
    return part


def _declare(function: ir.OpView) -> ir.Operation:
    """The function without its body."""
    kept = {key: function.attributes[key] for key in ("sym_name", "function_type")}
    return ir.Operation.create("llvm.func", attributes=kept, regions=1)
