"""Pages that are watched while they are used, hosts of folders, and sites to look at."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from people_tables import people_tables
from playwright.sync_api import Page
from synthetic_site import PAIRS, SUITE, make_ranked, make_site, publish_site, write_images

from tasks import wiring
from tasks.site_copy import copy_site

Look = Callable[..., "Watched"]


class Watched:
    """A page, and all that went wrong on it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.problems: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("requestfailed", lambda request: self._failed(request.url, request.failure or ""))
        page.on("response", lambda answer: self._answered(answer.status, answer.url))
        page.on("console", lambda message: self._said(message.type, message.text))
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: self.problems.append(f"dialog: {dialog.message}"))

    def _failed(self, url: str, why: str) -> None:
        if why != "net::ERR_ABORTED":  # what a page that leads to another was still loading
            self.problems.append(f"failed: {url}: {why}")

    def _answered(self, status: int, url: str) -> None:
        if status >= 400:
            self.problems.append(f"{status}: {url}")

    def _said(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.problems.append(f"{kind}: {text}")

    def open(self, address: str) -> Page:
        """Go there."""
        self.page.goto(address, wait_until="load")
        return self.page

    def tab(self, name: str) -> None:
        """Choose a tab and wait for what it loads."""
        self.page.click(f"nav.tabs [data-tab={name}]")
        self.page.wait_for_selector(f"#{name}.current")

    def until(self, expression: str, *arguments: Any) -> None:
        """Wait for an expression to be true; Playwright's own way is against the page's policy."""
        for _ in range(600):
            if self.page.evaluate(expression, list(arguments)):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"this never came true: {expression}")

    def check(self, origin: str) -> None:
        """Nothing went wrong and nothing was asked of anybody else."""
        assert self.problems == []
        others = [url for url in self.requests if not url.startswith((origin, "data:", "blob:"))]
        assert others == []


class Quiet(SimpleHTTPRequestHandler):
    """A static host: no listing of folders, as on S3."""

    def log_message(self, format: str, *args: Any) -> None:
        return

    def list_directory(self, path: str | os.PathLike[str]) -> None:
        self.send_error(404)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder over HTTP."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Sites:
    """Folders with sites, each under what it shows."""

    def __init__(self, folder: Path) -> None:
        self.store = folder / "store"
        self.out = folder / "out"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("FACEDRIFT_STORE", str(self.store))
            store = wiring.store()
            made = [make_site(store, number, every=150, pairs=PAIRS) for number in (1, 2)]
            for site in made:
                publish_site(site, store)
                copy_site(SUITE, None, self.out)
            self.old, self.new = (site.snapshot for site in made)
            crops = [sha for sha, _ in write_images(store)]
            run = made[1].run
            tables = people_tables(crops, run.photos[:4], run.sessions[0].id)
            ranked = make_ranked(store, made[1], tables)
            publish_site(ranked, store)
            self.ranked = ranked.snapshot

    def folder_of(self, digest: str) -> Path:
        """A snapshot's own place in the store."""
        return self.store / "reports" / SUITE / digest[:16]
