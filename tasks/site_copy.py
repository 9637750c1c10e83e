"""A suite's page as a plain folder: that part of the store which it needs, in the same places."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from adapters.base import ObjectStore
from adapters.pages.site.data import history_script
from adapters.pages.site.render import redirect, suites_page
from domain import keys
from domain.errors import DefinitionError, StoreError
from domain.runs import Snapshot
from tasks import wiring
from tasks.pointers import current
from tasks.published import find_snapshot
from tasks.publishing import publish
from tasks.site_files import NEEDS
from tasks.site_history import HISTORY, INDEX, history_of, put_if_changed
from tasks.threads import on_threads


def copy_site(suite: str, digest: str | None, out: Path) -> tuple[Path, int]:
    """Copy a snapshot's pages with all they show into a folder; what is there already stays.

    Returns:
        The page to open, and how many files were written.
    """
    _refuse_file(out)
    store = wiring.store()
    snapshot = find_snapshot(suite, digest, store)
    publish(snapshot, store)
    folder = wiring.store_at(out.absolute())
    own = keys.report(suite, snapshot.digest, INDEX)
    place = own.removesuffix(INDEX)
    needs: list[str] = json.loads(_read(store, place + NEEDS))
    names = [key for key in (*needs, *store.list(place)) if key != own]
    written = sum(on_threads(lambda key: _copy(key, store, folder), names)) + _copy(own, store, folder)
    written += _write_pointers(snapshot, store, folder)
    return out.absolute() / INDEX, written


def _refuse_file(out: Path) -> None:
    for place in (out.absolute(), *out.absolute().parents):
        if place.exists() and not place.is_dir():
            raise DefinitionError(
                f"--out {out}: {place} is a file, where a folder is needed; name another folder", field="out"
            )


def _read(store: ObjectStore, key: str) -> bytes:
    data = store.get(key)
    if data is None:
        raise StoreError(f"{key!r} is gone from the store; {_remedy(key)}", key=key)
    return data


def _remedy(key: str) -> str:
    if key.startswith("images/"):
        return "nothing can make this picture again: bring it back from a copy of the store"
    if key.startswith("thumbnails/"):
        return "this version makes no such thumbnail: bring it back from a copy of the store"
    page = f"{'/'.join(key.split('/')[:3])}/{INDEX}"
    return (
        f"delete {page!r} from the store and publish again: all that belongs to the page is then written anew"
    )


def _copy(key: str, store: ObjectStore, folder: ObjectStore) -> bool:
    return folder.head(key) is None and folder.put_new(key, _read(store, key))


def _write_pointers(snapshot: Snapshot, store: ObjectStore, folder: ObjectStore) -> int:
    """The list of those snapshots that the folder has, the way to the newest, and to every suite."""
    suite = snapshot.suite
    known = history_of(suite, store)
    there = [e for e in known if folder.head(keys.report(suite, e["snapshot"], INDEX)) is not None]
    names = [entry["snapshot"] for entry in there]
    held = current(suite, store)
    newest = held.snapshot[:16] if held and held.snapshot[:16] in names else names[0]
    title = wiring.run_plan(snapshot.run_id).suite.title
    written = put_if_changed(folder, keys.report_index(suite, HISTORY), history_script(there, newest))
    to = redirect(f"{newest}/index.html", title)
    written += put_if_changed(folder, keys.report_index(suite, INDEX), to)
    suites = sorted(
        {key.split("/")[1] for key in folder.list("reports/") if key.count("/") == 2 and key.endswith(INDEX)}
    )
    listed = [(f"reports/{name}/{INDEX}", _title(folder, name)) for name in suites]
    start = redirect(*listed[0]) if len(listed) == 1 else suites_page(listed)
    return written + put_if_changed(folder, INDEX, start)


def _title(folder: ObjectStore, suite: str) -> str:
    page = _read(folder, keys.report_index(suite, INDEX)).decode()
    found = re.search(r"<title>(.*?)</title>", page, re.DOTALL)
    return html.unescape(found[1]) if found else suite
