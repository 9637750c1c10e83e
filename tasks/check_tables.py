"""What a run's checker said, compacted: the index by which planning knows the verdicts.

It stands under the fingerprint of the checker, so that a walk never mixes two checkers. A row never changes.
Whatever the table lacks is in the records, one small read each.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.records import CheckRecord
from domain.runs import RunPlan
from tasks import parts

EDIT = ("before_sha256", "after_sha256", "prompt")
"""What a checker is shown."""
SCHEMA = pl.Schema(
    {
        **dict.fromkeys(EDIT, pl.String),
        "made": pl.Boolean,
        "faults": pl.List(pl.String),
        "asks": pl.Int64,
        "check_version": pl.String,
        "check_usd": pl.Float64,
    }
)
"""One edit a row; `faults` are the checks that it did not pass."""
VERDICT = (*EDIT, "made")
"""Columns that a walk needs."""


def rows(checks: Iterable[CheckRecord]) -> pl.DataFrame:
    """Checks as rows, each edit once."""
    each = {check.key: check for check in checks if check.checklist}
    return pl.DataFrame([_row(check) for check in each.values()], SCHEMA, orient="row").sort(EDIT)


def _row(check: CheckRecord) -> tuple[object, ...]:
    faults = list(check.checklist.faults) if check.checklist else []
    edit = (check.before_sha256, check.after_sha256, check.prompt)
    return (*edit, check.made, faults, check.asks, check.served_version, check.cost_usd)


class CheckTable:
    """The compacted checks of a run's checker; of a run without one, nothing."""

    def __init__(self, run: RunPlan, store: ObjectStore) -> None:
        self._checker = keys.fingerprint(run.checker) if run.checker else None
        self._store = store

    def read(self, columns: Sequence[str] = VERDICT) -> pl.DataFrame:
        """Each row once; a damaged part has none: the records say the same."""
        if self._checker is None:
            return pl.DataFrame(schema={name: SCHEMA[name] for name in columns})
        listed = _parts(self._store.get(self._pointer))
        held, _ = parts.read_all(self._store, [self._part(name) for name in listed], SCHEMA, columns)
        return held.unique(EDIT, keep="first", maintain_order=True) if len(listed) > 1 else held

    def add(self, fresh: pl.DataFrame) -> None:
        """Write further rows as one part, the list of parts last; too many parts become one."""
        if self._checker is None or fresh.is_empty():
            return
        self._list(added={self._write(fresh)}, removed=set())
        listed = _parts(self._store.get(self._pointer))
        if len(listed) > parts.MOST_PARTS:
            merged = self._write(self.read(SCHEMA.names()))
            self._list(added={merged}, removed=listed - {merged})

    def _write(self, fresh: pl.DataFrame) -> str:
        data = parts.encode(fresh.select(SCHEMA.names()).unique(EDIT, keep="first").sort(EDIT))
        digest = keys.sha256(data)
        parts.write(self._store, self._part(digest), data)
        return digest

    def _list(self, *, added: set[str], removed: set[str]) -> None:
        def change(data: bytes | None) -> bytes | None:
            held = _parts(data)
            if added <= held and not removed & held:
                return None
            return json.dumps({"parts": sorted(held - removed | added)}).encode()

        parts.update(self._store, self._pointer, change)

    def _part(self, digest: str) -> str:
        return keys.measured_table(self._checker or "", digest)

    @property
    def _pointer(self) -> str:
        return keys.measured_manifest(self._checker or "")


def _parts(data: bytes | None) -> set[str]:
    """Digests of the parts."""
    try:
        return {str(part) for part in json.loads(data)["parts"]} if data else set()
    except (ValueError, KeyError, TypeError):
        return set()  # damaged: written anew from the records
