"""Which call goes wrong and how, drawn so that a run can be repeated."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

Provider = Literal["google", "fal", "replicate", "openai"]
Kind = Literal["edit", "judge", "poll", "download", "upload", "lookup"]
"""What is called; `lookup` is for whatever is asked for free besides."""
FaultName = Literal[
    "rate_limited",
    "server_error",
    "quota",
    "hang",
    "drop",
    "stuck",
    "truncated",
    "short_body",
    "refused",
    "no_image",
    "wrong_mime",
    "black_frame",
    "empty",
    "other_shape",
    "huge",
    "bad_json",
]
PROVIDERS: tuple[Provider, ...] = get_args(Provider)
NAMES: tuple[FaultName, ...] = get_args(FaultName)
TURNED_AWAY: frozenset[FaultName] = frozenset({"rate_limited", "server_error", "quota"})
"""Answered before the job is accepted: never paid."""
_QUEUED_ONLY: frozenset[FaultName] = frozenset({"stuck"})
_JUDGE_DRAWN: frozenset[FaultName] = frozenset({"rate_limited", "server_error", "bad_json"})
_JUDGE_SCRIPTED: frozenset[FaultName] = frozenset({"hang", "drop", "short_body", "refused"})
"""What a script may ask of a judge besides."""
_ASIDE: frozenset[FaultName] = frozenset({"rate_limited", "server_error", "hang", "drop"})
_DOWNLOAD: frozenset[FaultName] = frozenset({"truncated", "short_body", "empty"})
"""Calls that are neither edit nor judgement go wrong by script only."""


class Faults(BaseModel):
    """The share of calls, 0 to 1, that goes wrong in each way; at most one fault a call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    rate_limited: float = Field(default=0, ge=0, le=1)
    """429, not accepted."""
    server_error: float = Field(default=0, ge=0, le=1)
    """500, not accepted."""
    quota: float = Field(default=0, ge=0, le=1)
    """The account has no money or daily quota left; not accepted."""
    hang: float = Field(default=0, ge=0, le=1)
    """Accepted, and never answered."""
    drop: float = Field(default=0, ge=0, le=1)
    """Accepted, and the connection closed without an answer."""
    stuck: float = Field(default=0, ge=0, le=1)
    """A queued job that ends only after `hang_s`; providers with a queue only."""
    truncated: float = Field(default=0, ge=0, le=1)
    """The image file is cut; where it is downloaded, the next download is whole."""
    short_body: float = Field(default=0, ge=0, le=1)
    """The body with the image ends before its Content-Length; a next download is whole."""
    refused: float = Field(default=0, ge=0, le=1)
    no_image: float = Field(default=0, ge=0, le=1)
    wrong_mime: float = Field(default=0, ge=0, le=1)
    """Declared PNG, is JPEG."""
    black_frame: float = Field(default=0, ge=0, le=1)
    """A black picture, and nothing says so."""
    empty: float = Field(default=0, ge=0, le=1)
    """An image of no bytes."""
    other_shape: float = Field(default=0, ge=0, le=1)
    """The image in another aspect."""
    huge: float = Field(default=0, ge=0, le=1)
    """The image enlarged to 20 megapixels."""
    bad_json: float = Field(default=0, ge=0, le=1)
    """A judge's answer is broken JSON."""
    latency_s: tuple[float, float] = (0.0, 0.0)
    """Shortest and longest time that a job takes, uniform between."""
    hang_s: float = Field(default=600, gt=0)
    retry_after_s: float = Field(default=1, ge=0)
    google_retry_after_header: bool = False
    """Google usually says the delay only inside the body."""
    missing_models: tuple[str, ...] = ()
    """Models and endpoints that are answered as unknown."""

    @model_validator(mode="after")
    def _shares_fit(self) -> Self:
        for kind in ("edit", "judge"):
            total = sum(self.share(name) for name in NAMES if _drawn(name, "fal", kind))
            if total > 1 + 1e-9:
                raise ValueError(f"the shares of the faults of one {kind} sum to {total:g}, more than 1")
        if not 0 <= self.latency_s[0] <= self.latency_s[1]:
            raise ValueError(f"latency_s is {self.latency_s}, not shortest and longest")
        return self

    def share(self, name: FaultName) -> float:
        """The share of one fault."""
        value: float = getattr(self, name)
        return value


class ScriptedFault(BaseModel):
    """The fault of one coming call; `ok` is a call without one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: FaultName | Literal["ok"]
    provider: Provider | None = None
    """None: whoever is called next."""
    kind: Kind | None = None
    """None: the next edit or judgement."""
    form: Literal[0, 1] | None = None
    """Which of a provider's two forms of refusal; None leaves it to chance."""

    def fits(self, provider: Provider, kind: Kind) -> bool:
        """Whether this is for such a call."""
        is_paid = kind in ("edit", "judge")
        if (self.provider or provider) != provider or (self.kind or (is_paid and kind)) != kind:
            return False
        return self.fault == "ok" or _possible(self.fault, provider, kind)


@dataclass(frozen=True)
class Draw:
    """What was drawn for one call."""

    fault: FaultName | None
    latency_s: float
    form: int
    """0 or 1: which of a provider's two forms of refusal; changes each time that the same is asked."""
    nth: int = 1
    """How many times the same was asked by now."""


def draw(faults: Faults, provider: Provider, kind: Kind, identity: str, nth: int) -> Draw:
    """The fate of the nth asking (from 1) of a request; the same for the same arguments."""
    key = f"{faults.seed}|{provider}|{identity}|{nth}"
    shortest, longest = faults.latency_s
    latency = shortest + (longest - shortest) * _uniform(f"latency|{key}")
    form = (int(_uniform(f"form|{faults.seed}|{provider}|{identity}") * 2) + nth) % 2
    chance = _uniform(f"fault|{key}")
    for name in NAMES:
        if not _drawn(name, provider, kind):
            continue
        chance -= faults.share(name)
        if chance < 0:
            return Draw(name, latency, form, nth)
    return Draw(None, latency, form, nth)


class Script:
    """Faults set down beforehand for the next calls, in order."""

    def __init__(self) -> None:
        self._coming: list[ScriptedFault] = []

    def extend(self, more: Sequence[ScriptedFault]) -> int:
        """Add to the end; returns how many wait."""
        self._coming.extend(more)
        return len(self._coming)

    def clear(self) -> None:
        """Forget what waits."""
        self._coming.clear()

    def take(self, provider: Provider, kind: Kind) -> ScriptedFault | None:
        """The first that is meant for such a call, or None."""
        for place, entry in enumerate(self._coming):
            if entry.fits(provider, kind):
                return self._coming.pop(place)
        return None


def _drawn(name: FaultName, provider: Provider, kind: Kind) -> bool:
    return name in _JUDGE_DRAWN if kind == "judge" else _possible(name, provider, kind)


def _possible(name: FaultName, provider: Provider, kind: Kind) -> bool:
    if kind not in ("edit", "judge"):
        return name in _ASIDE or (kind == "download" and name in _DOWNLOAD)
    if kind == "judge":
        return name in TURNED_AWAY | _JUDGE_DRAWN | _JUDGE_SCRIPTED
    if name in _QUEUED_ONLY:
        return provider in ("fal", "replicate")
    return name != "bad_json"


def _uniform(text: str) -> float:
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 11) / 2**53
