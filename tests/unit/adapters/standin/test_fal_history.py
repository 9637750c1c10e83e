"""The protocol of fal: the history of jobs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from unit.adapters.standin.place import Place, Start, data_url

ENDPOINT = "fal-ai/flux-pro/kontext"
HISTORY = "/fal/platform/v1/models/requests/by-endpoint"


def history(standin: Place, **query: Any) -> dict[str, Any]:
    return standin.get(HISTORY, params={"endpoint_id": ENDPOINT, **query}).raise_for_status().json()


def test_the_history_has_jobs_whose_answer_was_lost(standin: Place):
    standin.script("drop")
    with pytest.raises(httpx.RemoteProtocolError, match="disconnected"):
        standin.fal(seed=9)
    standin.wait(lambda: history(standin)["items"])
    [item] = history(standin, expand="payloads")["items"]
    assert item["json_input"] == {"prompt": "smile", "image_url": data_url(), "seed": 9}
    assert (item["endpoint_id"], item["status_code"]) == (ENDPOINT, 200)
    moments = [datetime.fromisoformat(item[name]) for name in ("sent_at", "started_at", "ended_at")]
    assert moments == sorted(moments)
    assert item["duration"] == pytest.approx((moments[2] - moments[1]).total_seconds(), abs=0.001)
    url = f"/fal/queue/fal-ai/flux-pro/requests/{item['request_id']}"
    assert standin.get(url).json()["images"][0]["url"] == item["json_output"]["images"][0]["url"]
    counts = standin.counts("fal")
    assert (counts["drops"], counts["posts"], counts["accepted"]) == (1, 1, 1)


def test_the_history_without_payloads(standin: Place):
    standin.fal_result(standin.fal())
    [item] = history(standin)["items"]
    assert not {"json_input", "json_output"} & set(item)


def test_the_history_has_jobs_that_ended_only(start: Start):
    with start(latency_s=(1, 1)) as standin:
        standin.fal()
        assert history(standin)["items"] == []
        standin.wait(lambda: history(standin)["items"])


def test_the_history_has_refusals(standin: Place):
    standin.script({"fault": "refused", "form": 0})
    standin.fal_result(standin.fal())
    assert history(standin)["items"][0]["status_code"] == 422


def test_the_history_page_by_page(standin: Place):
    jobs = [standin.fal(f"number {n}").json()["request_id"] for n in range(7)]
    standin.fal(endpoint="fal-ai/other")
    standin.wait(lambda: standin.counts("fal")["answered"] == 8)
    pages: list[list[str]] = []
    query: dict[str, Any] = {"limit": 3}
    while True:
        page = history(standin, **query)
        pages.append([item["request_id"] for item in page["items"]])
        if not page["has_more"]:
            break
        query["cursor"] = page["next_cursor"]
    assert page["next_cursor"] is None
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(job for page in pages for job in page) == sorted(jobs)


def test_the_history_between_two_times(standin: Place):
    standin.fal_result(standin.fal())
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    assert len(history(standin, start=(now - hour).isoformat())["items"]) == 1
    assert history(standin, start=(now + hour).isoformat())["items"] == []
    assert history(standin, end=(now - hour).isoformat())["items"] == []
    assert standin.get(HISTORY).status_code == 422
