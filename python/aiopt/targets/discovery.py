"""Targets, found by walking this package: subpackages that run nets, or parts, have a module `target` with `TARGET`."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache

import aiopt.targets
from aiopt.passes import registry
from aiopt.passes.graph.assign_target import offer_target
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError
from aiopt.targets.base import Device, Target
from aiopt.targets.parted import PartedTarget

registry.add_package("aiopt.targets")


@cache
def targets() -> dict[str, Device]:
    """All targets by name. Raises TypeError if two share one."""
    found: dict[str, Device] = {}
    for info in pkgutil.iter_modules(aiopt.targets.__path__, "aiopt.targets."):
        if not info.ispkg or importlib.util.find_spec(f"{info.name}.target") is None:
            continue
        target = importlib.import_module(f"{info.name}.target").TARGET
        if target.name in found:
            raise TypeError(f"two targets are called {target.name}")
        found[target.name] = target
    return found


def find_target(names: str, machine: str | None = None) -> Target:
    """The target of this name, or that of several: names in order of preference ("npu,cpu").

    machine: the one to compile for, where a target has several. Raises OptionError if there is no such target or
    machine, or they do not go together.
    """
    order = names.split(",")
    for name in order:
        if name not in targets():
            guess = did_you_mean(name, targets())
            raise OptionError(f"there is no target '{name}'{guess} (there are: {', '.join(sorted(targets()))})")
    if len(set(order)) < len(order):
        raise OptionError(f"target {names} names a target twice")
    chosen = [targets()[name] for name in order]
    takes = [device for device in chosen if device.has_machines]
    if machine is not None and not takes:
        raise OptionError(f"target {names} takes no machine, but was given '{machine}'")
    devices = [device.choose_machine(machine) if device in takes else device for device in chosen]
    if len(devices) == 1 and isinstance(devices[0], Target):
        return devices[0]
    return PartedTarget(devices)


for _device in targets().values():
    offer_target(_device.name, _device.refusal)
