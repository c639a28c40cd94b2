"""Kernels are cut so that all cores have as many tasks."""

from __future__ import annotations

import pytest

from aiopt.passes.templates.base import Facts
from aiopt.passes.templates.blocking import idle_part
from aiopt.passes.templates.geometry import Axis, Geometry
from aiopt.passes.templates.sweep import task_rows


@pytest.mark.parametrize(
    ("tasks", "cores", "wanted"), [(8, 2, 0), (7, 2, 1 / 7), (3, 2, 1 / 3), (13, 4, 3 / 13), (1, 8, 7)]
)
def test_idle_part(tasks: int, cores: int, wanted: float) -> None:
    assert idle_part(tasks, cores) == pytest.approx(wanted)


def test_threads_that_divide_rows_have_as_many_of_them() -> None:
    axis = Axis(14, 14, 3, 1, 1, 1)
    rows = task_rows(Geometry(1, axis, axis, 240, 240, 240, 14), 15, 16, Facts(256, 16, 1 << 20, 2, True))
    assert rows in (1, 7), "two threads have seven of the fourteen rows each, of all blocks of channels"


@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("height", [7, 13, 26, 56])
def test_rows_of_a_task_leave_no_core_idle_for_long(height: int, cores: int) -> None:
    axis = Axis(height, height, 3, 1, 1, 1)
    geometry = Geometry(1, axis, axis, 16, 16, 1, height)
    rows = task_rows(geometry, 1, 24, Facts(256, 16, 1 << 20, cores, True))
    assert 1 <= rows <= height
    tasks = -(-height // rows)
    assert cores == 1 or idle_part(tasks, cores) <= idle_part(height, cores) + 0.02


@pytest.mark.parametrize(("size", "rows"), [(14, 4), (7, 1), (20, 16), (15, 9)])
def test_joined_pixels_lie_in_an_even_number_of_rows_where_they_can(size: int, rows: int) -> None:
    axis = Axis(size, size, 1, 1, 1, 0)
    joined = Geometry(1, axis, axis, 32, 32, 4, size).in_rows(24)
    assert (joined.rows, joined.y.count, joined.x.count) == (rows, rows, size * size // rows)
