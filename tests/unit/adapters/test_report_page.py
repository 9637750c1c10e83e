from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from builders import encoded, noise
from PIL import Image

from adapters.pages.report_page import (
    BoardRow,
    Cell,
    ChainView,
    Comparison,
    Page,
    Series,
    SimpleTable,
    StepView,
    render,
    thumbnail,
)

EVIL = """<script>alert("x")</script> 'quoted' "double" & {{ 7 * 7 }} --><img src=https://evil.example/x>"""
VOID = {"meta", "img", "circle", "line", "polyline", "polygon", "br", "link", "input"}


class Reading(HTMLParser):
    """What a browser would see: elements with attributes, and text; fails on elements left open."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page.decode())
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data.strip())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def a_page(**fields: Any) -> Page:
    base: dict[str, Any] = {
        "title": "a title",
        "lead": "a lead",
        "notices": ["another model <answered>"],
        "board_columns": [("Drop_FSS", "percent, low is good")],
        "board": [BoardRow("model-a", False, "", [Cell("12.3", "11.0 to 13.5", 40)])],
        "series": [Series("model-a", [0.9, 0.5], [0.8, None], [1.0, None])],
        "comparisons": [
            Comparison("photo 1", ["Add a hat"], [ChainView("model-a", [StepView("", "refused")])])
        ],
        "comparisons_note": "a note",
        "tables": [SimpleTable("more", "about it", ["one"], [["cell"]])],
        "facts": [("run", "r1")],
    }
    return Page(**base | fields)


def test_all_that_is_told_is_on_the_page():
    text = Reading(render(a_page())).text
    for told in (
        "a title",
        "a lead",
        "another model <answered>",
        "model-a",
        "12.3",
        "11.0 to 13.5",
        "n = 40",
        "Add a hat",
        "cell",
        "r1",
    ):
        assert told in text


def test_markup_in_data_is_shown_as_text():
    page = render(
        a_page(
            title=EVIL,
            lead=EVIL,
            board_columns=[(EVIL, EVIL)],
            board=[BoardRow(EVIL, True, EVIL, [Cell(EVIL, EVIL, 1)])],
            series=[Series(EVIL, [0.9, 0.5], [0.8, 0.4], [1.0, 0.6])],
            comparisons=[
                Comparison(
                    EVIL,
                    [EVIL],
                    [
                        ChainView(
                            EVIL, [StepView("", EVIL), StepView(thumbnail(encoded(noise(9, 9))), EVIL, True)]
                        )
                    ],
                )
            ],
            comparisons_note=EVIL,
            tables=[SimpleTable(EVIL, EVIL, [EVIL], [[EVIL]])],
            facts=[(EVIL, EVIL)],
        )
    )
    found = Reading(page)
    assert found.named("script") == []
    assert {attributes["src"][:16] for attributes in found.named("img")} == {"data:image/webp;"}
    assert found.text.count(EVIL) >= 12
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    assert {attributes["title"] for attributes in found.named("th") if "title" in attributes} == {EVIL}


def test_the_page_loads_nothing():
    page = render(a_page(lead="see https://example.org/paper"))
    found = Reading(page)
    references = [
        value or ""
        for _, attributes in found.elements
        for name, value in attributes.items()
        if name in ("src", "href", "srcset", "action", "data", "poster", "xlink:href", "style")
    ]
    assert not [r for r in references if re.search(r"https?:|//|url\(", r)]
    [style] = re.findall(r"<style>(.*?)</style>", page.decode(), re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    [policy] = [m["content"] for m in found.named("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert (policy or "").startswith("default-src 'none'")


@pytest.mark.parametrize(
    "series",
    [[], [Series("m", [], [], [])], [Series("m", [0.9], [None], [None])], [Series("a", [1.0], [1], [1])] * 3],
)
def test_without_two_points_there_is_no_chart(series: list[Series]):
    found = Reading(render(a_page(series=series)))
    assert found.named("svg") == []
    assert "Leaderboard" in found.text


def test_a_model_that_did_nothing_does_not_spoil_the_chart():
    found = Reading(
        render(
            a_page(series=[Series("idle", [], [], []), Series("b", [1.0, 0.5, 0.25], [None] * 3, [None] * 3)])
        )
    )
    [line] = found.named("polyline")
    assert len((line["points"] or "").split()) == 3
    assert found.named("polygon") == []


def test_the_chart_draws_what_the_numbers_say():
    found = Reading(
        render(a_page(series=[Series("a", [1.0, 0.5, -0.3], [0.9, 0.4, -0.4], [1.0, 0.6, -0.2])]))
    )
    [line] = found.named("polyline")
    points = [tuple(map(float, point.split(","))) for point in (line["points"] or "").split()]
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    (_, top), (_, middle), (_, bottom) = points
    assert middle == pytest.approx((top + bottom) / 2, abs=0.1)  # below 0 is drawn at 0
    [band] = found.named("polygon")
    assert len((band["points"] or "").split()) == 6


def test_labels_of_many_lines_that_end_alike_stay_in_the_picture_and_apart():
    series = [Series(f"m{n}", [1.0, 0.0], [None] * 2, [None] * 2) for n in range(30)]
    found = Reading(render(a_page(series=series)))
    [svg] = found.named("svg")
    height = float((svg["viewbox"] or "").split()[3])
    heights = sorted(float(circle["cy"] or 0) for circle in found.named("circle"))
    assert len(heights) == 30
    assert min(b - a for a, b in pairwise(heights)) >= 15
    assert heights[0] > 0
    assert heights[-1] < height


def test_an_empty_board_and_tables_without_rows():
    found = Reading(
        render(a_page(board=[], comparisons=[], tables=[SimpleTable("more", "about", ["x"], [])], facts=[]))
    )
    assert "Nothing." in found.text


def test_a_thumbnail_is_small_upright_and_complete():
    exif = Image.Exif()
    exif[0x0112] = 6
    uri = thumbnail(encoded(noise(800, 400), "JPEG", exif=exif))
    head, _, data = uri.partition(",")
    assert head == "data:image/webp;base64"
    image = Image.open(io.BytesIO(base64.b64decode(data)))
    assert (image.width, image.height) == (176, 352)
