"""What people ask for: the forms of the flows that they start, and the options of the command line."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain.chains import EditTarget
from domain.sessions import TestSet
from domain.versions import VERSION_SUFFIX


class PrepareRequest(BaseModel):
    """Whose photos are prepared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite, or path of a suite file.")
    images_dir: str | None = Field(
        default=None, description="A folder of photos instead of the suite's dataset."
    )


class RunRequest(BaseModel):
    """What to run: the form of `run_suite` and the options of the command line."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite, or path of a suite file.")
    models: tuple[str, ...] = Field(default=(), description="Only these models; empty for all of the suite.")
    sessions: tuple[str, ...] = Field(
        default=(), description="Only these sessions; empty for all of the suite."
    )
    test_sets: tuple[Literal[TestSet, EditTarget], ...] = Field(
        default=(), description="Only the sessions of these test sets; empty for all of the suite."
    )
    images: int | None = Field(default=None, ge=1, description="Only the first N base photos.")
    images_dir: str | None = Field(
        default=None, description="A folder of photos instead of the suite's dataset."
    )
    concurrency: int = Field(
        default=4, ge=1, le=256, description="Chains edited at the same time in a shard."
    )
    shards_at_once: int = Field(
        default=4, ge=1, le=64, description="Shards in work at the same time, where workers take them."
    )
    max_cost_usd: float | None = Field(
        default=None, ge=0, description="No call is made that would bring the cost of this run above this."
    )
    approve_above_usd: float | None = Field(
        default=1.0,
        ge=0,
        description="The run waits for approval when it may cost more than this; empty never waits.",
    )
    rehearse: bool = Field(
        default=False, description="Send every paid call to the local stand-in, into a store of its own."
    )
    dry_run: bool = Field(default=False, description="Only say what is missing and what it costs.")

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.sessions and self.test_sets:
            raise ValueError("name sessions or test sets, not both: `sessions` already says which ones run")
        return self


FailureKind = Literal[
    "TransientError", "AmbiguousError", "UnresolvedError", "QuotaError", "FatalError", "StoreError",
    "BudgetError", "UnreadableError", "other", "not_run",
]  # fmt: skip
"""Of a step that has no outcome: the class of its error, any other, or that its turn never came."""


class RetryRequest(BaseModel):
    """Which steps without an outcome are tried again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite that has been run.")
    models: tuple[str, ...] = Field(default=(), description="Only these models; empty for all.")
    errors: tuple[FailureKind, ...] = Field(
        default=(),
        description="Only steps that ended so, or whose turn never came (not_run); empty for all.",
    )
    since: date | None = Field(
        default=None,
        description="Failures of runs from this day (UTC) on; empty for the newest run and its retries.",
    )
    until: date | None = Field(default=None, description="Failures of runs up to this day (UTC).")
    max_cost_usd: float | None = Field(
        default=None, ge=0, description="No call is made that would bring the cost of this run above this."
    )
    approve_above_usd: float | None = Field(
        default=1.0,
        ge=0,
        description="The run waits for approval when it may cost more than this; empty never waits.",
    )
    dry_run: bool = Field(default=False, description="Only say which steps would be tried again.")

    @model_validator(mode="after")
    def _is_a_span(self) -> Self:
        if self.until and not self.since:
            raise ValueError("`until` needs `since`: name the first day as well")
        if self.since and self.until and self.until < self.since:
            raise ValueError(f"`until` ({self.until}) is before `since` ({self.since})")
        return self


class WriteSessionsRequest(BaseModel):
    """Which sessions are written, and by whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    set_id: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$",
        description="Id of the set; a set with other sessions under it is kept, and this one is `<id>-v2`.",
    )
    writer: str = Field(
        description="Id of a judge card with a prompt for `sessions`, or `local` for fixed phrases."
    )
    taxonomy: str = Field(default="face-edit-attributes", description="Id of the taxonomy.")
    test_sets: dict[TestSet, Annotated[int, Field(ge=1, le=999)]] = Field(
        default={"accessories": 10, "hair": 10, "multi_axis": 10, "pose": 5},
        min_length=1,
        description="How many sessions of each test set.",
    )
    steps: int = Field(default=4, ge=1, le=20, description="Instructions of each session.")
    seed: int = Field(default=0, ge=0, description="Another seed draws other attributes.")
    keep_share: float = Field(
        default=0.03,
        ge=0,
        le=1,
        description="Chance of a later step to be a “Keep …”; 4 of 140 in the paper.",
    )
    max_asks: int = Field(default=3, ge=1, le=20, description="Answers asked for one instruction.")
    concurrency: int = Field(default=4, ge=1, le=256, description="Sessions written at the same time.")
    max_cost_usd: float | None = Field(
        default=None, ge=0, description="No answer is asked for that would bring the cost above this."
    )
    approve_above_usd: float | None = Field(
        default=1.0,
        ge=0,
        description="The run waits for approval when it may cost more than this; empty never waits.",
    )
    rehearse: bool = Field(default=False, description="Ask the local stand-in in place of the writer.")
    dry_run: bool = Field(default=False, description="Only say what is missing and what it costs.")

    @model_validator(mode="after")
    def _can_be_drawn(self) -> Self:
        if "multi_axis" in self.test_sets and self.steps < 2:
            raise ValueError("a multi_axis session needs two steps")
        if VERSION_SUFFIX.search(self.set_id):
            raise ValueError("the id of a set ends in -v2 and so on only where it is a later version")
        return self


class DraftChainsRequest(BaseModel):
    """Which photos get prompt chains, and by whom."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    set_id: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,79}$",
        description="Id of the set; a set with other chains under it is kept, and this one is `<id>-v2`.",
    )
    writer: str = Field(
        description="Id of a judge card with a prompt for `chains`, or `local`: fixed prompts, photo unseen."
    )
    dataset: str = Field(
        min_length=1, description="Id of a prepared dataset, or the key of one of its manifests."
    )
    photos: tuple[str, ...] = Field(default=(), description="Only these photos; empty for all base photos.")
    steps: int = Field(default=5, ge=1, le=20, description="Prompts of each chain.")
    max_asks: int = Field(default=3, ge=1, le=20, description="Answers asked for one photo.")
    concurrency: int = Field(default=4, ge=1, le=256, description="Photos asked about at the same time.")
    max_cost_usd: float | None = Field(
        default=None, ge=0, description="No answer is asked for that would bring the cost above this."
    )
    approve_above_usd: float | None = Field(
        default=1.0,
        ge=0,
        description="The run waits for approval when it may cost more than this; empty never waits.",
    )
    rehearse: bool = Field(default=False, description="Ask the local stand-in in place of the writer.")
    dry_run: bool = Field(default=False, description="Only say what is missing and what it costs.")

    @model_validator(mode="after")
    def _is_a_first_version(self) -> Self:
        if VERSION_SUFFIX.search(self.set_id):
            raise ValueError("the id of a set ends in -v2 and so on only where it is a later version")
        return self


class RefreshRequest(BaseModel):
    """What the nightly refresh brings up to date."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suites: tuple[str, ...] = Field(min_length=1, description="Ids of suites, one after another.")
    concurrency: int = Field(
        default=4, ge=1, le=256, description="Chains edited at the same time in a shard."
    )
    shards_at_once: int = Field(
        default=4, ge=1, le=64, description="Shards in work at the same time, where workers take them."
    )
    max_cost_usd: float = Field(
        ge=0, description="Of each suite: no call is made that would bring the cost of this night above it."
    )

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        twice = sorted({name for name in self.suites if self.suites.count(name) > 1})
        if twice:
            raise ValueError(f"suite named twice: {', '.join(twice)}")
        return self
