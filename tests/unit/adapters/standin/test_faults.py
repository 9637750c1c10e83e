"""Which calls go wrong, and that a run can be repeated."""

from __future__ import annotations

from collections import Counter
from typing import Any

import httpx
import pytest
from pydantic import ValidationError
from unit.adapters.standin.place import (
    PNG,
    SCORES,
    Place,
    Start,
    decode,
    gemini_image,
    inverted,
    openai_image,
)

from adapters.standin.faults import NAMES, PROVIDERS, Faults, Script, ScriptedFault, draw

EDITS = {name: 0.05 for name in NAMES if name != "bad_json"}


def test_nothing_goes_wrong_unless_it_is_asked_for():
    for provider in PROVIDERS:
        for kind in ("edit", "judge"):
            assert draw(Faults(), provider, kind, "a", 1).fault is None


def test_shares_are_kept():
    faults = Faults(seed=3, rate_limited=0.1, drop=0.2, refused=0.05)
    drawn = Counter(draw(faults, "fal", "edit", f"request {n}", 1).fault for n in range(8000))
    assert drawn["rate_limited"] / 8000 == pytest.approx(0.1, abs=0.015)
    assert drawn["drop"] / 8000 == pytest.approx(0.2, abs=0.02)
    assert drawn["refused"] / 8000 == pytest.approx(0.05, abs=0.01)
    assert set(drawn) == {None, "rate_limited", "drop", "refused"}


def test_every_fault_is_drawn_and_at_most_one():
    faults = Faults(**EDITS)
    drawn = Counter(draw(faults, "replicate", "edit", f"request {n}", 1).fault for n in range(2000))
    assert set(drawn) == {None, *EDITS}


def test_a_draw_can_be_repeated_and_asking_again_is_another():
    faults = Faults(seed=1, drop=0.5, latency_s=(1, 2))
    draws = [draw(faults, "google", "edit", "a", nth) for nth in range(1, 40)]
    assert draws == [draw(faults, "google", "edit", "a", nth) for nth in range(1, 40)]
    assert len({fate.fault for fate in draws}) == 2
    assert all(1 <= fate.latency_s <= 2 for fate in draws)
    assert len({fate.latency_s for fate in draws}) == len(draws)
    other = faults.model_copy(update={"seed": 2})
    assert [draw(other, "google", "edit", "a", nth) for nth in range(1, 40)] != draws
    assert [draw(faults, "openai", "edit", "a", nth) for nth in range(1, 40)] != draws


def test_judges_are_spared_most_faults():
    faults = Faults(**EDITS, bad_json=0.3)
    drawn = {draw(faults, "google", "judge", f"request {n}", 1).fault for n in range(1000)}
    assert drawn == {None, "rate_limited", "server_error", "bad_json"}


def test_providers_that_answer_at_once_have_no_stuck_jobs():
    faults = Faults(stuck=1)
    assert draw(faults, "fal", "edit", "a", 1).fault == "stuck"
    assert draw(faults, "google", "edit", "a", 1).fault is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"drop": 1.1}, "less than or equal to 1"),
        ({"drop": -0.1}, "greater than or equal to 0"),
        ({"drop": 0.6, "hang": 0.6}, "sum to 1.2"),
        ({"bad_json": 0.6, "server_error": 0.6}, "sum to 1.2"),
        ({"latency_s": (2, 1)}, "not shortest and longest"),
        ({"dropped": 0.1}, "Extra inputs"),
    ],
)
def test_shares_that_make_no_sense(given: dict[str, Any], said: str):
    with pytest.raises(ValidationError, match=said):
        Faults(**given)


def test_edits_and_judgements_are_summed_apart():
    assert Faults(bad_json=0.7, drop=0.7).bad_json == 0.7


def test_a_script_is_taken_in_order_by_whom_it_is_for():
    script = Script()
    entries = [
        ScriptedFault(fault="bad_json"),
        ScriptedFault(fault="drop", provider="fal"),
        ScriptedFault(fault="ok"),
        ScriptedFault(fault="stuck"),
        ScriptedFault(fault="server_error", kind="poll"),
    ]
    assert script.extend(entries) == 5
    assert script.take("google", "poll") is entries[4]
    assert script.take("google", "poll") is None
    assert script.take("google", "edit") is entries[2]
    assert script.take("google", "edit") is None
    assert script.take("fal", "edit") is entries[1]
    assert script.take("fal", "edit") is entries[3]
    assert script.take("openai", "judge") is entries[0]


def test_a_script_that_makes_no_sense(standin: Place):
    for body in (["nonsense"], {"faults": [], "more": 1}, {"faults": ["drop"], "provider": "acme"}, 3):
        assert standin.client.post("/standin/script", json=body).status_code == 422
    assert standin.client.post("/standin/script", json=["drop", "ok"]).json() == {"waiting": 2}
    standin.client.post("/standin/reset")
    assert standin.client.post("/standin/script", json=[]).json() == {"waiting": 0}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_dropped_call_is_paid_and_not_answered(standin: Place, provider: str):
    standin.script("drop")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        standin.ask(provider)
    assert standin.ask(provider).is_success
    counts = standin.counts(provider)
    assert (counts["posts"], counts["drops"], counts["accepted"], counts["distinct"]) == (2, 1, 2, 1)
    assert [entry["times"] for entry in counts["paid_twice"]] == [2]
    assert counts["paid_twice"][0]["prompt"] == "smile"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_hanging_call_is_paid_and_ends_when_the_client_gives_up(start: Start, provider: str):
    with start(hang_s=60) as standin:
        standin.script("hang")
        standin.client.timeout = httpx.Timeout(0.5)
        with pytest.raises(httpx.ReadTimeout):
            standin.ask(provider)
        standin.client.timeout = httpx.Timeout(20)
        standin.wait(lambda: standin.counts(provider)["hangs"])
        counts = standin.counts(provider)
        assert (counts["posts"], counts["hangs"], counts["accepted"]) == (1, 1, 1)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_hanging_call_is_closed_in_the_end(standin: Place, provider: str):
    standin.script("hang")
    with pytest.raises(httpx.RemoteProtocolError, match="without sending a response"):
        standin.ask(provider)


@pytest.mark.parametrize("provider", ["google", "openai"])
def test_a_short_body(standin: Place, provider: str):
    standin.script("short_body")
    with pytest.raises(httpx.RemoteProtocolError, match="complete message body"):
        standin.ask(provider)
    assert standin.counts(provider)["short_body"] == 1


def picture_of(standin: Place, provider: str) -> tuple[bytes, str]:
    """The picture of an edit and its declared type, however the provider delivers it."""
    answer = standin.ask(provider)
    if provider == "google":
        [part] = answer.json()["candidates"][0]["content"]["parts"]
        return gemini_image(answer), part["inlineData"]["mimeType"]
    if provider == "openai":
        return openai_image(answer), f"image/{answer.json()['output_format']}"
    if provider == "fal":
        [image] = standin.fal_result(answer).json()["images"]
        downloaded = standin.get(image["url"])
        assert downloaded.headers["content-type"] == image["content_type"]
        return downloaded.content, image["content_type"]
    downloaded = standin.get(answer.json()["output"])
    return downloaded.content, downloaded.headers["content-type"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_pictures_that_are_wrong(standin: Place, provider: str):
    standin.script("wrong_mime", "black_frame", "empty", "other_shape", "huge", "ok")
    data, declared = picture_of(standin, provider)
    assert (decode(data).format, declared) == ("JPEG", "image/png")
    data, declared = picture_of(standin, provider)
    assert (decode(data).size, declared) == ((48, 32), "image/png")
    assert decode(data).getextrema() == ((0, 0),) * 3
    data, _ = picture_of(standin, provider)
    assert data == b""
    data, _ = picture_of(standin, provider)
    assert decode(data).size == (96, 32)
    data, declared = picture_of(standin, provider)
    width, height = decode(data).size
    assert (decode(data).format, declared) == ("JPEG", "image/jpeg")
    assert 20_000_000 <= width * height < 20_100_000
    assert width / height == pytest.approx(1.5, abs=0.001)
    assert picture_of(standin, provider) == (inverted(PNG), "image/png")
    counts = standin.counts(provider)
    names = ("wrong_mime", "black_frame", "empty", "other_shape", "huge", "refused")
    assert [counts[name] for name in names] == [1, 1, 1, 1, 1, 0]
    assert (counts["images"], counts["answered"]) == (6, 6)


def test_the_same_calls_meet_the_same_faults_in_every_run(start: Start):
    def run() -> list[int]:
        with start(seed=5, rate_limited=0.3, server_error=0.3) as standin:
            return [standin.gemini(f"number {n % 5}").status_code for n in range(30)]

    first = run()
    assert first == run()
    assert set(first) == {200, 429, 500}


def test_drawn_faults_of_judges(start: Start):
    with start(bad_json=1) as standin:
        assert standin.gemini_judgement(SCORES, PNG, PNG).is_success
        assert standin.gemini().is_success
        counts = standin.counts("google")
        assert (counts["bad_json"], counts["images"]) == (1, 1)


def test_latency(start: Start):
    with start(latency_s=(0.3, 0.3)) as standin:
        for provider in ("google", "openai", "replicate"):
            assert standin.ask(provider).elapsed.total_seconds() >= 0.3
