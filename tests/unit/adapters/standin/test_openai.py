"""The protocol of OpenAI, as its SDK and its documents have it."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from unit.adapters.standin.place import JPEG, PNG, Place, Start, data_url, decode, inverted, openai_image

SCHEMA = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "editing_success": {"type": "number"},
        "overediting": {"type": "number"},
    },
}


def judged(standin: Place, **more: Any) -> httpx.Response:
    content = [
        {"type": "input_text", "text": "Judge. <instruction>Add a hat</instruction>"},
        {"type": "input_image", "image_url": data_url(PNG)},
        {"type": "input_image", "image_url": data_url(JPEG, "image/jpeg")},
    ]
    body = {
        "model": "gpt-judge",
        "input": [{"role": "user", "content": content}],
        "text": {"format": {"type": "json_schema", "name": "Scores", "schema": SCHEMA, "strict": True}},
    }
    return standin.client.post("/openai/v1/responses", json=body | more)


def test_an_edit_by_form(standin: Place):
    answer = standin.openai(quality="high", n="1", size="auto")
    assert openai_image(answer) == inverted(PNG)
    body = answer.json()
    assert (body["output_format"], body["quality"], body["size"]) == ("png", "high", "48x32")
    assert body["usage"]["total_tokens"] == body["usage"]["input_tokens"] + body["usage"]["output_tokens"]
    assert answer.headers["x-request-id"].startswith("req_")
    [request] = standin.editor.requests
    assert (request.prompt, request.seed, request.image, request.model) == ("smile", 1, PNG, "gpt-image-2")


def test_a_model_without_a_seed_draws_another_each_time(standin: Place):
    for _ in range(3):
        standin.openai()
    standin.openai("frown")
    assert [request.seed for request in standin.editor.requests] == [1, 2, 3, 1]


def test_an_edit_by_json(standin: Place):
    body = {
        "model": "gpt-image-2",
        "prompt": "smile",
        "images": [{"image_url": data_url()}],
        "moderation": "low",
    }
    assert openai_image(standin.client.post("/openai/v1/images/edits", json=body)) == inverted(PNG)
    [call] = standin.get("/standin/calls", params={"provider": "openai"}).json()["calls"]
    assert call["settings"] == {"moderation": "low"}


def test_the_format_that_was_asked_for(standin: Place):
    answer = standin.openai(output_format="jpeg")
    assert answer.json()["output_format"] == "jpeg"
    assert decode(openai_image(answer)).format == "JPEG"


def test_octets_are_no_picture(standin: Place):
    files = {"image": ("image", PNG, "application/octet-stream")}
    data = {"model": "gpt-image-2", "prompt": "smile"}
    answer = standin.client.post("/openai/v1/images/edits", data=data, files=files)
    assert answer.status_code == 400
    assert "unsupported mimetype" in answer.json()["error"]["message"]
    assert standin.counts("openai")["accepted"] == 0


@pytest.mark.parametrize(
    "body", [{"model": "m", "prompt": "p"}, {"model": "m", "images": [{"image_url": data_url()}]}]
)
def test_what_is_missing_is_named(standin: Place, body: dict[str, Any]):
    answer = standin.client.post("/openai/v1/images/edits", json=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].startswith("Missing required parameter")


def test_a_model_is_looked_up_free(standin: Place):
    assert standin.get("/openai/v1/models/gpt-image-2").json()["id"] == "gpt-image-2"
    assert standin.counts("openai")["lookups"] == 1


def test_a_model_that_is_gone(standin: Place):
    for answer in (
        standin.get("/openai/v1/models/gone"),
        standin.openai(model="gone"),
        judged(standin, model="gone"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


def test_a_wrong_key(start: Start):
    with start(required_key="right") as standin:
        answer = standin.openai()
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
        good = standin.get("/openai/v1/models/m", headers={"authorization": "Bearer right"})
        assert good.status_code == 200


@pytest.mark.parametrize(
    ("fault", "status", "code", "kind"),
    [
        ("rate_limited", 429, "rate_limit_exceeded", "requests"),
        ("server_error", 500, None, "server_error"),
        ("quota", 429, "insufficient_quota", "insufficient_quota"),
        ("refused", 400, "moderation_blocked", "image_generation_user_error"),
    ],
)
def test_errors(standin: Place, fault: str, status: int, code: str | None, kind: str):
    standin.script(fault)
    answer = standin.openai()
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["type"]) == (code, kind)
    assert answer.headers.get("retry-after") == ("7" if fault == "rate_limited" else None)
    assert "x-request-id" in answer.headers
    if fault == "refused":
        assert "safety system" in error["message"]
        assert "safety_violations" in error["message"]


def test_an_empty_list(standin: Place):
    standin.script("no_image")
    assert standin.openai().json()["data"] == []
    assert standin.counts("openai")["no_image"] == 1


def test_a_picture_that_does_not_decode(standin: Place):
    answer = standin.openai(image=PNG[:60])
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_image_file")


def test_a_judgement(standin: Place):
    body = judged(standin).json()
    [message] = body["output"]
    [content] = message["content"]
    assert (body["status"], body["model"], message["type"]) == ("completed", "gpt-judge", "message")
    assert content["type"] == "output_text"
    answer = json.loads(content["text"])
    assert (answer["editing_success"], answer["overediting"]) == (8, 7.5)
    assert standin.judge.scored == [(PNG, JPEG, "Add a hat")]
    assert standin.counts("openai")["judge_calls"] == 1


def test_a_judges_refusal(standin: Place):
    standin.script("refused", kind="judge")
    [content] = judged(standin).json()["output"][0]["content"]
    assert content["type"] == "refusal"


def test_broken_json(standin: Place):
    standin.script("bad_json")
    [content] = judged(standin).json()["output"][0]["content"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(content["text"])


def test_a_judgement_without_a_schema_is_a_bad_request(standin: Place):
    assert judged(standin, text={}).status_code == 400
