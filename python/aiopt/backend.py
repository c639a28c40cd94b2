"""aiopt as a backend of the onnx package: `aiopt.backend.run_model(model, inputs)`, and onnx's own backend tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep, namedtupledict

from aiopt.api import compile
from aiopt.runtime.base import Net
from aiopt.specialize import SpecializingNet
from aiopt.staged import StagedNet
from aiopt.support.errors import InputNameError, InputTypeError
from aiopt.support.types import has_element


class AioptBackendRep(BackendRep):
    """A compiled model; `run` takes its inputs in order."""

    def __init__(self, net: Net | StagedNet | SpecializingNet) -> None:
        self.net = net

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """inputs: arrays in the order of the model's inputs, a single array, or a dict by name.

        Returns the outputs in the model's order, as a tuple with their names.
        """
        if not isinstance(inputs, dict):
            inputs = _by_name(list(self.net.inputs), inputs)
        outputs = self.net.run({name: _value(value) for name, value in inputs.items()})
        return namedtupledict("Outputs", list(outputs))(*outputs.values())


class AioptBackend(Backend):
    """Runs ONNX models on the CPU."""

    @classmethod
    def supports_device(cls, device: str) -> bool:
        return device.split(":")[0] == "CPU"

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> AioptBackendRep:
        """Compile a model. Keywords (threads, shapes, cache: here False by default) go to `aiopt.compile`.

        Raises ValueError for another device than CPU and AioptError if the model cannot be compiled.
        """
        if not cls.supports_device(device):
            raise ValueError(f"aiopt.backend runs on CPU, not on '{device}'")
        super().prepare(model, device)  # checks the model
        return AioptBackendRep(compile(model, **{"cache": False, **kwargs}))

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """Compile for the shapes of these inputs and run once."""
        if not isinstance(inputs, dict):
            initializers = {tensor.name for tensor in model.graph.initializer}
            names = [value.name for value in model.graph.input if value.name not in initializers]
            inputs = _by_name(names, inputs)
        kwargs.setdefault(
            "shapes", {name: value.shape for name, value in inputs.items() if isinstance(value, np.ndarray)}
        )
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls, node: onnx.NodeProto, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...]:
        """Run one node. Output types are inferred from the inputs; `outputs_info` is not needed."""
        super().run_node(node, inputs, device, outputs_info)  # checks the node
        names = [name for name in node.input if name]
        arrays = _by_name(names, inputs)
        values = [_value_info(name, np.asarray(array)) for name, array in arrays.items()]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "node", values, outputs)
        opset = onnx.helper.make_opsetid(node.domain, kwargs.pop("opset_version", onnx.defs.onnx_opset_version()))
        model = onnx.shape_inference.infer_shapes(onnx.helper.make_model(graph, opset_imports=[opset]))
        return cls.run_model(model, arrays, device, **kwargs)


def _value(value: Any) -> Any:
    """Numbers become arrays; lists and None are ONNX's sequences and optionals."""
    return value if value is None or isinstance(value, list) else np.asarray(value)


def _by_name(names: list[str], inputs: Any) -> dict[str, Any]:
    values: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if len(values) != len(names):
        raise InputNameError(f"the model takes {len(names)} inputs ({', '.join(names)}), but was given {len(values)}")
    return dict(zip(names, values, strict=True))


def _value_info(name: str, array: np.ndarray) -> onnx.ValueInfoProto:
    if not has_element(array.dtype):
        raise InputTypeError(f"input '{name}' has dtype {array.dtype}, which aiopt does not have")
    return onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)


is_compatible = AioptBackend.is_compatible
prepare = AioptBackend.prepare
run_model = AioptBackend.run_model
run_node = AioptBackend.run_node
supports_device = AioptBackend.supports_device
