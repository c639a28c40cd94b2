"""Targets: `TARGET` of the module `target` of subpackages that run nets, or parts of them, and of plug-ins."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache
from types import ModuleType

import aiopt.targets
from aiopt.passes import registry
from aiopt.passes.graph.assign_target import offer_target
from aiopt.support import plugins
from aiopt.support.arguments import did_you_mean
from aiopt.support.errors import OptionError, PluginError
from aiopt.support.target import DEFAULTS, CodeOptions
from aiopt.targets.base import Device, Target
from aiopt.targets.parted import PartedTarget

registry.add_package("aiopt.targets")


def targets() -> dict[str, Device]:
    """All targets by name. Raises PluginError if two share one."""
    return _targets(plugins.modules(plugins.TARGETS))


@cache
def _targets(others: tuple[ModuleType, ...]) -> dict[str, Device]:
    packages = [info.name for info in pkgutil.iter_modules(aiopt.targets.__path__, "aiopt.targets.") if info.ispkg]
    own = [importlib.import_module(f"{name}.target") for name in packages if importlib.util.find_spec(f"{name}.target")]
    found: dict[str, Device] = {}
    places: dict[str, str] = {}
    for module in (*own, *others):
        target = getattr(module, "TARGET", None)
        if not isinstance(target, Device):
            continue
        if target.name in found:
            raise PluginError(f"two targets are called {target.name}: {places[target.name]} and {module.__name__}")
        found[target.name], places[target.name] = target, module.__name__
        offer_target(target.name, target.refusal)
    return found


def find_target(names: str, machine: str | None = None, options: CodeOptions = DEFAULTS) -> Target:
    """The target of this name, or that of several: names in order of preference ("npu,cpu").

    machine: the one to compile for, where a target has several. options: how code is made.
    Raises OptionError if there is no such target or
    machine, or they do not go together.
    """
    order = names.split(",")
    for name in order:
        if name not in targets():
            guess = did_you_mean(name, targets())
            raise OptionError(f"there is no target '{name}'{guess} (there are: {', '.join(sorted(targets()))})")
    if len(set(order)) < len(order):
        raise OptionError(f"target {names} names a target twice")
    chosen = [targets()[name].with_options(options) for name in order]
    takes = [device for device in chosen if device.has_machines]
    if machine is not None and not takes:
        raise OptionError(f"target {names} takes no machine, but was given '{machine}'")
    devices = [device.choose_machine(machine) if device in takes else device for device in chosen]
    if len(devices) == 1 and isinstance(devices[0], Target):
        return devices[0]
    return PartedTarget(devices)


targets()  # ai-assign-target is to know them
