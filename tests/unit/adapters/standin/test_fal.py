"""The protocol of fal: the queue and how jobs end."""

from __future__ import annotations

from typing import Any

import pytest
from unit.adapters.standin.place import JPEG, PNG, Place, Start, data_url, decode, inverted

ENDPOINT = "fal-ai/flux-pro/kontext"
HISTORY = "/fal/platform/v1/models/requests/by-endpoint"


def test_a_job_from_submit_to_picture(standin: Place):
    submitted = standin.fal(seed=42, guidance_scale=3.5)
    assert submitted.status_code == 200
    job = submitted.json()
    base = f"{standin.url}/fal/queue/fal-ai/flux-pro/requests/{job['request_id']}"
    assert job == {
        "status": "IN_QUEUE",
        "request_id": job["request_id"],
        "queue_position": 0,
        "response_url": base,
        "status_url": f"{base}/status",
        "cancel_url": f"{base}/cancel",
    }
    result = standin.fal_result(submitted)
    assert result.status_code == 200
    assert result.headers["x-fal-request-id"] == job["request_id"]
    body = result.json()
    [image] = body["images"]
    assert (body["seed"], body["prompt"], body["has_nsfw_concepts"]) == (42, "smile", [False])
    assert (image["width"], image["height"], image["content_type"]) == (48, 32, "image/png")
    assert image["file_size"] == len(inverted(PNG))
    assert image["url"].startswith(f"{standin.url}/fal/cdn/files/")
    downloaded = standin.get(image["url"])
    assert (downloaded.content, downloaded.headers["content-type"]) == (inverted(PNG), "image/png")
    [request] = standin.editor.requests
    assert (request.model, request.prompt, request.seed, request.image) == (ENDPOINT, "smile", 42, PNG)
    counts = standin.counts("fal")
    assert (counts["posts"], counts["accepted"], counts["images"], counts["downloads"]) == (1, 1, 1, 1)


def test_the_states_of_a_job(start: Start):
    with start(latency_s=(1, 1)) as standin:
        job = standin.fal().json()
        standin.wait(lambda: standin.get(job["status_url"]).json()["status"] == "IN_PROGRESS")
        early = standin.get(job["status_url"], params={"logs": "true"})
        assert (early.status_code, early.json()["logs"]) == (202, [])
        assert standin.get(job["response_url"]).status_code == 400
        standin.wait(lambda: standin.get(job["status_url"]).status_code == 200)
        done = standin.get(job["status_url"]).json()
        assert (done["status"], done["logs"]) == ("COMPLETED", None)
        assert done["metrics"]["inference_time"] > 0.5


def test_jobs_wait_in_the_queue(start: Start):
    with start(slow_s=0.3) as standin:
        jobs = [standin.fal(f"number {n}").json() for n in range(4)]
        status = standin.get(jobs[-1]["status_url"])
        assert (status.status_code, status.json()["status"]) == (202, "IN_QUEUE")


@pytest.mark.parametrize("urls", ["image_urls", "reference_image_urls"])
def test_a_list_of_pictures(standin: Place, urls: str):
    body = {"prompt": "smile", urls: [data_url(JPEG, "image/jpeg")], "image_size": {"width": 8, "height": 8}}
    submitted = standin.client.post("/fal/queue/fal-ai/qwen-image-edit-2511", json=body)
    assert standin.fal_file(submitted).content == inverted(JPEG)
    [call] = standin.get("/standin/calls").json()["calls"]
    assert call["settings"] == {"image_size": {"width": 8, "height": 8}}


def test_an_endpoint_with_one_image(standin: Place):
    body = standin.fal_result(standin.fal(endpoint="fal-ai/bytedance/seededit/v3/edit-image")).json()
    assert "images" not in body
    assert standin.get(body["image"]["url"]).content == inverted(PNG)


def test_an_endpoint_without_a_safety_checker(standin: Place):
    body = standin.fal_result(standin.fal(endpoint="fal-ai/nano-banana/edit")).json()
    assert set(body) == {"images", "description"}


def test_sync_mode_gives_the_picture_itself(standin: Place):
    [image] = standin.fal_result(standin.fal(sync_mode=True)).json()["images"]
    assert image["url"] == data_url(inverted(PNG))


def test_the_format_that_was_asked_for(standin: Place):
    [image] = standin.fal_result(standin.fal(output_format="jpeg")).json()["images"]
    assert image["content_type"] == "image/jpeg"
    assert decode(standin.get(image["url"]).content).format == "JPEG"


def test_a_picture_that_does_not_decode(standin: Place):
    result = standin.fal_result(standin.fal(image_url=data_url(PNG[:60])))
    assert result.json()["detail"][0]["type"] == "image_load_error"
    assert standin.counts("fal")["failed"] == 1


def test_a_bug_in_the_editor_ends_its_job_only(standin: Place):
    result = standin.fal_result(standin.fal("crash"))
    assert result.status_code == 500
    assert result.headers["x-fal-retryable"] == "true"
    assert result.json()["detail"][0]["type"] == "internal_server_error"
    assert standin.fal_result(standin.fal()).status_code == 200


def test_cancelling(start: Start):
    with start(latency_s=(30, 30)) as standin:
        job = standin.fal().json()
        cancelled = standin.client.put(job["cancel_url"])
        assert (cancelled.status_code, cancelled.json()) == (202, {"status": "CANCELLATION_REQUESTED"})
        assert standin.get(job["status_url"]).json()["error_type"] == "client_cancelled"
        result = standin.get(job["response_url"])
        assert (result.status_code, result.headers["x-fal-error-type"]) == (499, "client_cancelled")
        again = standin.client.put(job["cancel_url"])
        assert (again.status_code, again.json()) == (400, {"status": "ALREADY_COMPLETED"})
        unknown = standin.client.put("/fal/queue/fal-ai/flux-pro/requests/none/cancel")
        assert (unknown.status_code, unknown.json()) == (404, {"status": "NOT_FOUND"})
        assert standin.counts("fal")["cancels"] == 1


def test_a_job_is_found_under_its_own_application_only(standin: Place):
    job = standin.fal().json()
    assert standin.get(f"/fal/queue/fal-ai/other/requests/{job['request_id']}/status").status_code == 404
    workflow = standin.fal(endpoint="workflows/acme/paint/edit").json()
    assert workflow["status_url"].startswith(f"{standin.url}/fal/queue/workflows/acme/paint/requests/")


@pytest.mark.parametrize(
    ("fault", "status", "body", "headers"),
    [
        ("rate_limited", 429, {"detail": "Rate limit exceeded"}, {"retry-after": "7"}),
        (
            "server_error",
            500,
            {"detail": "Internal Server Error", "error_type": "internal_error"},
            {"x-fal-error-type": "internal_error"},
        ),
        ("quota", 403, None, {}),
    ],
)
def test_calls_that_are_turned_away(
    standin: Place, fault: str, status: int, body: Any, headers: dict[str, str]
):
    standin.script(fault)
    answer = standin.fal()
    assert answer.status_code == status
    assert body is None or answer.json() == body
    assert {name: answer.headers[name] for name in headers} == headers
    if fault == "quota":
        assert "Exhausted balance" in answer.json()["detail"]
    counts = standin.counts("fal")
    assert (counts["accepted"], counts["posts"]) == (0, 1)


def test_a_wrong_key(start: Start):
    with start(required_key="id:secret") as standin:
        submitted = standin.fal()
        assert submitted.status_code == 401
        assert "Authentication is required" in submitted.json()["detail"]
        assert standin.get(HISTORY, params={"endpoint_id": ENDPOINT}).status_code == 401
        status = "/fal/queue/fal-ai/flux-pro/requests/00000000-0000-0000-0000-000000000000/status"
        assert standin.get(status).status_code == 401
        assert standin.get(status, headers={"authorization": "Key id:secret"}).status_code == 404
        counts = standin.counts("fal")
        assert (counts["bad_key"], counts["lookups"]) == (3, 1)


def test_an_endpoint_that_is_gone(standin: Place):
    assert standin.fal(endpoint="acme/gone/edit").status_code == 404
    path = "/fal/platform/v1/models"
    assert standin.get(path, params={"endpoint_id": "acme/gone/edit"}).status_code == 404
    [model] = standin.get(path, params={"endpoint_id": ENDPOINT}).json()["models"]
    assert (model["endpoint_id"], model["metadata"]["status"]) == (ENDPOINT, "active")


def test_what_is_no_json_is_a_bad_request(standin: Place):
    answer = standin.client.post(f"/fal/queue/{ENDPOINT}", content=b"no json")
    assert (answer.status_code, answer.json()["error_type"]) == (400, "bad_request")


def test_both_forms_of_refusal(standin: Place):
    standin.script({"fault": "refused", "form": 0}, {"fault": "refused", "form": 1})
    error, hidden = standin.fal_result(standin.fal()), standin.fal_result(standin.fal())
    assert (error.status_code, error.headers["x-fal-retryable"]) == (422, "false")
    assert error.json()["detail"][0]["type"] == "content_policy_violation"
    assert error.json()["detail"][0]["loc"] == ["body", "prompt"]
    assert (hidden.status_code, hidden.json()["has_nsfw_concepts"]) == (200, [True])
    picture = decode(standin.get(hidden.json()["images"][0]["url"]).content)
    assert (picture.size, picture.getextrema()) == ((48, 32), ((0, 0),) * 3)
    counts = standin.counts("fal")
    assert (counts["refused"], counts["answered"], counts["accepted"]) == (2, 2, 2)


def test_no_image(standin: Place):
    standin.script("no_image")
    for prompt in ("smile", "say nothing"):
        result = standin.fal_result(standin.fal(prompt))
        assert result.status_code == 422
        assert result.json()["detail"][0]["type"] == "no_media_generated"
    assert standin.counts("fal")["no_image"] == 2


def test_a_stuck_job(start: Start):
    with start(hang_s=1.5) as standin:
        standin.script("stuck")
        submitted = standin.fal()
        standin.wait(lambda: standin.counts("fal")["images"] == 1)
        assert standin.get(submitted.json()["status_url"]).json()["status"] == "IN_PROGRESS"
        assert standin.fal_result(submitted).status_code == 200
        assert standin.counts("fal")["stuck"] == 1


def test_others_are_answered_while_edits_are_made(start: Start):
    with start(slow_s=1) as standin:
        jobs = [standin.fal(f"number {n}").json() for n in range(4)]
        assert standin.get(jobs[3]["status_url"]).elapsed.total_seconds() < 0.9
        assert standin.counts("fal")["answered"] == 0
