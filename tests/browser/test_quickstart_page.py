"""The page of a real run: `facedrift run quickstart`, then `facedrift publish`, then a browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from watched_pages import Look, served

pytestmark = [pytest.mark.browser, pytest.mark.integration]

ROOT = Path(__file__).parents[2]
MODELS = {"control-unchanged", "control-recompress", "control-stranger", "procedural"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `facedrift publish` made of a run of two photos and two sessions."""
    home = tmp_path_factory.mktemp("quickstart-page")
    variables = {"FACEDRIFT_STORE": str(home / "store"), "PREFECT_HOME": str(home / "prefect")}

    def facedrift(*arguments: str) -> str:
        command = [sys.executable, "-m", "flows.cli", *arguments]
        environment = os.environ | variables | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    facedrift("run", "quickstart", "--images", "2", "--sessions", "hair_008,poses_005")
    told = facedrift("publish", "quickstart", "--out", str(home / "site"))
    assert f"open: {home / 'site' / 'index.html'}" in told
    before = {path: path.stat().st_mtime_ns for path in (home / "site").rglob("*")}
    assert "nothing new" in facedrift("publish", "quickstart", "--out", str(home / "site"))
    assert {path: path.stat().st_mtime_ns for path in (home / "site").rglob("*")} == before
    return home / "site"


@pytest.fixture(scope="module", params=["host", "folder"])
def origin(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    if request.param == "folder":
        yield folder.as_uri()
        return
    with served(folder) as address:
        yield address


def test_every_tab_of_a_real_run_works(look: Look, origin: str, folder: Path):
    watched = look()
    page = watched.open(f"{origin}/index.html")
    page.wait_for_selector("#board tbody tr[data-model]")
    rows = [row.get_attribute("data-model") for row in page.query_selector_all("#board tbody tr")]
    assert set(rows) == MODELS
    assert rows[0] == "procedural", "controls come last"
    assert "this is a part of the suite" in (page.text_content(".notices") or "")
    tabs = [link.get_attribute("data-tab") or "" for link in page.query_selector_all("[data-tab]")]
    assert tabs == [
        "leaderboard",
        "drift",
        "overediting",
        "compare",
        "sessions",
        "models",
        "coverage",
        "about",
    ]
    for tab in tabs:
        watched.tab(tab)
        found = Axe().run(page, options={"preload": False}).response["violations"]
        assert [item["id"] for item in found] == [], tab
    watched.tab("overediting")
    page.wait_for_selector(".heat button")
    page.click(".heat button >> nth=0")
    page.wait_for_selector("#heat-examples .pairs li")
    watched.until("[...document.querySelectorAll('#heat-examples img')].every(one => one.naturalWidth > 0)")
    watched.tab("compare")
    assert len(page.query_selector_all("#comparison-list li")) == 4
    page.click("#comparison-list a >> nth=0")
    page.wait_for_selector(".chain")
    assert len(page.query_selector_all(".chain figure")) == 4 * 5
    watched.until("[...document.querySelectorAll('.chain img')].some(one => one.naturalWidth > 100)")
    watched.check(origin)


def test_the_whole_board_is_in_the_page_and_its_tables_beside_it(folder: Path):
    [page] = (folder / "reports/quickstart").glob("*/index.html")
    held = json.loads((page.parent / "leaderboard.json").read_text())
    assert {row["model"] for row in held} == MODELS
    needs = json.loads((page.parent / "files.json").read_text())
    assert all((folder / key).is_file() for key in needs)
