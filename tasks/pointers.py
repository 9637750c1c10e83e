"""Which snapshot is a suite's leaderboard: that of its newest run over all of it.

A run of a part of a suite, and an older run that is scored again, are published under their own snapshot and
do not replace the board that people look at.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.runs import RunPlan, Snapshot


@dataclass(frozen=True)
class Pointer:
    """What a suite's pointer says."""

    snapshot: str
    run: str = ""
    whole: bool = False


def is_whole(run: RunPlan) -> bool:
    """Whether a run is of all models, photos and sessions of its suite."""
    asked = run.request
    some = asked.sessions or asked.test_sets or asked.images is not None or asked.images_dir is not None
    return not some and {card.id for card in run.cards} == set(run.suite.models)


def part_notice(run: RunPlan, n_photos: int | None = None) -> tuple[str, ...]:
    """What a reader of a part of a suite must know.

    Args:
        run: The run.
        n_photos: Of the whole dataset, where that is known.
    """
    if is_whole(run):
        return ()
    if run.request.images_dir is not None:
        return ("these are photos of your own: the report is theirs, and does not replace the suite's board",)
    of_all = f" of {n_photos}" if n_photos is not None and n_photos != len(run.photos) else ""
    return (
        f"this is a part of the suite ({len(run.cards)} of {len(run.suite.models)} models, "
        f"{len(run.photos)}{of_all} photos, {len(run.sessions)} sessions): it has a report of its own, "
        "and does not replace the board of a whole run",
    )


def current(suite: str, store: ObjectStore) -> Pointer | None:
    """The snapshot that is a suite's board; None without any.

    Raises:
        StoreError: the pointer cannot be read.
    """
    data = store.get(keys.report_pointer(suite))
    if data is None:
        return None
    try:
        return Pointer(**json.loads(data))
    except (ValueError, TypeError) as error:
        key = keys.report_pointer(suite)
        raise StoreError("the pointer to the newest report is damaged", key=key) from error


def point_to(snapshot: Snapshot, run: RunPlan, store: ObjectStore) -> bool:
    """Make a snapshot the board of its suite unless another must stay; whether it is the board now."""
    try:
        held = current(snapshot.suite, store)
    except StoreError:
        held = None  # damaged: written anew
    new = Pointer(snapshot.digest, run.id, is_whole(run))
    if held and held.snapshot == new.snapshot and held.whole >= new.whole:
        return True
    if held and (held.whole, held.run) > (new.whole, new.run):
        return False
    store.put(keys.report_pointer(snapshot.suite), json.dumps(asdict(new), sort_keys=True).encode())
    return True
