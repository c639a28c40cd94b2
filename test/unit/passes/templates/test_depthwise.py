"""When a depthwise convolution goes through an image block by block: cache lines counted by hand."""

from __future__ import annotations

import pytest

from aiopt.passes.templates.depthwise import block_stays
from aiopt.passes.templates.geometry import Axis, Geometry


@pytest.mark.parametrize(
    ("size", "channels", "taps", "stays"),
    [
        (14, 480, 3, True),  # 196 lines in the 256 that pixels 1920 bytes apart can have
        (14, 512, 3, False),  # 2048 bytes apart: 16
        (28, 240, 3, False),  # 784 lines are more than there are
        (14, 200, 3, True),
        (14, 190, 3, False),  # three rows of all channels stay, too: 31920 bytes
    ],
)
def test_blocks_that_stay_in_the_cache(size: int, channels: int, taps: int, stays: bool) -> None:
    axis = Axis(size, size, taps, 1, 1, taps // 2)
    assert block_stays(Geometry(1, axis, axis, channels, channels, channels, size), 16) == stays
