"""What is finished of a run: the compacted table, and of the ledger what the table may lack.

The table is believed where it is whole. Steps that are in the ledger and in no table are looked up one by
one only where there may be some: in chains of shards that never reported or left chains unfinished, of
models whose part of the table is not there, and behind edits whose check no table has. A survey writes
nothing; `tasks.compaction` keeps what it found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.photos import Dataset
from domain.plan import Chain, StepPlan, Walk
from domain.runs import RunPlan, Shard
from domain.summaries import ShardSummary
from tasks import check_tables, ledger, step_tables
from tasks.check_tables import EDIT, VERDICT, CheckTable
from tasks.histories import NEEDED, History, walk_all
from tasks.step_tables import Manifest
from tasks.threads import on_threads


@dataclass(frozen=True)
class OpenShard:
    """A shard that may have finished steps which no part has."""

    run_id: str
    number: int
    summary: ShardSummary | None
    chains: tuple[Chain, ...]
    """Empty once every chain of it is over."""


@dataclass(frozen=True)
class Survey:
    """How far a run has come, and what of that no table has."""

    history: History
    manifest: Manifest | None
    """None when there is none that can be read."""
    known: tuple[str, ...]
    """Models whose finished steps are all in the table, but for those of open shards."""
    open_shards: tuple[OpenShard, ...]
    unlisted: dict[str, str]
    """Parts that a shard wrote and no manifest lists yet, with their models."""
    damaged: frozenset[str]
    """Parts that are worth nothing."""
    looked_up: pl.DataFrame
    """Finished steps that were found in the ledger only."""
    looked_up_checks: pl.DataFrame
    """Checks that were found in the ledger only."""

    @property
    def has_news(self) -> bool:
        """Whether something was found that no table has."""
        return not (self.looked_up.is_empty() and self.looked_up_checks.is_empty())


def survey(run: RunPlan, photos: Dataset, store: ObjectStore, columns: Sequence[str] = ()) -> Survey:
    """How far every chain of a run has come; `columns` of the table besides those that a walk needs.

    Raises:
        StoreError: the store could not be read; that is never taken for a step that is missing.
    """
    found = step_tables.manifest(run.suite.id, photos.id, store)
    held = found or Manifest(known=() if _has_run(run, store) else run.suite.models)
    shards = _open_shards(held, store)
    wanted = list(dict.fromkeys((*NEEDED, "model", *columns)))
    frames, unlisted, damaged = _tables(run, held, shards, store, wanted)
    checks = CheckTable(run, store).read()
    history = walk_all(run, photos, frames, checks)
    among = _maybe_in_ledger(history, held, shards, damaged)
    steps = list(history.next_steps(among)) if among else []
    followed = on_threads(lambda step: follow(run, step, store), steps)
    looked_up = step_tables.rows(outcome for walk in followed for outcome in walk.stored)
    for frame in frames.values():  # an edit that waits for its check may be in the table
        looked_up = looked_up.join(frame.select("key"), on="key", how="anti")
    found_checks = check_tables.rows(a.check for walk in followed for a in walk.attempts if a.check)
    fresh_checks = found_checks.join(checks, on=EDIT, how="anti")
    if not (looked_up.is_empty() and fresh_checks.is_empty()):
        for (model,), fresh in looked_up.select(wanted).group_by(["model"]):
            name = str(model)
            both = [frames[name], fresh] if name in frames else [fresh]
            frames[name] = pl.concat(both).unique("key", keep="first")
        history = walk_all(run, photos, frames, pl.concat([checks, fresh_checks.select(VERDICT)]))
    return Survey(history, found, held.known, shards, unlisted, frozenset(damaged), looked_up, fresh_checks)


def follow(run: RunPlan, step: StepPlan, store: ObjectStore) -> Walk:
    """A chain from an attempt on, as far as the ledger knows it."""
    checker = keys.fingerprint(run.checker) if run.checker else ""
    return run.course(step.chain).follow(
        step, partial(ledger.outcome, store), partial(ledger.check, store, checker)
    )


def _has_run(run: RunPlan, store: ObjectStore) -> bool:
    return store.get(keys.newest_run(run.suite.id)) is not None


def _open_shards(held: Manifest, store: ObjectStore) -> tuple[OpenShard, ...]:
    def read(named: tuple[str, int]) -> OpenShard:
        summary = ledger.read(store, keys.shard_summary(*named), ShardSummary)
        if summary and not summary.unfinished:
            return OpenShard(*named, summary, ())
        shard = ledger.read(store, keys.shard(*named), Shard)
        return OpenShard(*named, summary, tuple(step.chain for step in shard.steps) if shard else ())

    return tuple(on_threads(read, [(run_id, n) for run_id, numbers in held.open.items() for n in numbers]))


def _tables(
    run: RunPlan, held: Manifest, shards: Sequence[OpenShard], store: ObjectStore, columns: Sequence[str]
) -> tuple[dict[str, pl.DataFrame], dict[str, str], set[str]]:
    """The finished steps of each model, the parts that no manifest lists, and those worth nothing."""
    named = {model: set(held.parts.get(model, ())) for model in (card.id for card in run.cards)}
    unlisted: dict[str, str] = {}
    for shard in shards:
        part = shard.summary.part if shard.summary else None
        if part and part not in held.listed:
            unlisted[part] = keys.model_of(part)
            named.setdefault(unlisted[part], set()).add(part)
    frames: dict[str, pl.DataFrame] = {}
    damaged: set[str] = set()
    for model, listed in named.items():
        frames[model], bad = step_tables.read(store, listed, columns)
        damaged |= bad
    return frames, {part: model for part, model in unlisted.items() if part not in damaged}, damaged


def _maybe_in_ledger(
    history: History, held: Manifest, shards: Sequence[OpenShard], damaged: set[str]
) -> frozenset[int]:
    """Chains that are not over by the table, and of which the ledger may know more."""
    named = (history.number(chain) for shard in shards for chain in shard.chains)
    among = {number for number in named if number is not None}
    distrusted = {keys.model_of(part) for part in damaged}
    for at, card in enumerate(history.run.cards):
        if card.id not in held.known or card.id in distrusted:
            first = at * history.stride
            among.update(range(first, first + history.stride))
    unchecked = history.open.filter("is_edited")["chain"].to_list()
    return (history.open_numbers & among) | {*unchecked}
