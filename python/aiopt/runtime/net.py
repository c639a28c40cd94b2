"""A compiled net in this process."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from aiopt.runtime import artifact, signature
from aiopt.runtime.artifact import Artifact
from aiopt.runtime.base import Net
from aiopt.runtime.binding import Binding, check_bindable
from aiopt.runtime.contexts import Contexts
from aiopt.runtime.cpu_library import missing_feature
from aiopt.runtime.library import (
    ABI_VERSION,
    MOST_THREADS,
    RUN_TYPE,
    STATUS,
    Context,
    NetInfo,
    Profile,
    address_of,
)
from aiopt.runtime.loader import LoadedCode
from aiopt.support.checks import whole_number
from aiopt.support.errors import ArtifactMachineError, ArtifactVersionError, CompileError, RunError
from aiopt.support.types import TensorType

_WEIGHTS_ALIGNMENT = 64


class CompiledNet(Net):
    """Code, weights and contexts of a net; callable from any number of threads at once.

    `objects`, `weights` and `features` (what the code needs of the CPU) are for those who write them to files.
    """

    def __init__(
        self, name: str, objects: Sequence[bytes], weights: np.ndarray, report: Mapping[str, Any], threads: int = 1
    ) -> None:
        """Load objects, one of which exports aiopt_<name>_info and aiopt_<name>_run (runtime/include/aiopt.h).

        weights: the packed blob, uint8, at an address that is a multiple of 64; not copied, so it must not change.
        report: kept by reference; `report()` shows what it holds then.
        Raises OptionError for a wrong thread count, CompileError if the code does not load or does not fit this CPU.
        """
        self.name = name
        self.threads = whole_number("threads", threads, 1, MOST_THREADS)
        self.objects = tuple(objects)
        self.weights = weights
        self._report = report
        code = LoadedCode(self.objects, f"net '{name}'")
        try:
            self._load(code)
        except BaseException:
            code.close()
            raise

    def bind(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> Binding:
        """A call that reads these inputs and writes these outputs where they are: `bound = net.bind(...); bound()`.

        The arrays are those of `inputs` and `outputs` in shape and dtype, dense, row-major and aligned to their
        elements; outputs can be written and share no memory with another array. Raises InputError for others.
        """
        check_bindable(self.name, self.inputs, self.outputs, inputs, outputs)
        inputs, outputs = ({name: a[name] for name in t} for t, a in ((self.inputs, inputs), (self.outputs, outputs)))
        pointers_in = self._pointers_in(*[array.ctypes.data for array in inputs.values()])
        pointers_out = self._pointers_out(*[array.ctypes.data for array in outputs.values()])
        return Binding(self._enter, pointers_in, pointers_out, inputs, outputs)

    def timed(self, inputs: Sequence[np.ndarray]) -> tuple[list[np.ndarray], list[float]]:
        """`__call__`, and the seconds of each launch."""
        nanoseconds = (ctypes.c_int64 * len(self.launches))()
        outputs = self._call(inputs, Profile(nanoseconds))
        return outputs, [time * 1e-9 for time in nanoseconds]

    def save(self, path: str | Path) -> None:
        """Write code, weights and report to one file, which `aiopt.load` reads. Raises OutputError."""
        artifact.write_artifact(Path(path), self._header(), self.objects, self.weights)

    def close(self) -> None:
        """Free code and contexts, once the calls in flight have returned. The net cannot be run any more."""
        self._release()

    def _load(self, code: LoadedCode) -> None:
        info = NetInfo.from_address(code.address(f"aiopt_{self.name}_info"))
        self._check(info)
        self.inputs: Mapping[str, TensorType] = MappingProxyType(signature.read_types(info.inputs, info.input_count))
        self.outputs: Mapping[str, TensorType] = MappingProxyType(signature.read_types(info.outputs, info.output_count))
        self.launches = [info.launches[i].decode() for i in range(info.launch_count)]
        self.features = (info.cpu_features or b"").decode()
        self._run = RUN_TYPE(code.address(f"aiopt_{self.name}_run"))
        self._pointers_in = ctypes.c_void_p * len(self.inputs)
        self._pointers_out = ctypes.c_void_p * len(self.outputs)
        blob = self.weights.ctypes.data if info.weights_bytes else None
        self._contexts = Contexts(self.name, info, blob, self.threads)
        self._release = weakref.finalize(self, _release, self._contexts, code)
        self._release.atexit = False  # the end of the process frees everything

    def _check(self, info: NetInfo) -> None:
        if info.abi_version != ABI_VERSION:
            raise ArtifactVersionError(
                f"net '{self.name}' was compiled for ABI version {info.abi_version}, this aiopt has {ABI_VERSION}: "
                "compile it again"
            )
        missing = missing_feature((info.cpu_features or b"").decode())
        if missing is not None:
            raise ArtifactMachineError(
                f"net '{self.name}' was compiled for a CPU with '{missing}', which this one lacks: "
                "compile it again on this machine"
            )
        assert self.weights.dtype == np.uint8, "weights are bytes"
        if self.weights.nbytes != info.weights_bytes:
            raise CompileError(
                f"net '{self.name}' was compiled for {info.weights_bytes} bytes of weights, but has "
                f"{self.weights.nbytes}: compile it again"
            )
        assert info.weights_bytes == 0 or self.weights.ctypes.data % _WEIGHTS_ALIGNMENT == 0, "the blob is not aligned"

    def _call(self, values: Sequence[Any], profile: Profile | None = None) -> list[np.ndarray]:
        pairs = zip(self.inputs.items(), values, strict=True)
        arrays = [signature.checked_array(name, type_, value) for (name, type_), value in pairs]
        outputs = [signature.new_array(type_) for type_ in self.outputs.values()]
        pointers_in = self._pointers_in(*[array.ctypes.data for array in arrays])
        pointers_out = self._pointers_out(*[address for _, address in outputs])
        self._enter(pointers_in, pointers_out, profile)
        return [array for array, _ in outputs]

    def _enter(self, pointers_in: Any, pointers_out: Any, profile: Profile | None = None) -> None:
        """Run the compiled entry in a context of its own. Raises AioptError after `close`."""
        context = self._contexts.take()
        try:
            if profile is not None:
                _set_hook(context, address_of("aiopt_profile_hook"), ctypes.addressof(profile))
            status = self._run(context, pointers_in, pointers_out)
        finally:
            if profile is not None:
                _set_hook(context, None, None)
            self._contexts.give(context)
        if status != 0:
            raise RunError(f"net '{self.name}' failed: {STATUS.get(status, f'status {status}')}")


def from_artifact(stored: Artifact, report: Mapping[str, Any], threads: int) -> CompiledNet:
    """The net of a file. Raises as CompiledNet does."""
    return CompiledNet(stored.header["name"], stored.objects, stored.weights, report, threads)


def _set_hook(address: int, hook: int | None, data: int | None) -> None:
    context = Context.from_address(address)
    context.hook, context.hook_data = hook, data


def _release(contexts: Contexts, code: LoadedCode) -> None:
    contexts.close()
    code.close()
