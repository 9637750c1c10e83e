"""What a reader of a ranking must know of its votes before anything else."""

from __future__ import annotations

import io
from collections.abc import Mapping

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.runs import Snapshot


def notice_of(facts: Mapping[str, str]) -> tuple[str, ...]:
    """That votes are simulated, or that simulated ones were left out; nothing where there are none.

    Args:
        facts: The table `vote_facts` of a ranking, value by name.
    """
    simulated = int(facts.get("simulated_votes", 0))
    left_out = int(facts.get("simulated_votes_left_out", 0))
    if simulated:
        return (
            f"SIMULATED VOTES: all {simulated} votes of this ranking come from a made-up crowd, none from a "
            f"person; it says nothing of the models. What the crowd was told: {facts['simulated_crowds']}",
        )
    if left_out:
        return (f"{left_out} simulated votes are left out: this ranking is by people only",)
    return ()


def open_ranks(board: pl.DataFrame, results: pl.DataFrame) -> str | None:
    """That a ranking stands on too little to tell its models apart; None where no bound is open.

    Args:
        board: The table `ranking`, of one board.
        results: The table `match_results`; matches of models that are not on the board do not count.
    """
    bounds = pl.any_horizontal(pl.col("rating_low", "rating_high").is_null())
    if board.filter(pl.col("rating").is_not_null() & bounds).is_empty():
        return None
    models = board["model"].to_list()
    rated = results.filter(pl.all_horizontal(pl.col("model_a", "model_b").is_in(models)))
    n_photos, n_matches = rated["photo"].n_unique(), rated.height
    photos = f"{n_photos} photo{'' if n_photos == 1 else 's'}"
    matches = f"{n_matches} match{'' if n_matches == 1 else 'es'}"
    return f"{photos} and {matches} are too few to tell these models apart: ranks stay open"


def vote_notices(snapshot: Snapshot, store: ObjectStore) -> tuple[str, ...]:
    """The same of a snapshot; nothing where it has no ranking."""
    data = store.get(keys.report(snapshot.suite, snapshot.digest, "vote_facts.parquet"))
    if data is None:
        return ()
    told = pl.read_parquet(io.BytesIO(data), columns=["name", "value"])
    return notice_of(dict(told.iter_rows()))
