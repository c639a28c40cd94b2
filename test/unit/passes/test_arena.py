"""The arena: no two live buffers overlap, the bound is a bound, and what is known to fit does fit."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiopt.passes.lower.arena import ALIGNMENT, Buffer, align, live_bytes, lower_bound, plan


@st.composite
def _buffers(draw: st.DrawFn) -> list[Buffer]:
    lifetimes = st.tuples(st.integers(0, 20), st.integers(0, 6))
    drawn = draw(st.lists(st.tuples(st.integers(0, 5000), lifetimes), max_size=30))
    return [Buffer(size, first, first + length) for size, (first, length) in drawn]


@given(_buffers())
def test_live_buffers_do_not_overlap(buffers: list[Buffer]) -> None:
    found = plan(buffers)
    placed = list(zip(buffers, found.offsets, strict=True))
    for (a, at_a), (b, at_b) in itertools.combinations(placed, 2):
        together = a.first <= b.last and b.first <= a.last
        apart = at_a + a.size <= at_b or at_b + b.size <= at_a or 0 in (a.size, b.size)
        assert apart or not together
    assert all(at % ALIGNMENT == 0 for at in found.offsets)
    assert found.peak == max((at + b.aligned for b, at in placed), default=0)


@given(_buffers())
def test_bound_is_what_the_fullest_call_needs(buffers: list[Buffer]) -> None:
    found = plan(buffers)
    needed = [sum(b.aligned for b in buffers if b.first <= call <= b.last) for call in range(27)]
    assert found.lower_bound == lower_bound(buffers) == max(needed)
    assert live_bytes(buffers) == needed[: len(live_bytes(buffers))]
    assert found.lower_bound <= found.peak <= sum(b.aligned for b in buffers)


@given(_buffers())
def test_same_plan_every_time(buffers: list[Buffer]) -> None:
    assert plan(buffers) == plan(buffers)


def test_chain_needs_two_buffers() -> None:
    chain = [Buffer(1000, i, i + 1) for i in range(100)]
    assert plan(chain).peak == plan(chain).lower_bound == 2 * align(1000)


def test_climb_finds_what_greedy_misses() -> None:
    """Found by search: each of the greedy orders takes eleven lines here, where ten will do."""
    lines = [(5, 5, 7), (5, 1, 2), (3, 2, 4), (1, 5, 6), (3, 3, 5), (4, 3, 3)]
    buffers = [Buffer(ALIGNMENT * size, first, last) for size, first, last in lines]
    assert plan(buffers).peak == lower_bound(buffers) == 10 * ALIGNMENT


def test_buffers_in_the_middle_of_slots() -> None:
    sizes = [100, 40, 60, 20, 80]
    chain = [Buffer(ALIGNMENT * size, i, i + 1) for i, size in enumerate(sizes)]
    found = plan(chain, room=2.0)
    middles = [at + b.size // 2 for b, at in zip(chain, found.offsets, strict=True)]
    assert middles[0] == middles[2] == middles[4] != middles[1] == middles[3]
    assert found.peak == (100 + 40) * ALIGNMENT
    assert plan(chain, room=1.0).peak == lower_bound(chain)


def test_slots_that_take_too_much_are_not_made() -> None:
    """One slot of 64 lines for each of the small buffers, all of which lie in the place of the large one otherwise."""
    buffers = [Buffer(640, 0, 0), *[Buffer(64, 1, 1)] * 10]
    assert plan(buffers, room=1.5).peak == lower_bound(buffers) == 640


@given(_buffers())
def test_live_buffers_in_slots_do_not_overlap(buffers: list[Buffer]) -> None:
    found = plan(buffers, room=100.0)
    for (a, at_a), (b, at_b) in itertools.combinations(zip(buffers, found.offsets, strict=True), 2):
        together = a.first <= b.last and b.first <= a.last
        assert not together or at_a + a.size <= at_b or at_b + b.size <= at_a or 0 in (a.size, b.size)
    assert all(at % ALIGNMENT == 0 for at in found.offsets)


def test_nothing_takes_nothing() -> None:
    assert plan([]).peak == 0
    assert plan([]).offsets == ()


@pytest.mark.parametrize(("size", "aligned"), [(0, 0), (1, 64), (64, 64), (65, 128)])
def test_sizes_are_whole_lines(size: int, aligned: int) -> None:
    assert align(size) == aligned
