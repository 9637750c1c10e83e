"""The page of a run of the paper's size: 11 pairs of model and dataset, 204,000 sessions."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from synthetic_site import SUITE, Site, make_site, publish_site
from watched_pages import Look, served

from tasks import wiring

pytestmark = pytest.mark.browser

MOST_BYTES = 1_000_000
"""Of everything but pictures, compressed."""


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("paper-size")


@pytest.fixture(scope="module")
def site(store_folder: Path) -> Site:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACEDRIFT_STORE", str(store_folder))
        made = make_site(wiring.store(), every=1)
        publish_site(made, wiring.store())
        return made


@pytest.fixture(scope="module")
def host(store_folder: Path) -> Iterator[str]:
    with served(store_folder) as address:
        yield address


def folder_of(store_folder: Path, site: Site) -> Path:
    return store_folder / "reports" / SUITE / site.snapshot.digest[:16]


def test_it_has_the_size_of_the_paper(store_folder: Path, site: Site):
    board = pl.read_parquet(folder_of(store_folder, site) / "leaderboard.parquet").filter(test_set="all")
    assert board.height == 11
    assert board["n_planned"].sum() == (5 * 549 + 6 * 517) * 35 >= 200_000


def test_the_page_without_pictures_is_small(store_folder: Path, site: Site):
    own = folder_of(store_folder, site)
    files = [own / "index.html", *(own / "assets").iterdir(), *(own / "data").iterdir()]
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in files}
    assert sum(sizes.values()) <= MOST_BYTES, sizes


def test_the_board_is_used_as_soon_as_it_is_there(look: Look, host: str, store_folder: Path, site: Site):
    watched = look()
    page = watched.open(f"{host}/reports/{SUITE}/{site.snapshot.digest[:16]}/index.html")
    assert len(page.query_selector_all("#board tbody tr[data-model]")) == 5, (
        "nothing is waited for after load"
    )
    page.click("[data-sort=sc]")
    assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"
    page.select_option("#board-controls label:has-text('Dataset') select", "*")
    assert len(page.query_selector_all("#board tbody tr[data-model]")) == 11
    watched.tab("overediting")
    page.wait_for_selector(".heat button")
    page.click(".heat button >> nth=5")
    page.wait_for_selector("#heat-examples h3")
    watched.tab("bias")
    page.wait_for_selector("table.bias tbody tr")
    watched.check(host)
