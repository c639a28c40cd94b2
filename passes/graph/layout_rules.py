"""What an op does in channels_last: which operands it takes so, what it gives, which attributes change.

An activation is [N, C, *spatial]; in channels_last [N, *spatial, C]. Between two reshapes it may have other dimensions:
several for the channels (the channel shuffle of ShuffleNet), or more that lead (the planes of a local response
normalisation): [*lead, *channels, *spatial] and [*lead, *spatial, *channels].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from mlir import ir

from aiopt.dialects import ai, ext
from aiopt.dialects.ai import Trait
from aiopt.dialects.ai.packing import CHANNELS_LAST
from aiopt.passes.permutation import is_view


@dataclass(frozen=True)
class Form:
    """The dimensions of an activation: how many there are, how many of them are channels, how many come before."""

    rank: int
    channels: int = 1
    lead: int = 1

    @property
    def order(self) -> list[int]:
        """channels_last as a permutation of channels_first: which dimension stands at each place."""
        end = self.lead + self.channels
        return [*range(self.lead), *range(end, self.rank), *range(self.lead, end)]

    @property
    def is_plain(self) -> bool:
        """True for [N, C, *spatial]."""
        return (self.channels, self.lead) == (1, 1)

    @property
    def inverse(self) -> list[int]:
        """channels_first as a permutation of channels_last: where each dimension stands."""
        order = self.order
        return [order.index(axis) for axis in range(self.rank)]

    def rearrange(self, values: Sequence[Any]) -> list[Any]:
        """Values by dimension, in the order of channels_last."""
        return [values[axis] for axis in self.order]

    def is_view(self, shape: Sequence[int]) -> bool:
        """True if a tensor of this shape (in channels_first) has its elements in the same places in both layouts."""
        return is_view(self.order, shape)


@dataclass(frozen=True)
class Rule:
    """How to build an op on activations in channels_last."""

    operands: Mapping[int, Form]  # those to hand over in channels_last, by place; the others stay as they are
    result: Form | None  # None: the result is the same in both
    attributes: Mapping[str, Any] = field(default_factory=dict)  # those that change


Forms = Mapping[ir.Value, Form]
_RuleOf = Callable[[Any, Forms], Rule | None]


def rule(op: ext.Operation, forms: Forms) -> Rule | None:
    """The rule of an op, given the forms of its operands; None where it has to work in channels_first."""
    if Trait.ELEMENTWISE in op.traits:
        return _elementwise(op, forms)
    found = _RULES.get(type(op))
    return found(op, forms) if found is not None else None


def has_window(op: ext.Operation) -> bool:
    """True for the ops that channels_last is for: convolutions and pooling."""
    return isinstance(op, (ai.ConvOp, ai.MaxPoolOp, ai.AvgPoolOp))


def flattened(op: ext.Operation, forms: Forms) -> bool:
    """True for a reshape that joins all dimensions but N."""
    if not isinstance(op, ai.ReshapeOp) or op.input not in forms:
        return False
    have, want = ext.type_of(op.input).shape, ext.type_of(op.out).shape
    return len(want) > 1 and want[-1] == prod(have[1:]) and have[0] == prod(want[:-1])


def _elementwise(op: ext.Operation, forms: Forms) -> Rule | None:
    rank = ext.type_of(op.operation.results[0]).rank
    if rank < 3:
        return None
    operands = list(op.operation.operands)
    known = [forms[value] for value in operands if value in forms and forms[value].rank == rank]
    form = known[0] if known else Form(rank)
    attributes = {"shape": form.rearrange(list(op.shape))} if isinstance(op, ai.BroadcastToOp) else {}
    return Rule(dict.fromkeys(range(len(operands)), form), form, attributes)


def _window(op: ext.Operation, forms: Forms) -> Rule | None:
    """conv, pooling, batch_norm: the layout is an attribute; weights stay as they are."""
    form = _form(op, forms)
    if form is None or not form.is_plain or op.layout is not None:  # pyright: ignore[reportAttributeAccessIssue]
        return None
    return Rule({0: form}, form, {"layout": CHANNELS_LAST})


def _pool(op: ai.MaxPoolOp | ai.AvgPoolOp, forms: Forms) -> Rule | None:
    """Pooling of planes, channels and pixels being its spatial dimensions: these change places."""
    form = _form(op, forms)
    if form is None or form.lead < 2 or op.layout is not None:
        return _window(op, forms)
    places, rank = [axis - 2 for axis in form.order[2:]], form.rank - 2
    attributes = op.python_attributes()
    changed = {key: [value[i] for i in places] for key, value in attributes.items() if key in _PER_SPATIAL}
    changed["pads"] = [attributes["pads"][half + i] for half in (0, rank) for i in places]
    return Rule({0: form}, form, changed)


def _along_axis(op: ai.SoftmaxOp | ai.ConcatOp, forms: Forms) -> Rule | None:
    form = _form(op, forms)
    if form is None:
        return None
    places = dict.fromkeys(range(len(op.operation.operands)), form)
    return Rule(places, form, {"axis": form.inverse[op.axis.value]})


def _per_dimension(op: ai.SliceOp | ai.ResizeOp | ai.PadOp, forms: Forms) -> Rule | None:
    form = _form(op, forms)
    if form is None:
        return None
    lists = {key: value for key, value in op.python_attributes().items() if isinstance(value, list)}
    return Rule({0: form}, form, {key: form.rearrange(value) for key, value in lists.items()})


def _reduction(op: ext.Operation, forms: Forms) -> Rule | None:
    form = _form(op, forms)
    if form is None:
        return None
    attributes = op.python_attributes()
    axes = attributes["axes"]
    changed = {"axes": sorted(form.inverse[axis] for axis in axes)}
    if attributes["keepdims"]:
        return Rule({0: form}, form, changed)
    kept = [axis for axis in form.order if axis not in axes]
    if kept == sorted(kept):
        return Rule({0: form}, None, changed)
    channels = sum(form.lead <= axis < form.lead + form.channels for axis in kept)
    lead = sum(axis < form.lead for axis in kept)
    return Rule({0: form}, Form(len(kept), channels, lead), changed) if lead else None


def _reshape(op: ai.ReshapeOp, forms: Forms) -> Rule | None:
    """One that joins or splits dimensions that lead, channels and spatial dimensions each among themselves."""
    form = _form(op, forms)
    have, want = ext.type_of(op.input).shape, ext.type_of(op.out).shape
    if form is None or len(want) < 3 or 0 in have:
        return None
    ends = [(1, 2), *((lead, end) for lead in range(len(want) - 2, 0, -1) for end in range(lead + 1, len(want)))]
    sizes = prod(have[: form.lead]), prod(have[form.lead : form.lead + form.channels])
    for lead, end in ends:
        if (prod(want[:lead]), prod(want[lead:end])) == sizes:
            out = Form(len(want), end - lead, lead)
            return Rule({0: form}, out, {"shape": out.rearrange(want)})
    return None


def _transpose(op: ai.TransposeOp, forms: Forms) -> Rule | None:
    """One that permutes channels among themselves, and spatial dimensions among themselves."""
    form = _form(op, forms)
    permutation = list(op.permutation)
    if form is None or permutation[: form.lead] != list(range(form.lead)):
        return None
    channels = range(form.lead, form.lead + form.channels)
    if any(permutation[axis] not in channels for axis in channels):
        return None
    return Rule({0: form}, form, {"permutation": [form.inverse[axis] for axis in form.rearrange(permutation)]})


def _form(op: ext.Operation, forms: Forms) -> Form | None:
    return forms.get(op.operation.operands[0])


_PER_SPATIAL = frozenset({"kernel", "strides", "dilations"})
_RULES: dict[type[ext.Operation], _RuleOf] = {
    **dict.fromkeys((ai.ConvOp, ai.BatchNormOp), _window),
    **dict.fromkeys((ai.MaxPoolOp, ai.AvgPoolOp), _pool),
    **dict.fromkeys((ai.SoftmaxOp, ai.ConcatOp), _along_axis),
    **dict.fromkeys((ai.ReduceSumOp, ai.ReduceProdOp, ai.ReduceMeanOp, ai.ReduceMaxOp, ai.ReduceMinOp), _reduction),
    **dict.fromkeys((ai.SliceOp, ai.ResizeOp, ai.PadOp), _per_dimension),
    ai.BroadcastToOp: _elementwise,
    ai.ReshapeOp: _reshape,
    ai.TransposeOp: _transpose,
}
