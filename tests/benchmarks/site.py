"""What the page of a run of the paper's size weighs, and how soon it can be used.

Run with `python -m tests.benchmarks.site`: 11 pairs of model and dataset, 204,000 sessions. It comes from
Python's own server on this machine; every time is the median of fresh browser contexts, from the start of the
navigation.
"""

from __future__ import annotations

import gzip
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

LOADS = 7
READY = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SORTED = """() => {
  const before = performance.now();
  document.querySelector('[data-sort=sc]').click();
  document.querySelector('#board').getBoundingClientRect();
  return performance.now() - before;
}"""
"""How long sorting takes until the table is laid out again."""


def measure(folder: Path) -> dict[str, Any]:
    """Make, publish and open the page."""
    from synthetic_site import SUITE, make_site, publish_site
    from watched_pages import served

    from tasks import wiring

    started = time.monotonic()
    site = make_site(wiring.store(), every=1)
    scored = time.monotonic()
    publish_site(site, wiring.store())
    published = time.monotonic()
    own = folder / "reports" / SUITE / site.snapshot.digest[:16]
    files = {name: [own / name] if name == "index.html" else list((own / name).iterdir()) for name in PARTS}
    with served(folder) as host:
        loads, sorts = opened(f"{host}/reports/{SUITE}/{own.name}/index.html")
    return {
        "chains": site.pictures.filter(step=1).height,
        "scored_s": round(scored - started, 1),
        "published_s": round(published - scored, 1),
        "kilobytes_gzip": {name: round(sum(map(packed, paths)) / 1000, 1) for name, paths in files.items()},
        "load_ms": round(statistics.median(loads)),
        "sort_ms": round(statistics.median(sorts), 1),
    }


PARTS = ("index.html", "assets", "data")


def packed(path: Path) -> int:
    """Bytes of a file as a host sends it."""
    return len(gzip.compress(path.read_bytes()))


def opened(address: str) -> tuple[list[float], list[float]]:
    """Milliseconds until the page is loaded with its board drawn, and of one sorting."""
    from playwright.sync_api import sync_playwright

    loads: list[float] = []
    sorts: list[float] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for _ in range(LOADS):
            context = browser.new_context()
            page = context.new_page()
            page.goto(address, wait_until="load")
            rows = page.evaluate("document.querySelectorAll('#board tbody tr[data-model]').length")
            if not rows:
                raise SystemExit("the board was not there at load")
            loads.append(page.evaluate(READY))
            sorts.append(page.evaluate(SORTED))
            context.close()
        browser.close()
    return loads, sorts


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # as pytest does
    with tempfile.TemporaryDirectory() as name:
        os.environ["FACEDRIFT_STORE"] = name
        print(json.dumps(measure(Path(name)), indent=1))  # noqa: T201
