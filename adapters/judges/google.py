"""Judging with a Gemini model: one `generateContent` a question, its answer constrained to our JSON schema.

The SDK's own parsing is not used: it gives None for a cut or wrong answer, without a word. Nothing is
repaired here; a cut or withheld answer comes back as what it is, and does not parse.

API: https://ai.google.dev/gemini-api/docs/structured-output (google-genai 3.6.1, read 2026-11)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from adapters.base import JudgeContext
from adapters.judges.questions import Question, Questions
from adapters.providers.calls import Declined
from adapters.providers.google import GoogleApi, api, finish_reason, safety_settings
from adapters.providers.mime import sniff
from domain.chain_drafting import DraftWanted
from domain.edits import JudgeReply
from domain.judge_cards import JudgeCard
from domain.session_writing import Wanted

if TYPE_CHECKING:
    from google.genai import types

Threshold = Literal["OFF", "BLOCK_NONE", "BLOCK_ONLY_HIGH", "BLOCK_MEDIUM_AND_ABOVE", "BLOCK_LOW_AND_ABOVE"]


class GoogleJudgeSettings(BaseModel):
    """What is sent besides the question; None is not sent, which leaves the model's own default."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    safety: Threshold
    max_output_tokens: int = Field(gt=0)
    """With the tokens that the model thinks in."""
    thinking_budget: int | None = Field(default=None, ge=0)
    """Tokens to think in, for Gemini 2.5; 0 = none."""
    thinking_level: Literal["minimal", "low", "medium", "high"] | None = None
    """For Gemini 3 and later."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    """Deprecated from Gemini 3.6 on."""
    seed: int | None = None
    """Best effort: the same seed may still give another answer."""

    @model_validator(mode="after")
    def _one_way_to_think(self) -> Self:
        if self.thinking_budget is not None and self.thinking_level is not None:
            raise ValueError("a model takes thinking_budget or thinking_level, never both")
        return self


class GoogleJudge:
    """Scores, tracks, checks steps, writes sessions and drafts chains, as far as its card names prompts."""

    def __init__(
        self, model: str, settings: GoogleJudgeSettings, questions: Questions, service: GoogleApi
    ) -> None:
        self._model = model
        self._settings = settings
        self._questions = questions
        self._service = service

    @classmethod
    def build(cls, card: JudgeCard, context: JudgeContext) -> GoogleJudge:
        """A judge for a card; raises pydantic's ValidationError for settings it does not know."""
        settings = GoogleJudgeSettings.model_validate(card.settings)
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
        from google.genai import types

        pictures = [types.Part.from_bytes(data=image, mime_type=sniff(image)) for image in images]
        parts = [*pictures, types.Part.from_text(text=question.text)]
        try:
            answer = self._service.generate(self._model, parts, _config(self._settings, question))
        except Declined as declined:
            return JudgeReply("", declined.served_version, declined.code or "declined")
        return JudgeReply(
            raw_text=_text(answer),
            served_version=answer.model_version,
            finish_reason=finish_reason(answer),
            usage=_usage(answer),
        )


def _config(settings: GoogleJudgeSettings, question: Question) -> types.GenerateContentConfig:
    from google.genai import types

    thinking = None
    if settings.thinking_budget is not None:
        thinking = types.ThinkingConfig(thinking_budget=settings.thinking_budget)
    elif settings.thinking_level is not None:
        level = types.ThinkingLevel(settings.thinking_level.upper())
        thinking = types.ThinkingConfig(thinking_level=level)
    return types.GenerateContentConfig(
        response_mime_type="application/json",
        response_json_schema=ordered(question.schema),
        safety_settings=safety_settings(settings.safety),
        max_output_tokens=settings.max_output_tokens,
        thinking_config=thinking,
        temperature=settings.temperature,
        seed=settings.seed,
    )


def ordered(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema with the order in which Gemini shall write: reasoning first, or it is no reasoning."""
    return schema | {"propertyOrdering": schema["required"]}


def _text(answer: types.GenerateContentResponse) -> str:
    candidates = answer.candidates or []
    content = candidates[0].content if candidates else None
    parts = (content.parts if content else None) or []
    return "".join(part.text for part in parts if part.text and not part.thought)


def _usage(answer: types.GenerateContentResponse) -> dict[str, int]:
    counted = answer.usage_metadata
    if counted is None:
        return {}
    found = {
        "prompt_token_count": counted.prompt_token_count,
        "thoughts_token_count": counted.thoughts_token_count,
        "candidates_token_count": counted.candidates_token_count,
    }
    return {name: count for name, count in found.items() if count is not None}
