"""Runs of made-up models on made-up photos, with outcomes and measurements in a store, and no flow."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from builders import a_photo

from adapters.base import ObjectStore
from domain import keys
from domain.judge_cards import JudgeCard
from domain.loading import load, load_suite
from domain.model_cards import ModelCard
from domain.photos import Dataset, Photo
from domain.plan import StepPlan, Walk, chains
from domain.records import (
    FaceBox,
    FaceReading,
    FaceRecord,
    ImageRef,
    JudgementRecord,
    OutcomeRecord,
    StateRecord,
)
from domain.runs import RunPlan, RunRequest
from domain.sessions import Instruction, Session
from domain.taxonomy import Taxonomy
from tasks import ledger, wiring

SUB_AXES = ("hats", "glasses", "hair color")
FOUR = ("Add a wool hat", "Add square glasses", "Add a knit hat.", "Add oval glasses")


def sessions_of(prompts: Sequence[Sequence[str]]) -> tuple[Session, ...]:
    attributes = ("wool hat", "square glasses", "knit hat", "oval glasses")
    return tuple(
        Session(
            id=f"s{number}",
            test_set="accessories",
            steps=tuple(
                Instruction(prompt=prompt, attribute=attributes[place % 4], keep=place == 3)
                for place, prompt in enumerate(held)
            ),
        )
        for number, held in enumerate(prompts)
    )


def a_dataset(people: int) -> Dataset:
    photos: list[Photo] = []
    for n in range(people):
        photos.append(a_photo(id=f"p{n}-1", subject=f"p{n}", image_sha256=_sha("photo", n), width=64 + n % 3))
        photos.append(a_photo(id=f"p{n}-2", subject=f"p{n}", image_sha256=_sha("other", n), role="reference"))
    return Dataset(id="made-up", embedder_fingerprint="none", photos=tuple(photos))


def a_plan(
    photos: Dataset, sessions: tuple[Session, ...], seeded: Sequence[bool] = (True, False), **fields: Any
) -> RunPlan:
    """A run of models m0, m1, … that take a seed or do not."""
    suite, taxonomy = load_suite("quickstart"), load(Taxonomy, "face-edit-attributes")
    card, judge = load(ModelCard, "control-unchanged"), load(JudgeCard, "local")
    cards = tuple(
        card.model_copy(update={"id": f"m{n}", "seed_support": has_seed}) for n, has_seed in enumerate(seeded)
    )
    suite = suite.model_copy(update={"models": tuple(c.id for c in cards), "sessions": ()})
    base: dict[str, Any] = {
        "id": "20261130T000000-abcdef",
        "created_at": "2026-11-30T00:00:00+00:00",
        "request": RunRequest(suite=suite.id),
        "suite": suite,
        "sessions": sessions,
        "cards": cards,
        "settings_fingerprints": {c.id: f"{n}" * 64 for n, c in enumerate(cards)},
        "dataset": "datasets/made-up/0.json",
        "photos": tuple(photo.id for photo in photos.base),
        "embedder": wiring.embedder_identity("mobile"),
        "judge": wiring.judge_identity(judge, "consistency", suite, taxonomy),
        "judge_card": judge,
        "tracker": wiring.judge_identity(judge, "state", suite, taxonomy),
        "tracker_card": judge,
        "definitions_digest": "d",
        "code_version": "0",
        "packages": {},
    }
    return RunPlan(**base | fields)


def _sha(*parts: object) -> str:
    return keys.sha256(repr(parts).encode())


def an_end(step: StepPlan, kind: str = "edited", **fields: Any) -> OutcomeRecord:
    """How a step ended; the image depends on the step's key alone."""
    image = None
    if kind == "edited":
        sha = _sha("image", step.key)
        image = ImageRef(
            sha256=sha,
            extension="png" if int(sha[0], 16) % 2 else "jpg",
            content_type="image/png",
            width=64 + int(sha[1], 16) % 3,
            height=48,
            size_bytes=1,
        )
    base: dict[str, Any] = {
        "key": step.key,
        "identity": step.identity,
        "kind": kind,
        "image": image,
        "reason": None if image else f"policy: {kind}",
        "served_version": f"v{int(step.key[0], 16) % 2}" if int(step.key[1], 16) % 4 else None,
        "latency_s": 0.1,
        "finished_at": "2026-11-30T00:00:00+00:00",
    }
    return OutcomeRecord(**base | fields)


@dataclass
class History:
    """Outcomes of a run by key, made chain by chain."""

    run: RunPlan
    photos: Dataset
    records: dict[str, OutcomeRecord] = field(default_factory=dict[str, OutcomeRecord])

    def walks(self, find: Callable[[str], OutcomeRecord | None] | None = None) -> list[Walk]:
        """Every chain, followed one by one."""
        run, base = self.run, [self.photos.by_id[name] for name in self.run.photos]
        every = chains([card.id for card in run.cards], base, run.sessions)
        return [run.walk(chain, self.photos.by_id[chain.photo], find or self.records.get) for chain in every]

    def do(self, ends: Callable[[StepPlan], str | None], **fields: Any) -> None:
        """Take every chain as far as `ends` says how its steps end."""
        for walk in self.walks():
            step = walk.next_step
            while step and (kind := ends(step)):
                outcome = self.records.setdefault(step.key, an_end(step, kind, **fields))
                step = self.run.step_after(step, outcome)

    def store(self, store: ObjectStore) -> None:
        """Write the outcomes as a run does."""
        for record in self.records.values():
            ledger.write_new(store, keys.outcome(record.key), record)


def mixed(seed: int) -> Callable[[StepPlan], str | None]:
    """Mostly edits; some refusals, some steps without an image, some never made."""
    rng = random.Random(seed)
    return lambda _: rng.choices(["edited", "refused", "no_image", None], [14, 1, 1, 1])[0]


def measure(
    run: RunPlan, walks: Sequence[Walk], photos: Dataset, store: ObjectStore, share: float = 1.0
) -> None:
    """Write readings, states and judgements, each of a share of what there is."""
    rng = random.Random(5)
    for photo in photos.photos:
        read_face(run, store, photo.image_sha256, rng, is_photo=True)
    for photo in photos.base:
        _track(run, store, photo.image_sha256, rng)
    for walk in walks:
        before = photos.by_id[walk.chain.photo].image_sha256
        for outcome in walk.outcomes:
            if outcome.image:
                after, prompt = outcome.image.sha256, outcome.identity.prompt
                if rng.random() < share:
                    read_face(run, store, after, rng)
                if rng.random() < share:
                    _track(run, store, after, rng)
                if rng.random() < share:
                    _judge(run, store, before, after, prompt, rng)
                before = after


def read_face(
    run: RunPlan, store: ObjectStore, sha: str, rng: random.Random, *, is_photo: bool = False
) -> None:
    """Write what an embedder saw in an image: mostly one face."""
    vector = np.random.default_rng(int(sha[:8], 16)).normal(size=8)
    unit = (vector / np.linalg.norm(vector)).astype("<f4")
    box = FaceBox(
        box=(10.0, 10.0, 40.0, 40.0), score=0.9, embedding=base64.b64encode(unit.tobytes()).decode()
    )
    status = "read" if is_photo or rng.random() > 0.05 else "unreadable"
    faces = (box,) if status == "read" and (is_photo or rng.random() > 0.05) else ()
    record = FaceRecord(
        image_sha256=sha,
        embedder=run.embedder,
        providers=("CPU",),
        reading=FaceReading(status=status, width=64, height=48, faces=faces),
    )
    ledger.write_new(store, keys.faces(keys.fingerprint(run.embedder), sha), record)


def _track(run: RunPlan, store: ObjectStore, sha: str, rng: random.Random) -> None:
    good = rng.random() > 0.1
    held = load(Taxonomy, "face-edit-attributes").categories
    state = {name: rng.choice([None, (), tuple(held[name][:2])]) for name in SUB_AXES} if good else {}
    record = StateRecord(
        image_sha256=sha,
        tracker=run.tracker,
        status="tracked" if good else "unparsable",
        state=state,
        asks=1,
        raw_texts=("",),
        served_version=rng.choice([None, "t1", "t2"]),
    )
    ledger.write_new(store, keys.state(keys.fingerprint(run.tracker), sha), record)


def _judge(
    run: RunPlan, store: ObjectStore, before: str, after: str, prompt: str, rng: random.Random
) -> None:
    good = rng.random() > 0.1
    key = keys.judgement_key(before, after, prompt)
    record = JudgementRecord(
        key=key,
        judge=run.judge,
        before_sha256=before,
        after_sha256=after,
        prompt=prompt,
        status="scored" if good else "unparsable",
        success=rng.random() * 10 if good else None,
        overediting=rng.random() * 10 if good else None,
        asks=1,
        raw_texts=("",),
        served_version=rng.choice([None, "j1", "j2"]),
    )
    ledger.write_new(store, keys.judgement(keys.fingerprint(run.judge), key), record)


def store_photos(people: int, store: ObjectStore) -> str:
    """A dataset in a store, its photos measured for every run of `quickstart`'s kind; its key."""
    photos = a_dataset(people)
    key = keys.dataset(photos.id, keys.fingerprint(photos))
    ledger.write_new(store, key, photos)
    run = a_plan(photos, ())
    measure(run, (), photos, store)
    return key
