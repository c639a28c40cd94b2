"""cpu-emit-entry: launches through the context and the exported function `aiopt_<net>_run`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlir import ir
from mlir.dialects import llvm

from aiopt.passes.base import Pass
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.interface import net_name
from aiopt.passes.unit import Unit
from aiopt.passes.walk import ops_named
from aiopt.support.errors import CompileError
from aiopt.targets.cpu.emit_info import ABI_VERSION
from aiopt.targets.cpu.outline_tasks import PARALLEL

# aiopt_ctx: version, threads, arena, weights, parallel_for, hook, hook_data
_CONTEXT = "!llvm.struct<(i32, i32, ptr, ptr, ptr, ptr, ptr)>"
_BLOBS = 2  # the last arguments of a planned @main: weights, arena
_STATUS_ABI = 1  # AIOPT_ERROR_ABI


@dataclass(frozen=True)
class EmitEntry(Pass):
    """Before: llvm functions on bare pointers; task calls marked `ai.parallel`.
    After: those calls go through `ctx->parallel_for`, `ctx->hook` is called around each launch of @main, and
    `aiopt_<net>_run` checks the ABI version and calls @main.

    @main becomes `aiopt_<net>_main`; all functions but the entry are internal. Kernels and tasks are not inlined:
    their arguments' `noalias` is what lets LLVM vectorize them, and a profile shows them by name.
    """

    name: ClassVar[str] = "cpu-emit-entry"
    requires: ClassVar[Level | None] = Level.CPU
    ensures: ClassVar[Level | None] = Level.LLVM

    def run(self, unit: Unit) -> None:
        defined = [op for op in unit.module.body.operations if isinstance(op, llvm.LLVMFuncOp) and len(op.body.blocks)]
        functions = {_name(op): op for op in defined}
        if "main" not in functions:
            raise CompileError(f"{self.name}: the module has no function @main in the llvm dialect")
        if len(functions["main"].body.blocks[0].arguments) < _BLOBS:
            raise CompileError(f"{self.name}: @main has no plan of its memory: run ai-plan-memory first")
        launching = [f for f in functions.values() if any(PARALLEL in c.attributes for c in _calls(f))]
        _pass_context(functions, launching)
        text = ""
        for function in launching:
            for call in [call for call in _calls(function) if PARALLEL in call.attributes]:
                text += _launch(call, function)
        net = net_name(unit.module)
        text += _call_hook(functions, net)
        for function in functions.values():
            _make_internal(function)
        _append(unit.module, text + _emit_run(functions["main"], net))


def _append(module: ir.Module, text: str) -> None:
    """Append the functions of a text that have a body; it declares those of `module` that they call."""
    parsed = ir.Module.parse(text)
    for op in parsed.body.operations:
        if len(op.regions[0].blocks):
            module.body.append(op.operation.clone())


def _pass_context(functions: dict[str, llvm.LLVMFuncOp], launching: list[llvm.LLVMFuncOp]) -> None:
    """Give functions that launch tasks, and those that call them, the context as their last argument."""
    takes = {_name(f) for f in launching}
    callers = {name: _calls(f) for name, f in functions.items()}
    while more := {n for n, calls in callers.items() if n not in takes and any(_callee(c) in takes for c in calls)}:
        takes |= more
    takes.add("main")  # aiopt_<net>_run passes it without asking
    for name in takes:
        _append_argument(functions[name])
    for name in takes:
        for call in callers[name]:
            if _callee(call) in takes:
                _replace_call(call, _callee(call), _context_of(functions[name]))


def _name(function: llvm.LLVMFuncOp) -> str:
    return ir.StringAttr(function.attributes["sym_name"]).value


def _calls(function: llvm.LLVMFuncOp) -> list[llvm.CallOp]:
    return [op.opview for op in ops_named(function, "llvm.call")]  # pyright: ignore[reportReturnType]


def _callee(call: llvm.CallOp) -> str:
    return "" if call.callee is None else call.callee.value


def _context_of(function: llvm.LLVMFuncOp) -> ir.Value:
    return function.body.blocks[0].arguments[-1]


def _append_argument(function: llvm.LLVMFuncOp) -> None:
    block = function.body.blocks[0]
    count = len(block.arguments)
    block.add_argument(ir.Type.parse("!llvm.ptr"), function.location)
    kinds = ", ".join(str(a.type) for a in block.arguments)
    attributes = list(function.arg_attrs or [ir.DictAttr.get({})] * count)
    function.attributes["function_type"] = ir.TypeAttr.parse(f"!llvm.func<void ({kinds})>")
    function.attributes["arg_attrs"] = ir.ArrayAttr.get([*attributes, ir.DictAttr.get({})])


def _replace_call(call: llvm.CallOp, callee: str, context: ir.Value) -> None:
    """The same call of `callee` with the context as one more operand."""
    with ir.InsertionPoint(call), call.location:
        new = llvm.CallOp(None, [*call.callee_operands, context], [], [], callee=callee)
    if "ai.nodes" in call.attributes:
        new.operation.attributes["ai.nodes"] = call.attributes["ai.nodes"]
    call.operation.erase()


def _launch(call: llvm.CallOp, function: llvm.LLVMFuncOp) -> str:
    """Call a function that hands the task and its arguments to `ctx->parallel_for`; the text of this function."""
    task = _callee(call)
    buffers, width = len(call.callee_operands) - 2, ir.IntegerAttr(call.attributes[PARALLEL]).value
    _replace_call(call, f"{task}.launch", _context_of(function))
    return _trampoline(task, buffers) + _launcher(task, buffers, width)


def _trampoline(task: str, buffers: int) -> str:
    """An aiopt_task: unpack the array of pointers and call the task."""
    kinds = "!llvm.ptr, " * buffers
    lines = [
        f"llvm.func @{task}({kinds}i64, i64)",
        f"llvm.func internal @{task}.range(%args: !llvm.ptr, %begin: i64, %end: i64) {{",
    ]
    for i in range(buffers):
        lines.append(f"  %p{i} = llvm.getelementptr inbounds %args[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr")
        lines.append(f"  %v{i} = llvm.load %p{i} : !llvm.ptr -> !llvm.ptr")
    operands = "".join(f"%v{i}, " for i in range(buffers))
    lines.append(f"  llvm.call @{task}({operands}%begin, %end) : ({kinds}i64, i64) -> ()")
    return "\n".join([*lines, "  llvm.return", "}", ""])


def _launcher(task: str, buffers: int, width: int) -> str:
    """Pack the arguments into an array on the stack and run the iterations 0 <= i < count, rows of a width."""
    arguments = "".join(f"%v{i}: !llvm.ptr, " for i in range(buffers))
    lines = [
        f"llvm.func internal @{task}.launch({arguments}%zero: i64, %count: i64, %ctx: !llvm.ptr) {{",
        f"  %size = llvm.mlir.constant({max(buffers, 1)} : i64) : i64",
        "  %args = llvm.alloca %size x !llvm.ptr : (i64) -> !llvm.ptr",
    ]
    for i in range(buffers):
        lines.append(f"  %p{i} = llvm.getelementptr inbounds %args[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr")
        lines.append(f"  llvm.store %v{i}, %p{i} : !llvm.ptr, !llvm.ptr")
    return "\n".join(
        [
            *lines,
            f"  %task = llvm.mlir.addressof @{task}.range : !llvm.ptr",
            f"  %field = llvm.getelementptr inbounds %ctx[0, 4] : (!llvm.ptr) -> !llvm.ptr, {_CONTEXT}",
            "  %parallel_for = llvm.load %field : !llvm.ptr -> !llvm.ptr",
            f"  %width = llvm.mlir.constant({width} : i64) : i64",
            "  llvm.call %parallel_for(%ctx, %task, %args, %count, %width)"
            " : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()",
            "  llvm.return",
            "}",
            "",
        ]
    )


def _call_hook(functions: dict[str, llvm.LLVMFuncOp], net: str) -> str:
    """Around each launch of @main, in their order: `if (ctx->hook) ctx->hook(ctx->hook_data, launch, after)`.

    The text of the function that does so, if it is called.
    """
    main, name = functions["main"], f"aiopt_{net}_hook"
    launches = [call for call in _calls(main) if _callee(call).removesuffix(".launch") in functions]
    for launch, call in enumerate(launches):
        _hook_call(name, ir.InsertionPoint(call), call, _context_of(main), launch, 0)
        _hook_call(name, ir.InsertionPoint.after(call), call, _context_of(main), launch, 1)
    return _hook(name) if launches else ""


def _hook_call(
    name: str, place: ir.InsertionPoint, call: llvm.CallOp, context: ir.Value, launch: int, after: int
) -> None:
    i32 = ir.IntegerType.get_signless(32)
    with place, call.location:
        numbers = [llvm.ConstantOp(i32, ir.IntegerAttr.get(i32, value)).result for value in (launch, after)]
        llvm.CallOp(None, [context, *numbers], [], [], callee=name)


def _hook(name: str) -> str:
    return f"""
llvm.func internal @{name}(%ctx: !llvm.ptr, %launch: i32, %after: i32) attributes {{always_inline}} {{
  %field = llvm.getelementptr inbounds %ctx[0, 5] : (!llvm.ptr) -> !llvm.ptr, {_CONTEXT}
  %hook = llvm.load %field : !llvm.ptr -> !llvm.ptr
  %null = llvm.mlir.zero : !llvm.ptr
  %is_set = llvm.icmp "ne" %hook, %null : !llvm.ptr
  llvm.cond_br %is_set weights([1, 10000]), ^call, ^done
^call:
  %data_field = llvm.getelementptr inbounds %ctx[0, 6] : (!llvm.ptr) -> !llvm.ptr, {_CONTEXT}
  %data = llvm.load %data_field : !llvm.ptr -> !llvm.ptr
  llvm.call %hook(%data, %launch, %after) : !llvm.ptr, (!llvm.ptr, i32, i32) -> ()
  llvm.br ^done
^done:
  llvm.return
}}"""


def _make_internal(function: llvm.LLVMFuncOp) -> None:
    function.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    function.attributes["no_inline"] = ir.UnitAttr.get()


def _emit_run(main: llvm.LLVMFuncOp, net: str) -> str:
    """The text of `int32_t aiopt_<net>_run(const aiopt_ctx *ctx, const aiopt_tensor *in, aiopt_tensor *out)`."""
    main.attributes["sym_name"] = ir.StringAttr.get(f"aiopt_{net}_main")
    attributes = [ir.DictAttr(entry) for entry in main.arg_attrs or []]
    main.attributes["arg_attrs"] = ir.ArrayAttr.get([_without_ours(entry) for entry in attributes])
    *tensors, _weights, _arena, _context = attributes
    loads, operands = _load_operands(["ai.output" in entry for entry in tensors])
    kinds = ", ".join(["!llvm.ptr"] * len(operands))
    return f"""
llvm.func @aiopt_{net}_main({kinds})
llvm.func @aiopt_{net}_run(%ctx: !llvm.ptr, %in: !llvm.ptr, %out: !llvm.ptr) -> i32 {{
  %version = llvm.load %ctx : !llvm.ptr -> i32
  %expected = llvm.mlir.constant({ABI_VERSION} : i32) : i32
  %same = llvm.icmp "eq" %version, %expected : i32
  llvm.cond_br %same, ^run, ^mismatch
^run:
  {loads}
  llvm.call @aiopt_{net}_main({", ".join(operands)}) : ({kinds}) -> ()
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
^mismatch:
  %status = llvm.mlir.constant({_STATUS_ABI} : i32) : i32
  llvm.return %status : i32
}}"""


def _without_ours(attributes: ir.DictAttr) -> ir.DictAttr:
    """What LLVM IR has a word for: it warns of all else."""
    return ir.DictAttr.get({entry.name: entry.attr for entry in attributes if not entry.name.startswith("ai.")})


def _load_operands(is_output: list[bool]) -> tuple[str, list[str]]:
    """Loads of `in[i].data`, `out[i].data` and the context's pointers; the operands of @main they make up."""
    lines: list[str] = []
    operands: list[str] = []

    def load(name: str, base: str, position: str, kind: str) -> None:
        lines.append(f"%{name}_p = llvm.getelementptr inbounds %{base}[{position}] : (!llvm.ptr) -> !llvm.ptr, {kind}")
        lines.append(f"%{name} = llvm.load %{name}_p : !llvm.ptr -> !llvm.ptr")
        operands.append(f"%{name}")

    for i, output in enumerate(is_output):
        array, index = ("out", sum(is_output[:i])) if output else ("in", i - sum(is_output[:i]))
        load(f"{array}{index}", array, str(index), "!llvm.ptr")  # an aiopt_tensor is one pointer
    load("weights", "ctx", "0, 3", _CONTEXT)
    load("arena", "ctx", "0, 2", _CONTEXT)
    return "\n  ".join(lines), [*operands, "%ctx"]
