"""Bands of rows, in numbers: what is computed of each layer has all that the next ones read. Oracle: sets of rows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aiopt.passes.templates.bands import Layer, Read, cut, heights


def test_a_band_of_all_rows_computes_nothing_twice() -> None:
    layers = [Layer(8, 64), Layer(8, 64, (Read(0, 1, 1, 3),)), Layer(8, 64, (Read(1),))]
    bands = cut(layers, 8)
    assert bands is not None
    assert [part.count for part in bands.parts] == [8, 8, 8]
    assert bands.buffer_bytes(layers) == 2 * 8 * 64


def test_a_halo_moves_inside_at_the_edges() -> None:
    bands = cut([Layer(8, 1), Layer(8, 1, (Read(0, 1, 1, 3),))], 2)
    assert bands is not None
    assert [bands.parts[0].first(band) for band in range(4)] == [0, 1, 3, 4]
    assert bands.parts[0].count == 4


def test_two_readers_of_different_strides_have_no_part() -> None:
    layers = [Layer(8, 1), Layer(4, 1, (Read(0, 2, 0, 1),)), Layer(4, 1, (Read(1), Read(0)))]
    assert cut(layers, 2) is None


def test_heights_divide_the_rows() -> None:
    assert list(heights(12)) == [1, 2, 3, 4, 6, 12]


@st.composite
def _chains(draw: st.DrawFn) -> list[Layer]:
    rows = draw(st.integers(4, 24))
    layers = [Layer(rows, 1)]
    for index in range(draw(st.integers(1, 3))):
        taps, stride = draw(st.integers(1, 5)), draw(st.integers(1, 2))
        pad, after = draw(st.integers(0, taps - 1)), draw(st.integers(0, taps - 1))
        rows = (rows + pad + after - taps) // stride + 1
        if rows < 1:
            break
        layers.append(Layer(rows, 1, (Read(index, stride, pad, taps),)))
    return layers


@given(_chains(), st.data())
def test_what_is_read_was_computed(layers: list[Layer], data: st.DataObject) -> None:
    height = data.draw(st.sampled_from(list(heights(layers[-1].rows))))
    bands = cut(layers, height)
    assert bands is not None, "what follows each other has parts"
    for band in range(bands.number):
        have = [range(part.first(band), part.first(band) + part.count) for part in bands.parts]
        assert list(have[-1]) == list(range(band * height, (band + 1) * height))
        for index, layer in enumerate(layers):
            for read in layer.reads:
                rows = {row * read.stride - read.pad + tap for row in have[index] for tap in range(read.extent)}
                assert {row for row in rows if 0 <= row < layers[read.layer].rows} <= set(have[read.layer])
