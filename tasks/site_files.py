"""Writing a snapshot's site: pictures and data first, its page last; whose page says that it is whole."""

from __future__ import annotations

import json
from collections.abc import Iterator

from adapters.base import ObjectStore
from adapters.pages.site.picture_views import Picture
from adapters.pages.site.render import site_files
from adapters.pages.site.thumbnails import VERSION, thumbnail
from adapters.pages.site.views import Page
from domain import keys
from domain.runs import Snapshot
from tasks import ledger
from tasks.site_page import page_of
from tasks.site_source import SiteSource
from tasks.threads import on_threads

INDEX = "index.html"
NEEDS = "files.json"
"""Lists the objects outside a snapshot's own place that its pages show: what a copy must bring along."""
MOST_JSON_ROWS = 20_000
"""Tables that are longer are there as CSV and Parquet."""


def write_site(source: SiteSource, before: SiteSource | None) -> None:
    """Write every file of a snapshot's site that is not there, its page last."""
    tables = dict(_json_tables(source))
    page = page_of(source, before, tuple(tables))
    pictures = list(dict.fromkeys(_pictures(page)))
    on_threads(lambda picture: _write_thumbnail(picture, source.store), pictures)
    needs = sorted(key for p in pictures for key in (_thumbnail_key(p), keys.image(p.sha256, p.extension)))
    files = {**tables, NEEDS: json.dumps(needs, indent=0).encode(), **site_files(page)}
    own = source.snapshot
    *first, last = files.items()
    on_threads(lambda item: source.store.put_new(keys.report(own.suite, own.digest, item[0]), item[1]), first)
    source.store.put_new(keys.report(own.suite, own.digest, last[0]), last[1])


def _json_tables(source: SiteSource) -> Iterator[tuple[str, bytes]]:
    for name in source.names:
        table = name.removesuffix(".parquet")
        if table != name and source.table(table).height <= MOST_JSON_ROWS:
            yield f"{table}.json", source.table(table).write_json().encode()


def _thumbnail_key(picture: Picture) -> str:
    return keys.thumbnail_of(VERSION, picture.sha256)


def _write_thumbnail(picture: Picture, store: ObjectStore) -> None:
    key = _thumbnail_key(picture)
    if store.head(key) is None:
        store.put_new(key, thumbnail(ledger.read_image(store, picture.sha256, picture.extension)))


def write_missing_thumbnails(snapshot: Snapshot, store: ObjectStore) -> None:
    """Make again what the pages of a published snapshot list and the store has lost, of this version."""
    listed = store.get(keys.report(snapshot.suite, snapshot.digest, NEEDS))
    needs: list[str] = [] if listed is None else json.loads(listed)
    images = (key.rpartition("/")[2].rpartition(".") for key in needs if key.startswith("images/"))
    pictures = [Picture(sha, extension) for sha, _, extension in images]
    wanted = [picture for picture in pictures if _thumbnail_key(picture) in set(needs)]
    on_threads(lambda picture: _write_thumbnail(picture, store), wanted)


def _pictures(page: Page) -> Iterator[Picture]:
    """Every image that the pages show, as often as they do."""
    for comparison in page.comparisons:
        yield comparison.original
        for chain in comparison.chains:
            yield from (step.picture for step in chain.steps if step.picture)
    for matrix in page.overediting.matrices if page.overediting else ():
        for examples in matrix.examples.values():
            for example in examples:
                yield from (example.before, example.after)
    for chain in page.sessions:
        if chain.picture:
            yield chain.picture
    for match in page.matchups.examples if page.matchups else ():
        yield from (match.original, match.a, match.b)
