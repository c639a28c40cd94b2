"""aiopt: a compiler for neural networks.

net = aiopt.compile("model.onnx", shapes={"x": (1, 3, 48, 320)})
outputs = net.run({"x": image})
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiopt.support.errors import AioptError

if TYPE_CHECKING:
    from aiopt.driver import compile

__version__ = "0.1.0"
__all__ = ["AioptError", "__version__", "compile"]


def __getattr__(name: str) -> Any:
    """Load the compiler at its first use: importing aiopt has to be cheap."""
    if name == "compile":
        from aiopt.driver import compile

        return compile
    raise AttributeError(f"module 'aiopt' has no attribute '{name}'")
