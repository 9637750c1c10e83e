"""Who meets whom on which photo: the matches of a run, made once.

Two models meet on a photo where both completed its chain. A model that completed too few chains meets nobody.
Controls are models like others here. Beside these there are matches with a known answer: the original's own
crop against the crop of another person, or against one that is too coarse to recognise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.errors import DefinitionError, IncompleteError
from domain.matches import Match, MatchSet
from domain.photos import Dataset
from domain.runs import RunPlan
from domain.votes import VoteRules
from metrics import matchmaking
from tasks import ledger, match_tables, parts, policies, wiring
from tasks.cropping import CropWork, missing_crops, stored_crops
from tasks.embedding import ImageKey
from tasks.finished_chains import Finished, finished
from tasks.gold_matches import Original, gold_matches
from tasks.threads import in_thread
from tasks.vote_store import count_votes

Unit = tuple[str, str]
"""A photo and its session."""


@dataclass(frozen=True)
class Field:
    """Who takes part, on which photos, and what is left out."""

    models: tuple[str, ...]
    units: tuple[Unit, ...]
    images: Mapping[tuple[str, str, str], ImageKey]
    """The last image by model, photo and session, of those who take part."""
    left_out: Mapping[str, int]
    not_ranked: Mapping[str, float]
    reasons: Mapping[str, str]
    alone: int

    @property
    def completed(self) -> matchmaking.Bools:
        """Whether a model completed a chain, models × units."""
        grid = [[(model, *unit) in self.images for unit in self.units] for model in self.models]
        return np.array(grid, np.bool_).reshape(len(self.models), len(self.units))


def rules_of(run: RunPlan) -> VoteRules:
    """How a run is voted on; raises DefinitionError where it is not."""
    if run.suite.votes is None:
        raise DefinitionError(
            f"the suite {run.suite.id!r} is not voted on: add `votes` to it, and run it again",
            field="votes",
        )
    return run.suite.votes


def field_of(run: RunPlan, done: Finished) -> Field:
    """Who takes part of a run's models: those that are ranked, and have finished something."""
    share: dict[str, float] = dict(done.completion.select("model", "completion").iter_rows())
    finishers = set(done.chains["model"])
    models = tuple(sorted(card.id for card in run.cards if card.id in finishers - set(done.unranked)))
    images = {
        (model, photo, session): ImageKey(sha256=sha, extension=extension)
        for model, photo, session, sha, extension in done.chains.iter_rows()
        if model in models
    }
    counts = {unit: sum((model, *unit) in images for model in models) for unit in done.asked}
    missed = {model: sum((model, *unit) not in images for unit in done.asked) for model in models}
    nowhere = {name: len(done.asked) for name in share if name not in models}
    return Field(
        models=models,
        units=tuple(unit for unit, count in counts.items() if count > 1),
        images=images,
        left_out={name: count for name, count in (missed | nowhere).items() if count},
        not_ranked={name: share[name] for name in done.unranked},
        reasons=done.unranked,
        alone=sum(count < 2 for count in counts.values()),
    )


def crop_work(field: Field, photos: Dataset) -> list[CropWork]:
    """Every image whose face is shown in a match: last images of chains, and the originals."""
    work: dict[tuple[str, str], CropWork] = {}
    for unit in field.units:
        photo = photos.by_id[unit[0]]
        shown = [field.images[model, *unit] for model in field.models if (model, *unit) in field.images]
        for image in (ImageKey(sha256=photo.image_sha256, extension=photo.extension), *shown):
            work[photo.id, image.sha256] = CropWork(photo=photo.id, image=image)
    return list(work.values())


def build(run: RunPlan, field: Field, photos: Dataset, store: ObjectStore) -> tuple[list[Match], int, int]:
    """The matches in the order of the queue, how many of them are gold, and how many votes they had.

    Raises:
        IncompleteError: a crop is missing.
    """
    rules, work = rules_of(run), crop_work(field, photos)
    records = stored_crops(run, work, store)
    crops = {
        (one.photo, one.image.sha256): record
        for one, record in zip(work, records, strict=True)
        if record is not None
    }
    if len(crops) < len(work):
        missing = len(work) - len(crops)
        raise IncompleteError(f"{missing} of {len(work)} faces are not cut out; run again", done=len(crops))
    queue = matchmaking.rounds(field.completed, rng=np.random.default_rng(rules.seed))
    matches: list[Match] = []
    for a, b, at in queue.tolist():
        unit, names = field.units[at], (field.models[a], field.models[b])
        photo = photos.by_id[unit[0]]
        shown = [crops[photo.id, field.images[name, *unit].sha256].crop_sha256 for name in names]
        matches.append(
            Match(
                photo=photo.id,
                session=unit[1],
                model_a=names[0],
                model_b=names[1],
                original_sha256=crops[photo.id, photo.image_sha256].crop_sha256,
                crop_a_sha256=shown[0],
                crop_b_sha256=shown[1],
            )
        )
    known = np.zeros(len(matches), np.int64)
    if rules.strategy == "d_optimal":
        known = count_votes(run.suite.id, [match.id for match in matches], store)
        matches = [matches[at] for at in matchmaking.d_optimal(queue, len(field.models), known).tolist()]
    originals = [
        Original(photos.by_id[photo].subject, session, crops[photo, photos.by_id[photo].image_sha256])
        for photo, session in field.units
    ]
    gold = gold_matches(originals, len(matches), rules, store)
    order = matchmaking.spread(len(matches), len(gold), rules.gold_first)
    return [(gold if is_gold else matches)[at] for is_gold, at in order], len(gold), int(known.sum())


def keep(run: RunPlan, field: Field, photos: Dataset, store: ObjectStore) -> MatchSet:
    """Make the matches of a run and store them, the record last; what is there already is kept."""
    there = match_tables.match_set(run.suite.id, run.id, store)
    if there is not None:
        return there
    rules = rules_of(run)
    matches, n_gold, votes_known = build(run, field, photos, store)
    data = match_tables.encode(matches)
    table = keys.matches_table(run.suite.id, keys.sha256(data))
    parts.write(store, table, data)
    made = MatchSet(
        suite=run.suite.id,
        run_id=run.id,
        table=table,
        n_matches=len(matches) - n_gold,
        n_gold=n_gold,
        strategy=rules.strategy,
        seed=rules.seed,
        models=field.models,
        left_out=dict(field.left_out),
        not_ranked=dict(field.not_ranked),
        reasons=dict(field.reasons),
        alone=field.alone,
        votes_known=votes_known,
    )
    ledger.write_new(store, keys.match_set(run.suite.id, run.id), made)
    return match_tables.expect_match_set(run.suite.id, run.id, store)


async def matches_made(run_id: str) -> MatchSet | None:
    """The matches of a run, where they were made."""
    return await in_thread(_matches_made, run_id)


def _matches_made(run_id: str) -> MatchSet | None:
    return match_tables.match_set(wiring.run_plan(run_id).suite.id, run_id, wiring.store())


async def crops_to_cut(run_id: str) -> list[CropWork]:
    """The faces that are shown in a run's matches and are not cut out yet.

    Raises:
        DefinitionError: the run's suite is not voted on.
    """
    return await in_thread(_crops_to_cut, run_id)


def _crops_to_cut(run_id: str) -> list[CropWork]:
    run, field, photos, store = _read(run_id)
    return missing_crops(run, crop_work(field, photos), store)


@task(task_run_name="make matches of {run_id}", **policies.ONCE)
async def store_matches(run_id: str) -> MatchSet:
    """Make and store the matches of a run whose faces are cut out."""
    return await in_thread(_store_matches, run_id)


def _store_matches(run_id: str) -> MatchSet:
    return keep(*_read(run_id))


def _read(run_id: str) -> tuple[RunPlan, Field, Dataset, ObjectStore]:
    run, store = wiring.run_plan(run_id), wiring.store()
    rules_of(run)
    photos = wiring.dataset(run.dataset)
    return run, field_of(run, finished(run, photos, store)), photos, store


def left_out_rows(made: MatchSet) -> list[dict[str, str | int]]:
    """Who meets nobody, where and why, as rows."""
    return [
        {
            "model": model,
            "photos": count,
            "why": why_not_ranked(made.not_ranked[model], made.reasons.get(model))
            if model in made.not_ranked
            else "did not complete them",
        }
        for model, count in made.left_out.items()
    ]


def why_not_ranked(completion: float, reason: str | None) -> str:
    """In words why a model is not ranked, by its share of complete chains and the rule's reason."""
    told = f"completed {completion:.1%} of its chains"
    return {
        "changes_shape": f"most of its edits have another shape; {told}",
        "unfinished": f"errors left chains open that would decide; {told} so far",
    }.get(reason or "", told)


def table_of(made: MatchSet) -> pl.DataFrame:
    """The matches of a set in this process's store."""
    return match_tables.read_matches(made, wiring.store())
