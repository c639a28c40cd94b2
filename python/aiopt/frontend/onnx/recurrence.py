"""What RNN, GRU and LSTM have in common. Shapes: T steps, B batch, I inputs, H hidden numbers, G gates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aiopt.dialects import ai
from aiopt.dialects.ext import MAX_VARIADIC
from aiopt.frontend.onnx.activations import affine, clamp, find_activation
from aiopt.frontend.onnx.forms import cast, reshape, scalar, take, transpose
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.values import Value
from aiopt.support.errors import ModelError, UnsupportedError
from aiopt.support.types import LOW_FLOATS

MOST_STEPS = 2048  # steps are unrolled; beyond, compiling takes longer than anybody waits

Function = Callable[[Value], Value]
Step = Callable[["Direction", Value, Sequence[Value]], Sequence[Value]]


@dataclass(frozen=True)
class Direction:
    """One direction of a layer: what its step needs.

    recurrence: [H, G * H]. recurrence_bias: [G * H] or None. extra: [3 * H] or None (the peepholes of an LSTM).
    """

    recurrence: Value
    recurrence_bias: Value | None
    functions: tuple[Function, ...]
    extra: Value | None
    hidden: int


class Layer:
    """The inputs and attributes of a recurrent node, and the way to run its steps.

    Source: ONNX RNN-22, GRU-22, LSTM-22; where the text is silent (clip, parameters of activations) ONNX Runtime.
    """

    def __init__(self, node: Node, gates: int, defaults: Sequence[str]) -> None:
        """defaults: the activations of one direction."""
        self.node, self.gates = node, gates
        attributes = node.attributes
        names = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
        direction = attributes.get_string("direction", "forward")
        if direction not in names:
            raise ModelError(f"direction must be forward, reverse or bidirectional, not '{direction}'")
        self.backward = names[direction]
        self.batch_first = node.opset >= 14 and attributes.get_bool("layout", False)
        self.clip = attributes.get_float("clip", None)
        self._read_inputs()
        self.functions = self._read_functions(defaults)

    def _read_inputs(self) -> None:
        node = self.node
        x, weight, recurrence = node.input(0), node.input(1), node.input(2)
        self.element = x.element
        self.wide = "f32" if x.element in LOW_FLOATS else x.element
        self.x = transpose(node, x, (1, 0, 2)) if self.batch_first else x
        if x.rank != 3 or weight.rank != 3 or recurrence.rank != 3:
            raise ModelError(f"X, W and R must have rank 3, but are of {[list(v.shape) for v in node.inputs[:3] if v]}")
        self.steps, self.batch, inputs = self.x.shape
        count, self.hidden = len(self.backward), recurrence.shape[2]
        rows = self.gates * self.hidden
        declared = node.attributes.get_int("hidden_size", self.hidden)
        if declared != self.hidden or weight.shape != (count, rows, inputs) or recurrence.shape[:2] != (count, rows):
            raise ModelError(
                f"W and R must be [{count}, {rows}, {inputs}] and [{count}, {rows}, {self.hidden}] (hidden_size "
                f"{declared}), but are {list(weight.shape)} and {list(recurrence.shape)}"
            )
        if self.steps * count > MOST_STEPS:
            raise UnsupportedError(f"{self.steps} steps are not unrolled: {MOST_STEPS} of all directions are the most")
        self.lengths = self._lengths()

    def _lengths(self) -> Value | None:
        """The steps of each item, [B, 1]; None where all have all."""
        lengths = self.node.optional(4)
        if lengths is None or (lengths.array is not None and bool((lengths.array == self.steps).all())):
            return None
        return reshape(self.node, lengths, (self.batch, 1))

    def _read_functions(self, defaults: Sequence[str]) -> list[tuple[Function, ...]]:
        """The activations of each direction; alphas and betas are given in order to those that take them."""
        attributes, count = self.node.attributes, len(defaults)
        names = attributes.get_strings("activations") or [*defaults] * len(self.backward)
        if len(names) != count * len(self.backward):
            raise ModelError(f"activations must be {count} for each direction, but are {names}")
        given = [list(attributes.get_floats(f"activation_{key}") or []) for key in ("alpha", "beta")]
        functions = [self._function(name, given) for name in names]
        return [tuple(functions[at : at + count]) for at in range(0, len(functions), count)]

    def _function(self, name: str, given: Sequence[list[float]]) -> Function:
        activation = find_activation(name)
        numbers = [
            values.pop(0) if values else default for values, default in zip(given, activation.defaults, strict=False)
        ]
        return lambda x: activation.apply(self.node, x, *numbers)

    def clipped(self, x: Value) -> Value:
        """x between -clip and clip."""
        return x if self.clip is None else clamp(self.node, x, -self.clip, self.clip)

    def run(self, step: Step, states: int, extra: int | None = None) -> list[Value]:
        """Y [T, D, B, H] and the last of each state [D, B, H] (with layout=1 the batch comes first).

        step: makes the states of one step (the first is the output) from the input's part [B, G * H] and the states.
        states: how many there are, the initial ones from input 5 on. extra: an input with a row for each direction.
        """
        node, sequences, finals = self.node, [], []
        for index, backward in enumerate(self.backward):
            direction, projected = self._direction(index, extra)
            initial = [self._initial(5 + at, index) for at in range(states)]
            outputs, final = self._steps(step, direction, projected, initial, backward)
            sequences.append(reshape(node, outputs, (self.steps, 1, self.batch, self.hidden)))
            finals.append([reshape(node, state, (1, self.batch, self.hidden)) for state in final])
        every = self._joined(sequences, 1)
        lasts = [self._joined(list(parts), 0) for parts in zip(*finals, strict=True)]
        if self.batch_first:
            every = transpose(node, every, (2, 0, 1, 3))
            lasts = [transpose(node, last, (1, 0, 2)) for last in lasts]
        return [cast(node, value, self.element) for value in (every, *lasts)]

    def _direction(self, index: int, extra: int | None) -> tuple[Direction, Value]:
        """What a direction needs, and the projection of all inputs with its bias, [T, B, G * H]: one product."""
        node, rows = self.node, self.gates * self.hidden
        weight, recurrence = (transpose(node, self._row(node.input(at), index), (1, 0)) for at in (1, 2))
        flat = reshape(node, cast(node, self.x, self.wide), (self.steps * self.batch, self.x.shape[2]))
        projected = node.emit(ai.MatMulOp, flat, weight)
        bias = node.optional(3)
        recurrent = None
        if bias is not None:
            both = self._row(bias, index)
            first, recurrent = (take(node, both, [at], [rows], [1]) for at in (0, rows))
            projected = node.emit(ai.AddOp, projected, first)
        more = node.optional(extra) if extra is not None else None
        row = None if more is None else self._row(more, index)
        direction = Direction(recurrence, recurrent, self.functions[index], row, self.hidden)
        return direction, reshape(node, projected, (self.steps, self.batch, rows))

    def _row(self, x: Value, index: int) -> Value:
        """x[index] in the type that is computed in."""
        part = take(self.node, x, [index, *[0] * (x.rank - 1)], [1, *x.shape[1:]], [1] * x.rank)
        return cast(self.node, reshape(self.node, part, x.shape[1:]), self.wide)

    def _initial(self, at: int, index: int) -> Value:
        """[B, H]; zeros if absent."""
        state = self.node.optional(at)
        if state is None:
            return Value.known(np.zeros((self.batch, self.hidden), self.wide_dtype))
        if self.batch_first:
            state = transpose(self.node, state, (1, 0, 2))
        if state.shape != (len(self.backward), self.batch, self.hidden):
            raise ModelError(f"input {at}, an initial state, has the shape {list(state.shape)}, which does not fit")
        return self._row(state, index)

    @property
    def wide_dtype(self) -> np.dtype:
        return np.dtype(np.float64 if self.wide == "f64" else np.float32)

    def _steps(
        self, step: Step, direction: Direction, projected: Value, states: list[Value], backward: bool
    ) -> tuple[Value, list[Value]]:
        """[T, B, H] and the last states. An item that has ended keeps its states and gives zeros; backwards, it has not
        begun yet and keeps its initial ones."""
        node, outputs = self.node, []
        for time in range(self.steps - 1, -1, -1) if backward else range(self.steps):
            part = node.emit(ai.GatherOp, projected, Value.known(np.array(time)), axis=0)  # one kernel for all steps
            made = list(step(direction, part, states))
            output = made[0]
            if self.lengths is not None:
                runs = node.emit(ai.LessOp, scalar(self.lengths, time), self.lengths)
                output = node.emit(ai.SelectOp, runs, output, scalar(output, 0))
                made = [node.emit(ai.SelectOp, runs, new, old) for new, old in zip(made, states, strict=True)]
            states = made
            outputs.append(reshape(node, output, (1, self.batch, self.hidden)))
        if not outputs:
            return Value.known(np.zeros((0, self.batch, self.hidden), self.wide_dtype)), states
        return self._joined(outputs[::-1] if backward else outputs, 0), states

    def _joined(self, values: Sequence[Value], axis: int) -> Value:
        """Concatenated, by a tree where they are many."""
        parts = list(values)
        while len(parts) > 1:
            chunks = [parts[at : at + MAX_VARIADIC] for at in range(0, len(parts), MAX_VARIADIC)]
            parts = [self.node.emit(ai.ConcatOp, chunk, axis=axis) if len(chunk) > 1 else chunk[0] for chunk in chunks]
        return parts[0]

    def product(self, direction: Direction, state: Value) -> Value:
        """The state's part of all gates [B, G * H], with its bias."""
        product = self.node.emit(ai.MatMulOp, state, direction.recurrence)
        bias = direction.recurrence_bias
        return product if bias is None else self.node.emit(ai.AddOp, product, bias)

    def gate(self, gates: Value, index: int) -> Value:
        """[B, G * H] -> [B, H]."""
        return take(self.node, gates, [0, index * self.hidden], [self.batch, self.hidden], [1, 1])

    def rest(self, x: Value) -> Value:
        """1 - x"""
        return affine(self.node, self.node.emit(ai.NegOp, x), 1, 1)
