"""The page's answers, to a browser without scripts and to its own script; over SQLite and Postgres."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from matches import SECRET_NAMES
from starlette.testclient import TestClient
from unit.adapters.votes.page.place import QUESTION, Place, hidden

from adapters.votes.page.links import DAY_MS
from domain.errors import StoreError

Raw = Callable[[str], list[tuple[Any, ...]]]
OURS = {"Sec-Fetch-Site": "same-origin", "Origin": "http://votes.test"}
JSON = OURS | {"Accept": "application/json"}


def votes(raw: Raw) -> int:
    [(count,)] = raw("SELECT count(*) FROM vote_votes")
    return count


def cast(client: TestClient, token: str, headers: dict[str, str] = OURS, **fields: str) -> httpx.Response:
    """Vote on what lies there, with some fields of the form changed."""
    form = hidden(client.get(f"/vote/{token}").text) | {"choice": "left"} | fields
    return client.post(f"/vote/{token}/cast", data=form, headers=headers)


def test_the_page_shows_the_question_and_three_pictures(client: TestClient, place: Place) -> None:
    page = client.get(f"/vote/{place.token()}")
    assert page.status_code == 200
    assert f'<h1 id="question">{QUESTION}</h1>' in page.text
    assert "0 of 6" in page.text
    alts = re.findall(r'<img [^>]*alt="([^"]*)"', page.text)
    assert alts == ["The original face", "Left face", "Right face"]
    shown = [client.get(f"/vote/{src}") for src in re.findall(r'<img [^>]*src="([^"]*)"', page.text)]
    first = place.matches[0]
    wanted = (first.original_sha256, first.crop_a_sha256, first.crop_b_sha256)
    assert [one.content for one in shown] == [place.pictures[sha] for sha in wanted]
    assert {one.headers["content-type"] for one in shown} == {"image/png"}
    assert {one.headers["cache-control"] for one in shown} == {"private, max-age=86400, immutable"}


def test_a_reload_shows_the_same(client: TestClient, place: Place) -> None:
    token = place.token()
    page = client.get(f"/vote/{token}")
    assert client.get(f"/vote/{token}").text == page.text
    assert page.headers["cache-control"] == "no-store"


def test_a_vote_by_form_leads_back_to_the_page(client: TestClient, place: Place, raw: Raw) -> None:
    token = place.token()
    done = cast(client, token, choice="right")
    assert (done.status_code, done.headers["location"]) == (303, f"../{token}")
    assert raw("SELECT choice FROM vote_votes") == [("b",)]
    assert "1 of 6" in client.get(f"/vote/{token}").text


def test_a_vote_by_script_brings_the_next(client: TestClient, place: Place, raw: Raw) -> None:
    token = place.token()
    answer = cast(client, token, JSON, choice="tie")
    table = answer.json()
    assert answer.status_code == 200
    assert (table["votes"], table["wanted"], table["said"]) == (1, 6, "")
    assert table["serving"] == {key.replace("serving", "id"): value for key, value in
                                hidden(client.get(f"/vote/{token}").text).items()}  # fmt: skip
    assert client.get(f"/vote/pictures/{table['ahead']}/left").status_code == 200
    assert raw("SELECT choice FROM vote_votes") == [("tie",)]


def test_nothing_that_reaches_the_browser_tells_what_it_shows(client: TestClient, place: Place) -> None:
    token = place.token()
    page = client.get(f"/vote/{token}")
    answer = cast(client, token, JSON)
    picture = client.get(f"/vote/pictures/{answer.json()['ahead']}/original")
    said = page.text + answer.text + str(page.headers) + str(answer.headers) + str(picture.headers)
    secrets = [*SECRET_NAMES, *(match.id for match in place.matches), *place.pictures, "anna", "p0"]
    assert [secret for secret in secrets if secret in said] == []


def test_the_last_vote_ends_with_thanks(client: TestClient, place: Place) -> None:
    token = place.token(wanted=1)
    assert cast(client, token).status_code == 303
    page = client.get(f"/vote/{token}")
    assert page.status_code == 200
    assert "Your vote is stored." in page.text


def test_a_replayed_vote_is_409_and_shows_what_comes_next(client: TestClient, place: Place, raw: Raw) -> None:
    token = place.token()
    form = hidden(client.get(f"/vote/{token}").text) | {"choice": "left"}
    client.post(f"/vote/{token}/cast", data=form, headers=OURS)
    again = client.post(f"/vote/{token}/cast", data=form | {"choice": "right"}, headers=OURS)
    assert again.status_code == 409
    assert "That vote was stored before; it counts once." in again.text
    assert hidden(again.text) == hidden(client.get(f"/vote/{token}").text) != form
    for src in re.findall(r'<img [^>]*src="([^"]*)"', again.text):
        assert client.get(f"/vote/{token}/{src}").status_code == 200  # relative to the form's address
    by_script = client.post(f"/vote/{token}/cast", data=form, headers=JSON)
    assert (by_script.status_code, by_script.json()["said"]) == (
        409,
        "That vote was stored before; it counts once.",
    )
    assert raw("SELECT choice FROM vote_votes") == [("a",)]


def test_votes_that_are_not_the_voters_own_are_refused(client: TestClient, place: Place, raw: Raw) -> None:
    anna, ben = place.token("anna"), place.token("ben")
    annas = hidden(client.get(f"/vote/{anna}").text)
    client.get(f"/vote/{ben}")
    assert cast(client, ben, **annas).status_code == 403
    assert cast(client, anna, nonce="A" * 24).status_code == 403
    assert cast(client, anna, serving="A" * 24).status_code == 403
    assert cast(client, anna, serving=annas["nonce"]).status_code == 403
    [(ahead, nonce)] = raw(
        "SELECT s.id, s.nonce FROM vote_servings s JOIN vote_voters v ON v.number = s.voter "
        "WHERE s.state = 'next' AND v.name = 'anna'"
    )
    assert cast(client, anna, serving=ahead, nonce=nonce).status_code == 409
    assert votes(raw) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.test"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
        {"Sec-Fetch-Site": "same-site", "Origin": "http://other.votes.test"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Origin": "http://evil.test"},
        {"Origin": "http://evil.test"},
        {"Origin": "https://votes.test"},
        {"Origin": "http://votes.test:81"},
        {"Origin": "http://votes.test.evil.test"},
        {"Origin": "null"},
        {},
    ],
)
def test_only_our_own_page_sends_votes(
    client: TestClient, place: Place, raw: Raw, headers: dict[str, str]
) -> None:
    refused = cast(client, place.token(), headers)
    assert refused.status_code == 403
    assert "was not sent by the voting page" in refused.text
    assert votes(raw) == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "same-origin", "Origin": "null"},  # a form of a page that sends no referrer
        {"Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://votes.test"},  # a browser too old for the other
    ],
)
def test_browsers_old_and_new_vote(
    client: TestClient, place: Place, raw: Raw, headers: dict[str, str]
) -> None:
    assert cast(client, place.token(), headers).status_code == 303
    assert votes(raw) == 1


def test_behind_a_proxy_the_origin_is_that_of_the_base_url(place: Place, raw: Raw) -> None:
    with TestClient(place.app("https://faces.test/vote-here"), follow_redirects=False) as client:
        token = place.token()
        assert cast(client, token, {"Origin": "http://testserver"}).status_code == 403
        assert cast(client, token, {"Origin": "https://faces.test"}).status_code == 303
    assert votes(raw) == 1


def test_links_that_are_over_or_never_were_look_the_same(client: TestClient, place: Place, raw: Raw) -> None:
    revoked, expired = place.token("anna"), place.token("ben", days=1)
    form = hidden(client.get(f"/vote/{revoked}").text) | {"choice": "left"}
    picture = f"/vote/pictures/{form['serving']}/left"
    assert client.get(picture).status_code == 200
    place.links.revoke("anna", place.clock.ms)
    place.clock.ms += DAY_MS
    paths = [revoked, expired, "A" * 32, "nothing", "%27%20OR%201=1", "A" * 3000]
    answers = [client.get(f"/vote/{path}") for path in paths]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.text for answer in answers}) == 1
    assert "This address shows nothing." in answers[0].text
    assert client.get(picture).status_code == 404
    assert client.post(f"/vote/{revoked}/cast", data=form, headers=OURS).status_code == 404
    assert votes(raw) == 0


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_a_vote_is_a_post(client: TestClient, place: Place, raw: Raw, method: str) -> None:
    token = place.token()
    form = hidden(client.get(f"/vote/{token}").text) | {"choice": "left"}
    refused = client.request(method, f"/vote/{token}/cast", params=form, headers=OURS)
    assert refused.status_code == 405
    assert client.post(f"/vote/{token}", data=form, headers=OURS).status_code == 405
    client.get(f"/vote/{token}", params=form)
    assert votes(raw) == 0


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"choice=left", "text/plain", 415),
        (b"{}", "application/json", 415),
        (b"x" * 4097, "application/x-www-form-urlencoded", 413),
        (b"", "application/x-www-form-urlencoded", 400),
        (b"choice=left", "application/x-www-form-urlencoded", 400),
        (b"serving=a&nonce=b&choice=left&choice=right", "application/x-www-form-urlencoded", 400),
        (b"serving=a&nonce=b&choice=left&more=1", "application/x-www-form-urlencoded", 400),
        (b"serving=a&nonce=b&choice=both", "application/x-www-form-urlencoded", 400),
        (b"\xff\xfe", "application/x-www-form-urlencoded", 400),
    ],
)
def test_what_is_no_vote_is_told_so(
    client: TestClient, place: Place, raw: Raw, body: bytes, kind: str, status: int
) -> None:
    answer = client.post(f"/vote/{place.token()}/cast", content=body, headers=OURS | {"Content-Type": kind})
    assert answer.status_code == status
    assert votes(raw) == 0


def test_every_answer_is_guarded(client: TestClient, place: Place) -> None:
    token = place.token()
    form = hidden(client.get(f"/vote/{token}").text)
    paths = [f"/vote/{token}", "/nothing", "/vote/x", f"/vote/pictures/{form['serving']}/left",
             "/vote/assets/page.js", "/vote/assets/page.css", "/vote/assets/icon.svg",
             "/healthz"]  # fmt: skip
    for path in paths:
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-content-type-options"] == "nosniff"
        assert "cache-control" in headers
    assert client.get("/vote/assets/nothing.js").status_code == 404
    assert client.get(f"/vote/pictures/{form['serving']}/model_a").status_code == 404


def test_trouble_with_the_database_or_the_store_is_503_and_loses_nothing(
    client: TestClient, place: Place, raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = place.token()
    form = hidden(client.get(f"/vote/{token}").text) | {"choice": "left"}

    def down(*_: object) -> None:
        raise StoreError("the disk is full at /srv/votes")

    with monkeypatch.context() as patch:
        patch.setattr(place.servings, "vote", down)
        answer = client.post(f"/vote/{token}/cast", data=form, headers=JSON)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert "/srv" not in answer.text
    assert client.post(f"/vote/{token}/cast", data=form, headers=JSON).status_code == 200
    assert votes(raw) == 1
    assert client.get("/healthz").text == "ok"
