"""WCAG 2.2 AA as far as axe-core sees it, in light and dark, wide and narrow; phone width and print."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from synthetic_site import SUITE
from watched_pages import Look, Sites, Watched, served

pytestmark = pytest.mark.browser

OPTIONS = {
    "preload": False,  # it would fetch our style sheet, which the page's policy forbids
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}


@pytest.fixture(scope="module")
def host(sites: Sites) -> Iterator[str]:
    with served(sites.store) as address:
        yield address


def violations(watched: Watched) -> list[tuple[str, str]]:
    found = Axe().run(watched.page, options=OPTIONS).response["violations"]
    return [(item["id"], node["html"][:200]) for item in found for node in item["nodes"]]


def is_too_wide(watched: Watched) -> bool:
    return watched.page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.parametrize("which", ["new", "ranked"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_is_free_of_violations(
    look: Look, host: str, sites: Sites, which: str, width: int, scheme: str
):
    watched = look(width, color_scheme=scheme)
    page = watched.open(f"{host}/reports/{SUITE}/{getattr(sites, which).digest[:16]}/index.html")
    tabs = [link.get_attribute("data-tab") or "" for link in page.query_selector_all("[data-tab]")]
    assert len(tabs) >= 9
    for tab in tabs:
        watched.tab(tab)
        if tab == "overediting":
            page.wait_for_selector(".heat button")
            page.click(".heat button >> nth=0")
            page.wait_for_selector("#heat-examples .pairs li")
        if tab == "bias":
            page.wait_for_selector("table.bias")
        if tab == "leaderboard":
            page.click("details.chooser summary")
        assert (tab, violations(watched)) == (tab, [])
        assert not is_too_wide(watched), tab
    watched.check(host)


@pytest.mark.parametrize(("which", "shown"), [("new", "step 4"), ("ranked", "failed attempts")])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_comparison_is_free_of_violations(
    look: Look, host: str, sites: Sites, which: str, shown: str, width: int, scheme: str
):
    watched = look(width, color_scheme=scheme)
    digest = getattr(sites, which).digest
    paths = sorted((sites.folder_of(digest) / "compare").iterdir())
    first = next(path for path in paths if shown in path.read_text())
    page = watched.open(f"{host}/reports/{SUITE}/{digest[:16]}/compare/{first.name}")
    assert violations(watched) == []
    assert not is_too_wide(watched)
    page.click(".chain [data-full] >> nth=0")
    page.wait_for_selector("dialog[open]")
    assert violations(watched) == []
    watched.check(host)


def test_colours_follow_the_reader(look: Look, host: str, sites: Sites):
    paper: dict[str, str] = {}
    for scheme in ("light", "dark"):
        watched = look(color_scheme=scheme)
        page = watched.open(f"{host}/reports/{SUITE}/{sites.new.digest[:16]}/index.html")
        paper[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 22, 26)"}


def test_on_paper_every_tab_is_there_and_no_control(look: Look, host: str, sites: Sites):
    watched = look(800)
    page = watched.open(f"{host}/reports/{SUITE}/{sites.new.digest[:16]}/index.html")
    page.wait_for_selector("#board tbody tr[data-model]")
    page.emulate_media(media="print", color_scheme="dark")
    assert all(section.is_visible() for section in page.query_selector_all("[data-section]"))
    assert not [
        item for item in page.query_selector_all("nav.tabs, .controls, #board-csv") if item.is_visible()
    ]
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")
