"""A browser, and sites to look at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, sync_playwright
from watched_pages import Look, Sites, Watched

CHROMIUM = Path("/usr/bin/chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium; a module at a time, because its loop would be in the way of other tests."""
    if not CHROMIUM.exists():
        pytest.skip(f"NO BROWSER TESTS: {CHROMIUM} is not there; install it with: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Look]:
    """Opens pages that are watched; `look(width=390, color_scheme="dark")`."""
    contexts: list[BrowserContext] = []

    def opened(width: int = 1280, **options: Any) -> Watched:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, accept_downloads=True, **options
        )
        contexts.append(context)
        return Watched(context.new_page())

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Sites:
    """Two snapshots of a synthetic run, and a ranking; made once."""
    return Sites(tmp_path_factory.mktemp("sites"))
