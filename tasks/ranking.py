"""A ranking by votes: out of the store and back into it, as a snapshot that never changes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import polars as pl
from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.errors import DefinitionError, StoreError
from domain.runs import RunPlan, Snapshot
from metrics.ranking_frames import ALL
from tasks import policies, wiring
from tasks.match_tables import expect_match_set, read_matches
from tasks.planning import newest_run
from tasks.ranking_tables import Ballot, ranking_tables
from tasks.scoring import publish_tables, read_table, score_tables
from tasks.threads import in_thread
from tasks.vote_store import read_votes


def ballot_of(run: RunPlan, store: ObjectStore) -> Ballot:
    """The matches of a run and all votes on them.

    Raises:
        DefinitionError: The suite says nothing of votes.
        StoreError: There are no matches, or no votes on them.
    """
    suite = run.suite
    if suite.votes is None:
        raise DefinitionError(f"the suite {suite.id!r} is not voted on; give it `votes:`", field="votes")
    made = expect_match_set(suite.id, run.id, store)
    read = read_votes(suite.id, made, store)
    if read.votes.is_empty():
        raise StoreError(
            f"there are no votes on the {made.n_matches} matches of the run {run.id!r}; collect some first",
            key=keys.votes(suite.id),
        )
    return Ballot(suite.votes, made, read_matches(made, store), read, salt_of(suite.id, store))


def salt_of(suite: str, store: ObjectStore) -> str:
    """What pseudonyms of a suite's annotators are salted with; drawn once and kept in the store."""
    key = keys.vote_salt(suite)
    store.put_new(key, secrets.token_hex(16).encode())
    data = store.get(key)
    if not data:
        raise StoreError("the salt of the pseudonyms is gone from the store; run it again", key=key)
    return data.decode()


def rank(run: RunPlan, store: ObjectStore) -> Snapshot:
    """Score a run, rank its models by votes, and store every table; nothing new writes nothing."""
    ballot = ballot_of(run, store)
    scored = score_tables(run, store)
    dataset = wiring.dataset(run.dataset).id
    tables = {
        name: table.select(pl.lit(run.suite.id).alias("suite"), pl.lit(dataset).alias("dataset"), pl.all())
        for name, table in ranking_tables(ballot, scored).items()
    }
    return publish_tables(run, {**scored, **tables}, store)


@task(task_run_name="rank {run_id}", **policies.ONCE)
async def rank_run(run_id: str) -> Snapshot:
    """Rank the models of a run."""
    return await in_thread(_rank_run, run_id)


def _rank_run(run_id: str) -> Snapshot:
    return rank(wiring.run_plan(run_id), wiring.store())


async def run_to_rank(suite: str, run_id: str | None) -> str:
    """The run that is asked for, or the newest of a suite.

    Raises:
        StoreError: The suite was never run.
        DefinitionError: The run is one of another suite.
    """
    return await in_thread(_run_to_rank, suite, run_id)


def _run_to_rank(suite: str, run_id: str | None) -> str:
    if run_id is None:
        return newest_run(suite, wiring.store())
    held = wiring.run_plan(run_id).suite.id
    if held != suite:
        raise DefinitionError(f"the run {run_id!r} is one of {held!r}, not of {suite!r}", field="run_id")
    return run_id


@dataclass(frozen=True)
class RankingView:
    """A ranking as a terminal shows it."""

    title: str
    rows: list[tuple[str, ...]]
    """Rank, its range, model, rating, interval, matches, won/lost/tied, note."""
    not_ranked: list[str]
    notes: list[str]


HEADS = ("rank", "range", "model", "rating", "95 %", "matches", "won/lost/tied", "note")


def ranking_view(snapshot: Snapshot) -> RankingView:
    """The leaderboard over all matches of a snapshot."""
    run, store = wiring.run_plan(snapshot.run_id), wiring.store()
    board = read_table(store, snapshot, "ranking").filter(pl.col("dimension") == ALL)
    told = read_table(store, snapshot, "vote_facts").select("name", "value")
    facts: dict[str, str] = dict(told.iter_rows())
    agreement = read_table(store, snapshot, "metric_agreement").filter(pl.col("dimension") == ALL)
    notes = [
        f"{facts['question']} {facts['votes']} votes of {facts['annotators']} people; "
        f"{facts['matches_with_result']} of {facts['matches']} matches have a result; "
        f"weighting {facts['weighting']}, gold filter {facts['min_gold_accuracy']}",
        *(_agreement(row) for row in agreement.iter_rows(named=True)),
    ]
    undetermined = board["resamples_undetermined"].max()
    if undetermined:
        notes.append(
            f"{undetermined} of {facts['resamples']} resamples leave a model unbeaten, winless or apart; "
            "a bound that they leave open is shown as …"
        )
    unranked = [name for name in facts["models_not_ranked"].split(", ") if name]
    return RankingView(run.suite.title, [_row(row) for row in board.iter_rows(named=True)], unranked, notes)


def _row(row: dict[str, object]) -> tuple[str, ...]:
    rated = row["rating"] is not None
    interval = f"{_points(row['rating_low'])} – {_points(row['rating_high'])}" if rated else ""
    ranks = "" if row["rank_low"] is None else f"{row['rank_low']} – {row['rank_high']}"
    apart = "" if row["component"] == 1 else f" (group {row['component']})"
    return (
        "–" if row["rank"] is None else str(row["rank"]),
        ranks,
        str(row["model"]),
        _points(row["rating"]) if rated else "",
        interval,
        str(row["n_matches"]),
        f"{row['wins']}/{row['losses']}/{row['ties']}",
        f"{row['note'] or ''}{apart}",
    )


def _points(value: object) -> str:
    return f"{value:.0f}" if isinstance(value, float) else "…"


def _agreement(row: dict[str, object]) -> str:
    share, low, high = (row[name] for name in ("share", "low", "high"))
    name = str(row["metric"]).upper()
    beside = f"{row['ties']} tied, {row['unknown']} unknown"
    if not isinstance(share, float):
        return f"{name} cannot be compared with people ({beside})"
    bounds = f", {low:.1%} – {high:.1%}" if isinstance(low, float) and isinstance(high, float) else ""
    return f"{name} picks the face that people preferred in {share:.1%} of matches{bounds} ({beside})"
