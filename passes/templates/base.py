"""What a template is, and the facts of a machine that its parameters depend on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mlir.dialects import func

from aiopt.passes.templates.read_kernel import read_contraction
from aiopt.support.errors import PipelineError

TEMPLATE_ROUTE, LIBRARY_ROUTE, STRUCTURED_ROUTE = "template", "library", "structured"  # values of `ai.route`
Parameters = dict[str, int]
# What templates of one kind see of a kernel function; None if it is something else. `known`: its arguments, by number,
# that are constants of known value at every call.
Reader = Callable[[func.FuncOp, frozenset[int]], Any]


@dataclass(frozen=True)
class Facts:
    """What a template may know of the machine: bits and number of vector registers, bytes of one core's L2 cache.

    fma: it multiplies and adds in one instruction. dot: it sums pairs of bf16 products in one.
    winograd: which sizes of tiles Winograd's algorithm may compute, whose error grows with them.
    library: the library that is to compute what it can; empty: none. parallel: runs are to be fast on several threads.
    """

    vector_bits: int
    registers: int
    l2_bytes: int
    cores: int
    fma: bool
    dot: bool = False
    winograd: tuple[int, ...] = ()
    library: str = ""
    parallel: bool = False

    def __post_init__(self) -> None:
        least = {"vector_bits": 128, "registers": 3, "l2_bytes": 1, "cores": 1}
        for name, number in least.items():
            if (given := getattr(self, name)) < number:
                raise PipelineError(f"a machine's {name.replace('_', '-')} must be {number} or more, not {given}")
        if self.vector_bits & (self.vector_bits - 1):
            raise PipelineError(f"a machine's vector-bits must be a power of two, not {self.vector_bits}")

    @property
    def lanes(self) -> int:
        """f32 elements of a vector register."""
        return self.vector_bits // 32


@dataclass(frozen=True)
class Template:
    """A way to emit kernels of one pattern. Modules of this package offer one as `TEMPLATE`.

    read: what it sees of a kernel (the functions below get that): a contraction, unless it says otherwise.
    numbers: the names of its parameters.
    matches: says whether the template covers the kernel.
    cost: cycles that the kernel takes on one core, inf where the facts rule the template out. Of several templates that
    cover a kernel the one of least cost is taken.
    parameters: the numbers it would emit the kernel with on a machine.
    ranges: the legal values of each number that a tuner may vary, independent of the others.
    emit: builds the loops at the current insertion point, from the views of what is read to that of the result.
    route: of its kernels. The weights of those of the route "library" are not packed.
    """

    name: str
    numbers: tuple[str, ...]
    matches: Callable[[Any], bool]
    cost: Callable[[Any, Facts], float]
    parameters: Callable[[Any, Facts], Parameters]
    ranges: Callable[[Any, Facts], dict[str, Sequence[int]]]
    emit: Callable[[Any, Parameters, Any], None]
    read: Reader = read_contraction
    route: str = TEMPLATE_ROUTE


def no_rival(kernel: object, facts: Facts) -> float:
    """The cost where no other template covers the same kernels."""
    return 0.0
