"""Nets of models that leave dimensions open: one compiled net per shape, the last few of them kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from aiopt.runtime import signature
from aiopt.runtime.binding import Binding
from aiopt.support.checks import whole_number
from aiopt.support.errors import InputNameError, InputShapeError, InputTypeError, StateError
from aiopt.support.onnx_file import Dims

if TYPE_CHECKING:
    from aiopt.runtime.base import Net
    from aiopt.staged import StagedNet

    AnyNet = Net | StagedNet
Shapes = dict[str, tuple[int, ...]]
_Key = tuple[tuple[int, ...], ...]


class SpecializingNet:
    """A model that is compiled at the first call of each shape; called like a Net, from any number of threads.

    `inputs` are its inputs in order: name -> dimensions, each a size, the name of a size, or None; None in place of
    all where the model does not even fix how many there are.
    """

    def __init__(
        self, name: str, inputs: Mapping[str, Dims | None], compile_for: Callable[[Shapes], AnyNet], keep: int
    ) -> None:
        """compile_for: makes the net for the shapes of all inputs. keep: nets of how many shapes are kept.

        Raises OptionError for a `keep` below 1.
        """
        self.name = name
        self.inputs = MappingProxyType(dict(inputs))
        self._compile_for = compile_for
        self._keep = whole_number("keep", keep, 1)
        self._lock = threading.Lock()
        self._nets: OrderedDict[_Key, Future[AnyNet]] = OrderedDict()  # the last used one last
        self._closed = False

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """`Net.run` of the net for these shapes, which is compiled if it is not there yet.

        Raises InputError if the shapes do not fit the model, and what `aiopt.compile` and the net raise.
        """
        return self.specialize(inputs).run(inputs)

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """`run` with inputs and outputs by position."""
        if len(inputs) != len(self.inputs):
            takes = self._describe()
            raise InputNameError(
                f"net '{self.name}' was given {len(inputs)} inputs, expected {len(self.inputs)} ({takes})"
            )
        return self.specialize(dict(zip(self.inputs, inputs, strict=True)))(*inputs)

    def bind(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> Binding:
        """`Net.bind` of the net for the shapes of these inputs."""
        return self.specialize(inputs).bind(inputs, outputs)

    def profile(self, inputs: Mapping[str, np.ndarray]) -> list[tuple[str, float]]:
        """`Net.profile` of the net for these shapes."""
        return self.specialize(inputs).profile(inputs)

    def specialize(self, inputs: Mapping[str, np.ndarray]) -> AnyNet:
        """The net for the shapes of these inputs. It stays usable when this object has forgotten it."""
        signature.check_names(self.name, self.inputs, inputs, self._describe())
        shapes = {name: _shape(name, inputs[name]) for name in self.inputs}
        self._check(shapes)
        return self._net(shapes)

    def report(self) -> dict[str, Any]:
        """The report of the net used last, with its input `shapes`. Raises AioptError before the first call."""
        if not (reports := self.reports()):
            raise StateError(f"net '{self.name}' has no report yet: it is compiled at the first call of each shape")
        return reports[-1]

    def reports(self) -> list[dict[str, Any]]:
        """The report of each net that is kept, the one used last at the end."""
        with self._lock:
            nets = [(key, net.result()) for key, net in self._nets.items() if net.done() and not net.exception()]
        return [{"shapes": dict(zip(self.inputs, key, strict=True)), **net.report()} for key, net in nets]

    def close(self) -> None:
        """Free all nets, once the calls in flight have returned. This one cannot be run any more."""
        with self._lock:
            self._closed = True
            nets = list(self._nets.values())
            self._nets.clear()
        for net in nets:
            if not net.exception():
                net.result().close()

    def __enter__(self) -> SpecializingNet:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SpecializingNet({self.name}: {self._describe()})"

    def _net(self, shapes: Shapes) -> AnyNet:
        """From those kept, or compiled: by the first who asks, while others that ask for the same shapes wait."""
        key = tuple(shapes.values())
        with self._lock:
            if self._closed:
                raise StateError(f"net '{self.name}' has been closed")
            known = self._nets.get(key)
            mine = known is None
            if known is None:
                known = self._nets[key] = Future()
            self._nets.move_to_end(key)
            while len(self._nets) > self._keep:
                self._nets.popitem(last=False)  # freed when the last call in it has returned
        if mine:
            self._compile(shapes, key, known)
        return known.result()

    def _compile(self, shapes: Shapes, key: _Key, future: Future[AnyNet]) -> None:
        try:
            future.set_result(self._compile_for(shapes))
        except BaseException as error:
            with self._lock:
                if self._nets.get(key) is future:
                    del self._nets[key]  # the next call tries again
            future.set_exception(error)

    def _check(self, shapes: Shapes) -> None:
        """Raise InputError unless the shapes fit the model, and dimensions of one name have one size."""
        sizes: dict[str, tuple[int, str]] = {}
        for name, shape in shapes.items():
            dims = self.inputs[name]
            if dims is None:
                continue
            wanted = f"input '{name}' has shape {shape}, expected {_describe(dims)}"
            if len(shape) != len(dims):
                raise InputShapeError(wanted)
            for size, dim in zip(shape, dims, strict=True):
                if isinstance(dim, int) and size != dim:
                    raise InputShapeError(wanted)
                if isinstance(dim, str) and sizes.setdefault(dim, (size, name))[0] != size:
                    first, where = sizes[dim]
                    raise InputShapeError(
                        f"dimension '{dim}' must have one size, but the inputs make it {first} ('{where}') and {size} "
                        f"('{name}')"
                    )

    def _describe(self) -> str:
        return ", ".join(f"{name}: {_describe(dims)}" for name, dims in self.inputs.items())


def _describe(dims: Dims | None) -> str:
    """`[1, 3, height, ?]`"""
    return "any shape" if dims is None else f"[{', '.join('?' if dim is None else str(dim) for dim in dims)}]"


def _shape(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, np.ndarray):
        raise InputTypeError(f"input '{name}' is a {type(value).__name__}, expected a numpy array")
    return value.shape
