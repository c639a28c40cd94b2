"""What passes and code generators may know of a machine."""

from __future__ import annotations

from dataclasses import dataclass

from aiopt.support.errors import OptionError

AUTO = "auto"
WINOGRAD = (AUTO, "off", "2", "4")
NO_LIBRARY = "none"
LIBRARIES = (NO_LIBRARY, "onednn", "openblas")


@dataclass(frozen=True)
class CodeOptions:
    """How code is made, where that is the user's to say. Raises OptionError for values that there are not.

    winograd: which convolutions are computed by Winograd's algorithm: auto (3x3 where it is faster), off (none), 2 or 4
    (all 3x3 that it can do, in tiles of so many pixels squared). Its error is at most 2e-6 (2) or 1e-5 (4) of a layer's
    largest result. cpu_library: what the CPU's matrix products are sent to. parallel: whether runs are to be fast on
    several threads, at up to twice the memory between layers.
    """

    winograd: str = AUTO
    cpu_library: str = NO_LIBRARY
    parallel: bool = False

    def __post_init__(self) -> None:
        if self.winograd not in WINOGRAD:
            raise OptionError(f"winograd is one of {', '.join(WINOGRAD)}, not '{self.winograd}'")
        if self.cpu_library not in LIBRARIES:
            raise OptionError(f"cpu_library is one of {', '.join(LIBRARIES)}, not '{self.cpu_library}'")


DEFAULTS = CodeOptions()


@dataclass(frozen=True)
class TargetChoice:
    """What a user wants a net compiled for: names of targets in order of preference, a machine of theirs, and how."""

    names: str = "cpu"  # "npu,cpu"
    machine: str | None = None  # a preset or a file *.toml
    options: CodeOptions = DEFAULTS


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
