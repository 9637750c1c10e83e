"""The page in a browser: what people do with it, by mouse, keyboard and address."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Page
from synthetic_site import EVIL, SUITE
from watched_pages import Look, Sites, Watched, served

from adapters.pages.site import views
from adapters.pages.site.render import site_files

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def host(sites: Sites) -> Iterator[str]:
    with served(sites.out) as address:
        yield address


@pytest.fixture
def seen(look: Look, host: str) -> Iterator[Watched]:
    watched = look()
    watched.open(f"{host}/index.html")
    watched.page.wait_for_selector("#board tbody tr[data-model]")
    yield watched
    watched.check(host)


def rows(page: Page) -> list[str]:
    return [row.get_attribute("data-model") or "" for row in page.query_selector_all("#board tbody tr")]


def column(page: Page, name: str) -> list[str]:
    heads = [
        head.inner_text().split("\n")[0].strip(" ▴▾") for head in page.query_selector_all("#board thead th")
    ]
    at = heads.index(name)
    return [
        row.query_selector_all("th, td")[at].inner_text().split("\n")[0]
        for row in page.query_selector_all("#board tbody tr")
    ]


def board(sites: Sites, **where: str) -> list[dict[str, Any]]:
    table = pl.read_parquet(sites.folder_of(sites.new.digest) / "leaderboard.parquet")
    for name, value in ({"dataset": "celeba", "test_set": "all"} | where).items():
        table = table.filter(pl.col(name) == value)
    return table.to_dicts()


def test_the_way_in_keeps_what_stands_behind_the_sign(look: Look, host: str, sites: Sites):
    watched = look()
    page = watched.open(f"{host}/index.html#drift")
    page.wait_for_selector("#drift.current svg")
    assert page.url == f"{host}/reports/{SUITE}/{sites.new.digest[:16]}/index.html#drift"
    watched.check(host)


def test_the_board_is_sorted_by_any_ratingwith_the_keyboard_alone(seen: Watched, sites: Sites):
    page, held = seen.page, board(sites)
    assert rows(page) == [row["model"] for row in sorted(held, key=lambda row: row["drop_fss"])]
    page.focus("[data-sort=sc]")
    page.keyboard.press("Enter")
    assert rows(page) == [row["model"] for row in sorted(held, key=lambda row: -row["sc"])]
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"
    page.keyboard.press("Enter")  # the focus is where it was
    assert rows(page) == [row["model"] for row in sorted(held, key=lambda row: row["sc"])]
    assert "sort=%2Bsc" in page.url
    assert page.inner_text("#board-status").endswith("sorted by SC, lowest first.")
    page.click("[data-sort=model]")
    assert page.inner_text("#board-status").endswith("sorted by model, A–Z.")
    page.click("[data-sort=model]")
    assert page.inner_text("#board-status").endswith("sorted by model, Z–A.")


def test_figures_are_those_of_the_table(seen: Watched, sites: Sites):
    held = sorted(board(sites), key=lambda row: row["drop_fss"])
    assert column(seen.page, "Drop_FSS %") == [f"{row['drop_fss']:.1f}" for row in held]
    assert column(seen.page, "complete") == [f"{100 * row['completion']:.1f} %" for row in held]
    text = seen.page.inner_text("#board")
    for row in held:
        assert f"{row['drop_fss_low']:.1f} to {row['drop_fss_high']:.1f}" in text
        assert f"n = {row['drop_fss_n']}" in text
    assert len(seen.page.query_selector_all("#board svg.bar")) == 3 * len(held)


@pytest.mark.parametrize(("name", "better"), [("drop_fss", "low"), ("sc", "high")])
def test_ranks_count_who_is_wholly_better(seen: Watched, sites: Sites, name: str, better: str):
    seen.page.click(f"[data-sort={name}]") if name != "drop_fss" else None
    held = {row["model"]: row for row in board(sites)}
    low, high = f"{name}_low", f"{name}_high"

    def wholly_better(one: dict[str, Any], other: dict[str, Any]) -> bool:
        return one[high] < other[low] if better == "low" else one[low] > other[high]

    ranks = [1 + sum(wholly_better(row, held[model]) for row in held.values()) for model in rows(seen.page)]
    assert column(seen.page, "rank") == [str(rank) for rank in ranks]


def test_switches_and_search_choose_what_is_shown_and_the_address_brings_it_back(
    seen: Watched, look: Look, host: str, sites: Sites
):
    page = seen.page
    page.select_option("#board-controls label:has-text('Dataset') select", "celebset")
    page.select_option("#board-controls label:has-text('Test set') select", "hair")
    held = board(sites, dataset="celebset", test_set="hair")
    assert sorted(rows(page)) == sorted(row["model"] for row in held)
    assert sorted(column(page, "SC")) == sorted(f"{row['sc']:.3f}" for row in held)
    page.fill("#board-controls input[type=search]", "flux")
    assert sorted(rows(page)) == ["flux-dev", "flux-kontext-pro"]
    page.click("[data-sort=oer]")
    page.click("details.chooser summary")
    page.uncheck(".pop input[value=sc]")
    page.check(".pop input[value=no_face]")
    again = look()
    other = again.open(page.url)
    other.wait_for_selector("#board tbody tr[data-model]")
    assert other.inner_text("#board") == page.inner_text("#board")
    assert "no face" in other.inner_text("#board thead")
    assert not other.query_selector("[data-sort=sc]")
    assert other.input_value("#board-controls input[type=search]") == "flux"
    again.check(host)


def test_headers_say_which_values_are_good(seen: Watched):
    told = {name: seen.page.inner_text(f"th:has([data-sort={name}]) .good") for name in ("drop_fss", "sc")}
    assert told == {"drop_fss": "↓ low is good", "sc": "↑ high is good"}
    assert seen.page.query_selector("th:has([data-sort=price_per_100]) .good") is None


@pytest.mark.parametrize("hash_", ["%E0%A4%A", "%E0%A4%A?cols=zzz", "leaderboard?cols=zzz,yyy"])
def test_a_broken_address_shows_what_is_shown_without_one(seen: Watched, look: Look, host: str, hash_: str):
    whole = seen.page.inner_text("#board")
    watched = look()
    page = watched.open(f"{host}/reports/{SUITE}/index.html#{hash_}")
    page.wait_for_selector("#board tbody tr[data-model]")
    assert page.inner_text("#board") == whole
    watched.check(host)


def test_columns_that_are_unknown_are_left_out_of_the_address(look: Look, host: str):
    page = look().open(f"{host}/reports/{SUITE}/index.html#leaderboard?cols=zzz,sc")
    page.wait_for_selector("#board tbody tr[data-model]")
    assert [head.get_attribute("data-sort") for head in page.query_selector_all("#board [data-sort]")] == [
        "model",
        "sc",
    ]


def test_a_group_of_people_is_shown_from_the_table_of_groups(seen: Watched, sites: Sites):
    page = seen.page
    page.select_option("#board-controls label:has-text('Group') select", "gender=female")
    page.wait_for_selector("#board tbody tr[data-model]")
    means = pl.read_parquet(sites.folder_of(sites.new.digest) / "group_means.parquet").filter(
        dataset="celeba", test_set="all", axis="gender", group="female", metric="sc"
    )
    assert sorted(column(page, "SC")) == sorted(f"{value / 100:.3f}" for value in means["mean"])


def test_the_change_is_shown_and_can_be_put_away(seen: Watched, sites: Sites):
    old = pl.read_parquet(sites.folder_of(sites.old.digest) / "leaderboard.parquet")
    was = {row["model"]: row["drop_fss"] for row in old.filter(dataset="celeba", test_set="all").to_dicts()}
    held = sorted(board(sites), key=lambda row: row["drop_fss"])
    signed = [f"{row['drop_fss'] - was[row['model']]:+.1f}".replace("-", "−") for row in held]
    assert column(seen.page, "change") == signed
    assert re.search(r"intervals (apart|overlap)", seen.page.inner_text("#board"))
    seen.page.click("details.chooser summary")
    seen.page.uncheck(".pop label:has-text('change') input")
    assert "change" not in seen.page.inner_text("#board thead")


def test_downloads_are_the_stored_tables(seen: Watched, host: str, sites: Sites, tmp_path: Path):
    stored = pl.read_parquet(sites.folder_of(sites.new.digest) / "leaderboard.parquet")
    read = {
        "csv": lambda data: pl.read_csv(data, schema_overrides=stored.schema),
        "json": lambda data: pl.read_json(data, schema=stored.schema),
        "parquet": pl.read_parquet,
    }
    for form, parse in read.items():
        with seen.page.expect_download() as caught:
            seen.page.click(f".downloads a[href='leaderboard.{form}']")
        path = tmp_path / caught.value.suggested_filename
        caught.value.save_as(path)
        assert path.name == f"leaderboard.{form}"
        assert parse(io.BytesIO(path.read_bytes())).equals(stored)
    with seen.page.expect_download() as caught:
        seen.page.click("#board-csv")
    caught.value.save_as(tmp_path / "view.csv")
    view = list(csv.DictReader(io.StringIO((tmp_path / "view.csv").read_text())))
    assert [row["model"] for row in view] == rows(seen.page)
    by_model = {row["model"]: row for row in board(sites)}
    old = pl.read_parquet(sites.folder_of(sites.old.digest) / "leaderboard.parquet")
    was = {row["model"]: row["drop_fss"] for row in old.filter(dataset="celeba", test_set="all").to_dicts()}
    for row in view:
        moved = by_model[row["model"]]["drop_fss"] - was[row["model"]]
        assert float(row["drop_fss_change"]) == pytest.approx(moved, abs=1e-6)
        assert row["drop_fss_apart"] in ("true", "false")
    for row in view:
        for name in ("drop_fss", "drop_fss_low", "drop_fss_high", "completion"):
            assert float(row[name]) == pytest.approx(by_model[row["model"]][name], abs=1e-6)


def test_a_cell_of_the_heat_map_opens_the_steps_behind_it(seen: Watched, look: Look, host: str, sites: Sites):
    page = seen.page
    seen.tab("overediting")
    page.wait_for_selector(".heat button")
    matrix = pl.read_parquet(sites.folder_of(sites.new.digest) / "overediting.parquet")
    [model, dataset] = page.eval_on_selector("#heat-controls select", "e => e.value.split('|').reverse()")
    cells = matrix.filter(model=model, dataset=dataset)
    assert len(page.query_selector_all(".heat button")) == cells.filter(pl.col("count") > 0).height
    assert len(page.query_selector_all(".heat tbody tr")) == 35
    page.focus(".heat button[tabindex='0']")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector("#heat-examples .pairs li")
    label = page.get_attribute(".heat button[aria-pressed=true]", "aria-label") or ""
    asked, found, count, prompts = re.match(r"(.+) asked, (.+) found: (\d+) of (\d+)", label).groups()  # type: ignore[union-attr]
    [cell] = cells.filter(intended=asked, found=found).to_dicts()
    assert (cell["count"], cell["prompts"]) == (int(count), int(prompts))
    assert len(page.query_selector_all("#heat-examples li")) == min(3, cell["count"])
    assert asked in page.inner_text("#heat-examples figcaption")
    told = page.inner_text("#heat-examples p")
    assert told.startswith(f"{min(3, cell['count'])} of {cell['count']} steps where it was found are shown")
    assert f"{cell['count']} of {cell['prompts']} prompts, of which {cell['eligible']} are eligible" in told
    assert [
        one.inner_text() for one in page.query_selector_all("#heat-examples figure >> nth=0 >> small")
    ] == [
        "before",
        "after",
    ]
    key = page.inner_text("#heat-view .key")
    assert "of the kind that was asked for" in key
    assert "never asked for" in key
    seen.until("[...document.querySelectorAll('#heat-examples img')].every(i => i.naturalWidth > 0)")
    again = look()
    other = again.open(page.url)
    other.wait_for_selector("#heat-examples .pairs li")
    assert other.inner_text("#heat-examples") == page.inner_text("#heat-examples")
    again.check(host)


def test_home_and_end_go_to_the_ends_of_a_row_and_of_the_heat_map(seen: Watched):
    page = seen.page
    seen.tab("overediting")
    page.wait_for_selector(".heat button")
    every = [button.get_attribute("data-at") for button in page.query_selector_all(".heat button")]
    page.focus(".heat button >> nth=0")
    own_row = [at for at in every if at and every[0] and at.split(",")[0] == every[0].split(",")[0]]
    wanted = (
        ("End", own_row[-1]),
        ("Home", own_row[0]),
        ("Control+End", every[-1]),
        ("Control+Home", every[0]),
    )
    for key, at in wanted:
        page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.at") == at


@pytest.mark.parametrize("ranked", [False, True])
def test_paper_holds_the_whole_board_and_the_heat_map(look: Look, sites: Sites, ranked: bool):
    digest = (sites.ranked if ranked else sites.new).digest
    with served(sites.store) as host:
        watched = look(width=710)  # A4 between its margins, at 96 pixels an inch
        page = watched.open(f"{host}/reports/{SUITE}/{digest[:16]}/index.html")
        page.wait_for_selector("#board tbody tr[data-model]")
        if not ranked:
            watched.until("document.querySelector('table.heat .h1, table.heat .h2') !== null")
        page.emulate_media(media="print")
        wide = page.evaluate(
            "[...document.querySelectorAll('#board, .heat')].map(one => one.getBoundingClientRect().right)"
        )
        assert len(wide) == 2
        assert max(wide) <= 711
        watched.check(host)


def test_bias_shows_the_distances_of_the_table(seen: Watched, sites: Sites):
    seen.tab("bias")
    seen.page.wait_for_selector("table.bias")
    seen.page.select_option("#bias-controls label:has-text('Metric') select", "sc")
    tests = pl.read_parquet(sites.folder_of(sites.new.digest) / "disparities.parquet")
    own = tests.filter(dataset="celeba", test_set="all", axis="gender", metric="sc")
    text = seen.page.inner_text("table.bias")
    for row in own.to_dicts():
        assert f"{row['wd']:.1f}" in text
        assert f"{row['p']:.3f}" in text


def test_a_comparison_is_walked_by_arrows_and_opens_in_full_size(seen: Watched, host: str):
    page = seen.page
    seen.tab("compare")
    page.click("#comparison-list a >> nth=0")
    page.wait_for_selector(".chain")
    first = page.query_selector_all(".chain")
    assert len(first) == 6
    strip = first[0].query_selector_all("figure")
    assert "original" in strip[0].inner_text()
    assert "step 1" in strip[1].inner_text()
    page.focus(".chain >> nth=0 >> [data-full] >> nth=0")
    page.keyboard.press("ArrowRight")
    assert "step 1" in (page.evaluate("document.activeElement.dataset.label") or "")
    page.keyboard.press("ArrowDown")
    assert "step 1" in page.evaluate("document.activeElement.dataset.label")
    page.keyboard.press("Enter")
    seen.until("document.querySelector('dialog[open] img').naturalWidth === 240")
    before = page.get_attribute("dialog img", "src")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("dialog img", "src") != before
    page.keyboard.press("Escape")
    page.uncheck("#compare-models input >> nth=0")
    assert [chain.is_visible() for chain in page.query_selector_all(".chain")][:2] == [False, True]
    page.click("a[rel=next]")
    page.wait_for_selector(".chain:not([hidden])")
    assert [chain.is_visible() for chain in page.query_selector_all(".chain")][:2] == [False, True]


def test_thumbnails_load_when_they_are_near(seen: Watched):
    assert not [url for url in seen.requests if "/thumbnails/" in url]
    seen.tab("compare")
    seen.until("document.querySelector('#comparison-list img').naturalWidth > 0")
    assert [url for url in seen.requests if "/thumbnails/" in url]
    assert not [url for url in seen.requests if "/images/" in url]


def test_lists_are_searched(seen: Watched):
    seen.tab("sessions")
    seen.page.fill("#sessions input[type=search]", "pose_03")
    shown = [
        item.inner_text()
        for item in seen.page.query_selector_all("#session-list [data-item]")
        if item.is_visible()
    ]
    assert len(shown) == 1
    assert "q-sessions=pose_03" in seen.page.url


def test_strangers_texts_are_shown_as_text(seen: Watched, look: Look, host: str, sites: Sites):
    page = seen.page
    assert EVIL in page.inner_text("h1")
    assert EVIL in page.inner_text("#board")
    for tab, where in (
        ("sessions", "#session-list"),
        ("models", "#models"),
        ("coverage", "#coverage"),
        ("overediting", "#heat-controls"),
    ):
        seen.tab(tab)
        page.wait_for_selector(where)
        seen.until("([where, text]) => document.querySelector(where).textContent.includes(text)", where, EVIL)
    page.click("[data-tab=compare]")
    page.fill("#compare input[type=search]", "hair_00")
    page.click("#comparison-list li:not([hidden]) a >> nth=0")
    page.wait_for_selector(".chain")
    assert EVIL in page.inner_text(".prompts")
    assert f"It looks {EVIL}" in [
        box.text_content() for box in page.query_selector_all("figcaption details p")
    ]
    assert page.evaluate("window.evil") is None


def test_an_older_page_says_so_and_lists_the_newer(look: Look, host: str, sites: Sites):
    watched = look()
    page = watched.open(f"{host}/reports/{SUITE}/{sites.old.digest[:16]}/index.html")
    page.wait_for_selector("#newer:not([hidden])")
    assert "not the newest" in page.inner_text("#newer")
    watched.tab("about")
    assert len(page.query_selector_all("#history-list tbody tr")) == 2
    page.click("#newer a")
    page.wait_for_selector("#board tbody tr[data-model]")
    assert sites.new.digest[:16] in page.url
    assert not page.is_visible("#newer")
    watched.check(host)


def test_a_link_to_a_model_opens_its_settings(seen: Watched):
    seen.page.click("#board tbody a >> nth=0")
    seen.page.wait_for_selector("#models.current")
    assert not seen.page.is_visible("#leaderboard")
    seen.page.go_back()
    seen.page.wait_for_selector("#leaderboard.current")
    assert not seen.page.is_visible("#models")


def test_without_a_script_all_of_it_is_one_page(look: Look, host: str, sites: Sites):
    watched = look(java_script_enabled=False)
    page = watched.open(f"{host}/reports/{SUITE}/{sites.new.digest[:16]}/index.html")
    for section in page.query_selector_all("[data-section]"):
        assert section.is_visible()
    assert "Drop_FSS %" in page.inner_text("#board")
    assert not page.is_visible("#board-csv")
    page.goto(f"{host}/reports/{SUITE}/index.html")
    page.wait_for_url("**/index.html")
    watched.check(host)


def test_a_ranking_has_its_own_tabs(look: Look, sites: Sites):
    with served(sites.store) as host:
        watched = look()
        page = watched.open(f"{host}/reports/{SUITE}/{sites.ranked.digest[:16]}/index.html")
        page.wait_for_selector("#board tbody tr[data-model]")
        assert column(page, "rating") == ["1040", "960"]
        assert "SIMULATED VOTES: all 40" in page.inner_text(".notices")
        assert "… to 990" in page.inner_text("#board")
        assert "Qwen-Edit" in page.inner_text("#leaderboard")
        page.select_option("#board-controls select", "photo_shape=portrait")
        assert column(page, "rating") == ["1040", "–"]
        assert column(page, "rank") == ["1", "–"]
        assert page.url.endswith("#leaderboard?dimension=photo_shape%3Dportrait")
        page.reload()
        page.wait_for_selector("#board tbody tr[data-model]")
        assert column(page, "rating") == ["1040", "–"]
        watched.tab("attempts")
        assert "made at the third attempt" in page.inner_text("#attempts")
        watched.tab("matchups")
        assert "65%" in page.inner_text(".wins")
        assert "45% to 85%" in page.inner_text(".wins")
        page.click("#match-list [data-full] >> nth=0")
        page.wait_for_selector("dialog[open] img")
        page.keyboard.press("Escape")
        watched.tab("analysis")
        assert EVIL in page.inner_text("#analysis")
        watched.tab("sessions")
        assert "photo shape: portrait" in page.inner_text("#session-list")
        watched.tab("coverage")
        assert f"1. refused: {EVIL}; 2. checks failed: right place" in page.inner_text("#coverage")
        watched.tab("compare")
        page.click("#comparison-list a >> nth=0")
        page.wait_for_selector(".chain details[open] li")
        assert [item.inner_text() for item in page.query_selector_all(".chain details[open] li")] == [
            f"refused: {EVIL}",
            "checks failed: right place, framing",
            "off shape",
        ]
        assert page.evaluate("window.evil") is None
        watched.check(host)


def test_a_rating_that_is_open_both_ways_and_a_control_without_a_line(look: Look, tmp_path: Path):
    rating = views.Column("rating", "rating", "", "high", 0, has_interval=True, has_open_ends=True)
    lines = [views.BoardLine("m", {"by": "all"}, {"rating": views.Figure(1606.0, n=18)}, (1, 1, 4))]
    names = [views.ModelName("m", "M", "", is_control=False), views.ModelName("c", "C", "", is_control=True)]
    switch = views.Switch("by", "By", [("all", "all")])
    shown = views.Board([rating], [switch], lines, names, "rating", "", has_ranks=True)
    for name, data in site_files(views.Page("tiny", "0" * 16, "", "", [], [], shown)).items():
        place = tmp_path / "tiny" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    page = look().open((tmp_path / "tiny/index.html").as_uri())
    page.wait_for_selector("#board tbody tr[data-model]")
    assert page.inner_text("#board tbody td.num").split("\n")[:2] == ["1606", "… to …"]
    assert len(page.query_selector_all("#board svg.bar")) == 1
    assert page.inner_text("#board tbody td.rank").split() == ["1", "1–4"]
    assert "controls" not in page.inner_text("#board-controls")


def test_a_plain_folder_is_as_good_as_a_host(look: Look, sites: Sites):
    origin = sites.out.as_uri()
    watched = look()
    page = watched.open(f"{origin}/index.html#overediting")
    page.wait_for_selector(".heat button")
    page.click(".heat button >> nth=0")
    page.wait_for_selector("#heat-examples .pairs img")
    watched.tab("leaderboard")
    page.select_option("#board-controls label:has-text('Group') select", "gender=female")
    page.wait_for_selector("#board tbody tr[data-model]")
    watched.tab("compare")
    page.click("#comparison-list a >> nth=0")
    watched.until("document.querySelector('.chain img').naturalWidth > 0")
    assert page.url.startswith(origin)
    watched.check(origin)
