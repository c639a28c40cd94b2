"""A net on arrays that were checked once: calls without a copy, a new array or a check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aiopt.runtime import signature
from aiopt.support.errors import BindingError
from aiopt.support.types import TensorType


class Binding:
    """Calling it computes `outputs` from what `inputs` hold then; both are the arrays it was made with, by name.

    It is for one thread at a time, as its outputs are; other calls of the net may be in flight.
    """

    def __init__(
        self,
        enter: Callable[[Any, Any], None],
        pointers_in: Any,
        pointers_out: Any,
        inputs: Mapping[str, np.ndarray],
        outputs: Mapping[str, np.ndarray],
    ) -> None:
        """enter: runs the net on two arrays of pointers; made by CompiledNet.bind."""
        self.inputs, self.outputs = inputs, outputs
        self._enter, self._in, self._out = enter, pointers_in, pointers_out

    def __call__(self) -> None:
        """Compute the outputs. Raises AioptError once the net has been closed."""
        self._enter(self._in, self._out)


def check_bindable(
    net: str,
    types_in: Mapping[str, TensorType],
    types_out: Mapping[str, TensorType],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
) -> None:
    """Raise InputError unless these are arrays that the compiled code can read and write where they are."""
    signature.check_names(net, types_in, inputs)
    signature.check_names(net, types_out, outputs, role="output")
    for role, types, arrays in (("input", types_in, inputs), ("output", types_out, outputs)):
        for name, type_ in types.items():
            signature.check_array(role, name, type_, arrays[name])
            if not signature.is_plain(arrays[name]):
                raise BindingError(
                    f"{role} '{name}' is not dense, row-major and aligned, so nothing can be bound to it: "
                    "bind np.ascontiguousarray(...) of it"
                )
    for name in types_out:
        if not outputs[name].flags.writeable:
            raise BindingError(f"output '{name}' is read-only, so nothing can be written to it")
    _refuse_overlaps(inputs, outputs)


def _refuse_overlaps(inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    """An output may be written before the last input is read."""
    seen = [(f"input '{name}'", array) for name, array in inputs.items()]
    for name, array in outputs.items():
        for other, memory in seen:
            if np.may_share_memory(array, memory):
                raise BindingError(f"output '{name}' shares memory with {other}: bind an array of its own")
        seen.append((f"output '{name}'", array))
