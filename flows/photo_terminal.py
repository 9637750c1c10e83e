"""What `facedrift photos` does and shows in a terminal."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from domain.errors import IncompleteError
from domain.photos import Dataset
from domain.requests import PrepareRequest
from flows.consoles import err, out
from flows.local_server import prefect_server
from flows.prepare_photos import prepare_photos
from tasks.own_photos import everyday_suite
from tasks.photo_files import write_files
from tasks.preflight import check_prefect, check_store
from tasks.wiring import dataset


def prepare(suite: str, images: str | None, to: Path | None) -> bool:
    """Prepare a suite's photos and say what became of them; False when some faces could not be read."""
    everyday_suite(suite, images)
    check_store()
    check_prefect()
    with prefect_server() as server:
        if server:
            server.ready()
        try:
            key = asyncio.run(prepare_photos(PrepareRequest(suite=suite, images_dir=images)))
        except IncompleteError as error:
            err.print(f"incomplete: {error}", style="red", markup=False, soft_wrap=True)
            return False
    _print(dataset(key), key)
    if to:
        n_files = write_files(key, to)
        out.print(f"{n_files} files: {to}", markup=False, highlight=False, soft_wrap=True)
    return True


def _print(found: Dataset, key: str) -> None:
    table = Table("photo", "size", "groups", "notes", "licence", "author", box=None, pad_edge=False)
    for photo in found.base:
        groups = ", ".join(f"{name} {value}" for name, value in photo.groups.items())
        author = photo.original.author if photo.original else ""
        texts = (groups, ", ".join(photo.notes), photo.licence, author)
        table.add_row(photo.id, f"{photo.width}×{photo.height}", *map(escape, texts))
    out.print(table, highlight=False)
    reasons = Counter(item.reason for item in found.left_out)
    said = ", ".join(f"{n} × {reason}" for reason, n in sorted(reasons.items())) or "nothing left out"
    out.print(f"{len(found.base)} photos; {said}", highlight=False)
    for item in found.left_out:
        name = f"{item.subject} ({item.source})" if item.subject else item.source
        text = f"  {name}: {item.reason}: {item.detail}"
        out.print(text, markup=False, highlight=False, soft_wrap=True)
    out.print(f"manifest: {key}", markup=False, highlight=False, soft_wrap=True)
