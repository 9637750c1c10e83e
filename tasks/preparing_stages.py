"""The stages of preparing photos, as tasks: each names what it did by a key in the store."""

from __future__ import annotations

from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.errors import StoreError
from domain.photos import Listing
from domain.suites import Suite
from tasks import ledger, policies, wiring
from tasks.embedding import ImageKey
from tasks.preparing import looked_at, put_together, unread, with_made
from tasks.preparing_pages import write_dataset
from tasks.threads import in_thread


def _keep(listing: Listing, store: ObjectStore) -> str:
    key = keys.listing(listing.id, keys.fingerprint(listing))
    ledger.write_new(store, key, listing)
    return key


def _listing(key: str, store: ObjectStore) -> Listing:
    found = ledger.read(store, key, Listing)
    if found is None:
        raise StoreError(f"no listing {key!r} in the store", key=key)
    return found


@task(task_run_name="look at {suite.dataset.id}", **policies.ONCE)
async def look_at_photos(suite: Suite) -> str:
    """Look at every file of a suite's dataset; returns the key of the listing."""
    return await in_thread(_look_at_photos, suite)


def _look_at_photos(suite: Suite) -> str:
    store, source = wiring.store(), wiring.dataset_source(suite.dataset)
    return _keep(looked_at(suite.dataset, source, store, suite.groups_of), store)


async def faces_of_photos(suite: Suite, listing: str) -> list[ImageKey]:
    """The photos of a listing without a face record."""
    return await in_thread(_faces_of_photos, suite, listing)


def _faces_of_photos(suite: Suite, listing: str) -> list[ImageKey]:
    store = wiring.store()
    return unread(_listing(listing, store), _fingerprint(suite), store)


@task(task_run_name="mirror photos of {suite.dataset.id}", **policies.ONCE)
async def mirror_photos(suite: Suite, listing: str) -> str:
    """Make the mirror images that are needed as references; returns the key of the listing with them."""
    return await in_thread(_make_photos, suite, listing)


@task(task_run_name="crop photos of {suite.dataset.id}", **policies.ONCE)
async def cut_photos(suite: Suite, listing: str) -> str:
    """Crop and resize the originals of a listing; returns the key of the listing of what was made."""
    return await in_thread(_make_photos, suite, listing)


def _make_photos(suite: Suite, listing: str) -> str:
    store = wiring.store()
    found = with_made(_listing(listing, store), suite.dataset, _fingerprint(suite), store)
    return _keep(found, store)


@task(task_run_name="put {suite.dataset.id} together", **policies.ONCE)
async def put_dataset_together(suite: Suite, listing: str) -> str:
    """Write the manifest of a listing whose faces were read; returns its key."""
    return await in_thread(_put_dataset_together, suite, listing)


def _put_dataset_together(suite: Suite, listing: str) -> str:
    store = wiring.store()
    listed = _listing(listing, store)
    found = put_together(listed, suite.dataset, _fingerprint(suite), store, suite.groups_of)
    return write_dataset(found, store)


def _fingerprint(suite: Suite) -> str:
    return keys.fingerprint(wiring.embedder_identity(suite.embedder.pack))
