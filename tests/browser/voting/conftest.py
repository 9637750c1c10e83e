"""A voting page that is served by its own command, and a browser before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from matches import some_matches
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright
from servers.voting_site import Site, voting_site

CHROMIUM = Path("/usr/bin/chromium")


@dataclass
class Visit:
    """One person's page, and what went wrong on it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def open(self, link: str) -> None:
        self.page.goto(link)

    def ready(self, votes: int | None = None) -> None:
        """Return once a vote can be given, after so many."""
        if votes is not None:
            self.page.wait_for_selector(f'#count:text-matches("^{votes} of ")')
        self.page.wait_for_selector('form[aria-busy="false"]')

    def serving(self) -> tuple[str, ...]:
        """What lies there: the serving and the addresses of its pictures."""
        pictures = [
            self.page.get_attribute(f"#{role}", "src") or "" for role in ("original", "left", "right")
        ]
        return (self.page.input_value('[name="serving"]', strict=True), *pictures)

    def form(self) -> dict[str, str]:
        return {name: self.page.input_value(f'[name="{name}"]', strict=True) for name in ("serving", "nonce")}


@pytest.fixture(scope="session")
def voting_browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    found = voting_site(tmp_path_factory.mktemp("voting"), *some_matches(40, gold={0: "a"}))
    try:
        found.start()
        yield found
    finally:
        found.close()


@pytest.fixture
def visit(voting_browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens a browser window of its own, with the options of `browser.new_context`."""
    contexts: list[BrowserContext] = []

    def opened(**options: Any) -> Visit:
        context = voting_browser.new_context(**options)
        contexts.append(context)
        found = Visit(context.new_page())
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.on("console", lambda message: found.troubles.append(message.text))
        found.page.on("pageerror", lambda error: found.troubles.append(str(error)))
        return found

    yield opened
    for context in contexts:
        context.close()
