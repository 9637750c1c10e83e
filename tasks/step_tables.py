"""The compacted table of finished steps: the index by which planning knows what is done.

Each shard writes a part of its own; the suite's manifest lists the parts that count. A row is one attempt at
a step: what makes its key, and what came of it. Whatever is no whole part is not believed: the outcomes say
the same, only slower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from adapters.base import ObjectStore
from domain import keys
from domain.records import OutcomeRecord
from tasks import parts

IDENTITY = ("input_sha256", "prompt", "settings_fingerprint", "seed", "attempt")
"""With the model, equal in two rows exactly when their keys are."""
SCHEMA = pl.Schema(
    {
        "key": pl.String,
        "model": pl.String,
        "settings_fingerprint": pl.String,
        "input_sha256": pl.String,
        "prompt": pl.String,
        "seed": pl.Int64,
        "attempt": pl.Int64,
        "kind": pl.String,
        "reason": pl.String,
        "image_sha256": pl.String,
        "image_extension": pl.String,
        "width": pl.Int64,
        "height": pl.Int64,
        "served_version": pl.String,
        "cost_usd": pl.Float64,
        "lost_calls": pl.Int64,
        "truth": pl.String,
    }
)
"""One attempt at a step a row; `truth` is what the model says it did, as JSON, where it says so."""


class Manifest(BaseModel):
    """What is known of a suite's finished steps on one dataset."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 2
    known: tuple[str, ...] = ()
    """Models of which every finished step was in a part, or is named by `open`, when this was written."""
    parts: dict[str, tuple[str, ...]] = {}
    """Keys by model."""
    open: dict[str, tuple[int, ...]] = {}
    """Of each run the shards that may have finished steps which no part has."""

    @property
    def listed(self) -> set[str]:
        """Every part."""
        return {key for held in self.parts.values() for key in held}


def manifest(suite: str, dataset_id: str, store: ObjectStore) -> Manifest | None:
    """The manifest of a suite; None when there is none that can be read."""
    return _decode(store.get(keys.steps_manifest(suite, dataset_id)))


def update(
    suite: str, dataset_id: str, store: ObjectStore, change: Callable[[Manifest | None], Manifest]
) -> None:
    """Change a suite's manifest, while others may do the same."""
    parts.update(
        store,
        keys.steps_manifest(suite, dataset_id),
        lambda data: keys.canonical_json(change(_decode(data)).model_dump(mode="json")),
    )


def _decode(data: bytes | None) -> Manifest | None:
    try:
        found = Manifest.model_validate_json(data) if data else None
    except ValidationError:
        return None  # damaged, or of an older version: the outcomes say the same
    return found if found and found.version == 2 else None


def rows(outcomes: Iterable[OutcomeRecord]) -> pl.DataFrame:
    """Outcomes as rows, each key once."""
    each = {outcome.key: outcome for outcome in outcomes}
    return pl.DataFrame([_row(outcome) for outcome in each.values()], SCHEMA, orient="row").sort("key")


def _row(outcome: OutcomeRecord) -> tuple[str | int | float | None, ...]:
    identity, image, told = outcome.identity, outcome.image, outcome.details.get("truth")
    return (
        outcome.key,
        identity.model,
        identity.settings_fingerprint,
        identity.input_sha256,
        identity.prompt,
        identity.seed,
        identity.attempt,
        outcome.kind,
        outcome.reason,
        image.sha256 if image else None,
        image.extension if image else None,
        image.width if image else None,
        image.height if image else None,
        outcome.served_version,
        outcome.cost_usd,
        outcome.lost_calls,
        keys.canonical_json(told).decode() if isinstance(told, dict) else None,
    )


def write(suite: str, dataset_id: str, found: pl.DataFrame, store: ObjectStore) -> dict[str, str]:
    """Write rows as one part a model, which no manifest lists yet; its key by model."""
    written: dict[str, str] = {}
    for (model,), held in found.sort("model", "key").group_by(["model"], maintain_order=True):
        data = parts.encode(held)
        written[str(model)] = keys.steps_table(suite, dataset_id, str(model), keys.sha256(data))
        parts.write(store, written[str(model)], data)
    return written


def read(
    store: ObjectStore, listed: Iterable[str], columns: Sequence[str] = tuple(SCHEMA)
) -> tuple[pl.DataFrame, set[str]]:
    """The rows of some parts, each key once, and the parts that are not whole."""
    names = sorted(set(listed))
    found, bad = parts.read_all(store, names, SCHEMA, columns)
    return (found.unique("key", keep="first", maintain_order=True) if len(names) > 1 else found), bad


def merge(suite: str, dataset_id: str, store: ObjectStore) -> None:
    """Merge the parts of each model that has too many; the old ones stay for those who read them now."""
    listed = manifest(suite, dataset_id, store) or Manifest()
    for model, held in listed.parts.items():
        if len(held) > parts.MOST_PARTS:
            found, bad = read(store, held)
            merged = write(suite, dataset_id, found, store).values()
            replaced = set(held) - bad - set(merged)
            update(suite, dataset_id, store, lambda m: _replace(m, model, replaced, set(merged)))  # noqa: B023


def _replace(found: Manifest | None, model: str, old: set[str], new: set[str]) -> Manifest:
    found = found or Manifest()
    held = set(found.parts.get(model, ()))
    if not old & held:
        return found  # merged by another
    return found.model_copy(update={"parts": found.parts | {model: tuple(sorted(held - old | new))}})
