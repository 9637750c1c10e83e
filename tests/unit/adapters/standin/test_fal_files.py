"""The protocol of fal: uploads and downloads."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest
from unit.adapters.standin.place import PNG, Place, inverted

ENDPOINT = "fal-ai/flux-pro/kontext"
HISTORY = "/fal/platform/v1/models/requests/by-endpoint"


def test_uploads_by_the_clients_first_way(standin: Place):
    path = "/fal/rest/storage/auth/token?storage_type=fal-cdn-v3"
    token = standin.client.post(path, json={}).json()
    assert token["token_type"] == "Bearer"
    assert datetime.fromisoformat(token["expires_at"]) > datetime.now(UTC)
    headers = {
        "authorization": f"Bearer {token['token']}",
        "content-type": "image/png",
        "x-fal-file-name": "a face.png",
    }
    uploaded = standin.client.post("/fal/cdn/files/upload", content=PNG, headers=headers)
    url = uploaded.json()["access_url"]
    fetched = standin.get(url)
    assert (fetched.content, fetched.headers["content-type"]) == (PNG, "image/png")
    assert standin.fal_file(standin.fal(image_url=url)).content == inverted(PNG)
    assert standin.counts("fal")["uploads"] == 1


def test_an_upload_needs_a_token(standin: Place):
    assert standin.client.post("/fal/cdn/files/upload", content=PNG).status_code == 401


def test_uploads_by_the_clients_second_way(standin: Place):
    wanted = {"file_name": "a.png", "content_type": "image/png"}
    places = standin.client.post("/fal/rest/storage/upload/initiate?storage_type=gcs", json=wanted).json()
    assert standin.get(places["file_url"]).status_code == 404
    assert standin.client.put(places["upload_url"], content=PNG).status_code == 200
    assert standin.get(places["file_url"]).content == PNG
    assert standin.fal_file(standin.fal(image_url=places["file_url"])).content == inverted(PNG)
    assert standin.client.put(f"{standin.url}/fal/cdn/put/unknown", content=PNG).status_code == 404


def test_the_same_picture_is_the_same_request_however_it_is_sent(standin: Place):
    headers = {"authorization": "Bearer t", "content-type": "image/png"}
    url = standin.client.post("/fal/cdn/files/upload", content=PNG, headers=headers).json()["access_url"]
    standin.fal()
    standin.fal(image_url=url)
    counts = standin.counts("fal")
    assert (counts["accepted"], counts["distinct"]) == (2, 1)
    assert counts["paid_twice"][0]["times"] == 2


def test_a_picture_that_is_elsewhere(standin: Place):
    result = standin.fal_result(standin.fal(image_url="https://example.org/face.png"))
    assert result.status_code == 422
    assert result.json()["detail"][0]["type"] == "file_download_error"


def test_a_cut_picture_is_whole_the_second_time(standin: Place):
    standin.script("truncated")
    [image] = standin.fal_result(standin.fal()).json()["images"]
    first, second = standin.get(image["url"]), standin.get(image["url"])
    assert 0 < len(first.content) < len(second.content)
    assert int(first.headers["content-length"]) == len(first.content)
    assert second.content == inverted(PNG)


def test_a_short_body_is_whole_the_second_time(standin: Place):
    standin.script("short_body")
    [image] = standin.fal_result(standin.fal()).json()["images"]
    with pytest.raises(httpx.RemoteProtocolError, match="complete message body"):
        standin.get(image["url"])
    assert standin.get(image["url"]).content == inverted(PNG)


def test_a_look_at_a_file_is_no_download(standin: Place):
    standin.script("truncated")
    [image] = standin.fal_result(standin.fal()).json()["images"]
    looked = standin.client.head(image["url"])
    assert (looked.status_code, looked.headers["content-length"]) == (200, str(len(inverted(PNG))))
    assert standin.counts("fal")["downloads"] == 0
    assert len(standin.get(image["url"]).content) < len(inverted(PNG))


def test_polls_and_downloads_go_wrong_by_script(standin: Place):
    submitted = standin.fal()
    result = standin.fal_result(submitted).json()
    status, picture = submitted.json()["status_url"], result["images"][0]["url"]
    standin.script("rate_limited", "server_error", provider="fal", kind="poll")
    assert [standin.get(status).status_code for _ in range(3)] == [429, 500, 200]
    standin.script("server_error", "empty", "truncated", kind="download")
    answers = [standin.get(picture) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [500, 200, 200, 200]
    assert [len(answer.content) for answer in answers[1:]] == [
        0,
        int(len(inverted(PNG)) * 0.6),
        len(inverted(PNG)),
    ]
    standin.script("drop", kind="poll")
    with pytest.raises(httpx.RemoteProtocolError):
        standin.get(status)
    standin.script("server_error", kind="lookup")
    assert standin.get(HISTORY, params={"endpoint_id": ENDPOINT}).status_code == 500
    standin.script("server_error", kind="upload")
    assert standin.client.post("/fal/rest/storage/auth/token", json={}).status_code == 500
