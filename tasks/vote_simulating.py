"""Votes of a crowd that is made up, on the matches of a run: marked as such, with their truth beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import polars as pl
from prefect import task

from adapters.base import ObjectStore
from domain.crowds import STRENGTH_PER_COSINE, SimulatedCrowd
from domain.errors import DefinitionError
from domain.known_matches import KnownMatches
from domain.matches import MatchSet
from domain.runs import RunPlan
from domain.vote_requests import SimulateRequest
from domain.votes import FoundVote, RejectedVote, Vote, VotesCollected
from metrics.ranking_frames import MATCHES
from metrics.simulated_crowd import Crowd, simulate_votes, with_preferences
from tasks import policies, wiring
from tasks.match_tables import expect_match_set, read_matches
from tasks.runs_of_suites import find_run
from tasks.scoring import score_tables
from tasks.threads import in_thread
from tasks.vote_collecting import collect, collections, starting
from tasks.vote_jobs import known_matches

_DIGITS = 6
"""Of a strength that was measured: more are the machine's, and would give one crowd two names."""
_NO_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""The order of drawn votes needs times, which are not kept: nobody voted at any."""


@dataclass(frozen=True)
class SimulatedVotes:
    """The votes of a crowd, as a source of votes."""

    crowd: SimulatedCrowd
    matches: pl.DataFrame
    """The fields of `Match` with `id`."""

    @property
    def where(self) -> str:
        """The crowd's name."""
        return self.crowd.name

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        """Every vote, in the order of the matches' ids."""
        for number, row in enumerate(self.drawn().iter_rows(named=True)):
            named = {"annotator": f"{self.where}:{row.pop('annotator')}", "at": None}
            yield FoundVote(
                vote=Vote(**row | named, source="simulated", source_id=f"{self.where}:{number:07d}")
            )

    def drawn(self) -> pl.DataFrame:
        """The votes as a table: `metrics.ranking_frames.VOTES`."""
        rules = self.crowd.rules
        who = Crowd(rules.annotators, rules.random_share, rules.left_share, rules.errors, rules.ties)
        rng = np.random.default_rng(rules.seed)
        told = with_preferences(
            self.matches.select(MATCHES.names()),
            self.crowd.strengths,
            interaction_sd=rules.photo_sd,
            gold_errors=rules.gold_errors,
            rng=rng,
        )
        return simulate_votes(told, who, votes_per_match=rules.votes_per_match, start=_NO_TIME, rng=rng)


def crowd_of(request: SimulateRequest, run: RunPlan, made: MatchSet, store: ObjectStore) -> SimulatedCrowd:
    """The crowd that is asked for, with a strength of every model that meets another.

    Raises:
        DefinitionError: a strength is of a model that meets nobody, or one is neither given nor measured.
    """
    table = read_matches(made, store).filter(pl.col("gold").is_null())
    models = tuple(sorted({*table["model_a"], *table["model_b"]}))
    strange = sorted(set(request.strengths) - set(models))
    if strange:
        raise DefinitionError(f"{strange[0]!r} meets nobody here", field="strengths", allowed=models)
    wanted = [name for name in models if name not in request.strengths]
    measured = measured_strengths(run, store) if wanted else {}
    missing = [name for name in wanted if name not in measured]
    if missing:
        raise DefinitionError(
            f"no similarity of {missing[0]!r} was measured; give its strength: --strength {missing[0]}=0",
            field="strengths",
        )
    own = {name: request.strengths.get(name, measured.get(name, 0.0)) for name in models}
    return SimulatedCrowd(matches=made.digest, rules=request.crowd, strengths=own, measured=tuple(wanted))


def measured_strengths(run: RunPlan, store: ObjectStore) -> Mapping[str, float]:
    """Of each model `STRENGTH_PER_COSINE` times its mean FSS at the last step, over its complete chains."""
    ends = score_tables(run, store)["progression"].sort("step").group_by("model").last()
    held = ends.filter((pl.col("step") > 0) & pl.col("fss").is_not_null()).select("model", "fss")
    return {model: round(STRENGTH_PER_COSINE * fss, _DIGITS) for model, fss in held.iter_rows()}


def simulate(request: SimulateRequest, store: ObjectStore) -> VotesCollected:
    """Have a crowd vote on a run's matches; one that has voted already adds nothing and writes nothing."""
    run = wiring.run_plan(find_run(request.suite, request.run))
    made = expect_match_set(run.suite.id, run.id, store)
    crowd = crowd_of(request, run, made, store)
    there = [one for one in collections(run.suite.id, store) if one.crowd == crowd]
    if there and all(one.part is None or store.head(one.part) is not None for one in there):
        new = sum(one.new for one in there)
        return there[-1].model_copy(update={"new": 0, "known": new, "read": new, "run_id": run.id})
    source = SimulatedVotes(crowd, read_matches(made, store))
    found = starting("simulated", run.id, source.where).model_copy(update={"crowd": crowd})
    return collect(source, known_matches(run, store), found, store)


@task(task_run_name="simulate votes on {request.suite}", **policies.MEASURE)
async def simulate_crowd(request: SimulateRequest) -> VotesCollected:
    """Have a made-up crowd vote on a run's matches."""
    return await in_thread(_simulate, request)


def _simulate(request: SimulateRequest) -> VotesCollected:
    return simulate(request, wiring.store())
