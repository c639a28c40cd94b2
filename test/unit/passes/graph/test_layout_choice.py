"""The choice of layouts on abstract graphs. Oracle: all choices tried."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from aiopt.passes.graph.layout_choice import LANES, Choices, move_cost, pointwise_gain, window_gain
from aiopt.passes.graph.min_cut import UNBOUNDED

_COST = st.integers(0, 9)


@st.composite
def problems(draw):
    """(costs of nodes, values as (producer, readers, cost), pairs as (one, two, cost by layouts))"""
    count = draw(st.integers(2, 6))
    node = st.integers(-1, count - 1)
    costs = draw(st.lists(st.tuples(_COST, _COST), min_size=count, max_size=count))
    values = draw(st.lists(st.tuples(node, st.lists(node, min_size=1, max_size=3), _COST), max_size=8))
    square = st.tuples(st.tuples(_COST, _COST), st.tuples(_COST, _COST))
    a_cut_says_it = square.filter(lambda c: c[0][0] + c[1][1] <= c[0][1] + c[1][0])
    pairs = draw(st.lists(st.tuples(st.just(0), st.just(1), a_cut_says_it), max_size=2))
    return costs, values, pairs


def _build(problem) -> Choices:
    choices = Choices()
    for first, last in problem[0]:
        choices.add_node(first, last)
    for value in problem[1]:
        choices.add_value(*value)
    for pair in problem[2]:
        choices.add_pair(*pair)
    return choices


def _cost(problem, layout) -> int:
    costs, values, pairs = problem
    layout = [*layout, 0]  # -1, what is channels_first in any case, is the last
    total = sum(cost[chosen] for cost, chosen in zip(costs, layout, strict=False))
    total += sum(c for made, read, c in values if any(layout[r] != layout[made] for r in read))
    return total + sum(c[layout[one]][layout[two]] for one, two, c in pairs)


@settings(max_examples=200, deadline=None)
@given(problems())
def test_the_choice_is_the_cheapest_and_of_those_the_one_nearest_to_channels_first(problem):
    chosen = [int(last) for last in _build(problem).solve()]
    tried = [(_cost(problem, each), sum(each)) for each in itertools.product((0, 1), repeat=len(chosen))]
    assert (_cost(problem, chosen), sum(chosen)) == min(tried)


def test_a_pair_that_no_cut_says_still_saves_what_one_side_can_save():
    for cost, expected in ((((9, 9), (0, 9)), [True, False]), (((9, 0), (9, 9)), [False, True])):
        choices = Choices()
        one, two = choices.add_node(), choices.add_node()
        choices.add_pair(one, two, cost)
        assert choices.solve() == expected


def test_what_is_forced_pulls_along_what_lies_between():
    choices = Choices()
    conv, relu, other = choices.add_node(first=UNBOUNDED), choices.add_node(), choices.add_node(first=UNBOUNDED)
    choices.add_value(Choices.FIRST, [conv], 5)
    choices.add_value(conv, [relu], 5)
    choices.add_value(relu, [other], 5)
    assert choices.solve() == [True, True, True]


def test_costs_tell_a_small_convolution_from_a_large_one():
    small, large = 2 * 4 * 64 * 27, 2 * 64 * 56 * 56 * 576
    assert window_gain(small) < 2 * move_cost(4 * 64 * 4)
    assert window_gain(large) > 2 * move_cost(64 * 56 * 56 * 4)


def test_pointwise_gain_is_what_the_last_vector_leaves_unused() -> None:
    assert pointwise_gain(10**9, 56 * 56) == 0
    assert 0 < pointwise_gain(10**9, 7 * 7) < window_gain(10**9)
    assert pointwise_gain(10**9, LANES - 1) < pointwise_gain(10**9, 1)
