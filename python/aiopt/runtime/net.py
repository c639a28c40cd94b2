"""A compiled net in this process."""

from __future__ import annotations

import copy
import ctypes
import weakref
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from aiopt.runtime import signature
from aiopt.runtime.contexts import Contexts
from aiopt.runtime.library import ABI_VERSION, MOST_THREADS, RUN_TYPE, STATUS, NetInfo, missing_cpu_feature
from aiopt.runtime.orc import Jit
from aiopt.support.errors import AioptError, CompileError, InputError, OptionError
from aiopt.support.types import TensorType

_WEIGHTS_ALIGNMENT = 64


class CompiledNet:
    """Code, weights and contexts of a net; callable from any number of threads at once.

    `inputs` and `outputs` are its signature: name -> TensorType, in order. `object_bytes` and `weights` are what it was
    made from, for those who write them to files.
    """

    def __init__(
        self, name: str, object_bytes: bytes, weights: np.ndarray, report: Mapping[str, Any], threads: int = 1
    ) -> None:
        """Load an object that exports aiopt_<name>_info and aiopt_<name>_run (runtime/include/aiopt.h).

        weights: the packed blob, uint8, at an address that is a multiple of 64; not copied, so it must not change.
        report: kept by reference; `report()` shows what it holds then.
        Raises OptionError for a wrong thread count, CompileError if the object does not load or does not fit this CPU.
        """
        if not 1 <= threads <= MOST_THREADS:
            raise OptionError(f"threads must be from 1 to {MOST_THREADS}, not {threads}")
        self.name = name
        self.threads = threads
        self.object_bytes = object_bytes
        self.weights = weights
        self._report = report
        jit = Jit()
        try:
            self._load(jit)
        except BaseException:
            jit.close()
            raise

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Compute all outputs, by name; they are new arrays.

        Inputs are numpy arrays of exactly the shapes and dtypes of `inputs`; they are copied only where they are not
        dense and row-major. Raises InputError for others, AioptError after `close`.
        """
        signature.check_names(self.name, self.inputs, inputs)
        return dict(zip(self.outputs, self._call([inputs[name] for name in self.inputs]), strict=True))

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """`run` with inputs and outputs by position."""
        if len(inputs) != len(self.inputs):
            takes = signature.describe(self.inputs)
            raise InputError(f"net '{self.name}' was given {len(inputs)} inputs, expected {len(self.inputs)} ({takes})")
        return self._call(inputs)

    def report(self) -> dict[str, Any]:
        """What the compiler says of this net; a copy."""
        return copy.deepcopy(dict(self._report))

    def close(self) -> None:
        """Free code and contexts, once the calls in flight have returned. The net cannot be run any more."""
        self._release()

    def __enter__(self) -> CompiledNet:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"CompiledNet({self.name}: {signature.describe(self.inputs)} -> {signature.describe(self.outputs)})"

    def _load(self, jit: Jit) -> None:
        jit.add(self.object_bytes, f"net '{self.name}'")
        info = NetInfo.from_address(jit.address(f"aiopt_{self.name}_info"))
        self._check(info)
        self.inputs: Mapping[str, TensorType] = MappingProxyType(signature.read_types(info.inputs, info.input_count))
        self.outputs: Mapping[str, TensorType] = MappingProxyType(signature.read_types(info.outputs, info.output_count))
        self._run = RUN_TYPE(jit.address(f"aiopt_{self.name}_run"))
        self._pointers_in = ctypes.c_void_p * len(self.inputs)
        self._pointers_out = ctypes.c_void_p * len(self.outputs)
        blob = self.weights.ctypes.data if info.weights_bytes else None
        self._contexts = Contexts(self.name, info, blob, self.threads)
        self._release = weakref.finalize(self, _release, self._contexts, jit)
        self._release.atexit = False  # the end of the process frees everything

    def _check(self, info: NetInfo) -> None:
        if info.abi_version != ABI_VERSION:
            raise CompileError(
                f"net '{self.name}' was compiled for ABI version {info.abi_version}, this aiopt has {ABI_VERSION}: "
                "compile it again"
            )
        missing = missing_cpu_feature((info.cpu_features or b"").decode())
        if missing is not None:
            raise CompileError(
                f"net '{self.name}' was compiled for a CPU with '{missing}', which this one lacks: "
                "compile it again on this machine"
            )
        assert self.weights.dtype == np.uint8, "weights are bytes"
        assert self.weights.nbytes == info.weights_bytes, "the blob is not the one the code was compiled for"
        assert info.weights_bytes == 0 or self.weights.ctypes.data % _WEIGHTS_ALIGNMENT == 0, "the blob is not aligned"

    def _call(self, values: Any) -> list[np.ndarray]:
        pairs = zip(self.inputs.items(), values, strict=True)
        arrays = [signature.checked_array(name, type_, value) for (name, type_), value in pairs]
        outputs = [signature.new_array(type_) for type_ in self.outputs.values()]
        pointers_in = self._pointers_in(*[array.ctypes.data for array in arrays])
        pointers_out = self._pointers_out(*[address for _, address in outputs])
        context = self._contexts.take()
        try:
            status = self._run(context, pointers_in, pointers_out)
        finally:
            self._contexts.give(context)
        if status != 0:
            raise AioptError(f"net '{self.name}' failed: {STATUS.get(status, f'status {status}')}")
        return [array for array, _ in outputs]


def _release(contexts: Contexts, jit: Jit) -> None:
    contexts.close()
    jit.close()
