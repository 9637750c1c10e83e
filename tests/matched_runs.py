"""Runs that are voted on: made-up models, small real pictures, and the outcomes in a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from builders import a_photo, encoded
from chains import a_plan, an_end, sessions_of

from adapters.base import ObjectStore
from domain import keys
from domain.matches import MatchSet
from domain.photos import Dataset
from domain.plan import StepPlan, chains
from domain.records import ImageRef
from domain.runs import RunPlan
from domain.votes import VoteRules
from tasks import ledger
from tasks.cropping import cut_face, found_box, missing_crops
from tasks.finished_chains import finished
from tasks.match_making import crop_work, field_of, keep

SIZE = (60, 40)
BOX = (20.0, 10.0, 30.0, 20.0)


@dataclass
class VotedRun:
    """A run in a store."""

    run: RunPlan
    photos: Dataset
    store: ObjectStore


def a_picture(*named: object) -> bytes:
    """A pattern that its name draws."""
    rng = np.random.default_rng(int(keys.sha256(repr(named).encode())[:8], 16))
    blocks = rng.integers(0, 256, (SIZE[1] // 5, SIZE[0] // 5, 3), np.uint8)
    return encoded(blocks.repeat(5, axis=0).repeat(5, axis=1))


def put(data: bytes, store: ObjectStore) -> ImageRef:
    ref = ImageRef(
        sha256=keys.sha256(data),
        extension="png",
        content_type="image/png",
        width=SIZE[0],
        height=SIZE[1],
        size_bytes=len(data),
    )
    ledger.write_image(store, data, ref)
    return ref


def always(_: StepPlan) -> bool:
    return True


def a_voted_run(
    store: ObjectStore,
    people: int = 3,
    models: int = 3,
    rules: VoteRules | None = None,
    makes: Callable[[StepPlan], bool] = always,
    **fields: Any,
) -> VotedRun:
    """A run of two steps a chain; a step that is not made is refused."""
    photos = Dataset(
        id="made-up",
        embedder_fingerprint="none",
        photos=tuple(
            a_photo(
                id=f"p{n}-1",
                subject=f"p{n}",
                image_sha256=put(a_picture("photo", n), store).sha256,
                width=SIZE[0],
                height=SIZE[1],
                box=BOX,
            )
            for n in range(people)
        ),
    )
    dataset = keys.dataset(photos.id, keys.fingerprint(photos))
    ledger.write_new(store, dataset, photos)
    sessions = sessions_of([["Add a wool hat", "Add square glasses"]])
    run = a_plan(photos, sessions, seeded=[True] * models, dataset=dataset, **fields)
    suite = run.suite.model_copy(update={"votes": rules or VoteRules(gold_share=0.25, gold_first=1)})
    run = run.model_copy(update={"suite": suite})
    ledger.write_new(store, keys.run(run.id), run)
    store.put(keys.newest_run(suite.id), run.id.encode())
    for chain in chains([card.id for card in run.cards], photos.base, sessions):
        walk = run.walk(chain, photos.by_id[chain.photo], lambda key: ledger.outcome(store, key))
        step = walk.next_step
        while step:
            image = put(a_picture(step.key), store)
            end = an_end(step, image=image) if makes(step) else an_end(step, "refused")
            ledger.write_new(store, keys.outcome(end.key), end)
            step = run.step_after(step, end)
    return VotedRun(run, photos, store)


def make_matches(made: VotedRun) -> MatchSet:
    """Cut out the faces of a run and make its matches, without a flow."""
    run, photos, store = made.run, made.photos, made.store
    field = field_of(run, finished(run, photos, store))
    for one in missing_crops(run, crop_work(field, photos), store):
        cut_face(found_box(run, photos.by_id[one.photo], store), one.image, store)
    return keep(run, field, photos, store)
