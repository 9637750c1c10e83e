"""Hand-made sessions and photos for the tests that compare groups."""

from __future__ import annotations

from typing import Any

import polars as pl

from metrics.frames import PHOTOS, SESSIONS

COUNTS = dict.fromkeys(("n_examined", "n_no_face", "n_unparsable", "missed_edits", "keep_violations"), 0)


def photo(name: str, subject: str | None, *groups: str, **fields: Any) -> dict[str, Any]:
    """A row of the photos."""
    row = {"dataset": "celebset", "photo": name, "subject": subject, "groups": list(groups), "fss0": 0.9}
    return row | {"n_references": 3, "near_duplicate": False} | fields


def photos_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """Photos without states."""
    return pl.DataFrame(list(rows), schema=PHOTOS)


def session(name: str, of: str, **fields: Any) -> dict[str, Any]:
    """A complete session of four steps, Drop_FSS 20, SC 0.5, OER 0.25."""
    row: dict[str, Any] = {"suite": "s", "dataset": "celebset", "model": "m1", "photo": of, "session": name}
    row |= {"test_set": "hair", "subject": None, "n_steps": 4, "complete": True, "unknown_state": False}
    return row | {"drop_fss": 20.0, "sc": 0.5, "oer": 0.25, "oer_no_facial_hair": 0.25} | COUNTS | fields


def sessions_frame(*rows: dict[str, Any]) -> pl.DataFrame:
    """Sessions."""
    return pl.DataFrame(list(rows), schema=SESSIONS)
