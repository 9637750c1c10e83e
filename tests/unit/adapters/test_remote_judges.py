"""What judges behind a service send, and what they make of answers that a stand-in does not give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from builders import encoded, noise

from adapters.base import JudgeContext
from adapters.judges.google import GoogleJudge, GoogleJudgeSettings
from adapters.judges.openai import OpenAIJudge, OpenAIJudgeSettings
from adapters.judges.questions import Questions, scores_schema
from adapters.providers.calls import Call, Declined
from adapters.providers.google import GoogleApi
from adapters.providers.openai import OpenAIApi
from domain.edits import JudgeReply
from domain.judging import CHECKLIST_FIELDS, InvalidAnswerError, parse_state
from domain.loading import load, prompt
from domain.taxonomy import Taxonomy

TAXONOMY = load(Taxonomy, "face-edit-attributes")
PROMPTS: dict[str, str] = {
    "consistency": prompt("consistency.v1"),
    "state": prompt("state.v1"),
    "step_check": prompt("step-check.v1"),
}
QUESTIONS = Questions(JudgeContext(TAXONOMY, PROMPTS, cast(Any, None)))
CUT = '{"reasoning": "It'
THOUGHT = {"text": "hm", "thought": True}
BEFORE, AFTER = encoded(noise(24, 32), "JPEG"), encoded(noise(24, 32), "PNG")


def test_gemini_is_asked_for_our_schema_in_our_order_and_only_for_what_its_card_sets():
    sent: dict[str, Any] = {}

    def generate(model: str, contents: Any, config: Any) -> Any:
        sent.update(model=model, contents=contents, config=config)
        raise Declined("SAFETY", code="SAFETY")

    service = cast(GoogleApi, SimpleNamespace(generate=generate))
    settings = GoogleJudgeSettings(safety="OFF", max_output_tokens=99, thinking_level="low")
    reply = GoogleJudge("a-model", settings, QUESTIONS, service).score(BEFORE, AFTER, "x")
    assert reply == JudgeReply("", finish_reason="SAFETY")
    assert [part.inline_data.mime_type for part in sent["contents"][:2]] == ["image/jpeg", "image/png"]
    assert [part.inline_data.data for part in sent["contents"][:2]] == [BEFORE, AFTER]
    config = sent["config"]
    assert config.response_mime_type == "application/json"
    assert config.response_json_schema == scores_schema() | {
        "propertyOrdering": ["reasoning", "editing_success", "overediting"]
    }
    assert (config.temperature, config.seed, config.max_output_tokens) == (None, None, 99)
    assert config.thinking_config.thinking_level == "LOW"
    assert config.thinking_config.thinking_budget is None
    assert {setting.threshold.value for setting in config.safety_settings} == {"OFF"}


@pytest.mark.parametrize(
    ("candidate", "text", "reason"),
    [
        ({"finishReason": "MAX_TOKENS", "content": {"parts": [{"text": CUT}]}}, CUT, "MAX_TOKENS"),
        ({"finishReason": "STOP", "content": {"parts": [THOUGHT, {"text": "{}"}]}}, "{}", "STOP"),
        ({"finishReason": "STOP", "content": {"role": "model"}}, "", "STOP"),
        ({"finishReason": "OTHER"}, "", "OTHER"),
        (None, "", None),
    ],
)
def test_a_cut_or_empty_answer_of_gemini_comes_back_as_it_is(
    candidate: dict[str, Any] | None, text: str, reason: str | None
):
    from google.genai import types

    body = {"candidates": [candidate] if candidate else [], "modelVersion": "some-model-002"}
    answer = types.GenerateContentResponse.model_validate(body)
    service = cast(GoogleApi, SimpleNamespace(generate=lambda *_: answer))
    settings = GoogleJudgeSettings(safety="OFF", max_output_tokens=99)
    reply = GoogleJudge("a-model", settings, QUESTIONS, service).track(AFTER)
    assert (reply.raw_text, reply.finish_reason) == (text, reason)
    assert reply.served_version == "some-model-002"
    assert reply.usage == {}
    with pytest.raises(InvalidAnswerError):
        parse_state(reply.raw_text, TAXONOMY)


def test_gemini_thinks_in_one_way():
    with pytest.raises(ValueError, match="never both"):
        GoogleJudgeSettings(safety="OFF", max_output_tokens=99, thinking_level="low", thinking_budget=0)


def openai_judge(answer: object, sent: dict[str, Any] | None = None) -> OpenAIJudge:
    def create(**request: Any) -> object:
        (sent if sent is not None else {}).update(request)
        return answer

    @contextmanager
    def calling(model: str, *, paid: bool) -> Iterator[Call]:
        assert paid
        yield Call("openai", model, "OPENAI_API_KEY", cast(Any, None), paid)

    client = SimpleNamespace(responses=SimpleNamespace(create=create))
    service = cast(OpenAIApi, SimpleNamespace(client=client, calling=calling))
    settings = OpenAIJudgeSettings(reasoning_effort="medium", image_detail="high", max_output_tokens=99)
    return OpenAIJudge("a-model", settings, QUESTIONS, service)


def said(**fields: Any) -> SimpleNamespace:
    part = SimpleNamespace(type="output_text", text=CUT)
    items = [SimpleNamespace(type="reasoning", content=None), SimpleNamespace(type="message", content=[part])]
    base: dict[str, Any] = {"model": "a-model-2", "status": "completed", "output": items, "error": None}
    return SimpleNamespace(**base | {"incomplete_details": None, "usage": None} | fields)


def test_openai_is_asked_for_our_strict_schema_at_the_effort_of_the_card():
    sent: dict[str, Any] = {}
    reply = openai_judge(said(), sent).check_step(BEFORE, AFTER, "Paint the mug red")
    assert reply.served_version == "a-model-2"
    content = sent["input"][0]["content"]
    assert [part["type"] for part in content] == ["input_image", "input_image", "input_text"]
    assert content[0]["image_url"].startswith("data:image/jpeg;base64,")
    assert content[1]["image_url"].startswith("data:image/png;base64,")
    assert "Paint the mug red" in content[2]["text"]
    answer_format = sent["text"]["format"]
    assert (answer_format["type"], answer_format["strict"]) == ("json_schema", True)
    assert list(answer_format["schema"]["properties"]) == ["reasoning", *CHECKLIST_FIELDS]
    assert sent["reasoning"] == {"effort": "medium"}
    assert sent["store"] is False
    assert "temperature" not in sent


@pytest.mark.parametrize(
    ("fields", "text", "reason"),
    [
        ({"incomplete_details": SimpleNamespace(reason="max_output_tokens")}, CUT, "max_output_tokens"),
        ({"output": [SimpleNamespace(content=[SimpleNamespace(type="refusal")])]}, "", "refusal"),
        ({"output": []}, "", "completed"),
    ],
)
def test_a_cut_or_refused_answer_of_openai_comes_back_as_it_is(
    fields: dict[str, Any], text: str, reason: str
):
    reply = openai_judge(said(**fields)).track(AFTER)
    assert (reply.raw_text, reply.finish_reason) == (text, reason)
    with pytest.raises(InvalidAnswerError):
        parse_state(reply.raw_text, TAXONOMY)
