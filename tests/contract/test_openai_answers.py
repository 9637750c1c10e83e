"""What each form of answer of OpenAI means; the forms are those of its documentation."""

from __future__ import annotations

import base64

import pytest
from fakes.provider_calls import PICTURE, SECRET, a_request, ask, build, edited, failure
from fakes.scripted_server import Answer, ScriptedServer

from domain.edits import NoImage, Refused
from domain.errors import AmbiguousError, FatalError, ProviderError, QuotaError, TransientError

IMAGE = base64.b64encode(PICTURE).decode()


def openai_error(status: int, code: str | None, message: str = "no", kind: str = "error") -> Answer:
    return Answer({"error": {"message": message, "type": kind, "param": None, "code": code}}, status)


class TestOpenAI:
    def test_what_is_sent(self, server: ScriptedServer):
        usage = {
            "input_tokens": 1,
            "input_tokens_details": {"image_tokens": 1, "text_tokens": 0},
            "output_tokens": 2,
            "total_tokens": 3,
        }
        server.will(
            Answer(
                {"created": 1, "data": [{"b64_json": IMAGE}], "output_format": "png", "usage": usage},
                headers={"x-request-id": "req_1"},
            )
        )
        settings = {"quality": "high", "size": "1248x832", "input_fidelity": "high"}
        outcome = edited(ask(build("openai", settings=settings), a_request("Add a hat")))
        assert outcome.image == PICTURE
        assert outcome.details["request_id"] == "req_1"
        assert outcome.details["usage"]["total_tokens"] == 3
        (asked,) = server.asked
        assert asked.path == "/images/edits"
        assert asked.headers["authorization"] == f"Bearer {SECRET}"
        for field, value in (
            ("prompt", b"Add a hat"),
            ("size", b"1248x832"),
            ("quality", b"high"),
            ("n", b"1"),
        ):
            assert b'name="%b"\r\n\r\n%b\r\n' % (field.encode(), value) in asked.body
        assert b"Content-Type: image/png\r\n\r\n" + PICTURE in asked.body
        assert b"seed" not in asked.body.replace(PICTURE, b"")

    def test_moderation_goes_as_json(self, server: ScriptedServer):
        server.will(Answer({"created": 1, "data": [{"b64_json": IMAGE}]}))
        ask(build("openai", settings={"moderation": "low"}), a_request())
        body = server.asked[0].json()
        assert (body["moderation"], body["n"]) == ("low", 1)
        assert body["images"] == [{"image_url": f"data:image/png;base64,{IMAGE}"}]

    @pytest.mark.parametrize(
        "answer",
        [
            openai_error(400, "moderation_blocked"),
            openai_error(400, None, "Your request was rejected by the safety system."),
        ],
    )
    def test_refusals(self, server: ScriptedServer, answer: Answer):
        server.will(answer)
        assert isinstance(ask(build("openai"), a_request()), Refused)

    @pytest.mark.parametrize("data", [[], None])
    def test_an_empty_list_of_images(self, server: ScriptedServer, data: object):
        server.will(Answer({"created": 1, "data": data}))
        assert isinstance(ask(build("openai"), a_request()), NoImage)

    @pytest.mark.parametrize(
        ("answer", "kind", "code"),
        [
            (Answer(b'{"created": 1, "da'), AmbiguousError, "JSONDecodeError"),
            (Answer(b"<html>", headers={"content-type": "text/html"}), AmbiguousError, "not_json"),
            (Answer({"created": 1, "data": [{"b64_json": "&&"}]}), AmbiguousError, "bad_base64"),
            (Answer({"created": 1, "data": [{"b64_json": ""}]}), AmbiguousError, "empty"),
            (Answer({"created": 1, "data": [{"url": "https://x"}]}), AmbiguousError, "empty"),
            (Answer(b"{}", fault="cut"), AmbiguousError, None),
            (openai_error(429, "insufficient_quota"), QuotaError, "insufficient_quota"),
            (openai_error(400, "billing_hard_limit_reached"), QuotaError, "billing_hard_limit_reached"),
            (openai_error(429, "rate_limit_exceeded"), TransientError, "rate_limit_exceeded"),
            (openai_error(408, None), TransientError, None),
            (openai_error(409, None), TransientError, None),
            (openai_error(500, None, kind="server_error"), TransientError, "server_error"),
            (Answer(b"<html>", 529), TransientError, "529"),
            (openai_error(401, "invalid_api_key", f"Incorrect: {SECRET}"), FatalError, "invalid_api_key"),
            (openai_error(403, "unsupported_country"), FatalError, "unsupported_country"),
            (openai_error(404, "model_not_found"), FatalError, "model_not_found"),
            (openai_error(400, "invalid_value"), FatalError, "invalid_value"),
            (openai_error(422, None), FatalError, None),
            (Answer(b"teapot", 418), FatalError, "418"),
        ],
    )
    def test_the_kind_of_an_error(
        self, server: ScriptedServer, answer: Answer, kind: type[ProviderError], code: str | None
    ):
        server.will(answer)
        with pytest.raises(ProviderError) as caught:
            ask(build("openai"), a_request())
        assert type(caught.value) is kind
        assert SECRET not in str(caught.value)
        assert code is None or caught.value.code == code
        assert len(server.asked) == 1

    def test_the_wait_is_read_from_the_header(self, server: ScriptedServer):
        server.will(Answer({"error": {"code": "rate_limit_exceeded"}}, 429, {"retry-after-ms": "1500"}))
        assert (
            failure(TransientError, "openai", lambda: ask(build("openai"), a_request())).retry_after_s == 1.5
        )
