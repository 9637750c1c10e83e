from __future__ import annotations

import io
import sys
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from paper_examples import EVIL
from PIL import Image

from adapters.pages.figures import (
    AnyFigure,
    Bar,
    BarFigure,
    BarPanel,
    Caption,
    HeatFigure,
    HeatPanel,
    Line,
    LineFigure,
    LinePanel,
    PointSet,
    ScatterFigure,
    draw,
)

CAPTION = Caption("name", "Figure 6", EVIL, 12, "no face = zero", "A note.")
BARS = BarFigure(
    CAPTION,
    "SC × 100",
    ["M", EVIL],
    [
        BarPanel("Hair", [EVIL, "b"], [[Bar(1.0, 0.5, 2.0, 3), Bar(2.0, None, None, 1)]] * 2),
        BarPanel("Pose", ["a"], [[Bar(None, None, None, 0), Bar(-2.0, -3.0, -1.0, 4)]]),
        BarPanel("Multi", ["a"], [[Bar(1.0, 0.5, 2.0, 3), Bar(1.0, 1.0, 1.0, 1)]]),
    ],
)
LINES = LineFigure(
    CAPTION,
    "step",
    "FSS",
    [
        LinePanel("celeba", [Line(EVIL, [0.9, 0.5, -0.1], [0.8, 0.4, None], [1.0, 0.6, None])]),
        LinePanel("b", [Line("m", [0.9], [None], [None])]),
    ],
)
SCATTER = ScatterFigure(
    CAPTION, "WD", "p", 3.0, [PointSet(EVIL, [1.0, 4.0], [0.2, 0.06]), PointSet("b", [], [])]
)
HEAT = HeatFigure(
    CAPTION, "truth", "found", "images",
    [
        HeatPanel("one", ["a", EVIL], ["a", EVIL], [[1.0, None], [0.0, 3.0]]),
        HeatPanel("none", ["a"], ["a"], [[None]]),
    ],
)  # fmt: skip
FIGURES = [BARS, LINES, SCATTER, HEAT]


@pytest.fixture(scope="module", params=FIGURES, ids=lambda figure: type(figure).__name__)
def drawn(request: pytest.FixtureRequest) -> tuple[AnyFigure, dict[Any, bytes]]:
    return request.param, draw(request.param)


def test_both_forms_are_pictures(drawn: tuple[AnyFigure, dict[Any, bytes]]):
    _, files = drawn
    assert ET.fromstring(files["svg"]).tag.endswith("svg")
    with Image.open(io.BytesIO(files["png"])) as picture:
        picture.load()
        assert min(picture.size) > 200
        assert len(picture.getcolors(1_000_000) or []) > 2


def test_equal_numbers_give_equal_bytes_whatever_was_drawn_before(drawn: tuple[AnyFigure, dict[Any, bytes]]):
    figure, files = drawn
    draw(SCATTER)
    assert draw(figure) == files


def test_nothing_tells_when_it_was_drawn(drawn: tuple[AnyFigure, dict[Any, bytes]]):
    _, files = drawn
    assert b"<dc:date>" not in files["svg"]
    with Image.open(io.BytesIO(files["png"])) as picture:
        assert set(picture.info) <= {"dpi"}


def test_settings_of_the_reader_are_no_matter_and_are_left_alone():
    import matplotlib as mpl

    before = draw(LINES)
    with mpl.rc_context({"font.size": 30.0, "svg.hashsalt": None}):
        assert draw(LINES) == before
        assert mpl.rcParams["font.size"] == 30.0


def test_no_figure_is_left_open():
    draw(BARS)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_characters_that_the_font_lacks_do_not_stop_it():
    odd = LineFigure(
        CAPTION, "x", "y", [LinePanel("\u7f8e", [Line("\ud800\u4eba", [1.0, 0.5], [None] * 2, [None] * 2)])]
    )
    assert ET.fromstring(draw(odd)["svg"]).tag.endswith("svg")


def test_other_numbers_give_another_picture():
    moved = ScatterFigure(CAPTION, "WD", "p", 3.0, [PointSet("b", [2.0], [0.3])])
    assert draw(moved)["png"] != draw(SCATTER)["png"]
