"""Three shapes: which is closest, what is none, how much of a rectangle one holds."""

from __future__ import annotations

import math

import pytest

from domain.photo_shapes import SHAPES, aspect, closest_shape, is_off_shape, largest_within


def test_they_are_those_of_the_source():
    assert SHAPES == {"landscape": (1248, 832), "portrait": (832, 1248), "square": (1024, 1024)}
    assert [aspect(shape) for shape in SHAPES] == [1.5, 2 / 3, 1.0]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((6000, 4000), "landscape"),
        ((4000, 6000), "portrait"),
        ((3000, 3000), "square"),
        ((4000, 3000), "landscape"),  # 4:3 keeps 8/9 of it as 3:2, 3/4 as 1:1
        ((3000, 4000), "portrait"),
        ((1280, 1024), "landscape"),  # 5:4 keeps 5/6 as 3:2, 4/5 as 1:1
        ((1024, 1280), "portrait"),
        ((1920, 1080), "landscape"),
        ((100, 10_000), "portrait"),
        ((1224, 1000), "square"),  # √1.5 is 1.2247
        ((1225, 1000), "landscape"),
        ((1000, 1224), "square"),
        ((1000, 1225), "portrait"),
        ((1, 1), "square"),
    ],
)
def test_the_closest_shape(size: tuple[int, int], expected: str):
    assert closest_shape(*size) == expected
    kept = {shape: math.prod(largest_within(*size, shape)) for shape in SHAPES}
    assert kept[closest_shape(*size)] == max(kept.values())


def test_no_picture_is_as_close_to_two_shapes():
    """The nearest fractions to √1.5 and √(2/3), from their continued fraction."""
    for width, height in ((49, 40), (485, 396), (4801, 3920), (47_525, 38_804)):
        near = [abs(math.log(width / height / aspect(shape))) for shape in ("square", "landscape")]
        assert near[0] != near[1]
        assert {closest_shape(width, height), closest_shape(height, width)} in (
            {"square"},
            {"landscape", "portrait"},
        )


@pytest.mark.parametrize(
    ("size", "off"),
    [
        ((1248, 832), False),
        ((1260, 832), False),  # 0.96 % too wide
        ((1261, 832), True),  # 1.04 %
        ((100, 100), False),
        ((101, 100), False),
        ((102, 100), True),
        ((832, 1236), False),  # 0.97 %
        ((832, 1235), True),  # 1.05 %
        ((4, 3), True),
    ],
)
def test_what_is_none_of_the_shapes(size: tuple[int, int], off: bool):
    assert is_off_shape(*size) is off


@pytest.mark.parametrize(
    ("size", "shape", "expected"),
    [
        ((1000, 800), "landscape", (1000, 667)),
        ((1600, 800), "landscape", (1200, 800)),
        ((1000, 800), "square", (800, 800)),
        ((1000, 800), "portrait", (533, 800)),
        ((1250, 886), "landscape", (1250, 833)),
    ],
)
def test_the_largest_rectangle_of_a_shape(size: tuple[int, int], shape: str, expected: tuple[int, int]):
    assert largest_within(*size, shape) == expected  # pyright: ignore[reportArgumentType]
