"""The laws of every remote editor, against the stand-in that speaks its provider's protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, cast

import httpx
import pytest
from builders import encoded, noise
from fakes.provider_calls import (
    PICTURE,
    SECRET,
    VARIABLES,
    a_request,
    ask,
    build,
    edited,
    failure,
    no_secret_in,
)

from adapters.base import Checkable, HasHistory
from adapters.editors.control_unchanged import UnchangedEditor
from adapters.imaging.decode import inspect_image
from adapters.standin.app import build_app
from adapters.standin.faults import Faults
from adapters.standin.serving import running
from adapters.standin.work import StandinWork
from domain.edits import NoImage, Refused, Ticket
from domain.errors import (
    AmbiguousError,
    DefinitionError,
    FatalError,
    ProviderError,
    QuotaError,
    TransientError,
)

AT_ONCE = ("google", "openai")
QUEUED = ("fal", "replicate")
LIMIT_S = 1.5


@pytest.fixture(scope="module")
def standin() -> Iterator[str]:
    """A stand-in that edits nothing, takes one key, and fails only when told to."""
    work = StandinWork(UnchangedEditor(), cast(Any, None), cast(Any, None))
    faults = Faults(retry_after_s=7, hang_s=60, missing_models=("retired-1", "acme/retired"))
    with running(build_app(work, faults, required_key=SECRET)) as url:
        yield url


@pytest.fixture(autouse=True)
def environment(
    standin: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[pytest.MonkeyPatch]:
    """Settings as a user would set them; afterwards the key must be in no log record."""
    for variable in VARIABLES.values():
        monkeypatch.setenv(variable, SECRET)
    monkeypatch.setenv("FACEDRIFT_GOOGLE_BASE_URL", f"{standin}/google")
    monkeypatch.setenv("FACEDRIFT_OPENAI_BASE_URL", f"{standin}/openai/v1")
    monkeypatch.setenv("FACEDRIFT_REPLICATE_BASE_URL", f"{standin}/replicate")
    monkeypatch.setenv("FACEDRIFT_FAL_QUEUE_URL", f"{standin}/fal/queue")
    monkeypatch.setenv("FACEDRIFT_FAL_PLATFORM_URL", f"{standin}/fal/platform")
    for provider in ("FAL", "REPLICATE"):
        monkeypatch.setenv(f"FACEDRIFT_{provider}_POLL_S", "0.03")
    httpx.post(f"{standin}/standin/reset")
    caplog.set_level("DEBUG")
    yield monkeypatch
    no_secret_in([record.getMessage() for record in caplog.records])


@pytest.fixture
def script(standin: str) -> Callable[..., None]:
    """Sets down what happens to the next calls."""

    def will(*faults: str | dict[str, Any]) -> None:
        answer = httpx.post(f"{standin}/standin/script", json={"faults": list(faults)})
        assert answer.status_code == 200, answer.text

    return will


@pytest.fixture
def count(standin: str) -> Callable[[str, str], int]:
    return lambda provider, name: httpx.get(f"{standin}/standin/counts").json()[provider][name]


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
    failure(AmbiguousError, at_once, lambda: ask(build(at_once), a_request()))


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
    failure(TransientError, queued, lambda: ask(build(queued), a_request()))


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


def test_a_wrong_key_names_its_variable(provider: str, environment: pytest.MonkeyPatch):
    wrong = f"{SECRET}-mistyped"
    environment.setenv(VARIABLES[provider], wrong)
    editor = build(provider)
    for call in (editor.check, lambda: editor.submit(a_request())):
        error = failure(FatalError, provider, call)
        assert VARIABLES[provider] in str(error)


def test_a_missing_key_is_found_before_anything_is_asked(provider: str, environment: pytest.MonkeyPatch):
    for value in (None, ""):
        environment.delenv(VARIABLES[provider]) if value is None else environment.setenv(
            VARIABLES[provider], value
        )
        with pytest.raises(DefinitionError, match=f"{provider} needs a key: set {VARIABLES[provider]}"):
            build(provider)


def test_a_rehearsal_needs_no_key_and_never_sends_the_real_one(
    provider: str, standin: str, environment: pytest.MonkeyPatch
):
    editor = build(provider, standin)
    error = failure(FatalError, provider, editor.check)
    assert VARIABLES[provider] in str(error)  # this stand-in takes the real key only
    environment.delenv(VARIABLES[provider])
    build(provider, standin)


def test_a_retired_model_is_named_with_what_to_do(provider: str):
    editor = build(provider, endpoint="acme/retired" if provider in QUEUED else "retired-1")
    with pytest.raises(FatalError, match="mend the endpoint in the model card or remove the model"):
        editor.submit(a_request())
    if provider != "fal":  # fal has no look-up of an endpoint that also proves the key
        with pytest.raises(FatalError, match="mend the endpoint"):
            editor.check()


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


@pytest.mark.parametrize("queued", QUEUED)
class TestHistory:
    def test_a_job_whose_answer_was_lost_is_found_and_collected(
        self, queued: str, script: Callable[..., None], count: Callable[[str, str], int]
    ):
        editor = build(queued)
        assert isinstance(editor, HasHistory)
        since = datetime.now(UTC)
        ask(editor, a_request("Add a moustache"))
        script("drop")
        with pytest.raises(AmbiguousError):
            editor.submit(a_request("Add a beard"))
        ticket = _eventually(lambda: editor.find(a_request("Add a beard"), since))
        assert edited(editor.collect(ticket)).image == PICTURE
        assert count(queued, "accepted") == 2

    def test_nothing_is_found_for_what_was_never_asked(self, queued: str):
        editor = build(queued)
        since = datetime.now(UTC)
        asked = a_request("Add a scar")
        ticket = editor.submit(asked)
        editor.collect(ticket)
        assert editor.find(asked, since) == ticket
        other = encoded(noise(48, 40, seed=3))
        for different in (
            a_request("Add two scars"),
            a_request("Add a scar", seed=12),
            a_request("Add a scar", image=other),
        ):
            assert editor.find(different, since) is None
        later = datetime.fromtimestamp(time.time() + 5, UTC)
        assert editor.find(asked, later) is None

    def test_another_model_or_setting_is_another_job(self, queued: str):
        since = datetime.now(UTC)
        ask(build(queued), a_request("Add freckles"))
        settings = {"fal": {"arguments": {"num_inference_steps": 31}, "image_field": "image_url"}}
        other = settings.get(queued, {"arguments": {"go_fast": True}, "image_field": "input_image"})
        assert build(queued, settings=other).find(a_request("Add freckles"), since) is None
        assert build(queued, endpoint="acme/draw").find(a_request("Add freckles"), since) is None


def _eventually(look: Callable[[], Ticket | None]) -> Ticket:
    """fal lists a job once it has ended."""
    for _ in range(100):
        found = look()
        if found is not None:
            return found
        time.sleep(0.03)
    raise AssertionError("not found")


def test_every_error_here_is_one_of_ours():
    assert {kind.__mro__[1] for kind in (TransientError, AmbiguousError, QuotaError, FatalError)} == {
        ProviderError
    }
