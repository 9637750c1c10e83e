"""The small files above a suite's snapshots: the list of them all, and the way to its board."""

from __future__ import annotations

import json
from typing import Any

from adapters.base import ObjectStore
from adapters.pages.site.data import history_script, read_history
from adapters.pages.site.render import redirect
from domain import keys
from domain.errors import StoreError
from domain.runs import RunPlan, Snapshot
from tasks.pointers import current, is_whole

HISTORY, INDEX = "history.js", "index.html"
PROVENANCE = "provenance.json"


def entry_of(snapshot: str, run: RunPlan) -> dict[str, Any]:
    """How the list names a snapshot."""
    return {
        "snapshot": snapshot[:16],
        "run": run.id,
        "created": run.created_at,
        "whole": is_whole(run),
        "models": len(run.cards),
    }


def write_history(snapshot: Snapshot, run: RunPlan, store: ObjectStore) -> None:
    """List a snapshot among its suite's and lead to the board; nothing new changes nothing."""
    entries = {entry["snapshot"]: entry for entry in history_of(snapshot.suite, store)}
    new = entry_of(snapshot.digest, run)
    held = entries.get(new["snapshot"])
    if held is None or held["whole"] < new["whole"]:  # else a later run gave the same numbers
        entries[new["snapshot"]] = new
    listed = sorted(entries.values(), key=lambda entry: (entry["created"], entry["snapshot"]), reverse=True)
    board = current(snapshot.suite, store)
    newest = (board.snapshot if board else snapshot.digest)[:16]
    put_if_changed(store, keys.report_index(snapshot.suite, HISTORY), history_script(listed, newest))
    to = redirect(f"{newest}/index.html", run.suite.title)
    put_if_changed(store, keys.report_index(snapshot.suite, INDEX), to)


def history_of(suite: str, store: ObjectStore) -> list[dict[str, Any]]:
    """The snapshots of a suite that were published; found anew where the list is gone or damaged."""
    data = store.get(keys.report_index(suite, HISTORY))
    if data is not None:
        try:
            return read_history(data)
        except ValueError:
            pass
    top = keys.report_index(suite, HISTORY).removesuffix(HISTORY)
    places = [key.split("/") for key in store.list(top) if key.endswith(f"/{PROVENANCE}")]
    return [entry_of(place[-2], _run_of("/".join(place), store)) for place in places if len(place) == 4]


def _run_of(key: str, store: ObjectStore) -> RunPlan:
    data = store.get(key)
    if data is None:
        raise StoreError(f"{key!r} was there and is gone; try again", key=key)
    try:
        return RunPlan.model_validate(json.loads(data))
    except ValueError as error:
        raise StoreError(f"{key!r} is damaged; delete it, then publish again", key=key) from error


def put_if_changed(store: ObjectStore, key: str, data: bytes) -> bool:
    """Write a pointer unless it says this already; whether it was written."""
    if store.get(key) == data:
        return False
    store.put(key, data)
    return True
