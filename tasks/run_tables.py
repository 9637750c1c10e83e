"""Every table of a run: what is measured, and where people voted on its matches, its ranking.

Whatever scores a run goes through here, so that scoring it again, a nightly run that finds nothing new and
`facedrift rank` name the same snapshot, and a ranking is never replaced by tables without one.
"""

from __future__ import annotations

import polars as pl
from prefect import task

from adapters.base import ObjectStore
from domain import keys
from domain.runs import RunPlan, Snapshot
from tasks import policies, wiring
from tasks.ballots import Ballot, find_ballot
from tasks.finished_chains import finished
from tasks.ranking_tables import RANKED, ranking_tables
from tasks.scoring import publish_tables, read_table, score_tables
from tasks.threads import in_thread


def run_tables(run: RunPlan, ballot: Ballot | None, store: ObjectStore) -> dict[str, pl.DataFrame]:
    """The score tables of a run and, where there are votes, those of its ranking."""
    scored = score_tables(run, store)
    if ballot is None:
        return scored
    known = {"completion": finished(run, wiring.dataset(run.dataset), store).completion} | scored
    named = [pl.lit(run.suite.id).alias("suite"), pl.lit(wiring.dataset(run.dataset).id).alias("dataset")]
    ranked = {
        name: table.select(*named, pl.all(), *([pl.lit(ballot.voters).alias("voters")] * (name in RANKED)))
        for name, table in ranking_tables(ballot, known).items()
    }
    return {**scored, **ranked}


@task(task_run_name="score {run_id}", **policies.ONCE)
async def score_run(run_id: str) -> Snapshot:
    """Compute and store every table of a run."""
    return await in_thread(_score_run, run_id)


def _score_run(run_id: str) -> Snapshot:
    run, store = wiring.run_plan(run_id), wiring.store()
    return publish_tables(run, run_tables(run, find_ballot(run, store), store), store)


def says_the_votes(snapshot: str, run: RunPlan, store: ObjectStore) -> bool:
    """Whether a snapshot of a run is ranked by exactly the votes that there are now."""
    ballot = find_ballot(run, store)
    if ballot is None:
        return True
    if store.head(keys.report(run.suite.id, snapshot, "vote_facts.parquet")) is None:
        return False
    held = Snapshot(suite=run.suite.id, digest=snapshot, run_id=run.id, is_new=False)
    told = read_table(store, held, "vote_facts").filter(pl.col("name") == "votes_digest")
    return told["value"].to_list() == [ballot.digest]
