"""Steps that the host runs between compiled stages: loops, one net per body; all else by the onnx package's reference.

Source: ONNX operator specification (Loop-1/11/13, Scan-8/9).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import helper

from aiopt.frontend.onnx.attributes import Attributes
from aiopt.frontend.onnx.control_flow import graph_attribute
from aiopt.frontend.onnx.functions import Functions
from aiopt.frontend.onnx.node import node_name
from aiopt.frontend.onnx.part import Part, Step, captured, read_graph
from aiopt.frontend.onnx.schema import domain_of
from aiopt.staged import references
from aiopt.support.errors import AioptError, LimitError, ModelError, NodeInputError, NodeRunError, UnsupportedError
from aiopt.support.types import TensorType, has_element

if TYPE_CHECKING:
    from aiopt.staged.stages import Stages

Runner = Callable[[Part, str], "Stages"]
_RANDOM = {"Bernoulli", "Dropout", "Multinomial", "RandomNormalLike", "RandomUniformLike"}
_ENDLESS = {"RegexFullMatch"}  # it takes time that grows exponentially in some patterns
_MOST_TRIPS = 1 << 20  # of a loop: one without an end would never return
_MOST_WORDS = 160  # characters of an error of the reference
_MOST_STACKED = 1 << 32  # bytes that a loop stacks


class HostStep:
    """A node that is not compiled. Raises UnsupportedError at once if the host cannot run it either."""

    def __init__(self, step: Step, error: AioptError | None, functions: Functions, runner: Runner) -> None:
        """error: why it is not compiled; None if it reads what no net takes. runner: makes what runs a body."""
        self.step = step
        self.error = error
        self._functions = functions
        self._runner = runner
        self._run = {"Loop": self._run_loop, "Scan": self._run_scan}.get(step.node.op_type, self._run_reference)
        if self._run != self._run_reference:
            _ = self._body
        elif references.needs_reference(step.node.op_type, domain_of(step.node)):
            _ = self._evaluator

    @property
    def label(self) -> str:
        """`Unique unique_7`"""
        return f"{self.step.node.op_type} {node_name(self.step.node)}"

    @property
    def reason(self) -> str:
        """Why it is not compiled."""
        return str(self.error) if self.error else f"{self.step.describe()} reads what no compiled net takes"

    @property
    def is_foldable(self) -> bool:
        """True if it may be run once and for all where its inputs are known."""
        return self.step.node.op_type not in _RANDOM | _ENDLESS

    def run(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Its outputs by name. Raises InputError if the node refuses what it is given."""
        node = self.step.node
        try:
            outputs = self._run(values)
        except AioptError as error:
            raise error.at(self.step.describe())  # noqa: B904
        except Exception as error:  # the reference raises whatever numpy does
            types = {n: TensorType.of(v) for n, v in values.items() if n in self.step.reads() and _is_tensor(v)}
            raise NodeRunError(
                f"{self.step.describe(types)}: the onnx package's reference, which runs this node, fails with "
                f"{_first_words(error)}: see whether the inputs are as the operator takes them"
            ) from error
        if len(outputs) < len(node.output):
            raise NodeInputError(f"{self.step.describe()} has {len(node.output)} outputs, but makes {len(outputs)}")
        return {name: value for name, value in zip(node.output, outputs, strict=False) if name}

    def close(self) -> None:
        """Free the nets of its body."""
        if "_body" in self.__dict__:
            self._body.close()

    @cached_property
    def _evaluator(self) -> Any:
        from onnx.reference import ReferenceEvaluator  # 0.2 s, and most models do not need it

        node, opset = references.spelt(self.step)
        inputs = [onnx.ValueInfoProto(name=name) for name in sorted(self.step.reads())]
        outputs = [onnx.ValueInfoProto(name=name) for name in self.step.makes()]
        graph = helper.make_graph([node], "host", inputs, outputs)
        try:
            return ReferenceEvaluator(graph, opsets={**self.step.opsets, domain_of(node): opset})
        except Exception as error:
            raise self.error or UnsupportedError(f"{self.step.describe()}: aiopt cannot run it") from error

    def _run_reference(self, values: Mapping[str, Any]) -> list[Any]:
        node = self.step.node
        if (reference := references.find(node.op_type, domain_of(node))) is None:
            return self._evaluate(values)
        inputs = [values[name] if name else None for name in node.input]
        return reference(self.step, inputs, lambda given: self._evaluate(dict(zip(node.input, given, strict=True))))

    def _evaluate(self, values: Mapping[str, Any]) -> list[Any]:
        """By the onnx package's reference."""
        found = self._evaluator.run(None, {name: values[name] for name in self.step.reads()})
        results = dict(zip(self.step.makes(), (_as_value(value) for value in found), strict=True))
        return [results.get(name) for name in self.step.node.output]

    @cached_property
    def _body(self) -> Stages:
        graph = graph_attribute(self.step.node, "body")
        return self._runner(read_graph(graph, self.step.opsets, self._functions), "body")

    def _outer(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What the body takes from outside."""
        return {name: values[name] for name in captured(self.step.node)}

    def _run_loop(self, values: Mapping[str, Any]) -> list[Any]:
        node, body = self.step.node, graph_attribute(self.step.node, "body")
        given = [values[name] if name else None for name in node.input]
        limit = None if given[0] is None else int(np.asarray(given[0]).reshape(()))
        condition = True if len(given) < 2 or given[1] is None else bool(np.asarray(given[1]).reshape(()))
        carried = given[2:]
        names, results = [value.name for value in body.input], [value.name for value in body.output]
        if len(names) != 2 + len(carried) or len(results) < 1 + len(carried):
            raise ModelError(f"the body takes {len(names)} inputs, but the loop carries {len(carried)} tensors")
        outer, scanned = self._outer(values), [[] for _ in results[1 + len(carried) :]]
        trip, stacked = 0, 0
        while condition and (limit is None or trip < limit):
            if trip >= _MOST_TRIPS or stacked > _MOST_STACKED:
                raise LimitError(f"it has run {trip} steps and stacked {stacked} bytes, and does not end")
            inputs = dict(zip(names, [np.array(trip, np.int64), np.array(condition), *carried], strict=True))
            made = self._body.run({**outer, **inputs})
            condition, trip = bool(np.asarray(made[results[0]]).reshape(())), trip + 1
            carried = [made[name] for name in results[1 : 1 + len(carried)]]
            for parts, name in zip(scanned, results[1 + len(carried) :], strict=True):
                parts.append(made[name])
                stacked += getattr(made[name], "nbytes", 0)
        types = [value.type for value in body.output[1 + len(carried) :]]
        return [*carried, *(_stacked(parts, 0, kind) for parts, kind in zip(scanned, types, strict=True))]

    def _run_scan(self, values: Mapping[str, Any]) -> list[Any]:
        """Before opset 9 a first axis of all tensors is the batch, each item of which is scanned for itself."""
        node = self.step.node
        attributes = Attributes(node.attribute)
        count = attributes.require("num_scan_inputs", attributes.get_int("num_scan_inputs", None))
        if self.step.opset >= 9:
            return self._scan(attributes, count, [values[name] for name in node.input], values)
        lengths, *given = [values[name] if name else None for name in node.input]
        if lengths is not None:
            raise UnsupportedError("sequence_lens of Scan-8 is not supported")
        items = [self._scan(attributes, count, list(item), values) for item in zip(*given, strict=True)]
        return [np.stack(column) for column in zip(*items, strict=True)]

    def _scan(self, attributes: Attributes, count: int, given: list[Any], values: Mapping[str, Any]) -> list[Any]:
        body = graph_attribute(self.step.node, "body")
        states = len(given) - count
        outputs = len(body.output) - states
        key = "scan_input_directions" if self.step.opset >= 9 else "directions"
        backward = attributes.get_ints(key, [0] * count)
        axes = attributes.get_ints("scan_input_axes", [0] * count)
        moved = [np.moveaxis(x, axis, 0) for x, axis in zip(given[states:], axes, strict=True)]
        moved = [x[::-1] if turn else x for x, turn in zip(moved, backward, strict=True)]
        if len({len(x) for x in moved}) != 1:
            raise ModelError("the scanned axes have different sizes")
        carried, scanned = given[:states], [[] for _ in range(outputs)]
        names, results = [value.name for value in body.input], [value.name for value in body.output]
        outer = self._outer(values)
        for items in zip(*moved, strict=True):
            inputs = dict(
                zip(names, [*carried, *(np.ascontiguousarray(x).reshape(x.shape) for x in items)], strict=True)
            )
            made = self._body.run({**outer, **inputs})
            carried = [made[name] for name in results[:states]]
            for parts, name in zip(scanned, results[states:], strict=True):
                parts.append(made[name])
        out_axes = attributes.get_ints("scan_output_axes", [0] * outputs)
        turns = attributes.get_ints("scan_output_directions", [0] * outputs)
        types = [value.type for value in body.output[states:]]
        columns = zip(scanned, out_axes, turns, types, strict=True)
        return [
            *carried,
            *(_stacked(parts[::-1] if turn else parts, axis, kind) for parts, axis, turn, kind in columns),
        ]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, np.ndarray) and has_element(value.dtype)


def _first_words(error: Exception) -> str:
    """An error of somebody else's code without the objects that it prints."""
    text = str(error).split("\n", 1)[0]
    readable = len(text) < _MOST_WORDS and "<" not in text and "{" not in text
    return f"{type(error).__name__}: {text}" if text and readable else type(error).__name__


def _stacked(parts: list[Any], axis: int, kind: onnx.TypeProto) -> np.ndarray:
    """Along a new axis; of no parts, by what the body declares."""
    if parts:
        return np.stack(parts, axis)
    tensor = kind.tensor_type
    if not tensor.elem_type:
        raise ModelError("a loop of no steps stacks results whose type its body does not declare")
    shape = [dim.dim_value for dim in tensor.shape.dim]
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, 0)
    return np.empty(shape, helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def _as_value(value: Any) -> Any:
    return value if value is None or isinstance(value, list) else np.asarray(value)
