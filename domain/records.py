"""What is stored, one small JSON each; pixels are beside them, under their sha256."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from domain.judging import Checklist

OutcomeKind = Literal["edited", "refused", "no_image"]
Verdict = Literal["made", "not_made", "refused", "no_image", "off_shape"]
"""What an attempt at a step came to; a chain goes on after `made` only."""


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ImageRef(_Record):
    """An image in the store."""

    sha256: str
    extension: str
    content_type: str
    width: int
    height: int
    size_bytes: int


class StepIdentity(_Record):
    """What makes one attempt at a step the same attempt: its key is the sha256 of these."""

    input_sha256: str
    prompt: str
    model: str
    settings_fingerprint: str
    seed: int | None
    attempt: int


class OutcomeRecord(_Record):
    """How one attempt at a step ended. Written last, once its image is in the store."""

    version: Literal[1] = 1
    key: str
    identity: StepIdentity
    kind: OutcomeKind
    image: ImageRef | None = None
    reason: str | None = None
    served_version: str | None = None
    cost_usd: float | None = None
    lost_calls: int = 0
    """Earlier calls for this step that may have been paid and came to nothing."""
    latency_s: float
    finished_at: str
    details: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_an_image_when_edited(self) -> Self:
        if (self.kind == "edited") != (self.image is not None):
            raise ValueError("an outcome has an image exactly when it is `edited`")
        return self


class Owner(_Record):
    """A process, so that others can tell whether it is still there."""

    host: str
    space: str
    """Its process-id space: processes of two containers cannot see each other."""
    pid: int
    started: float


class CallIntent(_Record):
    """A paid call is about to be sent. Written before it, so that no call goes unnoticed."""

    version: Literal[1] = 1
    key: str
    send: int
    provider: str
    model: str
    owner: Owner
    at: str


class CallTicket(_Record):
    """A provider accepted the call as a job of this id."""

    version: Literal[1] = 1
    provider_id: str
    at: str
    recovered: bool = False
    """True when it was found in the provider's history, because the answer had been lost."""


class CallLost(_Record):
    """The answer of a call did not arrive, and nobody waits for it any more."""

    version: Literal[1] = 1
    reason: str


class CallEnd(_Record):
    """A call ended without an outcome, so that another may be sent."""

    version: Literal[1] = 1
    reason: str
    maybe_paid: bool


class FaceBox(_Record):
    """One face of one image."""

    box: tuple[float, float, float, float]
    score: float
    embedding: str
    """Base64 of little-endian float32, unit length."""
    keypoints: tuple[tuple[float, float], ...] | None = Field(
        default=None, exclude_if=lambda value: value is None
    )
    """x, y of the eyes, the nose and the corners of the mouth, the viewer's left first; None in readings that
    were made before they were kept."""


class EmbedderIdentity(_Record):
    """Which weights and which rules made a reading."""

    adapter: str
    version: str
    pack: str
    files: dict[str, str]
    """sha256 of each file."""
    ladder: tuple[str, ...]


class FaceReading(_Record):
    """What an embedder found in one image, largest face first."""

    status: Literal["read", "unreadable"]
    detail: str | None = None
    width: int | None = None
    height: int | None = None
    rung: str | None = None
    """Ladder rung that found the faces."""
    faces: tuple[FaceBox, ...] = ()


class FaceRecord(_Record):
    """A stored reading."""

    version: Literal[1] = 1
    image_sha256: str
    embedder: EmbedderIdentity
    providers: tuple[str, ...]
    reading: FaceReading


class JudgeIdentity(_Record):
    """Which judge or tracker, with the versions that change its answers."""

    adapter: str
    version: str
    prompt_version: str
    taxonomy: str


class JudgementRecord(_Record):
    """The two scores of one edit, or the texts that could not be read as such."""

    version: Literal[1] = 1
    key: str
    judge: JudgeIdentity
    before_sha256: str
    after_sha256: str
    prompt: str
    status: Literal["scored", "unparsable"]
    success: float | None = None
    overediting: float | None = None
    asks: int
    raw_texts: tuple[str, ...]
    problem: str | None = None
    served_version: str | None = None
    finish_reasons: tuple[str | None, ...] = ()
    """Of each answer, why it ended."""
    cost_usd: float | None = None
    """Of all asks, where the judge tells it."""


class StateRecord(_Record):
    """The categories seen in one image, or the texts that could not be read as such."""

    version: Literal[1] = 1
    image_sha256: str
    tracker: JudgeIdentity
    status: Literal["tracked", "unparsable"]
    state: dict[str, tuple[str, ...] | None] = Field(default_factory=dict)
    asks: int
    raw_texts: tuple[str, ...]
    problem: str | None = None
    served_version: str | None = None
    finish_reasons: tuple[str | None, ...] = ()
    """Of each answer, why it ended."""
    cost_usd: float | None = None
    """Of all asks, where the judge tells it."""


class CheckRecord(_Record):
    """What a step checker said of one edit, or the texts that could not be read as such."""

    version: Literal[1] = 1
    key: str
    checker: JudgeIdentity
    before_sha256: str
    after_sha256: str
    prompt: str
    status: Literal["checked", "unparsable"]
    made: bool | None = None
    checklist: Checklist | None = None
    asks: int
    raw_texts: tuple[str, ...]
    problem: str | None = None
    served_version: str | None = None
    finish_reasons: tuple[str | None, ...] = ()
    """Of each answer, why it ended."""
    cost_usd: float | None = None
    """Of all asks, where the checker tells it."""

    @model_validator(mode="after")
    def _says_what_its_checklist_does(self) -> Self:
        if (self.status == "checked") != (self.checklist is not None):
            raise ValueError("a check has a checklist exactly when its answer could be read")
        if self.made != (self.checklist.made if self.checklist else None):
            raise ValueError("`made` is what the checklist comes to")
        return self
