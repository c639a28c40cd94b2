"""RNN, GRU and LSTM, unrolled over time: one product of all inputs, then a small one for each step."""

from collections.abc import Sequence

from aiopt.dialects import ai
from aiopt.frontend.onnx.forms import take
from aiopt.frontend.onnx.node import Node
from aiopt.frontend.onnx.recurrence import Direction, Layer
from aiopt.frontend.onnx.registry import onnx_op
from aiopt.frontend.onnx.values import Value


@onnx_op("RNN")
def _rnn(node: Node) -> list[Value]:
    """h = f(x W + h R + biases)."""
    layer = Layer(node, 1, ["Tanh"])

    def step(direction: Direction, part: Value, states: Sequence[Value]) -> list[Value]:
        total = node.emit(ai.AddOp, part, layer.product(direction, states[0]))
        return [direction.functions[0](layer.clipped(total))]

    return layer.run(step, 1)


@onnx_op("GRU")
def _gru(node: Node) -> list[Value]:
    """h = (1 - z) g(candidate) + z h, with the gates z (update) and r (reset).

    r is applied to h before its product, or with linear_before_reset after it and its bias.
    """
    layer, late = Layer(node, 3, ["Sigmoid", "Tanh"]), node.attributes.get_bool("linear_before_reset", False)

    def step(direction: Direction, part: Value, states: Sequence[Value]) -> list[Value]:
        (state,), (f, g) = states, direction.functions
        product = layer.product(direction, state)
        update, reset = (
            f(layer.clipped(node.emit(ai.AddOp, layer.gate(part, at), layer.gate(product, at)))) for at in (0, 1)
        )
        if late:
            inner = node.emit(ai.MulOp, reset, layer.gate(product, 2))
        else:
            inner = _reset_product(node, layer, direction, node.emit(ai.MulOp, reset, state))
        candidate = g(layer.clipped(node.emit(ai.AddOp, layer.gate(part, 2), inner)))
        kept = node.emit(ai.MulOp, update, state)
        return [node.emit(ai.AddOp, node.emit(ai.MulOp, layer.rest(update), candidate), kept)]

    return layer.run(step, 1)


def _reset_product(node: Node, layer: Layer, direction: Direction, state: Value) -> Value:
    """The product of the third gate alone."""
    hidden = layer.hidden
    part = take(node, direction.recurrence, [0, 2 * hidden], [hidden, hidden], [1, 1])
    product = node.emit(ai.MatMulOp, state, part)
    bias = direction.recurrence_bias
    return product if bias is None else node.emit(ai.AddOp, product, take(node, bias, [2 * hidden], [hidden], [1]))


@onnx_op("LSTM")
def _lstm(node: Node) -> list[Value]:
    """c = f c + i g(candidate); h = o h(c), with the gates i (input), o (output), f (forget), in this order.

    clip bounds what goes into the gates, not c, as in ONNX Runtime. The peepholes (input 7: of i, o, f) let the gates
    see c: i and f the one before, o the new one.
    """
    layer = Layer(node, 4, ["Sigmoid", "Tanh", "Tanh"])
    coupled = node.attributes.get_bool("input_forget", False)

    def step(direction: Direction, part: Value, states: Sequence[Value]) -> list[Value]:
        (state, cell), (f, g, h) = states, direction.functions
        total = node.emit(ai.AddOp, part, layer.product(direction, state))
        gates = [layer.gate(total, at) for at in range(4)]
        into = f(layer.clipped(_peep(node, direction, gates[0], cell, 0)))
        forget = layer.rest(into) if coupled else f(layer.clipped(_peep(node, direction, gates[2], cell, 2)))
        candidate = g(layer.clipped(gates[3]))
        new = node.emit(ai.AddOp, node.emit(ai.MulOp, forget, cell), node.emit(ai.MulOp, into, candidate))
        out = f(layer.clipped(_peep(node, direction, gates[1], new, 1)))
        return [node.emit(ai.MulOp, out, h(new)), new]

    return layer.run(step, 2, extra=7)


def _peep(node: Node, direction: Direction, gate: Value, cell: Value, index: int) -> Value:
    if direction.extra is None:
        return gate
    weights = take(node, direction.extra, [index * direction.hidden], [direction.hidden], [1])
    return node.emit(ai.AddOp, gate, node.emit(ai.MulOp, weights, cell))
