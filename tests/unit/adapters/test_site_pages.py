from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from builders import encoded, noise
from PIL import Image

from adapters.pages.site.charts import chart_of
from adapters.pages.site.data import history_script, inline, read_history
from adapters.pages.site.picture_views import (
    ChainView,
    Comparison,
    Example,
    MatchExample,
    Matchups,
    Matrix,
    Overediting,
    Picture,
    StepView,
    WinCell,
)
from adapters.pages.site.render import interval, redirect, site_files, suites_page
from adapters.pages.site.thumbnails import thumbnail
from adapters.pages.site.views import (
    Bias,
    Board,
    BoardLine,
    Column,
    Download,
    Figure,
    GroupLine,
    GroupMean,
    Link,
    ModelName,
    ModelView,
    Page,
    Series,
    SessionView,
    Switch,
    Table,
)

EVIL = """<script>alert("x")</script> 'quoted' "double" & {{ 7 * 7 }} --><img src=https://evil.example/x>"""
VOID = {"meta", "img", "circle", "line", "polyline", "polygon", "br", "link", "input", "rect", "path"}
SHA = "ab" * 32
PICTURE = Picture(SHA, "png")
SCORE = Figure(12.34, 11.0, 13.5, 40)
CELL = ("a", "b")


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
        if self._open and self._open[-1] != "script":
            self.text.append(data.strip())

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def a_page(text: str = "a text", **fields: Any) -> Page:
    """A page on which every text is this one."""
    table = Table(text, text, [text], [[text], [Link(text, "x.csv")]])
    base: dict[str, Any] = {
        "suite": "tiny",
        "snapshot": "0123456789abcdef",
        "title": text,
        "lead": text,
        "facts": [(text, text)],
        "notices": [text],
        "board": Board(
            columns=[Column("score", text, text, "low", 1, has_interval=True)],
            switches=[Switch("test_set", text, [("all", text)])],
            lines=[BoardLine("m", {"test_set": "all"}, {"score": SCORE}, (1, 1, 2), text)],
            models=[ModelName("m", text, text, False)],
            sorted_by="score",
            rank_rule=text,
            change_note=text,
            unranked=[(text, text)],
        ),
        "drift": [(text, [Series(text, [0.9, 0.5], [0.8, 0.4], [1.0, 0.6], [4, 4])])],
        "overediting": Overediting(["a"], ["b"], [a_matrix(text)], text),
        "bias": Bias([a_group_line(text)], {text: [text]}, [(text, text)], table),
        "comparisons": [a_comparison(text)],
        "comparisons_note": text,
        "matchups": Matchups([text], [[WinCell(text, text, 5)]], [a_match(text)], text),
        "analysis": [table],
        "sessions": [SessionView(text, text, [text], text)],
        "models": [ModelView("m", text, [(text, text)], [(text, text)], [(text, text)])],
        "coverage": [table],
        "about": [(text, [text])],
        "about_tables": [table],
        "downloads": [Download("leaderboard", text, 3, ["leaderboard.csv"])],
    }
    return Page(**base | fields)


def a_matrix(text: str) -> Matrix:
    example = Example(text, text, 1, text, PICTURE, PICTURE)
    return Matrix(text, "m", {"a": 4}, {CELL: (1, 4)}, {CELL: [example]})


def a_group_line(text: str) -> GroupLine:
    return GroupLine({"dataset": text}, "m", [GroupMean(text, Figure(1.0))], [])


def a_comparison(text: str) -> Comparison:
    steps = [StepView(text, PICTURE, [(text, text)], text, text), StepView(text, None, problem=text)]
    return Comparison("p", "s", "hair", PICTURE, [text], [ChainView("m", steps)], text)


def a_match(text: str) -> MatchExample:
    return MatchExample(text, PICTURE, PICTURE, PICTURE, text, text, text)


def pages(page: Page) -> dict[str, bytes]:
    return {name: data for name, data in site_files(page).items() if name.endswith(".html")}


def embedded(page: bytes) -> dict[str, Any]:
    [text] = re.findall(rb'<script type="application/json" id="site-data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def test_markup_in_data_is_text_on_every_page():
    made = pages(a_page(EVIL))
    assert set(made) == {"index.html", "compare/p--s.html"}
    for data in made.values():
        found = Reading(data)
        scripts = found.named("script")
        assert all(
            set(script) <= {"src", "defer"} or script["type"] == "application/json" for script in scripts
        )
        assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
        assert not any("evil.example" in (item.get("src") or "") for item in found.named("img"))
        assert not any("49" in text for text in found.text)
    assert sum(EVIL in text for text in Reading(made["index.html"]).text) >= 40
    assert sum(EVIL in text for text in Reading(made["compare/p--s.html"]).text) >= 7


def test_markup_in_data_comes_back_whole_from_the_data_files_and_never_ends_an_element():
    files = site_files(a_page(EVIL))
    assert embedded(files["index.html"])["board"]["models"]["m"]["name"] == EVIL
    scripts = {name: data.decode() for name, data in files.items() if name.startswith("data/")}
    assert len(scripts) == 3
    for name, text in scripts.items():
        assert "<" not in text, name
        head, _, value = text.partition("=window.facedriftData||{})[")
        assert head == "(window.facedriftData"
        assert EVIL in json.dumps(
            json.loads(value.partition("]=")[2].removesuffix(";\n")), ensure_ascii=False
        ).replace('\\"', '"')


def test_pages_refer_to_their_own_files_only():
    files = site_files(a_page())
    for name, data in files.items():
        if not name.endswith(".html"):
            continue
        found = Reading(data)
        places = [
            value or ""
            for _, attributes in found.elements
            for key, value in attributes.items()
            if key in ("src", "href", "srcset", "action", "poster", "xlink:href")
        ]
        assert places
        assert not [place for place in places if re.search(r"^(https?:|//)", place)]
        up = "" if name == "index.html" else "../"
        inside = [place for place in places if place.startswith((f"{up}assets/", f"{up}data/", "compare/"))]
        assert {place.removeprefix(up) for place in inside} <= set(files)
        assert len(inside) >= 2
        [policy] = [
            m["content"] or ""
            for m in found.named("meta")
            if m.get("http-equiv") == "Content-Security-Policy"
        ]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert not any("style" in attributes for _, attributes in found.elements)
    [style] = [data.decode() for name, data in files.items() if name.endswith(".css")]
    assert "url(" not in style
    assert "@import" not in style


def test_equal_pages_are_equal_files_and_names_hold_what_is_in_them():
    files = site_files(a_page())
    assert site_files(a_page()) == files
    other = site_files(a_page("another"))
    changed = [name for name in files if name.startswith("data/") and name in other]
    assert changed == []
    assert [name for name in files if name.startswith("assets/")] == [
        n for n in other if n.startswith("assets/")
    ]
    assert list(files)[-1] == "index.html"


def test_a_tab_is_there_only_with_its_data():
    whole = a_page()
    empty = dict.fromkeys(("comparisons", "analysis", "drift", "sessions", "models", "coverage"), ())
    bare = a_page(overediting=None, bias=None, matchups=None, **empty)
    tabs = {
        name: [a["data-tab"] for a in Reading(pages(page)["index.html"]).named("a") if "data-tab" in a]
        for name, page in (("whole", whole), ("bare", bare))
    }
    assert tabs["bare"] == ["leaderboard", "about"]
    assert len(tabs["whole"]) == 11
    sections = [a["id"] for a in Reading(pages(whole)["index.html"]).named("section") if "data-section" in a]
    assert sections == tabs["whole"]


def test_without_a_script_the_board_is_read_as_it_is():
    text = Reading(pages(a_page())["index.html"]).text
    for told in ("12.3", "11.0 to 13.5", "n = 40", "1"):
        assert told in text


@pytest.mark.parametrize(("has_open_ends", "told"), [(True, True), (False, False)])
def test_an_interval_that_nothing_bounds_is_shown_as_open_both_ways(has_open_ends: bool, told: bool):
    column = Column("score", "", "", "high", 0, has_interval=True, has_open_ends=has_open_ends)
    lines = [BoardLine("m", {"test_set": "all"}, {"score": Figure(1606.0, n=18)}, (1, 1, 4))]
    page = pages(a_page(board=replace(a_page().board, columns=[column], lines=lines)))["index.html"]
    text = Reading(page).text
    assert ("… to …" in text) == told
    assert "1–4" in text
    assert embedded(page)["board"]["columns"][0]["open"] == has_open_ends
    assert interval(Figure(None), column) == ""


@pytest.mark.parametrize(("better", "arrow"), [("low", "↓"), ("high", "↑")])
def test_a_column_says_which_values_are_good(better: Any, arrow: str):
    board = replace(a_page().board, columns=[Column("score", "OER", "overedits per step", better)])
    text = Reading(pages(a_page(board=board))["index.html"]).text
    assert text[text.index(arrow) + 1] == f"{better} is good"
    assert f"overedits per step; {better} is good" in text


def test_a_board_says_its_notices_before_its_numbers():
    page = pages(a_page(board=replace(a_page().board, notices=["heuristics"])))["index.html"].decode()
    assert page.index('<p class="notice">heuristics</p>') < page.index('<table id="board">')


def test_a_board_without_lines():
    board = replace(a_page().board, lines=[])
    assert "No model has a number yet." in Reading(pages(a_page(board=board))["index.html"]).text


def test_the_first_view_has_the_best_first_and_controls_and_unknowns_last():
    column = Column("score", "score", "", "high", 1)
    lines = [
        BoardLine(model, {"test_set": "all"}, {"score": Figure(value)})
        for model, value in (("control", 9.0), ("low", 1.0), ("unknown", None), ("high", 2.0))
    ]
    names = [ModelName(line.model, line.model.title(), "", line.model == "control") for line in lines]
    board = Board([column], [Switch("test_set", "", [("all", "all")])], lines, names, "score", "")
    text = Reading(pages(a_page(board=board))["index.html"]).text
    order = [text.index(name) for name in ("High", "Low", "Unknown", "Control")]
    assert order == sorted(order)


def test_a_redirect_keeps_what_stands_behind_the_sign_and_allows_this_script_only():
    page = redirect("0123/index.html", EVIL)
    found = Reading(page)
    assert EVIL in found.text
    assert b'location.replace("0123/index.html"+location.hash)' in page
    assert b"script-src 'sha256-" in page
    assert [a["href"] for a in found.named("a")] == ["0123/index.html"]
    assert EVIL in Reading(suites_page([("reports/a/index.html", EVIL)])).text


def test_the_history_is_read_back():
    entries = [{"snapshot": "ab", "whole": True, "title": EVIL}]
    script = history_script(entries, "ab")
    assert b"<" not in script
    assert read_history(script) == entries
    for bad in (b"", b"window.facedriftHistory=[];\n", b"window.facedriftHistory={};\n", script[:-9]):
        with pytest.raises(ValueError, match=r"."):
            read_history(bad)


def test_line_ends_that_end_a_script_line_are_escaped():
    assert inline("a\u2028b") == '"a\\u2028b"'


def chart(*series: Series) -> Any:
    made = chart_of("", series)
    assert made is not None
    return made


def points(text: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in text.split())]


@pytest.mark.parametrize(
    "series",
    [[], [Series("m", [], [], [])], [Series("m", [0.9], [None], [None])], [Series("a", [1.0], [1], [1])] * 3],
)
def test_without_two_points_there_is_no_chart(series: list[Series]):
    assert chart_of("", series) is None


def test_the_chart_draws_what_the_numbers_say():
    made = chart(Series("a", [1.0, 0.5, -0.3], [0.9, 0.4, -0.4], [1.0, 0.6, -0.2]))
    (_, top), (_, middle), (_, bottom) = points(made.lines[0].points)
    assert middle == pytest.approx((top + bottom) / 2, abs=0.1)  # below 0 is drawn at 0
    assert len(points(made.lines[0].band)) == 6
    assert chart(Series("a", [1.0, 0.5], [0.9, None], [1.0, None])).lines[0].band == ""


def test_a_line_bears_the_name_of_its_model_and_its_id_where_it_has_none():
    lines = chart(*(Series("m", [1.0, 0.5], [None] * 2, [None] * 2, name=name) for name in ("", "M 1"))).lines
    assert [(line.model, line.name) for line in lines] == [("m", "m"), ("m", "M 1")]


def test_an_empty_table_is_marked_among_the_downloads():
    files = [Download("none", "table", 0, ["a.csv"]), Download("some", "table", 3, ["b.csv"])]
    text = Reading(pages(a_page(downloads=files))["index.html"]).text
    assert text[text.index("none") :][:6].count("empty") == 1
    assert text.count("empty") == 1


def test_labels_of_many_lines_that_end_alike_stay_in_the_picture_and_apart():
    made = chart(*(Series(f"m{n}", [1.0, 0.0], [None] * 2, [None] * 2) for n in range(30)))
    heights = sorted(line.label_y for line in made.lines)
    assert len(heights) == 30
    assert min(b - a for a, b in pairwise(heights)) >= 15
    assert heights[0] > 0
    assert heights[-1] < made.height


def test_a_thumbnail_is_small_upright_and_the_same_again():
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encoded(noise(800, 400), "JPEG", exif=exif)
    small = thumbnail(data)
    assert thumbnail(data) == small
    image = Image.open(io.BytesIO(small))
    assert (image.format, image.width, image.height) == ("WEBP", 128, 256)
