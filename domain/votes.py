"""Votes: what one person saw in one match. Append-only; the one internal format of every vote source."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from domain import keys
from domain.crowds import SimulatedCrowd
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
    at: str | None = None
    """When, as ISO 8601 with a zone; None where the source does not tell."""
    source: VoteSourceName
    source_id: str = Field(min_length=1, max_length=300)
    """What the source calls this vote (its row, its response id): the same vote imported twice is one."""
    left: Side | None = None
    """Which model was shown left; None where the source does not tell."""
    ms: int | None = Field(default=None, ge=0)
    """Time from the pictures to the vote."""
    country: str | None = Field(default=None, max_length=100)
    """Of the annotator, where the source tells it."""
    user_score: float | None = Field(default=None, ge=0, le=1)
    """How far the source itself trusts the annotator, where it tells it."""

    @property
    def id(self) -> str:
        """The sha256 of all of it."""
        return keys.fingerprint(self)


ANONYMOUS = "unknown-"
"""How the name of an annotator begins whom the source does not name: each such vote has a name of its own."""


class FoundVote(BaseModel):
    """A vote, with where it was read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    vote: Vote
    line: int | None = None


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

    version: Literal[1] = 1
    suite: str
    source: VoteSourceName
    where: str
    """The file, or the job of the service."""
    run_id: str
    """Whose matches were voted on."""
    at: str
    read: int
    """Votes and bad rows; a row of a service's summary may hold several votes."""
    new: int
    known: int
    """Votes that were collected before."""
    n_rejected: int = 0
    reasons: dict[str, int] = Field(default_factory=dict[str, int])
    """Of all that was rejected."""
    rejected: tuple[RejectedVote, ...] = ()
    """The first of them; see `MOST_REJECTED`."""
    anonymous: int = 0
    """New votes of annotators whom the source does not name."""
    part: str | None = None
    """Key of the Parquet of new votes; None when there was none."""
    cost_usd: float = 0.0
    """What was agreed to be paid for them now."""
    crowd: SimulatedCrowd | None = None
    """Who voted, where nobody did: a crowd that was made up."""
    pending: str | None = None
    """What is still to come from a service, and when to ask again; None when all is there."""

    def shown(self, rows: int = 50) -> Self:
        """With the first rejected rows only, for who looks at it."""
        return self.model_copy(update={"rejected": self.rejected[:rows]})


MOST_REJECTED = 1000
"""Rejected rows that are kept word for word; all are counted."""


class VoteJob(BaseModel):
    """What a vote service was given, or is about to be: the intent is written before it, the id after."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    name: str
    """By which the service can be asked for it."""
    n_matches: int
    responses: int
    """Asked of each match."""
    cost_usd: float
    audience: str
    at: str
    job_id: str | None = None
    """None in an intent."""


SimulatedRule = Literal["unless_people", "never"]
"""When votes of simulated crowds rate: until the suite has one vote of a person, or never."""


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
    simulated: SimulatedRule = "unless_people"
    resamples: int = Field(default=2000, ge=100, le=100_000)
    seed: int = Field(default=0, ge=0)
    """Of the queue, of the sides and of the bootstrap."""
