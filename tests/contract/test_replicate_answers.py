"""What each form of answer of Replicate means; the forms are those of its documentation."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from fakes.provider_calls import PICTURE, SECRET, a_request, build, edited, failure
from fakes.scripted_server import Answer, ScriptedServer

from adapters.providers.mime import data_uri
from domain.edits import NoImage, Refused, Ticket
from domain.errors import AmbiguousError, FatalError, ProviderError, QuotaError, TransientError

SINCE = datetime(2026, 11, 30, 12, 0, 0, 900, tzinfo=UTC)
TICKET = Ticket(provider_id="job-1")
FILE = Answer(PICTURE, headers={"content-type": "image/png"})


def prediction(status: str, **fields: Any) -> Answer:
    base = {"id": "job-1", "model": "acme/paint", "version": "hidden", "output": None, "error": None}
    return Answer({**base, "status": status, **fields})


class TestReplicate:
    def test_what_is_sent_and_polled(self, server: ScriptedServer):
        server.will(
            prediction("starting"),
            prediction("starting"),
            prediction("processing"),
            prediction("succeeded", output=[f"{server.url}/file"], metrics={"predict_time": 3.1}),
            FILE,
        )
        editor = build("replicate")
        ticket = editor.submit(a_request("Add a hat"))
        outcome = edited(editor.collect(ticket))
        assert (ticket, outcome.image, outcome.served_version) == (TICKET, PICTURE, "acme/paint")
        assert outcome.details["metrics"] == {"predict_time": 3.1}
        submit, *polls, file = server.asked
        assert (submit.method, submit.path) == ("POST", "/v1/models/acme/paint/predictions")
        assert submit.headers["authorization"] == f"Bearer {SECRET}"
        expected = {"go_fast": False, "prompt": "Add a hat", "seed": 11, "input_image": data_uri(PICTURE)}
        assert submit.json() == {"input": expected}
        assert {poll.path for poll in polls} == {"/v1/predictions/job-1"}
        assert "authorization" not in file.headers

    def test_a_pinned_version(self, server: ScriptedServer):
        server.will(prediction("starting"), prediction("succeeded", version="abc", output=data_uri(PICTURE)))
        editor = build("replicate", endpoint="acme/paint:abc")
        outcome = edited(editor.collect(editor.submit(a_request())))
        assert (outcome.image, outcome.served_version) == (PICTURE, "abc")
        assert server.asked[0].path == "/v1/predictions"
        assert server.asked[0].json()["version"] == "abc"

    @pytest.mark.parametrize(
        "error", ["The input or output was flagged as sensitive. (E005)", "NSFW content detected", "safety"]
    )
    def test_refusals(self, server: ScriptedServer, error: str):
        server.will(prediction("failed", error=error))
        outcome = build("replicate").collect(TICKET)
        assert isinstance(outcome, Refused)
        assert error in outcome.reason

    @pytest.mark.parametrize("output", [None, [], [None], ""])
    def test_an_output_without_an_image(self, server: ScriptedServer, output: object):
        server.will(prediction("succeeded", output=output))
        assert isinstance(build("replicate").collect(TICKET), NoImage)

    @pytest.mark.parametrize(
        ("answer", "kind", "job_over"),
        [
            (prediction("failed", error="Service is at high demand (E003)"), TransientError, True),
            (prediction("failed", error=None), TransientError, True),
            (prediction("canceled"), TransientError, True),
            (prediction("aborted"), TransientError, True),
            (prediction("succeeded", data_removed=True), AmbiguousError, True),
            (Answer({"title": "Not found", "status": 404}, 404), AmbiguousError, True),
            (Answer({"detail": "slow"}, 429, {"retry-after": "4"}), TransientError, False),
            (Answer(b"<html>", 503), TransientError, False),
            (Answer({"detail": "no"}, 401), FatalError, False),
            (Answer({}, fault="drop"), TransientError, False),
            (Answer(b"{"), TransientError, False),
        ],
    )
    def test_how_a_prediction_can_fail(
        self, server: ScriptedServer, answer: Answer, kind: type[ProviderError], job_over: bool
    ):
        server.will(answer)
        error = failure(kind, "replicate", lambda: build("replicate").collect(TICKET))
        assert error.job_over is job_over
        assert len(server.asked) == 1

    @pytest.mark.parametrize(
        ("answer", "kind", "wait_s"),
        [
            (Answer({"title": "Unauthenticated"}, 401), FatalError, None),
            (Answer({"title": "Insufficient credit"}, 402), QuotaError, None),
            (Answer({"title": "Forbidden"}, 403), FatalError, None),
            (Answer({"title": "Not found"}, 404), FatalError, None),
            (Answer({"detail": "- input.prompt is required"}, 422), FatalError, None),
            (Answer(b"teapot", 418), FatalError, None),
            (Answer({"detail": "throttled", "retry_after": 9}, 429), TransientError, 9),
            (Answer({"detail": "throttled"}, 429, {"retry-after": "8"}), TransientError, 8),
            (Answer(b"odd", 529), TransientError, None),
            (Answer({"status": "starting"}), AmbiguousError, None),
            (Answer(b"<html>"), AmbiguousError, None),
            (Answer(b"{}", fault="cut"), AmbiguousError, None),
        ],
    )
    def test_how_a_submit_can_fail(
        self, server: ScriptedServer, answer: Answer, kind: type[ProviderError], wait_s: float | None
    ):
        server.will(answer)
        error = failure(kind, "replicate", lambda: build("replicate").submit(a_request()))
        assert error.retry_after_s == wait_s
        assert len(server.asked) == 1

    def test_history_is_read_until_it_is_too_old(self, server: ScriptedServer):
        def item(number: int, created_at: str = "2026-11-30T12:00:00.5Z", **fields: Any) -> dict[str, Any]:
            asked = {
                "prompt": "Add a red hat",
                "seed": 11,
                "go_fast": False,
                "input_image": data_uri(PICTURE),
            }
            base = {"id": f"job-{number}", "model": "acme/paint", "version": "hidden", "status": "aborted"}
            return {**base, "created_at": created_at, "input": asked} | fields

        older = item(1, "2026-11-30T11:59:59Z")
        pages = [[item(4, model="acme/draw"), item(3, input=None)], [item(2), older]]
        following = f"{server.url}/v1/predictions?cursor=abc"
        server.will(
            Answer({"results": pages[0], "next": following}), Answer({"results": pages[1], "next": following})
        )
        assert build("replicate").find(a_request(), SINCE) == Ticket(provider_id="job-2")
        server.will(Answer({"results": [older], "next": following}))
        assert build("replicate").find(a_request(), SINCE) is None
        server.will(Answer({"detail": "no"}, 403))
        assert build("replicate").find(a_request(), SINCE) is None
