"""What each form of answer of Google means; the forms are those of its documentation."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from fakes.provider_calls import (
    PICTURE,
    SECRET,
    a_request,
    ask,
    build,
    edited,
    failure,
)
from fakes.scripted_server import Answer, ScriptedServer

from adapters.providers.google import REFUSALS
from domain.edits import NoImage, Refused
from domain.errors import AmbiguousError, FatalError, ProviderError, QuotaError, TransientError

IMAGE = base64.b64encode(PICTURE).decode()
RPC = "type.googleapis.com/google.rpc"


def gemini(*parts: Any, finish: str | None = "STOP", **more: Any) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    return {"candidates": [candidate], "modelVersion": "paint-1-served", "responseId": "r1", **more}


def inline(data: str = IMAGE, **more: Any) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": data}, **more}


def rpc_error(code: int, status: str, message: str = "no", *details: dict[str, Any]) -> Answer:
    body = {"code": code, "status": status, "message": message, "details": list(details)}
    return Answer({"error": body}, code)


def quota(name: str) -> dict[str, Any]:
    return {"@type": f"{RPC}.QuotaFailure", "violations": [{"quotaId": name}]}


class TestGoogle:
    def test_what_is_sent(self, server: ScriptedServer):
        server.will(Answer(gemini(inline(), usageMetadata={"totalTokenCount": 1560})))
        settings = {"aspect_ratio": "3:2", "image_size": "2K", "thinking_level": "high"}
        outcome = edited(ask(build("google", settings=settings), a_request("Add a hat")))
        assert (outcome.served_version, outcome.cost_usd) == ("paint-1-served", None)
        assert outcome.details["usage"] == {"total_token_count": 1560}
        (asked,) = server.asked
        assert asked.path == "/v1beta/models/paint-1:generateContent"
        assert asked.headers["x-goog-api-key"] == SECRET
        assert asked.headers["x-server-timeout"] == "180"
        image, text = asked.json()["contents"][0]["parts"]
        assert text == {"text": "Add a hat"}
        assert base64.urlsafe_b64decode(image["inlineData"]["data"]) == PICTURE
        assert image["inlineData"].get("mimeType", image["inlineData"].get("mime_type")) == "image/png"
        config = asked.json()["generationConfig"]
        assert (config["responseModalities"], config["seed"]) == (["IMAGE"], 11)
        assert config["imageConfig"] == {"aspectRatio": "3:2", "imageSize": "2K"}
        assert [each["threshold"] for each in asked.json()["safetySettings"]] == ["OFF"] * 4

    def test_what_is_not_set_is_not_sent(self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("FACEDRIFT_GOOGLE_TIMEOUT_S", "3")
        server.will(Answer(gemini(inline())))
        ask(build("google", settings={}, seed_support=False), a_request())
        assert set(server.asked[0].json()["generationConfig"]) == {"responseModalities"}
        assert server.asked[0].headers["x-server-timeout"] == "10"  # less makes the service fail

    def test_the_last_image_that_is_no_thought_counts(self, server: ScriptedServer):
        draft = base64.b64encode(b"draft").decode()
        parts = [inline(draft), {"text": "Here"}, inline(), inline(draft, thought=True)]
        server.will(Answer(gemini(*parts)))
        assert edited(ask(build("google"), a_request())).image == PICTURE

    @pytest.mark.parametrize("finish", sorted(REFUSALS))
    def test_withheld_by_policy(self, server: ScriptedServer, finish: str):
        server.will(Answer(gemini(finish=finish)))
        outcome = ask(build("google"), a_request())
        assert isinstance(outcome, Refused)
        assert outcome.reason == finish
        assert outcome.served_version == "paint-1-served"

    @pytest.mark.parametrize("block", ["SAFETY", "OTHER", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "JAILBREAK"])
    def test_a_blocked_prompt(self, server: ScriptedServer, block: str):
        server.will(Answer({"promptFeedback": {"blockReason": block}}))
        assert isinstance(ask(build("google"), a_request()), Refused)

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (gemini({"text": "I would rather talk"}), "text_only: I would rather talk"),
            (gemini(inline(thought=True)), "empty_answer"),
            (gemini(finish="NO_IMAGE"), "NO_IMAGE"),
            (gemini(finish="IMAGE_OTHER"), "IMAGE_OTHER"),
            (gemini(finish="OTHER"), "OTHER"),
            (gemini(finish="MALFORMED_RESPONSE"), "MALFORMED_RESPONSE"),
            ({"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}, "MAX_TOKENS"),
            ({"candidates": []}, "empty_answer"),
            ({}, "empty_answer"),
            (b"", "empty_answer"),
        ],
    )
    def test_an_answer_without_an_image(self, server: ScriptedServer, answer: Any, reason: str):
        server.will(Answer(answer))
        outcome = ask(build("google"), a_request())
        assert isinstance(outcome, NoImage)
        assert outcome.reason == reason

    @pytest.mark.parametrize(
        ("answer", "kind", "code"),
        [
            (Answer(b'{"candidates": [{"con'), AmbiguousError, "JSONDecodeError"),
            (Answer(b"<html>busy</html>", headers={"content-type": "text/html"}), AmbiguousError, None),
            (Answer(gemini(inline("AAAA"))), AmbiguousError, "not_an_image"),
            (Answer(gemini(inline(""))), AmbiguousError, "empty"),
            (Answer(gemini(inline(base64.b64encode(PICTURE[:900]).decode()))), AmbiguousError, "truncated"),
            (Answer(gemini(finish="PUP_LIMITED_DISABLED")), FatalError, "PUP_LIMITED_DISABLED"),
            (rpc_error(400, "INVALID_ARGUMENT"), FatalError, "INVALID_ARGUMENT"),
            (rpc_error(401, "UNAUTHENTICATED"), FatalError, "UNAUTHENTICATED"),
            (rpc_error(403, "PERMISSION_DENIED"), FatalError, "PERMISSION_DENIED"),
            (rpc_error(404, "NOT_FOUND"), FatalError, "NOT_FOUND"),
            (Answer(b"I am a teapot", 418), FatalError, None),
            (rpc_error(408, "DEADLINE"), TransientError, "DEADLINE"),
            (rpc_error(499, "CANCELLED"), TransientError, "CANCELLED"),
            (rpc_error(500, "INTERNAL"), TransientError, "INTERNAL"),
            (rpc_error(503, "UNAVAILABLE"), TransientError, "UNAVAILABLE"),
            (rpc_error(504, "DEADLINE_EXCEEDED"), TransientError, "DEADLINE_EXCEEDED"),
            (Answer(b"<html>odd</html>", 529), TransientError, None),
            (
                rpc_error(429, "RESOURCE_EXHAUSTED", "no", quota("GenerateRequestsPerDayPerProject")),
                QuotaError,
                "RESOURCE_EXHAUSTED",
            ),
            (
                rpc_error(429, "RESOURCE_EXHAUSTED", "please check your plan and billing details"),
                QuotaError,
                None,
            ),
            (rpc_error(429, "RESOURCE_EXHAUSTED", "no", quota("PerMinute")), TransientError, None),
        ],
    )
    def test_the_kind_of_an_error(
        self, server: ScriptedServer, answer: Answer, kind: type[ProviderError], code: str | None
    ):
        server.will(answer)
        error = failure(kind, "google", lambda: ask(build("google"), a_request()))
        assert code is None or error.code == code
        assert len(server.asked) == 1

    def test_an_answer_to_be_continued_is_not_followed_up(self, server: ScriptedServer):
        whole = gemini(finish="CONTINUATION")
        whole["candidates"][0]["continuationToken"] = "AAAA"
        server.will(Answer(whole), Answer(gemini(inline())))
        outcome = ask(build("google"), a_request())
        assert isinstance(outcome, NoImage)
        assert outcome.reason == "CONTINUATION"
        assert len(server.asked) == 1

    def test_the_wait_is_read_from_the_body_or_the_header(self, server: ScriptedServer):
        delay = {"@type": f"{RPC}.RetryInfo", "retryDelay": "37s"}
        server.will(rpc_error(429, "RESOURCE_EXHAUSTED", "no", delay))
        assert (
            failure(TransientError, "google", lambda: ask(build("google"), a_request())).retry_after_s == 37
        )
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=90))
        server.will(Answer({"error": {"code": 503}}, 503, {"retry-after": date}))
        waits = failure(TransientError, "google", lambda: ask(build("google"), a_request())).retry_after_s
        assert waits is not None
        assert 80 < waits <= 90

    def test_a_quoted_key_is_left_out(self, server: ScriptedServer):
        server.will(rpc_error(400, "INVALID_ARGUMENT", f"key {SECRET} data:image/png;base64,{IMAGE} bad"))
        error = _without_cause(server)
        assert str(error).count("…") >= 2
        assert IMAGE[:40] not in str(error)


def _without_cause(server: ScriptedServer) -> ProviderError:
    """What a service quotes stays in the cause, which is the SDK's; ours must not repeat it."""
    with pytest.raises(FatalError) as caught:
        ask(build("google"), a_request())
    assert SECRET not in str(caught.value)
    return caught.value
