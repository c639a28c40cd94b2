"""What passes and code generators may know of a machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TargetChoice:
    """What a user wants a net compiled for: names of targets in order of preference, a machine of theirs, a library."""

    names: str = "cpu"  # "npu,cpu"
    machine: str | None = None  # a preset or a file *.toml
    library: str | None = None  # "openblas": what the CPU's matrix products are sent to


@dataclass(frozen=True)
class TargetRecord:
    """A machine to generate code for. It reaches passes as arguments, never by globals or the environment."""

    name: str  # "host" or the name of a CPU
    triple: str  # as LLVM spells it: "x86_64-unknown-linux-gnu"
    cpu: str  # as LLVM's -mcpu takes it: "znver4"
    features: tuple[str, ...]  # what the code may use beyond the triple's baseline: ("avx2", "fma")
    vector_bits: int  # widest vector register
    cores: int  # cores a run may use
    l1_bytes: int  # data caches of one core
    l2_bytes: int
    l3_bytes: int  # shared; 0 if there is none
