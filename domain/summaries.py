"""What the edits of a run came to: of each step, shard, provider and model."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from domain import errors
from domain.errors import FacedriftError
from domain.plan import Chain
from domain.records import CheckRecord, OutcomeRecord


class Stopped(BaseModel):
    """Why a shard ended before its last step."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    error: str
    """Name of the error class."""
    message: str
    provider: str | None = None
    """That no call to can succeed any more, where it is not the model's."""

    def is_a(self, *kinds: type[FacedriftError]) -> bool:
        """Whether the error is of one of these classes."""
        found = getattr(errors, self.error, None)
        return isinstance(found, type) and issubclass(found, kinds)


class StepFailure(BaseModel):
    """A step that ended in an error; it has no outcome, so the next run tries it again."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chain: Chain
    step: int
    key: str
    error: str
    """Name of the error class."""
    message: str


class StepResult(BaseModel):
    """What one step's task run returns: the stored outcome, and whether it was there before."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    outcome: OutcomeRecord
    found: bool
    """True when nothing was called, because the outcome was already in the store."""
    collected: bool = False
    """True when the job of an earlier call was collected and none was sent."""


class CheckResult(BaseModel):
    """What one check's task run returns."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: CheckRecord
    found: bool
    """True when nobody was asked, because the check was already in the store."""


class ShardSummary(BaseModel):
    """What one `edit_chains` run did."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    edited: int = 0
    refused: int = 0
    no_image: int = 0
    off_shape: int = 0
    """Of the edits, found ones included, those whose image has another shape than their input."""
    not_made: int = 0
    """Of the edits, found ones included, those that do not show what was asked for."""
    checked: int = 0
    """Edits that the checker was asked about."""
    failed: int = 0
    found: int = 0
    """Steps that were already in the store when their turn came."""
    collected: int = 0
    """Edits whose job an earlier call had made; it was collected and not paid again."""
    ambiguous: int = 0
    """Calls that may have been paid and came to nothing."""
    cost_usd: float = 0.0
    """As told by the provider, or else the price of the card for each edited step."""
    checking_usd: float = 0.0
    """What the answers of the checker cost, unreadable ones included."""
    maybe_paid_usd: float = 0.0
    """What the ambiguous calls cost if they were paid."""
    calls_s: float = 0.0
    """What the calls took, added up."""
    failures: tuple[StepFailure, ...] = ()
    unfinished: int = 0
    """Chains of the shard that are not over."""
    part: str | None = None
    """Key of the compacted rows of its finished steps; None in a sum of several shards."""
    stopped: Stopped | None = None
    """Why it ended early; None when every chain was taken as far as it goes."""

    @property
    def failure_text(self) -> str:
        """How many steps failed, with an example."""
        return f"{self.failed} steps failed, such as {self.failures[0].message}" if self.failures else ""

    def __add__(self, other: ShardSummary) -> ShardSummary:
        """Both together; the part of one, and why one stopped, are no part of it."""
        added = set(type(self).model_fields) - {"stopped", "part"}
        return ShardSummary(**{name: getattr(self, name) + getattr(other, name) for name in sorted(added)})


class ProviderCalls(BaseModel):
    """What the edits of one provider came to in a run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    provider: str
    edited: int = 0
    refused: int = 0
    no_image: int = 0
    failed: int = 0
    ambiguous: int = 0
    cost_usd: float = 0.0
    calls_s: float = 0.0

    def after(self, shard: ShardSummary) -> ProviderCalls:
        """With a further shard."""
        counted = set(type(self).model_fields) - {"provider"}
        return self.model_copy(
            update={name: getattr(self, name) + getattr(shard, name) for name in sorted(counted)}
        )


class ModelCalls(BaseModel):
    """What the calls of one model have cost, over all runs that made them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    answers: int = 0
    lost: int = 0
    """Calls before an answer that may have been paid and came to nothing."""
    cost_usd: float = 0.0
    maybe_paid_usd: float = 0.0
