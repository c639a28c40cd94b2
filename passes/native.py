"""What upstream's pass manager has in C or C++ but not in its Python bindings.

The calls take and return plain C values (void, bool, pointers, a StringRef in two registers), and the wheels' version
is pinned, so that no C++ object is ever laid out here. docs/adr/021 says why this is better than doing without.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mlir import _mlir_libs, ir
from mlir.passmanager import PassManager

_pointer = ctypes.c_void_p


class _StringRef(ctypes.Structure):
    """llvm::StringRef, and MlirStringRef alike."""

    _fields_ = (("data", _pointer), ("length", ctypes.c_size_t))

    @classmethod
    def of(cls, text: str) -> _StringRef:
        made = cls()
        made.keep = data = ctypes.create_string_buffer(text.encode())
        made.data, made.length = ctypes.addressof(data), len(data) - 1
        return made


class _LogicalResult(ctypes.Structure):
    _fields_ = (("value", ctypes.c_int8),)


_Void = ctypes.CFUNCTYPE(None, _pointer)
_Clone = ctypes.CFUNCTYPE(_pointer, _pointer)
_Run = ctypes.CFUNCTYPE(None, _pointer, _pointer, _pointer)
_Say = ctypes.CFUNCTYPE(None, _StringRef, _pointer)


class _Callbacks(ctypes.Structure):
    """MlirExternalPassCallbacks."""

    _fields_ = (("construct", _Void), ("destruct", _Void), ("initialize", _pointer), ("clone", _Clone), ("run", _Run))


_REGISTER_PRINTER_OPTIONS = "_ZN4mlir27registerAsmPrinterCLOptionsEv"
_REGISTER_CONTEXT_OPTIONS = "_ZN4mlir28registerMLIRContextCLOptionsEv"
_FIND_PASS = "_ZN4mlir8PassInfo6lookupEN4llvm9StringRefE"
_FIND_PIPELINE = "_ZN4mlir16PassPipelineInfo6lookupEN4llvm9StringRefE"
_PRINT_PASSES = "_ZN4mlir21printRegisteredPassesEv"

_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "LLVMParseCommandLineOptions": (None, [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p), ctypes.c_char_p]),
    "mlirTypeIDAllocatorCreate": (_pointer, []),
    "mlirTypeIDAllocatorAllocateTypeID": (_pointer, [_pointer]),
    "mlirCreateExternalPass": (
        _pointer,
        [_pointer, *[_StringRef] * 4, ctypes.c_ssize_t, _pointer, _Callbacks, _pointer],
    ),
    "mlirExternalPassSignalFailure": (None, [_pointer]),
    "mlirPassManagerGetAsOpPassManager": (_pointer, [_pointer]),
    "mlirOpPassManagerGetNestedUnder": (_pointer, [_pointer, _StringRef]),
    "mlirOpPassManagerAddOwnedPass": (None, [_pointer, _pointer]),
    "mlirOpPassManagerAddPipeline": (_LogicalResult, [_pointer, _StringRef, _Say, _pointer]),
    "mlirPassManagerRunOnOp": (_LogicalResult, [_pointer, _pointer]),
    _REGISTER_PRINTER_OPTIONS: (None, []),
    _REGISTER_CONTEXT_OPTIONS: (None, []),
    _FIND_PASS: (_pointer, [_StringRef]),
    _FIND_PIPELINE: (_pointer, [_StringRef]),
    _PRINT_PASSES: (None, []),
}


def is_registered(name: str) -> bool:
    """True if upstream has a pass or a pipeline of this name."""
    return bool(_call(_FIND_PASS, _StringRef.of(name)) or _call(_FIND_PIPELINE, _StringRef.of(name)))


def print_passes() -> None:
    """Let MLIR print the passes it has registered (importing mlir has registered them all)."""
    _call(_PRINT_PASSES)


def set_options(arguments: Sequence[str]) -> None:
    """Set LLVM's and MLIR's own command-line options (`--mlir-print-op-generic`, `--debug-only=...`) for this process.

    Contexts made and IR printed from here on obey them. What LLVM does not know it ignores.
    """
    _call(_REGISTER_PRINTER_OPTIONS)
    _call(_REGISTER_CONTEXT_OPTIONS)
    words = [b"aiopt", *(argument.encode() for argument in arguments)]
    _call("LLVMParseCommandLineOptions", len(words), (ctypes.c_char_p * len(words))(*words), None)


class Manager:
    """A pass manager of upstream's into which Python passes can be put at any nesting."""

    def __init__(self, anchor: str) -> None:
        self.manager = PassManager(anchor)
        self._address = _address(self.manager)
        self.top = _call("mlirPassManagerGetAsOpPassManager", self._address)
        self._kept: list[Any] = []  # callbacks that native code holds

    def nested(self, parent: int, anchor: str) -> int:
        """A pass manager within `parent` that runs on the ops of this name."""
        return _call("mlirOpPassManagerGetNestedUnder", parent, _StringRef.of(anchor))

    def add_text(self, parent: int, text: str) -> str:
        """Add passes of upstream's; what its parser complains of, or nothing."""
        said: list[str] = []
        say = _Say(lambda part, _: said.append(ctypes.string_at(part.data, part.length).decode()))
        good = _call("mlirOpPassManagerAddPipeline", parent, _StringRef.of(text), say, None).value
        return "" if good else "".join(said) or text

    def add(self, parent: int, name: str, text: str, work: Callable[[ir.Operation], bool]) -> None:
        """Add a Python pass: `work` is called on the op and says whether it went well.

        name: what timing and banners call it; text: what stands for it in a pipeline, options included.
        """

        def run(op: int, this: int, _: int) -> None:
            if not work(_operation(op)):
                _call("mlirExternalPassSignalFailure", this)

        callbacks = _Callbacks(_Void(_nothing), _Void(_nothing), None, _Clone(_same), _Run(run))
        self._kept.append(callbacks)
        texts = [_StringRef.of(part) for part in (name, text, "", "")]
        made = _call("mlirCreateExternalPass", _new_type_id(), *texts, 0, None, callbacks, None)
        _call("mlirOpPassManagerAddOwnedPass", parent, made)

    def close(self) -> None:
        """End it, which is when it reports the times it took."""
        del self.manager

    def run(self, op: ir.Operation) -> bool:
        """Run all passes; False if one failed. Diagnostics go to the context's handlers."""
        return bool(_call("mlirPassManagerRunOnOp", self._address, _address(op)).value)


def _nothing(_: int) -> None:
    """Callback of an external pass that has nothing to set up or tear down."""


def _same(data: int) -> int:
    return data


def _new_type_id() -> int:
    return _call("mlirTypeIDAllocatorAllocateTypeID", _type_ids())


@cache
def _type_ids() -> int:
    return _call("mlirTypeIDAllocatorCreate")


@cache
def _library() -> ctypes.PyDLL:
    """A library whose functions run under the interpreter's lock, which the bindings' diagnostic handlers rely on."""
    return ctypes.PyDLL(str(Path(_mlir_libs.__file__).with_name("libMLIRPythonCAPI.so")))


@cache
def _function(name: str) -> Any:
    function = _library()[name]
    function.restype, function.argtypes = _SIGNATURES[name]
    return function


def _call(name: str, *arguments: Any) -> Any:
    return _function(name)(*arguments)


def _address(wrapper: PassManager | ir.Operation) -> int:
    """The pointer inside a Python object of the bindings."""
    kind = "ir.Operation" if isinstance(wrapper, ir.Operation) else "passmanager.PassManager"
    capsule: Any = wrapper._CAPIPtr
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = _pointer, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, f"mlir.{kind}._CAPIPtr".encode())


def _operation(address: int) -> ir.Operation:
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [_pointer, ctypes.c_char_p, _pointer]
    return ir.Operation._CAPICreate(make(address, b"mlir.ir.Operation._CAPIPtr", None))  # pyright: ignore[reportReturnType]
