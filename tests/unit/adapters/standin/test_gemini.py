"""The protocol of Gemini, as its SDK and its documents have it."""

from __future__ import annotations

import base64
import hashlib
import json

import pytest
from unit.adapters.standin.place import JPEG, PNG, SCORES, Place, Start, b64, decode, gemini_image, inverted


def test_an_edit(standin: Place):
    answer = standin.gemini(seed=42, responseModalities=["IMAGE"])
    assert answer.status_code == 200
    body = answer.json()
    assert gemini_image(answer) == inverted(PNG)
    [candidate] = body["candidates"]
    assert candidate["finishReason"] == "STOP"
    assert candidate["content"]["role"] == "model"
    assert candidate["content"]["parts"][0]["inlineData"]["mimeType"] == "image/png"
    assert body["modelVersion"] == "flash-image"
    assert body["responseId"]
    assert body["usageMetadata"]["candidatesTokenCount"] == 1290
    [request] = standin.editor.requests
    assert (request.prompt, request.seed, request.image, request.model) == ("smile", 42, PNG, "flash-image")
    assert request.image_sha256 == hashlib.sha256(PNG).hexdigest()


@pytest.mark.parametrize("mime", ["mimeType", "mime_type"])
@pytest.mark.parametrize("inline", ["inlineData", "inline_data"])
def test_both_spellings_are_read(standin: Place, inline: str, mime: str):
    parts = [{inline: {"data": b64(PNG), mime: "image/png"}}, {"text": "smile"}]
    path = "/google/v1/models/flash-image:generateContent"
    assert gemini_image(standin.client.post(path, json={"contents": [{"parts": parts}]})) == inverted(PNG)


def test_base64_may_be_that_of_urls(standin: Place):
    """So google-genai sends it."""
    data = base64.urlsafe_b64encode(PNG).decode()
    assert "-" in data
    assert "_" in data
    parts = [{"inlineData": {"data": data.rstrip("="), "mimeType": "image/png"}}, {"text": "smile"}]
    path = "/google/v1beta/models/flash-image:generateContent"
    assert gemini_image(standin.client.post(path, json={"contents": [{"parts": parts}]})) == inverted(PNG)


def test_a_picture_that_is_not_what_it_is_declared_to_be(standin: Place):
    answer = standin.gemini(image=JPEG)
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"
    assert "mime type" in answer.json()["error"]["message"]
    assert (standin.counts("google")["bad_request"], standin.counts("google")["accepted"]) == (1, 0)


@pytest.mark.parametrize(
    "body",
    [
        b"no json",
        b"[]",
        json.dumps({"contents": [{"parts": [{"text": "no picture"}]}]}).encode(),
        json.dumps(
            {"contents": [{"parts": [{"inlineData": {"data": "*", "mimeType": "image/png"}}]}]}
        ).encode(),
    ],
)
def test_what_cannot_be_read_is_a_bad_request(standin: Place, body: bytes):
    answer = standin.client.post("/google/v1beta/models/flash-image:generateContent", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]["status"] == "INVALID_ARGUMENT"


def test_a_picture_that_does_not_decode(standin: Place):
    answer = standin.gemini(image=PNG[:60])
    assert answer.status_code == 400
    assert "input image" in answer.json()["error"]["message"]
    assert standin.counts("google")["failed"] == 1


def test_a_model_is_looked_up_free(standin: Place):
    body = standin.get("/google/v1beta/models/flash-image").json()
    assert body["name"] == "models/flash-image"
    assert "generateContent" in body["supportedGenerationMethods"]
    counts = standin.counts("google")
    assert (counts["lookups"], counts["posts"]) == (1, 0)


def test_a_model_that_is_gone(standin: Place):
    looked_up = standin.get("/google/v1beta/models/gone")
    path = "/google/v1beta/models/gone:generateContent"
    called = standin.client.post(path, json={"contents": []})
    for answer in (looked_up, called):
        assert answer.status_code == 404
        assert answer.json()["error"]["status"] == "NOT_FOUND"
    assert standin.counts("google")["accepted"] == 0


def test_a_wrong_key(start: Start):
    with start(required_key="right") as standin:
        answers = [standin.gemini(), standin.get("/google/v1beta/models/flash-image?key=wrong")]
        assert standin.get("/google/v1/models/m", headers={"x-goog-api-key": "right"}).status_code == 200
        for answer in answers:
            assert answer.status_code == 400
            error = answer.json()["error"]
            assert error["status"] == "INVALID_ARGUMENT"
            assert error["details"][0]["reason"] == "API_KEY_INVALID"
        counts = standin.counts("google")
        assert (counts["bad_key"], counts["posts"], counts["accepted"]) == (2, 1, 0)


def test_too_many_requests(standin: Place):
    standin.script("rate_limited")
    answer = standin.gemini()
    assert answer.status_code == 429
    assert "retry-after" not in answer.headers
    error = answer.json()["error"]
    assert error["status"] == "RESOURCE_EXHAUSTED"
    violations, retry = error["details"]
    assert retry == {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}
    assert "PerMinute" in violations["violations"][0]["quotaId"]
    counts = standin.counts("google")
    assert (counts["rate_limited"], counts["accepted"], counts["posts"]) == (1, 0, 1)


def test_google_can_be_told_to_send_the_header(start: Start):
    with start(rate_limited=1, retry_after_s=0.25, google_retry_after_header=True) as standin:
        answer = standin.gemini()
        assert answer.headers["retry-after"] == "0.25"
        assert answer.json()["error"]["details"][1]["retryDelay"] == "0.25s"


def test_an_internal_error(standin: Place):
    standin.script("server_error")
    answer = standin.gemini()
    assert (answer.status_code, answer.json()["error"]["status"]) == (500, "INTERNAL")
    assert standin.counts("google")["server_errors"] == 1


def test_the_days_quota_is_used_up(standin: Place):
    standin.script("quota")
    answer = standin.gemini()
    assert answer.status_code == 429
    error = answer.json()["error"]
    assert "PerDay" in error["details"][0]["violations"][0]["quotaId"]
    assert "check your plan and billing" in error["message"]
    assert standin.counts("google")["quota"] == 1


def test_both_forms_of_refusal(standin: Place):
    standin.script({"fault": "refused", "form": 0}, {"fault": "refused", "form": 1})
    output, prompt = standin.gemini(), standin.gemini()
    assert (output.status_code, prompt.status_code) == (200, 200)
    [candidate] = output.json()["candidates"]
    assert candidate["finishReason"] == "IMAGE_SAFETY"
    assert "parts" not in candidate["content"]
    assert "candidates" not in prompt.json()
    assert prompt.json()["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    counts = standin.counts("google")
    assert (counts["refused"], counts["answered"], counts["accepted"], counts["images"]) == (2, 2, 2, 0)


def test_the_forms_of_refusal_alternate_when_the_same_is_asked_again(standin: Place):
    standin.script("refused", "refused", "refused")
    bodies = [standin.gemini().json() for _ in range(3)]
    assert ["candidates" in body for body in bodies] in ([True, False, True], [False, True, False])


def test_an_editors_own_refusal_and_silence(standin: Place):
    refused = standin.gemini("refuse").json()
    assert "promptFeedback" in refused or refused["candidates"][0]["finishReason"] == "IMAGE_SAFETY"
    [candidate] = standin.gemini("say nothing").json()["candidates"]
    assert candidate["finishReason"] == "STOP"
    assert [list(part) for part in candidate["content"]["parts"]] == [["text"]]


def test_text_without_an_image(standin: Place):
    standin.script("no_image")
    [candidate] = standin.gemini().json()["candidates"]
    assert candidate["finishReason"] == "STOP"
    assert [list(part) for part in candidate["content"]["parts"]] == [["text"]]
    counts = standin.counts("google")
    assert (counts["no_image"], counts["answered"]) == (1, 1)
    assert standin.editor.requests == []


def test_a_cut_image(standin: Place):
    standin.script("truncated")
    data = gemini_image(standin.gemini())
    assert 0 < len(data) < len(inverted(PNG))
    assert inverted(PNG).startswith(data)
    with pytest.raises(OSError, match="truncated"):
        decode(data)
    assert standin.counts("google")["truncated"] == 1


def test_a_judgement(standin: Place):
    after = inverted(PNG)
    body = standin.gemini_judgement(SCORES, PNG, after).json()
    [part] = body["candidates"][0]["content"]["parts"]
    answer = json.loads(part["text"])
    assert answer == {"reasoning": answer["reasoning"], "editing_success": 8, "overediting": 8}
    assert isinstance(answer["reasoning"], str)
    assert standin.judge.scored == [(PNG, after, "Add a hat")]
    assert body["modelVersion"] == "flash"
    counts = standin.counts("google")
    assert (counts["judge_calls"], counts["judge_posts"], counts["accepted"]) == (1, 1, 0)


@pytest.mark.parametrize(
    "key", ["responseSchema", "response_schema", "responseJsonSchema", "response_json_schema"]
)
def test_a_state_by_each_spelling_of_the_schema(standin: Place, key: str):
    properties = {name: {"type": "array", "items": {"type": "string"}} for name in ("hats", "glasses")}
    body = standin.gemini_judgement({"type": "object", "properties": properties}, PNG, key=key).json()
    assert json.loads(body["candidates"][0]["content"]["parts"][0]["text"]) == {
        "hats": ["cap"],
        "glasses": [],
    }
    assert standin.judge.tracked == [PNG]


def test_broken_json(standin: Place):
    standin.script("bad_json")
    text = standin.gemini_judgement(SCORES, PNG, PNG).json()["candidates"][0]["content"]["parts"][0]["text"]
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)
    assert standin.counts("google")["bad_json"] == 1


def test_a_judgement_of_one_picture_is_a_bad_request(standin: Place):
    answer = standin.gemini_judgement(SCORES, PNG)
    assert answer.status_code == 400
    assert "two images" in answer.json()["error"]["message"]


def test_a_judges_refusal_is_by_script_only(standin: Place):
    standin.script("refused", kind="judge")
    body = standin.gemini_judgement(SCORES, PNG, PNG).json()
    assert "promptFeedback" in body or body["candidates"][0]["finishReason"] == "IMAGE_SAFETY"
