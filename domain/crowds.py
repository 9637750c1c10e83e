"""Simulated crowds: voters that are made up, whose truth is stated with every vote of theirs.

For rehearsals and for checks of what is made of votes. Their votes are marked `simulated`, say nothing of the
models, and rate nobody once a suite has a vote of a person.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from domain import keys


class CrowdRules(BaseModel):
    """Who votes, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    annotators: int = Field(default=60, ge=1, le=9999, description="Voters.")
    random_share: float = Field(
        default=0.05, ge=0, le=1, description="Of the voters, those who choose a side at random, and fast."
    )
    left_share: float = Field(
        default=0.0, ge=0, le=1, description="Of the voters, those who always choose what is shown left."
    )
    errors: float = Field(
        default=0.02, ge=0, le=1, description="Of the others' votes, those that are a random side."
    )
    gold_errors: float = Field(
        default=0.01,
        gt=0,
        le=0.5,
        description="Of the others' votes on matches with a known answer, those for the wrong side.",
    )
    ties: float = Field(
        default=0.2,
        ge=0,
        le=100,
        description="How often a tie, in units of a side at equal strengths.",
    )
    photo_sd: float = Field(
        default=0.0,
        ge=0,
        le=10,
        description="Standard deviation of what a photo adds to a model's strength.",
    )
    votes_per_match: int = Field(default=3, ge=1, le=99, description="Votes on every match.")
    seed: int = Field(default=0, ge=0, description="Of every vote.")

    @model_validator(mode="after")
    def _is_a_crowd(self) -> Self:
        if self.random_share + self.left_share > 1:
            raise ValueError("random_share and left_share are together above 1")
        if self.votes_per_match > self.annotators:
            raise ValueError(
                f"{self.votes_per_match} votes on a match need as many voters; there are {self.annotators}"
            )
        return self


class SimulatedCrowd(BaseModel):
    """A crowd on the matches of a set, with its truth: the same crowd gives the same votes."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    version: Literal[1] = 1
    """Of how votes are drawn."""
    matches: str
    """Digest of the matches that it votes on."""
    rules: CrowdRules
    strengths: dict[str, float]
    """Of each model, natural logarithms of odds: what the votes come from."""
    measured: tuple[str, ...] = ()
    """Models whose strength was read from their measured similarity; the others' were given."""

    @property
    def name(self) -> str:
        """By which its voters and its collection are called."""
        return f"crowd-{keys.fingerprint(self)[:12]}"

    @property
    def truth(self) -> str:
        """Its strengths in words, strongest first."""
        held = sorted(self.strengths.items(), key=lambda item: (-item[1], item[0]))
        return ", ".join(f"{name}={value:.3f}" for name, value in held)


STRENGTH_PER_COSINE = 10.0
"""Strength of a mean similarity (FSS) at the last step: 0.1 more of cosine are odds of e = 2.7 to 1."""
