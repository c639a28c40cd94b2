"""Records of CPUs: this machine, the levels of x86-64, and some CPUs by LLVM's names."""

from __future__ import annotations

import functools
from pathlib import Path

from aiopt.runtime.library import library
from aiopt.support import libllvm
from aiopt.support.errors import OptionError
from aiopt.support.target import TargetRecord


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Instruction sets that generated code can use, as LLVM spells them. Code is made for the triple's baseline and those
# of them the record names, so that the record says all the code needs of the CPU that runs it.
_X86 = _words(
    "adx aes avx avx2 avx512bf16 avx512bitalg avx512bw avx512cd avx512dq avx512f avx512fp16 avx512ifma avx512vbmi "
    "avx512vbmi2 avx512vl avx512vnni avx512vpopcntdq avxifma avxvnni bmi bmi2 cx16 f16c fma gfni lzcnt movbe pclmul "
    "popcnt sha sse3 sse4.1 sse4.2 ssse3 vaes vpclmulqdq"
)
_AARCH64 = _words("aes bf16 crc dotprod fp16fml fullfp16 i8mm lse rcpc rdm sha2 sha3 sve sve2")
_V2 = _words("cx16 popcnt sse3 sse4.1 sse4.2 ssse3")
_V3 = _words("avx avx2 bmi bmi2 f16c fma lzcnt movbe")
_V4 = _words("avx512bw avx512cd avx512dq avx512f avx512vl")
_X86_LEVELS = {
    "x86-64": (),
    "x86-64-v2": tuple(sorted(_V2)),
    "x86-64-v3": tuple(sorted(_V2 + _V3)),
    "x86-64-v4": tuple(sorted(_V2 + _V3 + _V4)),
}
_BF16 = ("avx512bf16", "avx512vnni")
# What code for them may use beyond x86-64-v4; they have more, which nothing here makes.
_X86_CPUS = {name: tuple(sorted(_V2 + _V3 + _V4 + _BF16)) for name in ("cooperlake", "sapphirerapids", "znver4")}
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
# What to assume of a CPU that is not this one or does not say: most since 2015 have it.
_L1_BYTES, _L2_BYTES, _L3_BYTES = 32 << 10, 512 << 10, 8 << 20


def cpu_record(name: str = "host") -> TargetRecord:
    """The record of `host`, a level of x86-64 (`x86-64-v3`) or a CPU (`znver4`). Raises OptionError for others."""
    if name == "host":
        return host()
    known = _X86_LEVELS | _X86_CPUS
    if name not in known:
        raise OptionError(f"there is no CPU '{name}' (there are: host, {', '.join(known)})")
    features, cpu = known[name], name if name in _X86_CPUS else "x86-64"
    sizes = (_L1_BYTES, _L2_BYTES, _L3_BYTES)
    return TargetRecord(name, "x86_64-unknown-linux-gnu", cpu, features, _vector_bits(features), 1, *sizes)


@functools.cache
def host() -> TargetRecord:
    """The machine this runs on, as LLVM and /sys describe it."""
    triple, cpu, text = (
        libllvm.take_string(libllvm.function(f"LLVMGet{what}", libllvm.POINTER)())
        for what in ("DefaultTargetTriple", "HostCPUName", "HostCPUFeatures")
    )
    relevant = _X86 if libllvm.host_target() == "X86" else _AARCH64
    present = (feature[1:] for feature in text.split(",") if feature.startswith("+"))
    features = tuple(sorted(feature for feature in present if feature in relevant))
    caches = _read_caches()
    return TargetRecord(
        name="host",
        triple=triple,
        cpu=cpu,
        features=features,
        vector_bits=_vector_bits(features),
        cores=library().aiopt_cpu_count(),
        l1_bytes=caches.get(1, _L1_BYTES),
        l2_bytes=caches.get(2, _L2_BYTES),
        l3_bytes=caches.get(3, 0 if caches else _L3_BYTES),
    )


def _vector_bits(features: tuple[str, ...]) -> int:
    return 512 if "avx512f" in features else 256 if "avx" in features else 128


def _read_caches() -> dict[int, int]:
    """Bytes of the caches that hold data, by level; empty where the kernel does not say (some containers)."""
    sizes = {}
    for index in sorted(_CACHES.glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except OSError:
            continue  # a cache without a description is one that nobody can plan with
        if kind != "Instruction":
            scale = {"K": 1 << 10, "M": 1 << 20}.get(size[-1:], 1)
            sizes[int(level)] = int(size.rstrip("KM")) * scale
    return sizes
