"""aiopt: a compiler for neural networks.

net = aiopt.compile("model.onnx", shapes={"x": (1, 3, 48, 320)})
outputs = net.run({"x": image})
net.save("model.aio")
net = aiopt.load("model.aio")  # with numpy alone
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiopt.support.errors import AioptError

if TYPE_CHECKING:
    from aiopt.api import compile
    from aiopt.loading import load
    from aiopt.runtime.library import set_affinity

__version__ = "0.1.0"
__all__ = ["AioptError", "__version__", "compile", "load", "set_affinity"]


def __getattr__(name: str) -> Any:
    """Load what is asked for at its first use: importing aiopt has to be cheap."""
    if name == "compile":
        from aiopt.api import compile

        return compile
    if name == "load":
        from aiopt.loading import load

        return load
    if name == "set_affinity":
        from aiopt.runtime.library import set_affinity

        return set_affinity
    raise AttributeError(f"module 'aiopt' has no attribute '{name}'")
