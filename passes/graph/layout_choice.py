"""Which ops work in channels_last, decided on an abstract graph by cost (no mlir here).

Every op gets one of two layouts. An op may cost more in one of them; a value that is made in one layout and read in
the other costs a relayout, once however many read it. The cheapest choice is a minimum cut: channels_first is the
source's side, channels_last the sink's. Costs are picoseconds; ties go to channels_first.
Source: Kolmogorov and Zabih, What Energy Functions Can Be Minimized via Graph Cuts?, PAMI 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aiopt.passes.graph.min_cut import UNBOUNDED, FlowNetwork

# What one core does, roughly; only ratios far from 1 change a choice.
CHANNELS_FIRST_FLOPS_PER_NS = 10  # plain loops, which the compiler vectorizes along a row
CHANNELS_LAST_FLOPS_PER_NS = 50  # register-blocked loops over channels
LANES = 8  # of a vector
BYTES_PER_NS = 10  # a copy that transposes, bytes read and bytes written
LAUNCH_NS = 2000  # a kernel more
VIEW_PS = 1  # a change of layout that moves nothing, so that there is none without need


def window_gain(flops: int) -> int:
    """What a convolution of this size gains in channels_last, in picoseconds."""
    return flops * 1000 // CHANNELS_FIRST_FLOPS_PER_NS - flops * 1000 // CHANNELS_LAST_FLOPS_PER_NS


def pointwise_gain(flops: int, pixels: int) -> int:
    """What a pointwise convolution gains in channels_last, where its vectors are of filters, in picoseconds.

    In channels_first they are of the pixels of an image: register-blocked, too, but the last one is not full.
    """
    unused = -pixels % LANES
    return flops * 1000 // CHANNELS_LAST_FLOPS_PER_NS * unused // pixels


def move_cost(nbytes: int) -> int:
    """What a copy of a tensor in another order costs, in picoseconds."""
    return 2 * nbytes * 1000 // BYTES_PER_NS + LAUNCH_NS * 1000


@dataclass
class Choices:
    """The choices to make: a node each, and what they cost.

    FIRST stands for whatever is channels_first in any case.
    """

    costs: list[tuple[int, int]] = field(default_factory=list)  # of a node in channels_first, in channels_last
    _values: list[tuple[int, tuple[int, ...], int]] = field(default_factory=list)
    _pairs: list[tuple[int, int, int]] = field(default_factory=list)

    FIRST = -1

    def add_node(self, first: int = 0, last: int = 0) -> int:
        """A choice that costs `first` or `last`; its number."""
        self.costs.append((first, last))
        return len(self.costs) - 1

    def add_cost(self, node: int, first: int = 0, last: int = 0) -> None:
        """Make a choice dearer."""
        old = self.costs[node]
        self.costs[node] = (old[0] + first, old[1] + last)

    def add_value(self, producer: int, readers: Sequence[int], relayout: int) -> None:
        """A value: if any reader's layout is not the producer's, that costs `relayout`."""
        others = tuple(dict.fromkeys(reader for reader in readers if reader != producer))
        if others:
            self._values.append((producer, others, relayout))

    def add_pair(self, one: int, two: int, cost: Sequence[Sequence[int]]) -> None:
        """What two nodes cost together, as cost[layout of one][layout of two], 0 first and 1 last.

        Where no cut says this (c00 + c11 > c01 + c10), the node whose layout matters less is made channels_first.
        """
        (c00, c01), (c10, c11) = cost
        if c00 + c11 <= c01 + c10:
            self.add_cost(one, first=c00, last=c10)
            low = min(0, c11 - c10)  # costs must not be negative: the same on both sides changes nothing
            self.add_cost(two, first=-low, last=c11 - c10 - low)
            self._pairs.append((one, two, c01 + c10 - c00 - c11))
        elif c10 < c00:
            self.add_cost(one, first=c00, last=c10)
            self.add_cost(two, last=UNBOUNDED)
        else:
            self.add_cost(one, last=UNBOUNDED)
            self.add_cost(two, first=c00, last=c01)

    def solve(self) -> list[bool]:
        """For each node whether it is channels_last."""
        network = FlowNetwork(2 + len(self.costs))
        for node, (first, last) in enumerate(self.costs):
            network.add_edge(0, 2 + node, last)
            network.add_edge(2 + node, 1, first)
        for one, two, cost in self._pairs:
            network.add_edge(2 + one, 2 + two, cost)
        for producer, readers, cost in self._values:
            _add_value(network, _place(producer), [_place(reader) for reader in readers], cost)
        first = network.source_side()
        return [2 + node not in first for node in range(len(self.costs))]


def _place(node: int) -> int:
    return 0 if node == Choices.FIRST else 2 + node


def _add_value(network: FlowNetwork, producer: int, readers: Sequence[int], cost: int) -> None:
    """`cost` if the producer is on the source's side and any reader is not, and the same the other way round."""
    to_last, to_first = network.add_node(), network.add_node()
    network.add_edge(producer, to_last, cost)
    network.add_edge(to_first, producer, cost)
    for reader in readers:
        network.add_edge(to_last, reader, UNBOUNDED)
        network.add_edge(reader, to_first, UNBOUNDED)
