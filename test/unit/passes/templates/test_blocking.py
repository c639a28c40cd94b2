"""Register blocks and how rows are cut: numbers derived by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aiopt.passes.templates.blocking import (
    Block,
    choose_block,
    cut,
    divides_rows,
    fetches_ahead,
    register_blocks,
    split,
    step_cycles,
)
from aiopt.passes.templates.geometry import Axis, Run, Span, plan_row


def test_blocks_fit_the_registers() -> None:
    blocks = list(register_blocks(16))
    assert Block(6, 2) in blocks  # 12 sums, 2 columns, 1 element: 15
    assert Block(4, 3) in blocks  # 12 + 3 + 1
    assert Block(7, 2) not in blocks
    assert Block(14, 2) in register_blocks(32)


def test_few_sums_wait_for_their_results() -> None:
    """Two multiply-adds a cycle and four cycles until the next on the same sum: less than eight sums are slower."""
    assert step_cycles(Block(6, 2)) / 12 < step_cycles(Block(3, 1)) / 3
    assert step_cycles(Block(4, 1)) >= 4


def test_choice_of_blocks() -> None:
    assert choose_block(lambda rows: cut(1024, rows), 1024, 16, 8) == Block(6, 2)
    assert choose_block(lambda rows: split(7, rows), 512, 16, 8) == Block(4, 3), "rows of 4 and 3: twelve and nine sums"
    assert choose_block(lambda rows: cut(1, rows), 4096, 16, 8).vectors > 4, "one row needs many columns"
    assert choose_block(lambda rows: cut(64, rows), 5, 16, 8).vectors == 1
    assert choose_block(lambda rows: cut(64, rows), 64, 16, 8, vectors=1).vectors == 1, "packed already"


def test_cut_and_split() -> None:
    assert cut(14, 6) == [(6, 2), (2, 1)]
    assert cut(5, 6) == [(5, 1)]
    assert split(14, 6) == [(5, 2), (4, 1)]
    assert split(12, 6) == [(6, 2)]


def test_row_with_a_border() -> None:
    """8 pixels, 3 taps, a border of one, tiles of at most 3: the ends do not see the first and the last tap."""
    runs = plan_row(Axis(size=8, count=8, taps=3, stride=1, dilation=1, pad=1), 3)
    assert runs == [
        Run(0, 3, 1, (Span(0, 1, (1, 2)), Span(1, 3, (0, 1, 2)))),
        Run(3, 3, 1, (Span(0, 3, (0, 1, 2)),)),
        Run(6, 2, 1, (Span(0, 2, (0, 1)), Span(2, 3, (0,)))),
    ]


def test_equal_tiles_are_one_run() -> None:
    assert plan_row(Axis(size=24, count=24, taps=1, stride=1, dilation=1, pad=0), 6) == [
        Run(0, 6, 4, (Span(0, 1, tuple(range(6))),))
    ]


@given(*(st.integers(*bounds) for bounds in ((1, 20), (1, 7), (1, 3), (1, 3), (0, 6), (0, 6), (1, 8))))
def test_every_tap_on_the_image_is_visited_once(
    size: int, taps: int, stride: int, dilation: int, pad: int, end: int, limit: int
) -> None:
    count = (pad + size + end - ((taps - 1) * dilation + 1)) // stride + 1
    if count < 1:
        return
    axis = Axis(size, count, taps, stride, dilation, pad)
    visited = [
        (run.start + number * run.size + pixel, tap)
        for run in plan_row(axis, limit)
        for number in range(run.times)
        for span in run.spans
        for tap in range(span.first, span.last)
        for pixel in span.pixels
    ]
    wanted = [(p, t) for p in range(count) for t in range(taps) if 0 <= p * stride - pad + t * dilation < size]
    assert sorted(visited) == wanted


def test_weights_are_fetched_ahead_where_it_pays() -> None:
    l2 = 1 << 20
    assert fetches_ahead(49, 4 * 512 * 2048, 4 * 512 * 16, l2) == 1
    assert fetches_ahead(196, 4 * 40 * 480, 4 * 40 * 16, l2) == 1
    assert fetches_ahead(784, 4 * 128 * 512, 4 * 128 * 16, l2) == 0, "little to fetch for what it costs"
    assert fetches_ahead(784, 4 * 512 * 256, 4 * 512 * 16, l2) == 0
    assert fetches_ahead(784, 4 * 1024 * 256, 4 * 1024 * 16, l2) == 1
    assert fetches_ahead(49, 36 * 512 * 512, 36 * 512 * 16, l2) == 0, "two blocks are more than half of L2"
    assert fetches_ahead(49, 4 * 32 * 64, 4 * 32 * 16, l2) == 0


def test_threads_divide_rows_unless_weights_outweigh_the_result() -> None:
    assert divides_rows(4 * 64 * 16, 4 * 55 * 55 * 64), "many pixels, few weights"
    assert not divides_rows(4 * 2048 * 512, 4 * 7 * 7 * 512), "all weights, read on each core, take longer"
    assert not divides_rows(0, 4 * 49 * 64, rows=7, work=1.4e6), "one thread has many more rows than the other"
