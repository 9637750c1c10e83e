"""Which snapshot somebody means who names a suite, or the beginning of a snapshot's name."""

from __future__ import annotations

from adapters.base import ObjectStore
from domain.errors import DefinitionError, StoreError
from domain.runs import Snapshot
from tasks import wiring
from tasks.pointers import current
from tasks.site_history import history_of
from tasks.threads import in_thread


async def find_published(suite: str, digest: str | None = None) -> Snapshot:
    """The board of a suite, or one of its snapshots; see `find_snapshot`."""
    return await in_thread(find_snapshot, suite, digest, wiring.store())


def find_snapshot(suite: str, digest: str | None, store: ObjectStore) -> Snapshot:
    """The board of a suite, or a snapshot of it that was published, by the beginning of its name.

    Raises:
        StoreError: the suite has no board.
        DefinitionError: no snapshot, or more than one, is called so.
    """
    held = current(suite, store)
    if digest is None:
        if held is None or not held.run:
            raise StoreError(
                f"the suite {suite!r} has no report in this store; start with: facedrift run {suite}"
            )
        return Snapshot(suite=suite, digest=held.snapshot, run_id=held.run, is_new=False)
    known = {entry["snapshot"]: entry["run"] for entry in history_of(suite, store)}
    found = [name for name in known if digest and name.startswith(digest[:16])]
    if len(found) != 1:
        raise DefinitionError(
            f"{'no' if not found else 'more than one'} snapshot of {suite!r} is called {digest!r}",
            field="snapshot",
            allowed=tuple(known),
        )
    return Snapshot(suite=suite, digest=found[0], run_id=known[found[0]], is_new=False)
