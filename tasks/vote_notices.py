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


def vote_notices(snapshot: Snapshot, store: ObjectStore) -> tuple[str, ...]:
    """The same of a snapshot; nothing where it has no ranking."""
    data = store.get(keys.report(snapshot.suite, snapshot.digest, "vote_facts.parquet"))
    if data is None:
        return ()
    told = pl.read_parquet(io.BytesIO(data), columns=["name", "value"])
    return notice_of(dict(told.iter_rows()))
