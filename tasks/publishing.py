"""The report that people read: a site for each snapshot, its provenance, and the pointers to it last."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
from prefect import task

from adapters.base import ObjectStore
from adapters.stores.settings import place
from domain import keys
from domain.errors import StoreError
from domain.photos import Dataset
from domain.runs import RunPlan, Snapshot
from tasks import policies, wiring
from tasks.paper_index import publish_paper
from tasks.pointers import current, point_to
from tasks.site_files import write_missing_thumbnails, write_site
from tasks.site_history import PROVENANCE, write_history
from tasks.site_source import SiteSource, pictures_of
from tasks.threads import in_thread


def publish(
    snapshot: Snapshot,
    store: ObjectStore,
    find_pictures: Callable[[RunPlan, Dataset, ObjectStore], pl.DataFrame] = pictures_of,
) -> None:
    """Write all that is derived from a snapshot unless it is there, the page last; then point to it.

    Of a page that is there, thumbnails that are gone are made again.

    Args:
        snapshot: Its tables are in the store.
        store: Where they are.
        find_pictures: Which pictures a run has; see `tasks.site_source.PICTURES`.
    """
    run = wiring.run_plan(snapshot.run_id)
    page = keys.report(snapshot.suite, snapshot.digest, "index.html")
    if store.head(page) is None:
        provenance = keys.report(snapshot.suite, snapshot.digest, PROVENANCE)
        store.put_new(provenance, run.model_dump_json(indent=1).encode())
        if run.chain_set is None:
            publish_paper(run, snapshot, store)
        source = SiteSource(snapshot, run, store, find_pictures)
        write_site(source, board_before(snapshot, run, store))
    else:
        write_missing_thumbnails(snapshot, store)
    point_to(snapshot, run, store)
    write_history(snapshot, run, store)


def board_before(snapshot: Snapshot, run: RunPlan, store: ObjectStore) -> SiteSource | None:
    """The snapshot that a new one is compared with: the whole board that it may replace."""
    try:
        held = current(snapshot.suite, store)
    except StoreError:
        return None  # it will be written anew
    if held is None or not held.whole or held.run > run.id or held.snapshot == snapshot.digest:
        return None
    old = Snapshot(suite=snapshot.suite, digest=held.snapshot, run_id=held.run, is_new=False)
    source = SiteSource(old, wiring.run_plan(held.run), store)
    names = ("leaderboard.parquet", "ranking.parquet")
    return source if set(names) & set(source.names) else None


@task(task_run_name="publish {snapshot.suite}", **policies.ONCE)
async def publish_report(snapshot: Snapshot) -> None:
    """Publish a snapshot's page."""
    await in_thread(publish, snapshot, wiring.store())


def page_location(snapshot: Snapshot) -> str:
    """Where the page of a snapshot is."""
    return stored_at(keys.report(snapshot.suite, snapshot.digest, "index.html"))


def left_out_locations(found: Dataset) -> tuple[str, str]:
    """Where all that was left out of a stored dataset is listed: as a table, and (its beginning) as text."""
    key = keys.dataset(found.id, keys.fingerprint(found))
    table, text = (keys.dataset_page(key, name) for name in ("left_out.parquet", "summary.md"))
    return stored_at(table), stored_at(text)


def stored_at(key: str) -> str:
    """Where an object of the store is: a file, or its s3:// address, which names no server and no key."""
    return f"{place()}/{key}"
