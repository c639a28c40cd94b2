"""The native runtime library by ctypes: the structures and functions of include/aiopt.h."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from aiopt.support import options
from aiopt.support.affinity import read_affinity
from aiopt.support.errors import InstallationError, OptionError

ABI_VERSION = 4
MOST_THREADS = 1024

# enum aiopt_dtype -> the element as aiopt.support.types spells it
ELEMENTS = ("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64", "bf16")

# enum aiopt_status -> what went wrong
NO_MEMORY = 3
STATUS = {
    1: "object, context and runtime are of different ABI versions",
    2: "this CPU lacks a feature the code was compiled for",
    NO_MEMORY: "there is no memory for the arena, or no more threads can be started",
    4: "the runtime was given a wrong argument",
    5: "the object code cannot be loaded",
}

_NAME = "libaiopt_runtime.so"


class TensorInfo(ctypes.Structure):
    """aiopt_tensor_info"""

    _fields_: ClassVar = [
        ("name", ctypes.c_char_p),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
    ]


class NetInfo(ctypes.Structure):
    """aiopt_net_info"""

    _fields_: ClassVar = [
        ("abi_version", ctypes.c_int32),
        ("input_count", ctypes.c_int32),
        ("output_count", ctypes.c_int32),
        ("launch_count", ctypes.c_int32),
        ("arena_bytes", ctypes.c_int64),
        ("weights_bytes", ctypes.c_int64),
        ("inputs", ctypes.POINTER(TensorInfo)),
        ("outputs", ctypes.POINTER(TensorInfo)),
        ("cpu_features", ctypes.c_char_p),
        ("launches", ctypes.POINTER(ctypes.c_char_p)),
    ]


class Context(ctypes.Structure):
    """aiopt_ctx"""

    _fields_: ClassVar = [
        ("abi_version", ctypes.c_int32),
        ("threads", ctypes.c_int32),
        ("arena", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("parallel_for", ctypes.c_void_p),
        ("hook", ctypes.c_void_p),
        ("hook_data", ctypes.c_void_p),
    ]


class Profile(ctypes.Structure):
    """aiopt_profile"""

    _fields_: ClassVar = [("nanoseconds", ctypes.POINTER(ctypes.c_int64)), ("started", ctypes.c_int64)]


class Bytes(ctypes.Structure):
    """aiopt_bytes"""

    _fields_: ClassVar = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


# int32_t aiopt_NET_run(const aiopt_ctx *, const aiopt_tensor *in, aiopt_tensor *out). An aiopt_tensor is one pointer.
# Functions of this type let other Python threads run during the call.
RUN_TYPE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def include_folder() -> Path:
    """The folder that holds aiopt.h, for C programs that call compiled nets."""
    return Path(__file__).resolve().parent / "include"


@functools.cache
def path() -> Path:
    """Where the library lies. Raises AioptError if this installation has none."""
    # `_lib` holds no Python file and may lie apart from the sources (editable installs): only its path is certain.
    spec = importlib.util.find_spec("aiopt._lib")
    for place in (spec.submodule_search_locations if spec else None) or ():
        if (Path(place) / _NAME).is_file():
            return Path(place) / _NAME
    raise InstallationError(
        f"this installation of aiopt has no {_NAME}: install it again with pip (it needs a C++ compiler)"
    )


@functools.cache
def library() -> ctypes.CDLL:
    """The opened library, its functions typed. Raises AioptError if it cannot be loaded or is of another version."""
    try:
        opened = ctypes.CDLL(str(path()))
    except OSError as error:
        raise InstallationError(f"cannot load {path()}: {error}") from error
    _check_version(opened)
    opened.aiopt_missing_cpu_feature.restype = ctypes.c_char_p
    opened.aiopt_missing_cpu_feature.argtypes = [ctypes.c_char_p]
    opened.aiopt_context_create.restype = ctypes.c_int32
    opened.aiopt_context_create.argtypes = [
        ctypes.POINTER(NetInfo),
        ctypes.c_void_p,
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_void_p),
    ]
    opened.aiopt_context_destroy.restype = None
    opened.aiopt_context_destroy.argtypes = [ctypes.c_void_p]
    opened.aiopt_object_load.restype = ctypes.c_int32
    opened.aiopt_object_load.argtypes = [
        ctypes.POINTER(Bytes),
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_void_p),
        ctypes.c_char_p,
        ctypes.c_size_t,
    ]
    opened.aiopt_object_symbol.restype = ctypes.c_void_p
    opened.aiopt_object_symbol.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    opened.aiopt_object_unload.restype = None
    opened.aiopt_object_unload.argtypes = [ctypes.c_void_p]
    opened.aiopt_library_open.restype = ctypes.c_int32
    opened.aiopt_library_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    opened.aiopt_set_affinity.restype = ctypes.c_int32
    opened.aiopt_set_affinity.argtypes = [ctypes.c_int32, ctypes.POINTER(ctypes.c_int32), ctypes.c_int32]
    opened.aiopt_cpu_count.restype = ctypes.c_int32
    opened.aiopt_cpu_count.argtypes = []
    if (affinity := options.affinity()) is not None:
        _place_threads(opened, affinity)
    return opened


def _check_version(opened: ctypes.CDLL) -> None:
    """Before anything else is asked of the library: an older one lacks the newer functions."""
    opened.aiopt_abi_version.restype = ctypes.c_int32
    opened.aiopt_abi_version.argtypes = []
    if (found := opened.aiopt_abi_version()) != ABI_VERSION:
        raise InstallationError(
            f"{path()} has ABI version {found}, this aiopt needs {ABI_VERSION}: install aiopt again"
        )


def set_affinity(affinity: str | Sequence[int]) -> None:
    """Say where the threads of nets run, in this process, from now on: a process has one pool of them for all nets.

    affinity: "none": on any CPU this process may use; "compact": each bound to a CPU, one of each core from the
    caller's on, then hardware siblings; "auto" (so it is at first, unless AIOPT_AFFINITY says otherwise): compact if
    nets want more than half of the CPUs, else none; CPUs ("0,2-3", or numbers): each bound to the CPU of its place, the
    first of which stands for the thread that calls the net, which stays where it is. A run uses no more threads than
    there are places.
    Raises OptionError for something else and for a CPU this process may not use.
    """
    _place_threads(library(), affinity)


def _place_threads(opened: ctypes.CDLL, affinity: str | Sequence[int]) -> None:
    kind, cpus = read_affinity(affinity)
    status = opened.aiopt_set_affinity(kind, (ctypes.c_int32 * len(cpus))(*cpus), len(cpus))
    if status != 0:
        allowed = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        raise OptionError(f"affinity {affinity}: this process may use the CPUs {allowed} (and 1024 threads)")


def address_of(function: str) -> int | None:
    """The address of a function of the library, for structures that hold one."""
    return ctypes.cast(library()[function], ctypes.c_void_p).value


def missing_cpu_feature(features: str) -> str | None:
    """The first of these comma-separated features (spelled as LLVM does) that this CPU lacks or nobody knows."""
    found = library().aiopt_missing_cpu_feature(features.encode())
    return found.decode() if found is not None else None
