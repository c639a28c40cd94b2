"""`aiopt.compile`: from the cache if it can, else by the compiler, which is loaded only then."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from aiopt.cache import NetCache, cache_key
from aiopt.runtime.base import Net
from aiopt.runtime.library import MOST_THREADS
from aiopt.source import Source, read_source
from aiopt.specialize import SpecializingNet
from aiopt.support import checks
from aiopt.support.errors import OptionError, OutputError
from aiopt.support.fusion import MODES
from aiopt.support.kernel_cache import KernelCache
from aiopt.support.options import cache_wanted
from aiopt.support.target import AUTO, NO_LIBRARY, CodeOptions, TargetChoice

if TYPE_CHECKING:
    from aiopt.staged import StagedNet

NO_AMP = "none"
AMP = (NO_AMP, "bf16", "f16")
KEPT = 8  # nets of how many shapes a SpecializingNet keeps
Shapes = Mapping[str, Sequence[int]]


def compile(
    model: Any,
    *,
    target: str = "cpu",
    machine: str | None = None,
    cpu_library: str = NO_LIBRARY,
    threads: int = 1,
    shapes: Shapes | None = None,
    amp: str = NO_AMP,
    calibration: Mapping[str, np.ndarray] | None = None,
    fusion: str = AUTO,
    winograd: str = AUTO,
    cache: bool = True,
    keep: int = KEPT,
) -> Net | StagedNet | SpecializingNet:
    """Compile a model into a callable net.

    model: a path or bytes of an ONNX file, a path of MLIR text or bytecode at any level, a ModelProto or a Module.
    target: "cpu", or names in order of preference: with "npu,cpu", an NPU runs what it can and the CPU the rest, which
    `report()["kernels"]` shows. machine: the NPU, the name of a preset (edge16, mid32) or a file *.toml (docs/npu.md).
    cpu_library: "openblas" or "onednn": send matrix products and pointwise convolutions of f32 to a library of another
    package (ADR 030), which must then be there where the net is loaded. `report()["kernels"]` shows the route of each.
    shapes: the full shape of each input whose dimensions the model leaves open, by name. Without any, such a model
    becomes a SpecializingNet: it is compiled at the first call of each shape, and the nets of the last `keep` shapes
    are kept.
    threads: of a run. With several, what lies between layers may take up to twice the memory that it needs, so that
    threads find in their caches what they wrote (ADR 035).
    amp: "bf16" or "f16": let convolutions and matrix products compute on this type, with sums in f32 (mixed precision);
    "none": the model's types. `report()["amp"]` says what was done.
    calibration: inputs by name that are typical of the net. f16 needs them: what they show to grow too large stays f32.
    fusion: whether layers that follow each other become one kernel: "auto", where that is faster; "max", wherever it
    can be had at little cost; "off".
    winograd: what Winograd's algorithm computes: "auto" (3x3 convolutions where it is faster), "off", "2" or "4" (all
    that it can do, in tiles of so many pixels squared). Its error is at most 2e-6 (2) or 1e-5 (4) of a layer's
    largest result, and what is not finite reaches all pixels of the tiles that see it.
    cache: look for the net on disk first, and keep it there for next time (ONNX models only; see aiopt.support.options
    for the environment variables). `report()["cache"]` is "hit", "miss" or "off". A net that is not there is compiled
    from kernels that are, as far as it shares them with nets compiled before: `report()["kernel_cache"]`.
    A model with nodes aiopt does not compile, or whose shapes depend on what a run computes, becomes a StagedNet: what
    lies between is compiled, those nodes are run by the onnx package's reference, and `report()["slow_route"]` lists
    them.
    Raises AioptError (ModelError, UnsupportedError, InputError, OptionError, CompileError) in one line.
    """
    options = CodeOptions(checks.text("winograd", winograd), checks.text("cpu_library", cpu_library))
    machine = None if machine is None else checks.text("machine", machine)
    choice = TargetChoice(checks.text("target", target), machine, options)
    checks.whole_number("threads", threads, 1, MOST_THREADS)
    checks.whole_number("keep", keep, 1)
    checks.mapping("shapes", shapes or {})
    checks.choice("fusion", fusion, MODES)
    precision = Precision(amp, calibration)
    source = read_source(model)
    if shapes or not source.open_inputs:
        return compile_static(source, choice, threads, shapes, cache, precision, fusion)
    specialize = partial(_specialize, source, choice, threads, cache, precision, fusion)
    return SpecializingNet(source.name or "net", source.inputs, specialize, keep)


@dataclass(frozen=True)
class Precision:
    """Mixed precision: the type, and inputs to look at the net's values with. Raises OptionError for another type."""

    amp: str = NO_AMP
    calibration: Mapping[str, np.ndarray] | None = None

    def __post_init__(self) -> None:
        if self.amp not in AMP:
            raise OptionError(f"amp is one of {', '.join(AMP)}, not '{self.amp}'")

    def facts(self) -> list[Any]:
        """What a compiled net depends on."""
        if self.amp != "f16" or self.calibration is None:
            return [self.amp]
        arrays = [[name, str(a.dtype), a.shape, hashlib.sha256(a.tobytes()).hexdigest()] for name, a in self._given()]
        return [self.amp, arrays]

    def _given(self) -> list[tuple[str, np.ndarray]]:
        return sorted((self.calibration or {}).items())


FULL = Precision()


def compile_static(
    source: Source,
    target: TargetChoice,
    threads: int,
    shapes: Shapes | None,
    cache: bool,
    precision: Precision = FULL,
    fusion: str = AUTO,
) -> Net | StagedNet:
    """`compile` for one set of shapes: InputError if any is missing."""
    key = None
    if cache and source.is_whole and source.digest and cache_wanted():
        facts = [*precision.facts(), fusion, bool(threads > 1), asdict(target.options), *_machine_facts(target)]
        key = cache_key(source.digest, source.name, target.names, shapes, facts)
    kernels = KernelCache.default() if cache and cache_wanted() else KernelCache()
    if key is None:
        return _compile(source, target, threads, shapes, precision, fusion, "off", kernels)
    nets = NetCache.default()
    if net := nets.load(key, threads):
        return net
    net = _compile(source, target, threads, shapes, precision, fusion, "miss", kernels)
    if not isinstance(net, Net):  # only its kernels are kept: what it consists of is found out as it runs
        return net
    try:
        nets.save(key, net)
    except OutputError as error:  # the net is good; that it could not be kept is in its report
        net.note(cache_error=str(error))
    return net


def _machine_facts(target: TargetChoice) -> list[str]:
    """What a net depends on of a machine. Raises OptionError for one that is not there."""
    if target.machine is None:
        return []
    from aiopt.targets.npu.machine import find_machine  # most nets have none

    return [target.machine, find_machine(target.machine).hash().hex()]


def _specialize(
    source: Source,
    target: TargetChoice,
    threads: int,
    cache: bool,
    precision: Precision,
    fusion: str,
    shapes: dict[str, tuple[int, ...]],
) -> Net | StagedNet:
    source.require_unchanged()
    return compile_static(source, target, threads, shapes, cache, precision, fusion)


def _compile(
    source: Source,
    target: TargetChoice,
    threads: int,
    shapes: Shapes | None,
    precision: Precision,
    fusion: str,
    cache: str,
    kernels: KernelCache,
) -> Net | StagedNet:
    from aiopt import driver  # brings mlir and onnx

    facts = {"source_sha256": source.digest, "cache": cache}
    return driver.compile(
        source.model,
        target=target.names,
        machine=target.machine,
        threads=threads,
        shapes=shapes,
        amp=precision.amp,
        calibration=precision.calibration,
        fusion=fusion,
        options=target.options,
        facts=facts,
        kernel_cache=kernels,
    )
