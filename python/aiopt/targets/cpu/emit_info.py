"""cpu-emit-info: the exported description of the net, `aiopt_<net>_info`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import func

from aiopt.dialects.ext import operations
from aiopt.passes.base import Pass, functions
from aiopt.passes.spec.base import LIBRARY, Level
from aiopt.passes.spec.interface import check_interface, net_name
from aiopt.passes.spec.plan import SIZES, is_planned, plan_sizes
from aiopt.passes.unit import Unit
from aiopt.runtime.cpu_library import LIBRARY_FEATURE
from aiopt.support.errors import CompileError
from aiopt.targets.cpu.name_symbols import PREFIX
from aiopt.targets.cpu.run_side_by_side import KERNELS

ABI_VERSION = 4  # AIOPT_ABI_VERSION of aiopt.h
# enum aiopt_dtype of aiopt.h by MLIR element type
DTYPES = {
    "i1": 0,
    "i8": 1,
    "i16": 2,
    "i32": 3,
    "i64": 4,
    "ui8": 5,
    "ui16": 6,
    "ui32": 7,
    "ui64": 8,
    "f16": 9,
    "f32": 10,
    "f64": 11,
    "bf16": 12,
}
_TENSOR_INFO = "!llvm.struct<(ptr, ptr, i32, i32)>"
_NET_INFO = "!llvm.struct<(i32, i32, i32, i32, i64, i64, ptr, ptr, ptr, ptr)>"


@dataclass(frozen=True)
class EmitInfo(Pass):
    """Before: @main with named arguments and the module attributes of a memory plan.
    After: the same and constants of the llvm dialect that make up `aiopt_<net>_info` (aiopt.h).

    `features` is what the code needs of the CPU, comma separated, spelled as LLVM does; the libraries it calls are
    added (`library-openblas`). The element type of a tensor is that of its memref, or the argument's attribute
    `ai.element`: bool and unsigned integers are signless in memory.
    """

    name: ClassVar[str] = "cpu-emit-info"
    requires: ClassVar[Level | None] = Level.CPU
    features: str = ""

    def run(self, unit: Unit) -> None:
        main = next((f for f in functions(unit.module) if f.name.value == "main"), None)
        if main is None:
            raise CompileError(f"{self.name}: the module has no function @main")
        if not is_planned(unit.module):
            raise CompileError(f"{self.name}: @main has no plan of its memory: run ai-plan-memory first")
        net = net_name(unit.module)
        check_interface(Level.CPU, unit.module, main)
        inputs, outputs = read_signature(main)
        regions = {f.name.value: f.attributes[KERNELS] for f in functions(unit.module) if KERNELS in f.attributes}
        launches = [_launch(op.callee.value, regions) for op in operations(main) if isinstance(op, func.CallOp)]
        text = [
            *_tensors(f"aiopt_{net}_inputs", inputs),
            *_tensors(f"aiopt_{net}_outputs", outputs),
            _string(f"aiopt_{net}_features", ",".join([*filter(None, [self.features]), *_libraries(unit.module)])),
            *_names(f"aiopt_{net}_launches", launches),
            _net_info(net, unit.module, len(inputs), len(outputs), len(launches)),
        ]
        constants = ir.Module.parse("\n".join(text))
        for op in list(constants.body.operations):
            unit.module.body.append(op.operation.clone())


def _libraries(module: ir.Module) -> list[str]:
    """Features that say which libraries have functions the net calls."""
    found = [op for op in module.body.operations if isinstance(op, func.FuncOp) and LIBRARY in op.attributes]
    return [f"{LIBRARY_FEATURE}{ir.StringAttr(op.attributes[LIBRARY]).value}" for op in found]


def _launch(callee: str, regions: Mapping[str, ir.Attribute]) -> str:
    """The kernel a call of @main launches; those of a region with `|` between."""
    if callee in regions:
        return "|".join(ir.StringAttr(name).value for name in ir.ArrayAttr(regions[callee]))
    return callee.removeprefix(PREFIX)


@dataclass(frozen=True)
class Tensor:
    """One input or output of the net."""

    name: str
    shape: list[int]
    element: str


def read_signature(main: func.FuncOp) -> tuple[list[Tensor], list[Tensor]]:
    """Inputs and outputs from the arguments of a planned @main (inputs, outputs, weights, arena)."""
    kinds = main.type.inputs[:-2]
    empty = ir.DictAttr.get({})
    attributes = list(main.arg_attrs) if "arg_attrs" in main.attributes else [empty] * (len(kinds) + 2)
    inputs: list[Tensor] = []
    outputs: list[Tensor] = []
    for kind, attribute in zip(kinds, attributes[:-2], strict=True):
        values = {entry.name: entry.attr for entry in ir.DictAttr(attribute)}
        if "ai.name" not in values:
            raise CompileError("cpu-emit-info: an argument of @main has no ai.name")
        element = ir.StringAttr(values["ai.element"]).value if "ai.element" in values else str(kind.element_type)
        if element not in DTYPES:
            raise CompileError(f"cpu-emit-info: tensors of {element} cannot cross the C interface")
        tensor = Tensor(ir.StringAttr(values["ai.name"]).value, list(kind.shape), element)
        (outputs if "ai.output" in values else inputs).append(tensor)
    return inputs, outputs


def _tensors(symbol: str, tensors: list[Tensor]) -> list[str]:
    """`const aiopt_tensor_info symbol[]` with its names and shapes."""
    if not tensors:
        return []
    kind = f"!llvm.array<{len(tensors)} x {_TENSOR_INFO}>"
    text, fields = [], []
    for i, tensor in enumerate(tensors):
        text += [_string(f"{symbol}_name_{i}", tensor.name), _integers(f"{symbol}_shape_{i}", tensor.shape)]
        fields += [
            (f"{i}, 0", f"@{symbol}_name_{i}"),
            (f"{i}, 1", f"@{symbol}_shape_{i}"),
            (f"{i}, 2", f"{len(tensor.shape)} : i32"),
            (f"{i}, 3", f"{DTYPES[tensor.element]} : i32"),
        ]
    return [*text, _aggregate(f"internal constant @{symbol}", kind, fields)]


def _names(symbol: str, names: list[str]) -> list[str]:
    """`const char *const symbol[]`, each name kept once."""
    if not names:
        return []
    known = {name: i for i, name in enumerate(dict.fromkeys(names))}
    texts = [_string(f"{symbol}_{i}", name) for name, i in known.items()]
    fields = [(str(position), f"@{symbol}_{known[name]}") for position, name in enumerate(names)]
    return [*texts, _aggregate(f"internal constant @{symbol}", f"!llvm.array<{len(names)} x ptr>", fields)]


def _net_info(net: str, module: ir.Module, inputs: int, outputs: int, launches: int) -> str:
    sizes = plan_sizes(module)
    integers = [
        *(f"{v} : i32" for v in (ABI_VERSION, inputs, outputs, launches)),
        *(f"{sizes[key]} : i64" for key in SIZES),
    ]
    pointers = [
        f"@aiopt_{net}_inputs" if inputs else "null",
        f"@aiopt_{net}_outputs" if outputs else "null",
        f"@aiopt_{net}_features",
        f"@aiopt_{net}_launches" if launches else "null",
    ]
    fields = [(str(i), value) for i, value in enumerate([*integers, *pointers])]
    return _aggregate(f"constant @aiopt_{net}_info", _NET_INFO, fields)


def _string(symbol: str, text: str) -> str:
    data = text.encode() + b"\0"
    escaped = "".join(f"\\{byte:02X}" for byte in data)
    return f'llvm.mlir.global internal constant @{symbol}("{escaped}") {{addr_space = 0 : i32}}'


def _integers(symbol: str, values: list[int]) -> str:
    """An array of int64_t; of one zero where it would be empty, for C has no empty arrays."""
    numbers = values or [0]
    kind = f"tensor<{len(numbers)}xi64>"
    return (
        f"llvm.mlir.global internal constant @{symbol}(dense<{numbers}> : {kind}) : !llvm.array<{len(numbers)} x i64>"
    )


def _aggregate(head: str, kind: str, fields: list[tuple[str, str]]) -> str:
    """A global whose fields, by position, are integers, addresses of other globals or null."""
    body = [f"%s0 = llvm.mlir.undef : {kind}"]
    for i, (position, value) in enumerate(fields):
        if value.startswith("@"):
            body.append(f"%v{i} = llvm.mlir.addressof {value} : !llvm.ptr")
        elif value == "null":
            body.append(f"%v{i} = llvm.mlir.zero : !llvm.ptr")
        else:
            body.append(f"%v{i} = llvm.mlir.constant({value}) : {value.split(' : ')[1]}")
        body.append(f"%s{i + 1} = llvm.insertvalue %v{i}, %s{i}[{position}] : {kind}")
    lines = "\n  ".join([*body, f"llvm.return %s{len(fields)} : {kind}"])
    return f"llvm.mlir.global {head}() : {kind} {{\n  {lines}\n}}"
