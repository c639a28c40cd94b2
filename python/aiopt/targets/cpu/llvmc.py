"""LLVM IR to a PIC object or assembly, through the C interface of the libLLVM.so that mlir itself uses.

Source: llvm-c/{Core,IRReader,TargetMachine,Transforms/PassBuilder}.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Literal

from aiopt.support import libllvm
from aiopt.support.errors import CompileError
from aiopt.support.libllvm import INT, POINTER, SIZE, STRING
from aiopt.support.target import TargetRecord

_PIC, _DEFAULT_MODEL = 2, 0  # LLVMRelocMode, LLVMCodeModel
# X86 has addressing modes enough without loop strength reduction, which takes up to 80 % of a small kernel's code
# generation. Measured without it on AVX2: ResNet-50, MiniLM and the OCR detector run as fast within 2 %, the templates
# from 5 % slower (a depthwise convolution) to 7 % faster (3x3 convolutions).
# AArch64 makes its post-indexed loads from what it leaves.
_NO_LSR = "-disable-lsr"
_FILE_TYPES = {"asm": 0, "obj": 1}  # LLVMCodeGenFileType
_FUNCTION_INDEX = 0xFFFFFFFF  # LLVMAttributeFunctionIndex
_BASELINES = {"x86_64": ("X86", "x86-64"), "aarch64": ("AArch64", "generic")}
# Measured on an OCR net of 129 launches in plain loops, seconds to compile and milliseconds a run: O1 5.8 and 292,
# O2 3.8 and 43, O3 7.5 and 44, O2 without unrolling 1.3 and 60. No kernel is inlined: time grows with their number.
PASSES = "default<O2>"
# The loops of a template have their vectors and blocks already. Measured on AVX2, templates run as fast as after O2 and
# take half to two thirds of its time.
TEMPLATE_PASSES = (
    "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(licm),gvn,"
    "instcombine<no-verify-fixpoint>,simplifycfg),globaldce"
)


class Code(StrEnum):
    """What a module holds, and so which effort pays for it.

    The entry is a list of calls, in which there is nothing to find, while the time that LLVM takes grows with its
    square. Measured for 719 launches: 0.79 s as loops, 0.02 s without passes and with the fastest code generation; a
    launch takes as long.
    """

    LOOPS = "loops"
    TEMPLATE = "template"
    ENTRY = "entry"

    @property
    def passes(self) -> str:
        return {Code.LOOPS: PASSES, Code.TEMPLATE: TEMPLATE_PASSES, Code.ENTRY: ""}[self]

    @property
    def level(self) -> int:
        """LLVMCodeGenOptLevel: none or aggressive."""
        return 0 if self is Code.ENTRY else 3


def flags() -> tuple[str, ...]:
    """How code is generated, in the words of llc."""
    return ("-O3", "-relocation-model=pic", *_options())


def _options() -> tuple[str, ...]:
    return (_NO_LSR,) if libllvm.host_target() == "X86" else ()


def compile_llvm_ir(
    ir_text: str | bytes, record: TargetRecord, kind: Literal["obj", "asm"] = "obj", code: Code = Code.LOOPS
) -> bytes:
    """Optimise LLVM IR (text or bitcode) for a CPU and emit an ELF object or assembly.

    code: what it is, which decides about passes.
    The code uses the triple's baseline and the record's features alone, scheduled for the record's CPU.
    Raises CompileError with LLVM's words.
    """
    with _context() as context, _parse(context, ir_text) as module, _machine(record, code.level) as machine:
        _set_target(module, machine, record)
        if code.passes:
            _optimise(module, machine, code.passes)
        return _emit(module, machine, kind)


def _ref(name: str, *argtypes: object):
    return libllvm.function(name, POINTER, *argtypes)


def _void(name: str, *argtypes: object):
    return libllvm.function(name, None, *argtypes)


@contextmanager
def _context() -> Iterator[int]:
    context = _ref("LLVMContextCreate")()
    try:
        yield context
    finally:
        _void("LLVMContextDispose", POINTER)(context)


@contextmanager
def _parse(context: int, ir_text: str | bytes) -> Iterator[ctypes.c_void_p]:
    data = ir_text.encode() if isinstance(ir_text, str) else ir_text
    buffer = _ref("LLVMCreateMemoryBufferWithMemoryRangeCopy", STRING, SIZE, STRING)(data, len(data), b"net")
    module, message = ctypes.c_void_p(), ctypes.c_void_p()
    out = ctypes.POINTER(ctypes.c_void_p)
    parse = libllvm.function("LLVMParseIRInContext", INT, POINTER, POINTER, out, out)
    if parse(context, buffer, ctypes.byref(module), ctypes.byref(message)):  # takes the buffer over
        raise CompileError(f"LLVM cannot read the LLVM IR: {libllvm.take_string(message.value)}")
    try:
        yield module
    finally:
        _void("LLVMDisposeModule", POINTER)(module)


@contextmanager
def _machine(record: TargetRecord, level: int) -> Iterator[int]:
    architecture = record.triple.split("-")[0]
    if architecture not in _BASELINES:
        raise CompileError(f"no CPU code for the triple '{record.triple}' (there is: {', '.join(_BASELINES)})")
    target_name, baseline = _BASELINES[architecture]
    libllvm.initialize(target_name)
    for option in _options():
        libllvm.set_option(option)
    target, message = ctypes.c_void_p(), ctypes.c_void_p()
    out = ctypes.POINTER(ctypes.c_void_p)
    if libllvm.function("LLVMGetTargetFromTriple", INT, STRING, out, out)(
        record.triple.encode(), ctypes.byref(target), ctypes.byref(message)
    ):
        raise CompileError(f"LLVM does not know the triple: {libllvm.take_string(message.value)}")
    features = ",".join(f"+{feature}" for feature in record.features)
    create = _ref("LLVMCreateTargetMachine", POINTER, STRING, STRING, STRING, INT, INT, INT)
    machine = create(target, record.triple.encode(), baseline.encode(), features.encode(), level, _PIC, _DEFAULT_MODEL)
    try:
        yield machine
    finally:
        _void("LLVMDisposeTargetMachine", POINTER)(machine)


def _set_target(module: ctypes.c_void_p, machine: int, record: TargetRecord) -> None:
    """Triple, data layout, and on each function the CPU to schedule for, which grants it no instructions."""
    _void("LLVMSetTarget", POINTER, STRING)(module, record.triple.encode())
    layout = _ref("LLVMCreateTargetDataLayout", POINTER)(machine)
    _void("LLVMSetModuleDataLayout", POINTER, POINTER)(module, layout)
    _void("LLVMDisposeTargetData", POINTER)(layout)
    context = _ref("LLVMGetModuleContext", POINTER)(module)
    cpu = record.cpu.encode()
    create = _ref("LLVMCreateStringAttribute", POINTER, STRING, ctypes.c_uint, STRING, ctypes.c_uint)
    tune = create(context, b"tune-cpu", len(b"tune-cpu"), cpu, len(cpu))
    add = _void("LLVMAddAttributeAtIndex", POINTER, ctypes.c_uint, POINTER)
    following = _ref("LLVMGetNextFunction", POINTER)
    function = _ref("LLVMGetFirstFunction", POINTER)(module)
    while function:
        add(function, _FUNCTION_INDEX, tune)
        function = following(function)


def _optimise(module: ctypes.c_void_p, machine: int, passes: str) -> None:
    options = _ref("LLVMCreatePassBuilderOptions")()
    try:
        run = _ref("LLVMRunPasses", POINTER, STRING, POINTER, POINTER)
        libllvm.check(run(module, passes.encode(), machine, options), "LLVM's passes failed")
    finally:
        _void("LLVMDisposePassBuilderOptions", POINTER)(options)


def _emit(module: ctypes.c_void_p, machine: int, kind: str) -> bytes:
    message, buffer = ctypes.c_void_p(), ctypes.c_void_p()
    out = ctypes.POINTER(ctypes.c_void_p)
    emit = libllvm.function("LLVMTargetMachineEmitToMemoryBuffer", INT, POINTER, POINTER, INT, out, out)
    if emit(machine, module, _FILE_TYPES[kind], ctypes.byref(message), ctypes.byref(buffer)):
        raise CompileError(f"LLVM cannot emit code: {libllvm.take_string(message.value)}")
    try:
        start = _ref("LLVMGetBufferStart", POINTER)(buffer)
        return ctypes.string_at(start, libllvm.function("LLVMGetBufferSize", SIZE, POINTER)(buffer))
    finally:
        _void("LLVMDisposeMemoryBuffer", POINTER)(buffer)
