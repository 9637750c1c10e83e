"""Votes: what one person saw in one match. Append-only; the one internal format of every vote source."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from domain import keys
from domain.matches import Choice, Side

VoteSourceName = Literal["file", "label_studio", "page", "rapidata", "simulated"]


class Vote(BaseModel):
    """One vote on one match."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    match: str = Field(pattern=r"^[0-9a-f]{64}$")
    """Id of the match."""
    choice: Choice
    annotator: str = Field(min_length=1, max_length=200)
    """Of its source; published under a pseudonym only."""
    at: str
    """When, as ISO 8601 with a zone."""
    source: VoteSourceName
    source_id: str = Field(min_length=1, max_length=300)
    """What the source calls this vote (its row, its response id): the same vote imported twice is one."""
    left: Side | None = None
    """Which model was shown left; None where the source does not tell."""
    ms: int | None = Field(default=None, ge=0)
    """Time from the pictures to the vote."""

    @property
    def id(self) -> str:
        """The sha256 of all of it."""
        return keys.fingerprint(self)


class RejectedVote(BaseModel):
    """A row of a source that is no vote on a known match; the other rows are kept."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    where: str
    """The file, or the address of the service."""
    line: int | None
    """From 1, the heading counted; None where the source has no lines."""
    reason: str
    """A stable code such as `unknown_match`, `bad_choice`, `bad_time`, `no_annotator`, `not_json`."""
    detail: str


class VotesCollected(BaseModel):
    """What one collection of votes did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str
    source: VoteSourceName
    read: int
    """Rows, good and bad."""
    new: int
    known: int
    """Votes that were collected before."""
    rejected: tuple[RejectedVote, ...] = ()
    part: str | None = None
    """Key of the Parquet of new votes; None when there was none."""


class VoteRules(BaseModel):
    """How matches are made, voted on and turned into ratings; stated beside every ranking."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str = "Which face looks more like the original?"
    min_completion: float = Field(default=0.8, ge=0, le=1)
    """Share of its chains that a model must complete to be ranked."""
    strategy: Literal["least_judged", "d_optimal"] = "least_judged"
    votes_per_match: int = Field(default=1, ge=1, le=99)
    """Wanted of every match before any gets more."""
    gold_share: float = Field(default=0.05, ge=0, le=0.5)
    """Of the matches served to a voter, those with a known answer."""
    gold_first: int = Field(default=3, ge=0, le=50)
    """Matches with a known answer at a voter's start."""
    min_gold_accuracy: float | None = Field(default=None, ge=0, le=1)
    """Votes of annotators below it are left out; None keeps all."""
    weighting: Literal["none", "agreement"] = "none"
    """`agreement` weighs each vote by its annotator's leave-one-out agreement with the others."""
    resamples: int = Field(default=2000, ge=100, le=100_000)
    seed: int = Field(default=0, ge=0)
    """Of the queue, of the sides and of the bootstrap."""
