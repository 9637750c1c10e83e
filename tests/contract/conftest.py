"""Servers that stand in for providers, and the settings that lead to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import httpx
import pytest
from fakes.provider_calls import SECRET, VARIABLES, no_secret_in
from fakes.scripted_server import ScriptedServer, scripted_server

from adapters.editors.control_unchanged import UnchangedEditor
from adapters.standin.app import build_app
from adapters.standin.faults import Faults
from adapters.standin.serving import running
from adapters.standin.work import StandinWork


@pytest.fixture
def provider_keys(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Iterator[pytest.MonkeyPatch]:
    """A key for every provider; afterwards it must be in no log record."""
    for variable in VARIABLES.values():
        monkeypatch.setenv(variable, SECRET)
    for provider in ("FAL", "REPLICATE"):
        monkeypatch.setenv(f"FACEDRIFT_{provider}_POLL_S", "0.02")
    caplog.set_level("DEBUG")
    yield monkeypatch
    no_secret_in([record.getMessage() for record in caplog.records])


@pytest.fixture(scope="module")
def strict_standin() -> Iterator[str]:
    """A stand-in that edits nothing, takes one key, and fails only when told to."""
    work = StandinWork(UnchangedEditor(), cast(Any, None), cast(Any, None))
    faults = Faults(retry_after_s=7, hang_s=60, missing_models=("retired-1", "acme/retired"))
    with running(build_app(work, faults, required_key=SECRET)) as url:
        yield url


@pytest.fixture(scope="module")
def desk(strict_standin: str) -> Iterator[httpx.Client]:
    """The stand-in's own paths."""
    with httpx.Client(base_url=f"{strict_standin}/standin") as client:
        yield client


@pytest.fixture
def environment(
    strict_standin: str, desk: httpx.Client, provider_keys: pytest.MonkeyPatch
) -> pytest.MonkeyPatch:
    """Settings as a user would set them, leading to the stand-in."""
    provider_keys.setenv("FACEDRIFT_GOOGLE_BASE_URL", f"{strict_standin}/google")
    provider_keys.setenv("FACEDRIFT_OPENAI_BASE_URL", f"{strict_standin}/openai/v1")
    provider_keys.setenv("FACEDRIFT_REPLICATE_BASE_URL", f"{strict_standin}/replicate")
    provider_keys.setenv("FACEDRIFT_FAL_QUEUE_URL", f"{strict_standin}/fal/queue")
    provider_keys.setenv("FACEDRIFT_FAL_PLATFORM_URL", f"{strict_standin}/fal/platform")
    desk.post("/reset")
    return provider_keys


@pytest.fixture
def script(desk: httpx.Client) -> Callable[..., None]:
    """Sets down what happens to the next calls."""

    def will(*faults: str | dict[str, Any]) -> None:
        answer = desk.post("/script", json={"faults": list(faults)})
        assert answer.status_code == 200, answer.text

    return will


@pytest.fixture
def count(desk: httpx.Client) -> Callable[[str, str], int]:
    """What the stand-in counted, by provider and name."""
    return lambda provider, name: desk.get("/counts").json()[provider][name]


@pytest.fixture(scope="module")
def running_server() -> Iterator[ScriptedServer]:
    """A server without a protocol of its own."""
    with scripted_server() as server:
        yield server


@pytest.fixture
def server(running_server: ScriptedServer, provider_keys: pytest.MonkeyPatch) -> ScriptedServer:
    """A server that answers what a test sets down, whoever it stands for."""
    for provider in ("GOOGLE", "OPENAI", "REPLICATE"):
        provider_keys.setenv(f"FACEDRIFT_{provider}_BASE_URL", running_server.url)
    provider_keys.setenv("FACEDRIFT_BYTEPLUS_BASE_URL", f"{running_server.url}/api/v3")
    provider_keys.setenv("FACEDRIFT_FAL_QUEUE_URL", f"{running_server.url}/queue")
    provider_keys.setenv("FACEDRIFT_FAL_PLATFORM_URL", f"{running_server.url}/platform")
    running_server.will()
    return running_server
