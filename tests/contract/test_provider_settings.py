"""How remote editors are set up: keys, variables, addresses, and models that are gone."""

from __future__ import annotations

import traceback

import pytest
from fakes.provider_calls import SECRET, VARIABLES, a_request, build, failure

from domain.errors import DefinitionError, FatalError

pytestmark = pytest.mark.usefixtures("environment")


@pytest.fixture(params=["google", "openai", "fal", "replicate"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


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


def test_google_also_takes_its_other_variable(environment: pytest.MonkeyPatch):
    environment.delenv("GEMINI_API_KEY")
    environment.setenv("GOOGLE_API_KEY", SECRET)
    assert build("google").check() is None


def test_a_rehearsal_needs_no_key_and_never_sends_the_real_one(
    provider: str, strict_standin: str, environment: pytest.MonkeyPatch
):
    editor = build(provider, strict_standin)
    error = failure(FatalError, provider, editor.check)
    assert VARIABLES[provider] in str(error)  # this stand-in takes the real key only
    environment.delenv(VARIABLES[provider])
    build(provider, strict_standin)


def test_a_retired_model_is_named_with_what_to_do(provider: str):
    editor = build(provider, endpoint="acme/retired" if provider in ("fal", "replicate") else "retired-1")
    with pytest.raises(FatalError, match="mend the endpoint in the model card or remove the model"):
        editor.submit(a_request())
    with pytest.raises(FatalError, match="mend the endpoint"):
        editor.check()


def test_an_address_that_is_none_is_named(provider: str, environment: pytest.MonkeyPatch):
    name = "QUEUE_URL" if provider == "fal" else "BASE_URL"
    environment.setenv(f"FACEDRIFT_{provider.upper()}_{name}", "localhost/of-nobody")
    error = failure(FatalError, provider, lambda: build(provider).submit(a_request()))
    assert "check its base URL" in str(error)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_a_damaged_key_is_not_sent_and_not_shown(provider: str, key: str, environment: pytest.MonkeyPatch):
    environment.setenv(VARIABLES[provider], key)
    with pytest.raises(DefinitionError, match=f"{VARIABLES[provider]}: .*copy it again") as caught:
        build(provider)
    assert key not in "".join(traceback.format_exception(caught.value))


def test_a_variable_of_the_wrong_kind_is_named(provider: str, environment: pytest.MonkeyPatch):
    environment.setenv(f"FACEDRIFT_{provider.upper()}_TIMEOUT_S", "soon")
    with pytest.raises(DefinitionError, match=f"FACEDRIFT_{provider.upper()}_TIMEOUT_S: "):
        build(provider)
