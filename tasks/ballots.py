"""What people were asked about a run, and what they answered."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from adapters.base import ObjectStore
from domain import keys
from domain.errors import DefinitionError, StoreError
from domain.matches import MatchSet
from domain.runs import RunPlan
from domain.votes import VoteRules, VotesCollected
from tasks.match_tables import expect_match_set, match_set, read_matches
from tasks.vote_collecting import collections
from tasks.vote_store import VotesRead, read_votes

PEOPLE, SIMULATED = "people", "a simulated crowd"
"""Whose votes a ranking is of; never of both."""


@dataclass(frozen=True)
class Ballot:
    """Matches, the votes that count on them, and how they came."""

    rules: VoteRules
    match_set: MatchSet
    matches: pl.DataFrame
    """The fields of `Match` with `id`, one a row."""
    read: VotesRead
    salt: str
    """Of the pseudonyms; never published."""
    collected: Sequence[VotesCollected] = field(default=())

    @property
    def digest(self) -> str:
        """Names the votes that count."""
        return self.read.digest

    @property
    def voters(self) -> str:
        """Whose votes these are: `PEOPLE` or `SIMULATED`."""
        return SIMULATED if (self.read.votes["source"] == "simulated").any() else PEOPLE

    @property
    def rejected(self) -> Mapping[str, int]:
        """Rows that were no votes, by source: of each file or job those of its latest collection."""
        latest = {(one.source, one.where): one.n_rejected for one in self.collected}
        sources = sorted({source for source, _ in latest})
        return {name: sum(n for (source, _), n in latest.items() if source == name) for name in sources}

    @property
    def truths(self) -> Sequence[str]:
        """Of each simulated crowd that votes here its name, its strengths and how it votes."""
        crowds = {one.where: one.crowd for one in self.collected if one.crowd}
        here = {str(name).split(":")[0] for name in self.read.votes["annotator"].unique()}
        return [
            f"{name}: {crowd.truth}; {', '.join(f'{k} {v}' for k, v in crowd.rules.model_dump().items())}"
            for name, crowd in sorted(crowds.items())
            if name in here
        ]


def ballot_of(run: RunPlan, store: ObjectStore) -> Ballot:
    """The matches of a run and the votes on them.

    Raises:
        DefinitionError: The suite says nothing of votes.
        StoreError: There are no matches, or no votes on them.
    """
    suite = run.suite
    if suite.votes is None:
        raise DefinitionError(f"the suite {suite.id!r} is not voted on; give it `votes:`", field="votes")
    made = expect_match_set(suite.id, run.id, store)
    read = read_votes(suite.id, made, store, simulated=suite.votes.simulated)
    if read.votes.is_empty():
        others = read.simulated_left_out
        raise StoreError(
            f"there are no votes on the {made.n_matches} matches of the run {run.id!r}"
            + (f" but {others} simulated ones, which do not count" if others else "")
            + "; collect some first",
            key=keys.votes(suite.id),
        )
    return _ballot(suite.votes, made, read, store)


def find_ballot(run: RunPlan, store: ObjectStore) -> Ballot | None:
    """The same; None where nobody is asked, or nobody has voted yet."""
    suite = run.suite
    made = match_set(suite.id, run.id, store) if suite.votes else None
    if suite.votes is None or made is None:
        return None
    read = read_votes(suite.id, made, store, simulated=suite.votes.simulated)
    return None if read.votes.is_empty() else _ballot(suite.votes, made, read, store)


def _ballot(rules: VoteRules, made: MatchSet, read: VotesRead, store: ObjectStore) -> Ballot:
    suite = made.suite
    matches = read_matches(made, store)
    return Ballot(rules, made, matches, read, salt_of(suite, store), collections(suite, store))


def is_voted_on(suite: str, store: ObjectStore) -> bool:
    """Whether there is any vote of a suite, on whatever matches."""
    return next(iter(store.list(keys.votes(suite))), None) is not None


def salt_of(suite: str, store: ObjectStore) -> str:
    """What pseudonyms of a suite's annotators are salted with; drawn once and kept in the store."""
    key = keys.vote_salt(suite)
    store.put_new(key, secrets.token_hex(16).encode())
    data = store.get(key)
    if not data:
        raise StoreError("the salt of the pseudonyms is gone from the store; run it again", key=key)
    return data.decode()
