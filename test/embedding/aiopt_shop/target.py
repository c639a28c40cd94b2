"""The target `shop`: the CPU under another name, with shop-fuse-swish before its stages."""

from typing import ClassVar

from aiopt.passes.spec.base import Level
from aiopt.targets.base import Stage
from aiopt.targets.cpu.target import CpuTarget


class ShopTarget(CpuTarget):
    """What `aiopt.compile(model, target="shop")` compiles for."""

    name: ClassVar[str] = "shop"

    def stages(self, amp: str = "none", fusion: str = "auto") -> list[Stage]:
        first, *others = super().stages(amp, fusion)
        return [Stage(first.name, Level.GRAPH, first.target, f"shop-fuse-swish,{first.pipeline}"), *others]


TARGET = ShopTarget()
