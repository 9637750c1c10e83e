"""The page of a real ranking: chains that were run and checked, matches, votes, then a browser."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from axe_playwright_python.sync_playwright import Axe
from watched_pages import Look, served

pytestmark = [pytest.mark.browser, pytest.mark.integration]

ROOT = Path(__file__).parents[2]
SUITE = "identity-drift-demo"
BEST, WORST, CARELESS = MODELS = ("scene-steady", "scene-strong", "scene-careless")
SESSIONS = ("astronaut", "group_right")
EVIL = """<script>window.evil = 1</script><img src=x onerror="window.evil = 1">"""
TABS = [
    "leaderboard", "drift", "attempts", "compare", "matchups", "analysis", "sessions", "models", "coverage",
    "about",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `facedrift publish` made of three models on two photos, and of what three voters said."""
    home = tmp_path_factory.mktemp("drift-page")
    variables = {"FACEDRIFT_STORE": str(home / "store"), "PREFECT_HOME": str(home / "prefect")}

    def facedrift(*arguments: str) -> str:
        command = [sys.executable, "-m", "flows.cli", *arguments]
        environment = os.environ | variables | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    facedrift("run", SUITE, "--yes", "--models", ",".join(MODELS), "--sessions", ",".join(SESSIONS))
    facedrift("matches", "make", SUITE)
    votes_of(home / "store").write_csv(home / "votes.csv")
    facedrift("votes", "collect", SUITE, "--from", "file", "--path", str(home / "votes.csv"))
    assert "too few complete chains: scene-careless" in facedrift("rank", SUITE)
    facedrift("publish", SUITE, "--out", str(home / "site"))
    return home / "site"


def votes_of(store: Path) -> pl.DataFrame:
    """On each match: one voter always for the better face, one always for the other, one in turn."""
    [path] = (store / "matches" / SUITE).glob("*/matches.parquet")
    matches = pl.read_parquet(path)
    rows: list[tuple[str, str, str]] = []
    for number, row in enumerate(matches.sort("id").iter_rows(named=True)):
        better = row["gold"] or ("a" if MODELS.index(row["model_a"]) < MODELS.index(row["model_b"]) else "b")
        other = "b" if better == "a" else "a"
        choices = {f"fan {EVIL}": better, "contrary": other, "neutral": better if number % 2 else "tie"}
        rows += [(row["id"], choice, who) for who, choice in choices.items()]
    return pl.DataFrame(rows, ["match", "choice", "annotator"], orient="row")


@pytest.fixture(scope="module", params=["host", "folder"])
def origin(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if request.param == "folder":
        yield folder.as_uri()
        return
    with served(folder) as address:
        yield address


def test_every_tab_of_a_real_ranking_works(look: Look, origin: str):
    watched = look()
    page = watched.open(f"{origin}/index.html")
    page.wait_for_selector("#board tbody tr[data-model]")
    rows = [row.get_attribute("data-model") for row in page.query_selector_all("#board tbody tr")]
    assert set(rows) == {BEST, WORST}, "who completes too little is not ranked"
    assert "Scene, careless" in page.inner_text("#leaderboard dl >> nth=0")
    assert "ranked from 80% on" in page.inner_text("#leaderboard dl >> nth=0")
    assert [link.get_attribute("data-tab") for link in page.query_selector_all("[data-tab]")] == TABS
    for tab in TABS:
        watched.tab(tab)
        found = Axe().run(page, options={"preload": False}).response["violations"]
        assert [item["id"] for item in found] == [], tab
    assert "Which face looks more like the original?" in page.inner_text("#about")
    assert page.evaluate("window.evil") is None
    watched.check(origin)


def test_a_dimension_is_a_link(look: Look, origin: str):
    watched = look()
    page = watched.open(f"{origin}/index.html")
    page.wait_for_selector("#board tbody tr[data-model]")
    watched.until("new Promise(done => setTimeout(() => done(scrollY === 0), 100))")
    options = page.query_selector_all("#board-controls select option")
    assert "edit target: text (1 photo, few)" in [option.inner_text() for option in options]
    page.select_option("#board-controls select", "edit_target=text")
    assert page.url.endswith("#leaderboard?dimension=edit_target%3Dtext")
    kept = look()
    again = kept.open(page.url)
    again.wait_for_selector("#board tbody tr[data-model]")
    assert again.input_value("#board-controls select") == "edit_target=text"
    assert again.inner_text("#board") == page.inner_text("#board")
    kept.check(origin)


def test_a_chain_that_ended_says_why(look: Look, origin: str):
    watched = look()
    page = watched.open(f"{origin}/index.html#sessions")
    page.wait_for_selector("#sessions.current")
    watched.until("[...document.querySelectorAll('#session-list img')].every(one => one.naturalWidth > 0)")
    assert "2 of 3 models complete" in page.inner_text("#session-list")
    page.click("text=Compare the outputs of group-right")
    page.wait_for_selector(".chain")
    whole = page.query_selector_all(f"[data-model={BEST}] figure")
    assert [one.query_selector("img") is not None for one in whole] == [True] * 6, (
        "the original and five steps"
    )
    ended = page.query_selector_all(f"[data-model={CARELESS}] figure")
    assert len(ended) < 6
    last = ended[-1]
    assert last.query_selector("img") is None
    assert "not made in 3 attempts" in last.inner_text()
    assert len(last.query_selector_all("details[open] li")) == 3
    watched.check(origin)


def test_matches_show_the_original_and_two_faces(look: Look, origin: str):
    watched = look()
    page = watched.open(f"{origin}/index.html#matchups")
    page.wait_for_selector("#matchups.current")
    first = page.query_selector("#match-list article")
    assert first
    assert len(first.query_selector_all("img")) == 3
    page.click("#match-list [data-full] >> nth=1")
    watched.until("document.querySelector('dialog[open] img')?.naturalWidth === 768")
    page.keyboard.press("Escape")
    watched.tab("analysis")
    assert "Metric against people" in page.inner_text("#analysis")
    assert len(page.query_selector_all("#analysis tbody th:text-matches('^[0-9a-f]{12}$')")) == 3
    watched.check(origin)
