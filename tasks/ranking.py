"""A ranking by votes: out of the store and back into it, as a snapshot that never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from prefect import task

from adapters.base import ObjectStore
from domain.errors import DefinitionError
from domain.runs import RunPlan, Snapshot
from metrics.ranking_frames import ALL
from tasks import policies, wiring
from tasks.ballots import PEOPLE, ballot_of
from tasks.planning import newest_run
from tasks.run_tables import run_tables
from tasks.scoring import publish_tables, read_table
from tasks.threads import in_thread
from tasks.vote_notices import notice_of, open_ranks


def rank(run: RunPlan, store: ObjectStore) -> Snapshot:
    """Score a run, rank its models by votes, and store every table; nothing new writes nothing.

    Raises:
        DefinitionError: The suite says nothing of votes.
        StoreError: There are no matches, or no votes on them.
    """
    return publish_tables(run, run_tables(run, ballot_of(run, store), store), store)


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
        *notice_of(facts),
        f"{facts['question']} {facts['votes']} votes of {facts['annotators']} {_voters(facts)}; "
        f"{facts['matches_with_result']} of {facts['matches']} matches have a result; "
        f"weighting {facts['weighting']}, gold filter {facts['min_gold_accuracy']}",
        *(_agreement(row) for row in agreement.iter_rows(named=True)),
    ]
    too_few = open_ranks(board, read_table(store, snapshot, "match_results"))
    notes += [too_few] if too_few else []
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


def _voters(facts: Mapping[str, str]) -> str:
    unknown = int(facts["votes_of_unknown_annotators"])
    who = "people" if facts["voters"] == PEOPLE else "simulated voters"
    return f"{who} and {unknown} that nobody tells apart" if unknown else who


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
