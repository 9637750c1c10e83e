"""How a suite is run: lost calls, rehearsals, and when a step counts."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from domain.photos import Slug


class CallRules(BaseModel):
    """What is done about paid calls whose answer was lost."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_resends: int = Field(default=1, ge=0, le=10)
    """How often a call that may have been paid is sent again."""
    history_wait_s: float = Field(default=120.0, ge=0)
    """How long after a call its job is looked for in the provider's history, where there is one."""
    lease_s: float = Field(default=900.0, ge=0)
    """How long a call of another machine counts as in flight."""


class Rehearsal(BaseModel):
    """How a suite is rehearsed: every paid call goes to the local stand-in, which fails now and then."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    always: bool = False
    """True for a suite that is never run in earnest."""
    editor: str | None = Field(default=None, pattern=Slug)
    """Model card of the editor behind the stand-in; one that calls nobody. None: `Suite.standin_editor`."""
    faults: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    """Shares of calls that go wrong; see `adapters.standin.faults`."""
    timeout_s: float = Field(default=5.0, gt=0)
    """Of one request."""
    poll_s: float = Field(default=0.2, gt=0)
    """Between two looks at a job."""
    retry_waits_s: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0)


class StepRules(BaseModel):
    """When a step counts, and how often it is tried."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attempts: int = Field(default=1, ge=1, le=10)
    """A chain ends at a step that failed so often; a refusal or an answer without an image is a failure."""
    checker: str | None = Field(default=None, pattern=Slug)
    """A judge card that says of every attempt whether the edit was made; None: every edit counts."""
    max_asks: int = Field(default=3, ge=1, le=10)
    """How often an answer of the checker that does not parse is asked for."""
    max_aspect_change: float | None = Field(default=None, gt=0, le=1)
    """An output whose width to height differs from its input's by a larger share is a failed attempt."""

    @property
    def is_plain(self) -> bool:
        """Whether a step is tried once and every edit counts."""
        return self.attempts == 1 and self.checker is None and self.max_aspect_change is None
