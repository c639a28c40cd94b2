"""The native library: version, CPU features, contexts."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from aiopt.runtime import library
from aiopt.runtime.library import NetInfo
from aiopt.support import libllvm
from aiopt.support.errors import AioptError

OK, ABI, CPU, MEMORY, ARGUMENT = range(5)


def _create(info: NetInfo | None, weights: int | None = None, threads: int = 1) -> int:
    context = ctypes.c_void_p()
    reference = ctypes.byref(info) if info is not None else None
    status = library.library().aiopt_context_create(reference, weights, threads, ctypes.byref(context))
    assert (status == OK) == bool(context.value)
    library.library().aiopt_context_destroy(context)
    return status


def _info(**fields: object) -> NetInfo:
    return NetInfo(abi_version=library.ABI_VERSION, arena_bytes=100, **fields)


def test_loads_without_mlir_and_onnx() -> None:
    code = "import sys, aiopt.runtime.net; print('mlir' in sys.modules, 'onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_header_and_python_agree(tmp_path: Path) -> None:
    """Sizes, the ABI version and the enumerations, as the C compiler sees them."""
    from e2e.native import build

    source, program = tmp_path / "sizes.c", tmp_path / "sizes"
    source.write_text(
        '#include "aiopt.h"\n#include <stdio.h>\nint main(void) { '
        'printf("%zu %zu %zu %zu %zu %d %d %d", sizeof(aiopt_net_info), '
        "sizeof(aiopt_tensor_info), sizeof(aiopt_ctx), sizeof(aiopt_profile), sizeof(aiopt_bytes), "
        "AIOPT_ABI_VERSION, AIOPT_BF16, AIOPT_ERROR_OBJECT); }"
    )
    build(source, "-o", program)
    found = [int(word) for word in subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()]
    structures = (NetInfo, library.TensorInfo, library.Context, library.Profile, library.Bytes)
    last_dtype = library.ELEMENTS.index("bf16")
    sizes = [ctypes.sizeof(structure) for structure in structures]
    assert found == [*sizes, library.ABI_VERSION, last_dtype, max(library.STATUS)]


def test_status_of_context_create() -> None:
    assert _create(_info()) == OK
    assert _create(_info(), threads=3) == OK
    assert _create(NetInfo(abi_version=library.ABI_VERSION + 1)) == ABI
    assert _create(_info(cpu_features=b"sse2,quantum")) == CPU
    assert _create(None) == ARGUMENT
    assert _create(_info(), threads=0) == ARGUMENT
    assert _create(_info(), threads=library.MOST_THREADS + 1) == ARGUMENT
    assert _create(_info(weights_bytes=8), weights=None) == ARGUMENT
    assert _create(_info(weights_bytes=8), weights=64 + 32) == ARGUMENT
    assert _create(NetInfo(abi_version=library.ABI_VERSION, arena_bytes=-1)) == ARGUMENT
    assert _create(NetInfo(abi_version=library.ABI_VERSION, arena_bytes=1 << 60)) == MEMORY


def test_unknown_feature_counts_as_missing() -> None:
    assert library.missing_cpu_feature("quantum") == "quantum"
    assert library.missing_cpu_feature("q" * 500) == "q" * 63
    assert library.missing_cpu_feature("") is None
    baseline = "neon" if platform.machine() == "aarch64" else "sse2"
    assert library.missing_cpu_feature(baseline) is None
    assert library.missing_cpu_feature(f"{baseline},,quantum,") == "quantum"


def test_features_are_those_llvm_finds() -> None:
    """Oracle: LLVM's own detection of this CPU, for all names both know."""
    features = libllvm.take_string(libllvm.function("LLVMGetHostCPUFeatures", libllvm.POINTER)()).split(",")
    known = {f[1:]: f[0] == "+" for f in features if _is_known(f[1:])}
    assert {"avx2", "fma", "avx512f"} <= set(known) or platform.machine() == "aarch64"
    assert {name: library.missing_cpu_feature(name) is None for name in known} == known


def _is_known(name: str) -> bool:
    """A known name comes back from the runtime's table, an unknown one in the buffer that all unknown ones share."""
    type_ = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)
    address = type_(("aiopt_missing_cpu_feature", library.library()))
    return address(name.encode()) != address(b"no-such-feature")


def test_missing_library_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_NAME", "libnot_there.so")
    library.path.cache_clear()
    with pytest.raises(AioptError, match="has no libnot_there.so: install it again"):
        library.path()
    library.path.cache_clear()
