"""The laws of every remote editor, against the stand-in that speaks its provider's protocol."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from builders import encoded, noise
from fakes.provider_calls import (
    PICTURE,
    a_request,
    ask,
    build,
    edited,
    failure,
    no_secret_in,
)

from adapters.base import Checkable
from adapters.imaging.decode import inspect_image
from domain.edits import NoImage, Refused, Ticket
from domain.errors import (
    AmbiguousError,
    QuotaError,
    TransientError,
)

pytestmark = pytest.mark.usefixtures("environment")

AT_ONCE = ("google", "openai")
QUEUED = ("fal", "replicate")
LIMIT_S = 1.5


@pytest.fixture(params=AT_ONCE + QUEUED)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP"])
def test_bytes_go_and_come_unchanged_under_their_true_type(provider: str, form: str):
    """The stand-in refuses a wrong type as the services do, and edits nothing."""
    sent = encoded(noise(32, 40), form, quality=90)
    editor = build(provider, settings=_asking_for(provider, form))
    outcome = edited(ask(editor, a_request(image=sent)))
    assert outcome.image == sent
    assert outcome.details.get("declared_mime") == (
        None if provider == "replicate" else f"image/{form.lower()}"
    )
    assert outcome.served_version
    no_secret_in([outcome])


def _asking_for(provider: str, form: str) -> dict[str, Any]:
    return {
        "google": {},
        "openai": {"output_format": form.lower()},
        "fal": {"arguments": {}, "image_field": "image_urls", "image_is_list": True},
        "replicate": {"arguments": {}, "image_field": "image_input", "image_is_list": True},
    }[provider]


def test_a_lost_answer_is_asked_once_and_called_ambiguous(
    provider: str, script: Callable[..., None], count: Callable[[str, str], int]
):
    script("drop")
    error = failure(AmbiguousError, provider, lambda: build(provider).submit(a_request()))
    assert "may have been paid" in str(error)
    assert count(provider, "posts") == 1
    assert count(provider, "accepted") == 1


def test_a_call_that_hangs_ends_at_its_limit(
    provider: str,
    script: Callable[..., None],
    count: Callable[[str, str], int],
    environment: pytest.MonkeyPatch,
):
    environment.setenv(f"FACEDRIFT_{provider.upper()}_TIMEOUT_S", str(LIMIT_S))
    editor = build(provider)
    editor.check()  # the client is made at its first use, which is not part of the wait
    script("hang")
    started = time.monotonic()
    failure(AmbiguousError, provider, lambda: editor.submit(a_request()))
    assert LIMIT_S * 0.9 <= time.monotonic() - started < LIMIT_S + 3
    assert count(provider, "posts") == 1


def test_too_many_requests_is_told_with_the_wait_and_not_repeated(
    provider: str, script: Callable[..., None], count: Callable[[str, str], int]
):
    script("rate_limited", "rate_limited", "rate_limited")
    error = failure(TransientError, provider, lambda: build(provider).submit(a_request()))
    assert error.retry_after_s == 7
    assert count(provider, "posts") == 1
    assert not error.job_over


def test_a_server_error_is_transient_and_not_repeated(
    provider: str, script: Callable[..., None], count: Callable[[str, str], int]
):
    script("server_error", "server_error")
    failure(TransientError, provider, lambda: build(provider).submit(a_request()))
    assert count(provider, "posts") == 1


def test_an_empty_account_pauses(provider: str, script: Callable[..., None]):
    script("quota")
    error = failure(QuotaError, provider, lambda: build(provider).submit(a_request()))
    assert "top it up or wait" in str(error)


@pytest.mark.parametrize("form", [0, 1])
def test_every_form_of_refusal_is_a_refusal(provider: str, form: int, script: Callable[..., None]):
    script({"fault": "refused", "form": form})
    outcome = ask(build(provider), a_request())
    assert isinstance(outcome, Refused), outcome
    assert outcome.reason
    no_secret_in([outcome])


def test_an_answer_without_an_image_is_no_refusal(provider: str, script: Callable[..., None]):
    script("no_image")
    outcome = ask(build(provider), a_request())
    assert isinstance(outcome, NoImage), outcome
    assert outcome.reason


@pytest.mark.parametrize("fault", ["truncated", "empty", "short_body"])
@pytest.mark.parametrize("at_once", AT_ONCE)
def test_a_broken_image_inside_an_answer_was_paid(at_once: str, fault: str, script: Callable[..., None]):
    script(fault)
    error = failure(AmbiguousError, at_once, lambda: ask(build(at_once), a_request()))
    assert "paid" in str(error) or "whole" in str(error)


@pytest.mark.parametrize("fault", ["truncated", "short_body"])
@pytest.mark.parametrize("queued", QUEUED)
def test_a_broken_download_is_fetched_again_with_the_same_ticket(
    queued: str, fault: str, script: Callable[..., None], count: Callable[[str, str], int]
):
    script(fault)
    editor = build(queued)
    ticket = editor.submit(a_request())
    error = failure(TransientError, queued, lambda: editor.collect(ticket))
    assert not error.job_over
    assert edited(editor.collect(ticket)).image == PICTURE
    assert count(queued, "accepted") == 1


@pytest.mark.parametrize("queued", QUEUED)
def test_an_empty_file_is_no_image(queued: str, script: Callable[..., None]):
    script("empty")
    error = failure(TransientError, queued, lambda: ask(build(queued), a_request()))
    assert not error.job_over, "the ticket stays good"


@pytest.mark.parametrize("queued", QUEUED)
def test_a_job_that_takes_too_long_keeps_its_ticket(
    queued: str, script: Callable[..., None], environment: pytest.MonkeyPatch
):
    environment.setenv(f"FACEDRIFT_{queued.upper()}_DEADLINE_S", "0.3")
    script("stuck")
    editor = build(queued)
    ticket = editor.submit(a_request())
    error = failure(TransientError, queued, lambda: editor.collect(ticket))
    assert not error.job_over
    assert "collected later" in str(error)


@pytest.mark.parametrize("queued", QUEUED)
def test_a_job_that_is_not_there_may_have_been_paid(queued: str):
    error = failure(
        AmbiguousError,
        queued,
        lambda: build(queued).collect(Ticket(provider_id="0123456789abcdefghij012345")),
    )
    assert error.job_over


def test_the_declared_type_is_not_trusted(provider: str, script: Callable[..., None]):
    script("wrong_mime")
    outcome = edited(ask(build(provider), a_request()))
    assert inspect_image(outcome.image).content_type == "image/jpeg"


def test_checking_costs_nothing(provider: str, count: Callable[[str, str], int]):
    editor = build(provider)
    assert isinstance(editor, Checkable)
    editor.check()
    assert count(provider, "posts") == 0


def test_a_server_that_is_not_there_was_sent_nothing(provider: str, environment: pytest.MonkeyPatch):
    name = "QUEUE_URL" if provider == "fal" else "BASE_URL"
    environment.setenv(f"FACEDRIFT_{provider.upper()}_{name}", "http://127.0.0.1:9")
    error = failure(TransientError, provider, lambda: build(provider).submit(a_request()))
    assert "nothing was sent" in str(error)


def test_threads_share_an_editor(provider: str):
    editor = build(provider)
    prompts = [f"Add {number} hats" for number in range(6)]
    with ThreadPoolExecutor(6) as threads:
        outcomes = list(threads.map(lambda prompt: ask(editor, a_request(prompt)), prompts))
    assert [edited(outcome).image for outcome in outcomes] == [PICTURE] * 6
