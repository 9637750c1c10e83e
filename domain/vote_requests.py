"""What people ask for around votes: the forms of the flows, and the options of the command line."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from domain.crowds import CrowdRules
from domain.votes import VoteSourceName


class MatchesRequest(BaseModel):
    """Of which run matches are made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite, or path of a suite file.")
    run: str | None = Field(default=None, description="Id of a run; empty for the newest of the suite.")


class SimulateRequest(BaseModel):
    """Which crowd is made up to vote on the matches of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite, or path of a suite file.")
    run: str | None = Field(default=None, description="Id of a run; empty for the newest of the suite.")
    strengths: dict[str, FiniteFloat] = Field(
        default_factory=dict[str, float],
        description="Of models, natural logarithms of odds; by default from their measured similarity.",
    )
    crowd: CrowdRules = CrowdRules()


class CollectRequest(BaseModel):
    """Which votes are collected."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    suite: str = Field(description="Id of a suite, or path of a suite file.")
    source: VoteSourceName = Field(
        description="Where the votes are: our page, a file, an export of Label Studio, or Rapidata."
    )
    path: str | None = Field(default=None, description="The file, where the source is one.")
    run: str | None = Field(
        default=None, description="Id of the run whose matches were voted on; empty for the newest."
    )
    audience: str = Field(default="global", description="Of a service: who is asked, by the service's id.")
    price_usd: float | None = Field(
        default=None, ge=0, description="Of one response of a service; needed before a job is given to it."
    )
    responses: int | None = Field(
        default=None,
        ge=1,
        le=99,
        description="Of a service: responses to each match; empty for the suite's votes_per_match.",
    )
    job: str | None = Field(
        default=None, description="Id of a job that the service already has for these matches."
    )
    approve_above_usd: float | None = Field(
        default=1.0,
        ge=0,
        description="A job waits for approval when it costs more than this; empty never waits.",
    )
    max_cost_usd: float | None = Field(
        default=None, ge=0, description="No job is given to a service that would cost more than this."
    )

    @model_validator(mode="after")
    def _says_where(self) -> Self:
        is_file = self.source in ("file", "label_studio")
        if is_file and self.path is None:
            raise ValueError(f"the source {self.source} needs a `path`: the file with the votes")
        if not is_file and self.path is not None:
            raise ValueError(f"the source {self.source} is no file and takes no `path`")
        return self
