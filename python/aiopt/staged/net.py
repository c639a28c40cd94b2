"""A model that runs in stages, called like a compiled net."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from aiopt.frontend.onnx.part import Part
from aiopt.runtime import signature
from aiopt.staged.stages import Compiler, Stages
from aiopt.support.errors import InputNameError, StagedError, StateError
from aiopt.support.types import TensorType


class StagedNet:
    """A model with nodes that are not compiled (the slow route), or not before a run has computed what they depend on.

    What lies between them is compiled, each part at the first call that reaches it with tensors of these shapes.
    `inputs` is name -> TensorType, in order (None: a sequence, an optional, or a tensor of a type no net has);
    `report()["slow_route"]` lists the nodes that are not compiled and why.
    """

    def __init__(
        self,
        name: str,
        part: Part,
        inputs: Mapping[str, TensorType | None],
        compiler: Compiler,
        facts: Mapping[str, Any],
    ) -> None:
        """inputs: None for what no compiled net takes. facts: more for the report.

        Raises what compiling the first stage raises.
        """
        self.name = name
        self.inputs = MappingProxyType(dict(inputs))
        self.outputs = MappingProxyType(dict.fromkeys(part.outputs))  # their types depend on the run
        self.threads = facts["threads"]
        self._stages = Stages(part, name, compiler)
        self._facts = dict(facts)
        self._closed = False
        types = {name: kind for name, kind in inputs.items() if kind is not None}
        self._stages.prepare(types, inputs.keys() - types.keys())

    def run(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """`CompiledNet.run`; raises what it raises, and InputError if a node refuses what it is given."""
        return self._run(inputs, None)

    def __call__(self, *inputs: np.ndarray) -> list[np.ndarray]:
        """`run` with inputs and outputs by position."""
        if len(inputs) != len(self.inputs):
            takes = signature.describe(self.inputs)
            raise InputNameError(
                f"net '{self.name}' was given {len(inputs)} inputs, expected {len(self.inputs)} ({takes})"
            )
        return list(self.run(dict(zip(self.inputs, inputs, strict=True))).values())

    def profile(self, inputs: Mapping[str, np.ndarray]) -> list[tuple[str, float]]:
        """Run with a clock around each kernel and each node on the host: (name, seconds) in the order they were run."""
        times: list[tuple[str, float]] = []
        self._run(inputs, lambda name, seconds: times.append((name, seconds)))
        return times

    def report(self) -> dict[str, Any]:
        """What the compiler says of the stages that are kept, and the nodes that are on the slow route."""
        stages = self._stages.stages()
        reports = [stage.net.report() for stage in stages if stage.net is not None]
        slow = {step.label: step for stage in stages for step in stage.hosted}
        return {
            **self._facts,
            "stages": reports,
            "launches": sum(report["launches"] for report in reports),
            "slow_route": [
                {"node": step.step.node.name, "op": step.step.node.op_type, "reason": step.reason}
                for step in slow.values()
            ],
        }

    def note(self, **facts: Any) -> None:
        """Add facts to the report."""
        self._facts.update(facts)

    def bind(self, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> NoReturn:
        """Raises UnsupportedError: between its stages a run makes arrays of its own."""
        raise StagedError(f"net '{self.name}' runs in stages and cannot be bound to arrays: call net.run")

    def save(self, path: str | Path) -> NoReturn:
        """A file of code needs all of the code: raises UnsupportedError that names the nodes."""
        slow = self.report()["slow_route"]
        nodes = ", ".join(f"{step['node'] or 'a node'} ({step['op']})" for step in slow) or "what only a run knows"
        raise StagedError(f"net '{self.name}' cannot be saved to '{path}': it is compiled as it runs, for {nodes}")

    def close(self) -> None:
        """Free all nets. This one cannot be run any more."""
        self._closed = True
        self._stages.close()

    def __enter__(self) -> StagedNet:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"StagedNet({self.name}: {signature.describe(self.inputs)} -> {', '.join(self.outputs)})"

    def _run(self, inputs: Mapping[str, np.ndarray], clock: Any) -> dict[str, np.ndarray]:
        if self._closed:
            raise StateError(f"net '{self.name}' has been closed")
        signature.check_names(self.name, self.inputs, inputs)
        values = {
            name: inputs[name] if kind is None else signature.checked_array(name, kind, inputs[name])
            for name, kind in self.inputs.items()
        }
        return self._stages.run(values, clock)
