"""Several targets for one net: each runs the parts that were placed on it, on behalf of the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from mlir.dialects import func

from aiopt.passes.base import functions, main_function
from aiopt.passes.interpret import input_types, output_types
from aiopt.passes.pipelines import KernelsPipeline
from aiopt.passes.spec.base import Level
from aiopt.passes.spec.interface import net_name
from aiopt.passes.unit import Unit
from aiopt.runtime.parted import PartedNet, Step
from aiopt.support.errors import CompileError, OptionError
from aiopt.support.fusion import AUTO, MAX
from aiopt.support.kernel_cache import KernelCache
from aiopt.targets.base import BuiltPart, Device, Stage, Target
from aiopt.targets.extract_part import extract_part


class PartedTarget(Target):
    """Devices in order of preference."""

    kinds: ClassVar[tuple[str, ...]] = ()

    def __init__(self, devices: Sequence[Device]) -> None:
        self._devices = {device.name: device for device in devices}
        self.name = ",".join(self._devices)

    def stages(self, amp: str = "none", fusion: str = AUTO) -> list[Stage]:
        if fusion == MAX:
            raise OptionError(
                f"fusion=max is for nets on one target, not on {self.name}: parts are cut between kernels"
            )
        order = list(self._devices)
        checks: list[str] = []
        for number, device in enumerate(self._devices.values()):
            checks += device.check_kernels(order[number + 1] if number + 1 < len(order) else "")
        return [
            Stage("graph", Level.GRAPH, Level.KERNELS, str(KernelsPipeline(amp=amp, target=self.name))),
            Stage("parts", Level.KERNELS, Level.PARTS, ",".join([*checks, "ai-partition"])),
        ]

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "devices": [device.facts() for device in self._devices.values()]}

    def emit(self, unit: Unit, kind: str) -> bytes:
        raise OptionError(f"target {self.name} cannot emit '{kind}': its parts are code of several kinds")

    def build(self, unit: Unit, kernels: KernelCache) -> list[BuiltPart]:
        if unit.level is not Level.PARTS:
            level = unit.level.value if unit.level else "none"
            raise CompileError(f"target {self.name} takes IR of level graph, kernels or parts, not of level {level}")
        return [self._device_of(part).build_part(extract_part(unit, part), kernels) for _, part in _calls(unit)]

    def load(self, unit: Unit, code: Sequence[BuiltPart], threads: int, report: Mapping[str, Any]) -> PartedNet:
        main = main_function(unit.module, f"target {self.name}")
        numbers = {value: number for number, value in enumerate(main.arguments)}
        steps: list[Step] = []
        for built, (call, _) in zip(code, _calls(unit), strict=True):
            for value in call.results:
                numbers[value] = len(numbers)
            reads, writes = (tuple(numbers[value] for value in values) for values in (call.operands, call.results))
            steps.append(Step(built.load(threads), reads, writes))
        *_, end = main.entry_block.operations
        results = [numbers[value] for value in end.operands]
        types = input_types(unit.module), output_types(unit.module)
        parts = [part for _, part in _calls(unit)]
        return PartedNet(net_name(unit.module), types, steps, results, {**report, **_merged(parts, code)}, threads)

    def _device_of(self, part: func.FuncOp) -> Device:
        name = part.attributes["ai.target"].value
        if name not in self._devices:
            raise CompileError(f"@{part.name.value} is for target '{name}', and this is compiled for {self.name}")
        return self._devices[name]


def _calls(unit: Unit) -> list[tuple[func.CallOp, func.FuncOp]]:
    """The calls of @main and the parts they call."""
    parts = {function.name.value: function for function in functions(unit.module)}
    main = parts["main"]
    calls = [op for op in main.entry_block.operations if isinstance(op, func.CallOp)]
    return [(call, parts[call.callee.value]) for call in calls]


def _merged(parts: Sequence[func.FuncOp], code: Sequence[BuiltPart]) -> dict[str, Any]:
    """The report of the net from those of its parts."""
    kernels: list[dict[str, Any]] = []
    summaries: list[dict[str, Any]] = []
    for part, built in zip(parts, code, strict=True):
        name, target = part.name.value, part.attributes["ai.target"].value
        entries = [{**entry, "target": target, "part": name} for entry in built.report["kernels"]]
        kernels += entries
        summary: dict[str, Any] = {"part": name, "target": target, "kernels": len(entries)}
        if "machine" in built.report:
            summary["machine"] = built.report["machine"]
        for key in ("cycles", "seconds"):
            if entries and all(key in entry for entry in entries):
                summary[key] = sum(entry[key] for entry in entries)
        summaries.append(summary)
    sizes = {
        key: sum(built.report[key] for built in code if key in built.report)
        for key in (
            "launches",
            "arena_bytes",
            "arena_lower_bound_bytes",
            "temporaries_bytes",
            "weights_bytes",
            "dram_bytes",
        )
    }
    return {"kernels": kernels, "parts": summaries, **sizes}
