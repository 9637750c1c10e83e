"""The protocol of Replicate: predictions, files and the list."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from unit.adapters.standin.place import PNG, Place, Start, data_url, decode, inverted

LIST = "/replicate/v1/predictions"


def listed(standin: Place, **query: Any) -> dict[str, Any]:
    return standin.get(LIST, params=query).raise_for_status().json()


def test_a_prediction_that_is_waited_for(standin: Place):
    answer = standin.replicate(seed=42, go_fast=False)
    assert answer.status_code == 201
    body = answer.json()
    assert body["status"] == "succeeded"
    assert body["input"] == {"prompt": "smile", "image": data_url(), "seed": 42, "go_fast": False}
    assert (body["model"], body["error"], body["logs"], body["data_removed"]) == (
        "acme/paint",
        None,
        "",
        False,
    )
    assert body["urls"]["get"] == f"{standin.url}{LIST}/{body['id']}"
    assert body["urls"]["cancel"] == f"{standin.url}{LIST}/{body['id']}/cancel"
    assert body["output"].startswith(f"{standin.url}/replicate/delivery/")
    assert standin.get(body["output"]).content == inverted(PNG)
    moments = [datetime.fromisoformat(body[name]) for name in ("created_at", "started_at", "completed_at")]
    assert moments == sorted(moments)
    assert body["metrics"]["predict_time"] >= 0
    [request] = standin.editor.requests
    assert (request.model, request.prompt, request.seed, request.image) == ("acme/paint", "smile", 42, PNG)
    counts = standin.counts("replicate")
    assert (counts["posts"], counts["accepted"], counts["images"], counts["downloads"]) == (1, 1, 1, 1)


def test_a_prediction_that_is_polled(start: Start):
    with start(latency_s=(1, 1)) as standin:
        body = standin.replicate(headers={"Prefer": ""}).json()
        assert body["status"] in ("starting", "processing")
        assert (body["output"], body["completed_at"], body["metrics"]) == (None, None, {})
        standin.wait(lambda: standin.get(body["urls"]["get"]).json()["status"] == "succeeded")
        assert standin.counts("replicate")["polls"] >= 2


def test_waiting_has_an_end(start: Start):
    with start(latency_s=(30, 30)) as standin:
        assert standin.replicate(headers={"Prefer": "wait=1"}).json()["status"] == "processing"


def test_a_prediction_by_version(standin: Place):
    body = {"version": "abc123", "input": {"prompt": "smile", "input_image": data_url()}}
    answer = standin.client.post(LIST, json=body, headers={"Prefer": "wait"})
    assert answer.status_code == 201
    assert standin.get(answer.json()["output"]).content == inverted(PNG)
    assert standin.editor.requests[0].model == "abc123"


@pytest.mark.parametrize("name", ["image", "input_image", "input_images", "image_input", "images"])
def test_every_name_of_the_picture(standin: Place, name: str):
    value = [data_url()] if name.endswith("s") or name == "image_input" else data_url()
    body = {"input": {"prompt": "smile", name: value}}
    path = "/replicate/v1/models/acme/paint/predictions"
    answer = standin.client.post(path, json=body, headers={"Prefer": "wait"})
    assert answer.json()["status"] == "succeeded"
    assert standin.editor.requests[0].image == PNG


def test_a_model_with_a_list_of_outputs(standin: Place):
    [output] = standin.replicate(model="black-forest-labs/flux-dev").json()["output"]
    assert standin.get(output).content == inverted(PNG)


def test_files(standin: Place):
    files = {"content": ("a.png", PNG, "image/png")}
    answer = standin.client.post("/replicate/v1/files", files=files)
    assert answer.status_code == 201
    file = answer.json()
    needed = {
        "id",
        "name",
        "content_type",
        "size",
        "etag",
        "checksums",
        "metadata",
        "created_at",
        "expires_at",
    }
    assert needed | {"urls"} == set(file)
    assert (file["name"], file["content_type"], file["size"]) == ("a.png", "image/png", len(PNG))
    assert standin.get(file["urls"]["get"]).json() == file
    standin.replicate(image=file["urls"]["get"])
    assert standin.editor.requests[0].image == PNG
    assert standin.get("/replicate/v1/files/none").status_code == 404
    assert standin.client.post("/replicate/v1/files", files={"other": b""}).status_code == 400


def test_models_and_the_account_are_looked_up_free(standin: Place):
    assert standin.get("/replicate/v1/account").json()["username"]
    model = standin.get("/replicate/v1/models/acme/paint").json()
    assert (model["owner"], model["name"]) == ("acme", "paint")
    counts = standin.counts("replicate")
    assert (counts["lookups"], counts["posts"]) == (2, 0)


def test_a_model_that_is_gone(standin: Place):
    for answer in (standin.get("/replicate/v1/models/acme/gone"), standin.replicate(model="acme/gone")):
        assert answer.status_code == 404
        assert answer.headers["content-type"] == "application/problem+json"


def test_a_wrong_key(start: Start):
    with start(required_key="r8_right") as standin:
        for answer in (standin.replicate(), standin.get(LIST), standin.get("/replicate/v1/account")):
            assert (answer.status_code, answer.json()["title"]) == (401, "Unauthenticated")
        assert standin.get(LIST, headers={"authorization": "Bearer r8_right"}).status_code == 200


@pytest.mark.parametrize(
    ("fault", "status", "title"),
    [
        ("rate_limited", 429, "Too Many Requests"),
        ("server_error", 500, "Internal Server Error"),
        ("quota", 402, "Insufficient credit"),
    ],
)
def test_calls_that_are_turned_away(standin: Place, fault: str, status: int, title: str):
    standin.script(fault)
    answer = standin.replicate()
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert (answer.status_code, body["status"], body["title"]) == (status, status, title)
    assert answer.headers.get("retry-after") == ("7" if fault == "rate_limited" else None)
    assert body.get("retry_after") == (7 if fault == "rate_limited" else None)
    assert standin.counts("replicate")["accepted"] == 0


@pytest.mark.parametrize("body", [b"no json", b"{}", b'{"input": {}}'])
def test_what_has_no_input_is_a_bad_request(standin: Place, body: bytes):
    path = "/replicate/v1/models/acme/paint/predictions"
    answer = standin.client.post(path, content=body)
    assert (answer.status_code, answer.json()["invalid_fields"]) == (422, [])


@pytest.mark.parametrize("prompt", ["smile", "refuse"])
def test_a_refusal(standin: Place, prompt: str):
    standin.script(*(["refused"] if prompt == "smile" else []))
    body = standin.replicate(prompt).json()
    assert (body["status"], body["output"]) == ("failed", None)
    assert "flagged as sensitive" in body["error"]
    assert "(E005)" in body["error"]
    assert standin.counts("replicate")["refused"] == 1


@pytest.mark.parametrize("prompt", ["smile", "say nothing"])
def test_no_image(standin: Place, prompt: str):
    standin.script(*(["no_image"] if prompt == "smile" else []))
    body = standin.replicate(prompt).json()
    assert (body["status"], body["output"], body["error"]) == ("succeeded", None, None)
    assert standin.counts("replicate")["no_image"] == 1


def test_pictures_that_cannot_be_read_and_bugs(standin: Place):
    assert "(E006)" in standin.replicate(image=data_url(PNG[:60])).json()["error"]
    crashed = standin.replicate("crash").json()
    assert crashed["status"] == "failed"
    assert "E00" not in crashed["error"]


def test_a_cut_picture_is_whole_the_second_time(standin: Place):
    standin.script("truncated")
    url = standin.replicate().json()["output"]
    first, second = standin.get(url).content, standin.get(url).content
    assert (second, first) == (inverted(PNG), inverted(PNG)[: len(first)])
    assert len(first) < len(second)
    assert decode(second).size == (48, 32)


def test_cancelling(start: Start):
    with start(latency_s=(30, 30)) as standin:
        body = standin.replicate(headers={"Prefer": ""}).json()
        cancelled = standin.client.post(body["urls"]["cancel"]).json()
        assert (cancelled["id"], cancelled["status"]) == (body["id"], "canceled")
        assert standin.get(body["urls"]["get"]).json()["status"] == "canceled"
        assert standin.get(f"{LIST}/none").status_code == 404


def test_a_deadline_of_the_clients(start: Start):
    with start(latency_s=(30, 30)) as standin:
        body = standin.replicate(headers={"Prefer": "", "Cancel-After": "0.5s"}).json()
        assert body["status"] != "canceled"
        standin.wait(lambda: standin.get(body["urls"]["get"]).json()["status"] == "canceled")
    with start(slow_s=0.5) as standin:
        bodies = [
            standin.replicate(f"number {n}", headers={"Prefer": "", "Cancel-After": "0.1s"}).json()
            for n in range(4)
        ]
        last = bodies[-1]["urls"]["get"]
        standin.wait(lambda: standin.get(last).json()["status"] == "aborted")
        standin.wait(lambda: standin.counts("replicate")["answered"] == 4)
        assert standin.get(last).json()["status"] == "aborted"


def test_the_list_has_predictions_whose_answer_was_lost(standin: Place):
    standin.script("drop", "hang")
    for _ in range(2):
        with pytest.raises(httpx.RemoteProtocolError):
            standin.replicate(seed=5)
    found = listed(standin)
    assert [item["input"]["seed"] for item in found["results"]] == [5, 5]
    assert found["results"][0]["input"]["image"] == data_url()
    counts = standin.counts("replicate")
    assert (counts["drops"], counts["hangs"], counts["accepted"], counts["posts"]) == (1, 1, 2, 2)
    assert counts["paid_twice"][0]["times"] == 2


def test_the_list_is_newest_first_and_has_pages_of_a_hundred(standin: Place):
    for n in range(103):
        standin.replicate(f"number {n}", headers={"Prefer": ""})
    first = listed(standin)
    assert [item["input"]["prompt"] for item in first["results"]] == [
        f"number {n}" for n in range(102, 2, -1)
    ]
    second = standin.get(first["next"]).json()
    assert [item["input"]["prompt"] for item in second["results"]] == ["number 2", "number 1", "number 0"]
    assert second["next"] is None


def test_the_list_between_two_times(standin: Place):
    standin.replicate()
    now, hour = datetime.now(UTC), timedelta(hours=1)
    assert len(listed(standin, created_after=(now - hour).isoformat())["results"]) == 1
    assert listed(standin, created_after=(now + hour).isoformat())["results"] == []
    assert listed(standin, created_before=(now - hour).isoformat())["results"] == []


def test_polls_go_wrong_by_script(standin: Place):
    url = standin.replicate().json()["urls"]["get"]
    standin.script("rate_limited", "server_error", provider="replicate", kind="poll")
    assert [standin.get(url).status_code for _ in range(3)] == [429, 500, 200]
