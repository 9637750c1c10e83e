from __future__ import annotations

import pytest

from domain.errors import MetricError
from metrics.shapes import SHAPES, Pair, is_off_shape, shapes


@pytest.mark.parametrize(
    ("before", "after", "off"),
    [
        ((1248, 832), (1248, 832), False),
        ((1248, 832), (1264, 848), False),  # 0.6 % off: a model's own sizes
        ((1248, 832), (2496, 1664), False),
        ((178, 218), (1024, 1280), True),  # 2 % off
        ((1000, 1000), (1010, 1000), False),
        ((1000, 1000), (1011, 1000), True),
        ((1000, 1000), (1000, 1011), True),
    ],
)
def test_one_percent_of_aspect_is_the_limit(before: tuple[int, int], after: tuple[int, int], off: bool):
    assert is_off_shape(before, after) is off


def test_sizes_and_shapes_are_counted_by_model():
    pairs = [
        Pair("b", (100, 100), (100, 100)),
        Pair("a", (100, 100), (200, 200)),
        Pair("a", (100, 100), (200, 100)),
    ]
    table = shapes(pairs)
    assert table.schema == SHAPES
    assert table.rows() == [("a", 2, 2, 1), ("b", 1, 0, 0)]
    assert shapes([]).is_empty()


def test_an_image_without_pixels_has_no_shape():
    with pytest.raises(MetricError, match="no shape"):
        is_off_shape((0, 10), (10, 10))
