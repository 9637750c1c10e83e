"""Judging with an OpenAI model: one response a question, its answer constrained to our strict JSON schema.

Nothing is repaired here; a cut or refused answer comes back as what it is, and does not parse.

API: https://platform.openai.com/docs/api-reference/responses (openai 3.57.0, read 2026-11)
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from adapters.base import JudgeContext
from adapters.judges.questions import Question, Questions
from adapters.providers.calls import Call, Declined
from adapters.providers.mime import data_uri
from adapters.providers.openai import OpenAIApi, api
from domain.chain_drafting import DraftWanted
from domain.edits import JudgeReply
from domain.judge_cards import JudgeCard
from domain.session_writing import Wanted


class _Part(BaseModel):
    type: str
    text: str | None = None


class _Item(BaseModel):
    content: tuple[_Part, ...] | None = None


class _Failure(BaseModel):
    message: str = "the response failed"
    code: str | None = None


class _Incomplete(BaseModel):
    reason: str | None = None


class _Usage(BaseModel):
    input_tokens: int
    output_tokens: int


class _Answer(BaseModel):
    """What is read of a response: the SDK itself lets through an answer of any shape."""

    model: str
    output: tuple[_Item, ...]
    status: str | None = None
    error: _Failure | None = None
    incomplete_details: _Incomplete | None = None
    usage: _Usage | None = None


class OpenAIJudgeSettings(BaseModel):
    """What is sent besides the question."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
    image_detail: Literal["low", "high", "auto", "original"]
    max_output_tokens: int = Field(gt=0)
    """With the tokens that the model reasons in."""
    store: bool = False
    """Whether OpenAI keeps the photos and the answer for later look-up."""


class OpenAIJudge:
    """Scores, tracks, checks steps, writes sessions and drafts chains, as far as its card names prompts."""

    def __init__(
        self, model: str, settings: OpenAIJudgeSettings, questions: Questions, service: OpenAIApi
    ) -> None:
        self._model = model
        self._settings = settings
        self._questions = questions
        self._service = service

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> OpenAIJudge:
        """A judge for a card; raises pydantic's ValidationError for settings it does not know."""
        settings = OpenAIJudgeSettings.model_validate(card.settings)
        return cls(card.endpoint, settings, Questions(context), api(context.standin_url))

    def score(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """Two 0-10 numbers as JSON text."""
        return self._ask(self._questions.consistency(prompt), before, after)

    def track(self, image: bytes) -> JudgeReply:
        """Sets of categories as JSON text."""
        return self._ask(self._questions.state(), image)

    def check_step(self, before: bytes, after: bytes, prompt: str) -> JudgeReply:
        """The filled checklist as JSON text."""
        return self._ask(self._questions.step_check(prompt), before, after)

    def write_instruction(self, wanted: Wanted) -> JudgeReply:
        """One instruction of a new session as JSON text."""
        return self._ask(self._questions.instruction(wanted))

    def draft_chain(self, image: bytes, wanted: DraftWanted) -> JudgeReply:
        """The prompt chain of a photo as JSON text."""
        return self._ask(self._questions.chain(wanted), image)

    def check(self) -> None:
        """Look the model up, which costs nothing."""
        self._service.look_up(self._model)

    def _ask(self, question: Question, *images: bytes) -> JudgeReply:
        request = _request(self._settings, question, images)
        try:
            with self._service.calling(self._model, paid=True) as call:
                responses = cast(Any, self._service.client.responses)  # typed for streams too
                return _reply(responses.create(model=self._model, **request), call)
        except Declined as declined:
            return JudgeReply("", declined.served_version, declined.code or "declined")


def _request(settings: OpenAIJudgeSettings, question: Question, images: tuple[bytes, ...]) -> dict[str, Any]:
    content: list[dict[str, str]] = [
        {"type": "input_image", "image_url": data_uri(image), "detail": settings.image_detail}
        for image in images
    ]
    content.append({"type": "input_text", "text": question.text})
    answer_format = {
        "type": "json_schema",
        "name": question.role,
        "schema": question.schema,
        "strict": True,
    }
    return {
        "input": [{"role": "user", "content": content}],
        "text": {"format": answer_format},
        "reasoning": {"effort": settings.reasoning_effort},
        "max_output_tokens": settings.max_output_tokens,
        "store": settings.store,
    }


def _reply(answer: object, call: Call) -> JudgeReply:
    read = _Answer.model_validate(answer, from_attributes=True)
    if read.status == "failed":
        failure = read.error or _Failure()
        raise call.transient(failure.message, failure.code)
    parts = [part for item in read.output for part in item.content or ()]
    refused = any(part.type == "refusal" for part in parts)
    cut = read.incomplete_details.reason if read.incomplete_details else None
    text = "".join(part.text or "" for part in parts if part.type == "output_text")
    return JudgeReply(
        raw_text="" if refused else text,
        served_version=read.model,
        finish_reason="refusal" if refused else cut or read.status,
        usage=read.usage.model_dump() if read.usage else {},
    )
