"""What each form of answer of fal means; the forms are those of its documentation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from builders import encoded, noise
from fakes.provider_calls import PICTURE, SECRET, a_request, build, edited, failure
from fakes.scripted_server import Answer, ScriptedServer
from pydantic import ValidationError

from adapters.providers.mime import data_uri
from domain.edits import NoImage, Refused, Ticket
from domain.errors import (
    AmbiguousError,
    DefinitionError,
    FatalError,
    ProviderError,
    QuotaError,
    TransientError,
)

SINCE = datetime(2026, 11, 30, 12, 0, 0, 900, tzinfo=UTC)
TICKET = Ticket(provider_id="job-1")
DONE = Answer({"status": "COMPLETED", "logs": None, "metrics": {}})
FILE = Answer(PICTURE, headers={"content-type": "image/png"})


def model_error(name: str, status: int = 422, **headers: str) -> Answer:
    detail = {"loc": ["body", "prompt"], "msg": f"because {name}", "type": name, "input": data_uri(PICTURE)}
    return Answer({"detail": [detail]}, status, headers)


def queue_error(name: str, status: int) -> Answer:
    return Answer({"detail": "It did not work", "error_type": name}, status, {"x-fal-error-type": name})


class TestFal:
    def test_what_is_sent_and_polled(self, server: ScriptedServer):
        image = {"url": f"{server.url}/file", "content_type": "image/png", "width": 48, "height": 40}
        server.will(
            Answer({"request_id": "job-1", "status": "IN_QUEUE"}),
            Answer({"status": "IN_QUEUE", "queue_position": 2}, 202),
            Answer({"status": "IN_PROGRESS"}, 202),
            DONE,
            Answer({"image": image, "seed": 11}),
            FILE,
        )
        settings = {
            "arguments": {"guidance_scale": 0.5},
            "image_field": "image_urls",
            "image_is_list": True,
            "size_field": "image_size",
            "result_field": "image",
        }
        editor = build("fal", settings=settings)
        ticket = editor.submit(a_request("Add a hat"))
        assert ticket == TICKET
        outcome = edited(editor.collect(ticket))
        assert outcome.image == PICTURE
        assert outcome.served_version == "acme/paint/edit"
        submit, *polls, result, file = server.asked
        assert (submit.method, submit.path) == ("POST", "/queue/acme/paint/edit")
        assert submit.headers["authorization"] == f"Key {SECRET}"
        assert submit.headers["x-fal-no-retry"] == submit.headers["x-fal-disable-fallbacks"] == "1"
        assert submit.json() == {
            "guidance_scale": 0.5,
            "prompt": "Add a hat",
            "seed": 11,
            "image_urls": [data_uri(PICTURE)],
            "image_size": {"width": 48, "height": 40},
        }
        assert {poll.path for poll in polls} == {"/queue/acme/paint/requests/job-1/status"}
        assert result.path == "/queue/acme/paint/requests/job-1"
        assert "authorization" not in file.headers

    def test_no_seed_where_the_model_takes_none(self, server: ScriptedServer):
        server.will(Answer({"request_id": "job-1"}))
        build("fal", seed_support=False).submit(a_request())
        assert "seed" not in server.asked[0].json()

    @pytest.mark.parametrize(
        "result",
        [
            model_error("content_policy_violation"),
            Answer({"images": [{"url": "x"}], "has_nsfw_concepts": [True]}),
        ],
    )
    def test_refusals(self, server: ScriptedServer, result: Answer):
        server.will(DONE, result)
        assert isinstance(build("fal").collect(TICKET), Refused)

    @pytest.mark.parametrize(
        "result",
        [
            model_error("no_media_generated"),
            Answer({"images": []}),
            Answer({}),
            Answer({"images": [{"url": None}]}),
        ],
    )
    def test_results_without_an_image(self, server: ScriptedServer, result: Answer):
        server.will(DONE, result)
        assert isinstance(build("fal").collect(TICKET), NoImage)

    @pytest.mark.parametrize(
        ("result", "kind", "job_over"),
        [
            (model_error("internal_server_error", 500), TransientError, True),
            (model_error("generation_timeout", 504), TransientError, True),
            (model_error("downstream_service_error", 400), TransientError, True),
            (model_error("file_download_error"), TransientError, True),
            (model_error("odd", 422, **{"x-fal-retryable": "true"}), TransientError, True),
            (model_error("missing"), FatalError, False),
            (model_error("unsupported_image_format"), FatalError, False),
            (queue_error("request_timeout", 504), TransientError, True),
            (queue_error("runner_disconnected", 503), TransientError, True),
            (queue_error("client_cancelled", 499), TransientError, True),
            (queue_error("bad_request", 400), FatalError, False),
            (Answer({"detail": "Request not found"}, 404), AmbiguousError, True),
            (Answer(b"<html>nginx</html>", 502), TransientError, False),
            (Answer({"detail": "slow down"}, 429, {"retry-after": "3"}), TransientError, False),
            (Answer({"detail": "slow down"}, 429, {"x-fal-request-id": "r-1"}), TransientError, False),
            (Answer({"detail": "bad gateway"}, 502, {"x-fal-request-id": "r-1"}), TransientError, False),
            (Answer({}, fault="drop"), TransientError, False),
            (Answer(b"{", 200), TransientError, False),
            (Answer(b"[]", 200), TransientError, False),
        ],
    )
    def test_how_a_job_can_fail(
        self, server: ScriptedServer, result: Answer, kind: type[ProviderError], job_over: bool
    ):
        server.will(DONE, result)
        error = failure(kind, "fal", lambda: build("fal").collect(TICKET))
        assert error.job_over is job_over
        assert len(server.asked) == 2

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (Answer({"detail": "Cannot access application"}, 401), FatalError),
            (Answer({"detail": "No balance"}, 402), QuotaError),
            (Answer({"detail": "User is locked. Reason: Exhausted balance."}, 403), QuotaError),
            (Answer({"detail": "Not for you"}, 403), FatalError),
            (Answer({"detail": "Application not found"}, 404), FatalError),
            (model_error("greater_than"), FatalError),
            (Answer(b"teapot", 418), FatalError),
            (Answer({"detail": "busy"}, 429), TransientError),
            (Answer(b"odd", 529), TransientError),
            (Answer({"status": "IN_QUEUE"}), AmbiguousError),
            (Answer(b'{"request_id"'), AmbiguousError),
            (Answer(b"{}", fault="cut"), AmbiguousError),
        ],
    )
    def test_how_a_submit_can_fail(self, server: ScriptedServer, answer: Answer, kind: type[ProviderError]):
        server.will(answer)
        failure(kind, "fal", lambda: build("fal").submit(a_request()))
        assert len(server.asked) == 1

    def test_a_failing_poll_keeps_the_ticket_and_is_not_repeated(self, server: ScriptedServer):
        server.will(Answer(b"<html>nginx</html>", 503), DONE)
        assert not failure(TransientError, "fal", lambda: build("fal").collect(TICKET)).job_over
        assert len(server.asked) == 1

    def test_an_expired_file_is_gone(self, server: ScriptedServer):
        server.will(DONE, Answer({"images": [{"url": f"{server.url}/file"}]}), Answer({}, 404))
        assert failure(AmbiguousError, "fal", lambda: build("fal").collect(TICKET)).job_over

    def test_a_file_without_end_is_given_up(self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("adapters.providers.downloads.MAX_BYTES", 1000)
        server.will(DONE, Answer({"images": [{"url": f"{server.url}/file"}]}), FILE)
        error = failure(AmbiguousError, "fal", lambda: build("fal").collect(TICKET))
        assert (error.code, error.job_over) == ("too_large", True)

    def test_history_is_read_page_by_page(self, server: ScriptedServer):
        def item(number: int, image: str, **fields: Any) -> dict[str, Any]:
            asked = {"prompt": "Add a red hat", "seed": 11, "num_inference_steps": 30, "image_url": image}
            return {
                "request_id": f"job-{number}",
                "endpoint_id": "acme/paint/edit",
                "sent_at": "2026-11-30T12:00:00Z",
                "json_input": asked | {"acceleration": "none"},
            } | fields

        other, ours = f"{server.url}/other.png", f"{server.url}/ours.png"
        early = item(9, data_uri(PICTURE), sent_at="2026-11-30T11:59:59Z")
        server.will(
            Answer({"items": [early, item(3, other)], "has_more": True, "next_cursor": "Mg=="}),
            Answer(encoded(noise(8, 8))),
            Answer({"items": [item(2, f"{server.url}/gone.png"), item(1, ours)], "has_more": False}),
            Answer({}, 404),
            FILE,
        )
        assert build("fal").find(a_request(), SINCE) == TICKET
        paths = [asked.path for asked in server.asked]
        assert paths[0].startswith(
            "/platform/v1/models/requests/by-endpoint?endpoint_id=acme%2Fpaint%2Fedit&"
        )
        assert "start=2026-11-30T12%3A00%3A00%2B00%3A00" in paths[0]
        assert "cursor=Mg%3D%3D" in paths[2]

    def test_a_key_that_may_not_see_the_history_finds_nothing(self, server: ScriptedServer):
        server.will(Answer({"detail": "Admin scope required"}, 403))
        assert build("fal").find(a_request(), SINCE) is None

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"prompt": "x"}, "must not hold prompt"),
            ({"image_url": "x"}, "must not hold image_url"),
            ({"seed": 4}, "must not hold seed"),
            ({"sync_mode": True}, "sync_mode must not be true"),
        ],
    )
    def test_arguments_that_are_ours_to_fill_in(
        self, server: ScriptedServer, arguments: dict[str, Any], text: str
    ):
        with pytest.raises(ValidationError, match=text):
            build("fal", settings={"arguments": arguments, "image_field": "image_url"})

    @pytest.mark.parametrize("provider", ["fal", "replicate"])
    def test_an_endpoint_of_the_wrong_form(self, server: ScriptedServer, provider: str):
        with pytest.raises(DefinitionError, match="owner/name"):
            build(provider, endpoint="paint")
