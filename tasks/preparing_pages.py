"""A dataset in the store: its tables, its summary for people, its contact sheets, and the manifest last."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Sequence
from itertools import islice

import polars as pl
from prefect.artifacts import acreate_markdown_artifact

from adapters.base import ObjectStore
from adapters.pages.attribution import attribution_csv, attribution_markdown
from adapters.pages.contact_sheet import COLUMNS, ROWS, Tile, contact_sheets
from adapters.pages.dataset_summary import dataset_summary
from domain import keys
from domain.chains import DIMENSIONS
from domain.photos import Dataset, LeftOut, Original, Photo
from tasks import ledger, wiring
from tasks.progress import artifact_key
from tasks.threads import in_thread

MOST_SHEETS = 40
SHEETS_SHOWN = 4
"""In Prefect's UI; the store holds all."""
PHOTO_SCHEMA = pl.Schema(
    {
        "id": pl.String,
        "subject": pl.String,
        "role": pl.String,
        "image_sha256": pl.String,
        "extension": pl.String,
        "width": pl.Int64,
        "height": pl.Int64,
        "box": pl.List(pl.Float64),
        "licence": pl.String,
        "source": pl.String,
        "derived_from": pl.String,
        "fss0": pl.Float64,
        "near_duplicates": pl.List(pl.String),
        "perceptual_hash": pl.String,
        "notes": pl.List(pl.String),
    }
)
"""One photo a row; then `group_<name>`, one column for each demographic that is stated of some photo.

Of photos that were cropped and resized, `ORIGINAL_SCHEMA` comes before the groups.
"""
ORIGINAL_SCHEMA = pl.Schema(
    {
        "author": pl.String,
        "original_sha256": pl.String,
        "original_extension": pl.String,
        "original_width": pl.Int64,
        "original_height": pl.Int64,
        "crop": pl.List(pl.Int64),
        "crop_placed": pl.Boolean,
        "sharpness": pl.Float64,
        "sharpness_low": pl.Float64,
        "sharpness_face": pl.Float64,
    }
)
"""`crop` is x, y, width, height in pixels of the upright original."""


def write_dataset(found: Dataset, store: ObjectStore) -> str:
    """Write a manifest unless it is there, what is derived from it first; returns its key."""
    key = keys.dataset(found.id, keys.fingerprint(found))
    if store.head(key) is None:
        for name, data in _pages(found, store):
            store.put_new(keys.dataset_page(key, name), data)
        ledger.write_new(store, key, found)
    return key


def _pages(found: Dataset, store: ObjectStore) -> Iterator[tuple[str, bytes]]:
    yield "photos.parquet", _parquet(photo_table(found.photos))
    yield "left_out.parquet", _parquet(left_out_table(found.left_out))
    if any(photo.original for photo in found.photos):
        yield "attribution.csv", attribution_csv(found).encode()
        yield "attribution.md", attribution_markdown(found).encode()
    shown, number = found.photos[: MOST_SHEETS * COLUMNS * ROWS], 0
    tiles = [_tile(photo, found, store) for photo in shown]
    for number, sheet in enumerate(contact_sheets(f"Photos of {found.id}", tiles), 1):
        yield _sheet(number), sheet
    yield "summary.md", dataset_summary(found, number, len(shown)).encode()


def _sheet(number: int) -> str:
    return f"contact-sheet-{number:03d}.jpg"


def photo_table(photos: Sequence[Photo]) -> pl.DataFrame:
    """One photo a row; a demographic that is not stated of a photo is null."""
    groups = sorted({name for photo in photos for name in photo.groups})
    made = ORIGINAL_SCHEMA if any(photo.original for photo in photos) else {}
    rows = [
        {
            **photo.model_dump(exclude={"groups", "original"}),
            **(_original(photo.original) if photo.original else {}),
            **{f"group_{g}": photo.groups.get(g) for g in groups},
        }
        for photo in photos
    ]
    schema = dict(PHOTO_SCHEMA) | dict(made) | {f"group_{name}": pl.String() for name in groups}
    return pl.DataFrame(rows, schema=schema)


def _original(made: Original) -> dict[str, object]:
    crop = made.crop
    return {
        "author": made.author,
        "original_sha256": made.sha256,
        "original_extension": made.extension,
        "original_width": made.width,
        "original_height": made.height,
        "crop": [crop.x, crop.y, crop.width, crop.height],
        "crop_placed": made.crop_placed,
        "sharpness": made.sharpness.median,
        "sharpness_low": made.sharpness.lower_quartile,
        "sharpness_face": made.sharpness.face,
    }


def left_out_table(left_out: Sequence[LeftOut]) -> pl.DataFrame:
    """One file that did not become a photo a row."""
    columns = ("source", "reason", "detail", "subject")
    return pl.DataFrame(
        [item.model_dump() for item in left_out], schema={name: pl.String for name in columns}
    )


def _parquet(frame: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.write_parquet(out, compression="zstd", statistics=False)
    return out.getvalue()


def _tile(photo: Photo, found: Dataset, store: ObjectStore) -> Tile:
    made = found.preparation
    thumbnail = store.get(keys.thumbnail(made.decoder, photo.image_sha256)) if made else None
    flags = [f"near-duplicates: {len(photo.near_duplicates)}"] if photo.near_duplicates else []
    flags += ["mirror image"] if photo.derived_from else []
    flags += [note.replace("_", " ") for note in photo.notes]
    fss0 = "" if photo.fss0 is None else f" · FSS0 {photo.fss0:.3f}"
    said = " · ".join(photo.groups.get(name, "") for name in DIMENSIONS if name in photo.groups)
    return Tile(
        picture=thumbnail,
        role=photo.role,
        title=photo.id,
        lines=(said if photo.original else f"{photo.role}{fss0}",),
        flags=tuple(flags),
    )


async def show_dataset(key: str) -> None:
    """A dataset's summary and its first contact sheets, beside the run in Prefect's UI."""
    name = wiring.dataset(key).id
    summary, sheets = await in_thread(_shown, key)
    await acreate_markdown_artifact(summary, key=artifact_key("photos", name), description=key)
    if sheets:
        await acreate_markdown_artifact(sheets, key=artifact_key("contact-sheet", name), description=key)


def _shown(key: str) -> tuple[str, str]:
    store = wiring.store()
    summary = (store.get(keys.dataset_page(key, "summary.md")) or b"").decode()
    stored = (store.get(keys.dataset_page(key, _sheet(n))) for n in range(1, MOST_SHEETS + 1))
    pictures = (base64.b64encode(data).decode() for data in islice(stored, SHEETS_SHOWN) if data)
    return summary, "\n\n".join(f"![contact sheet](data:image/jpeg;base64,{data})" for data in pictures)
