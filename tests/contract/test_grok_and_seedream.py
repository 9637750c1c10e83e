"""xAI and BytePlus, whose protocols the stand-in does not speak, against small fakes of their own."""

from __future__ import annotations

import base64
import subprocess
import sys
import time
from collections.abc import Iterator

import grpc
import pytest
from fakes.grok_server import GrokServer, grok_server
from fakes.provider_calls import (
    PICTURE,
    SECRET,
    VARIABLES,
    a_request,
    ask,
    build,
    edited,
    failure,
)
from fakes.scripted_server import Answer, ScriptedServer

from adapters.base import Checkable
from adapters.providers.mime import data_uri
from domain.edits import NoImage, Refused
from domain.errors import (
    AmbiguousError,
    DefinitionError,
    FatalError,
    ProviderError,
    QuotaError,
    TransientError,
)

pytestmark = pytest.mark.usefixtures("provider_keys")

IMAGE = base64.b64encode(PICTURE).decode()
Code = grpc.StatusCode


@pytest.fixture(scope="module")
def running_grok() -> Iterator[GrokServer]:
    with grok_server() as server:
        yield server


@pytest.fixture
def grok(running_grok: GrokServer, monkeypatch: pytest.MonkeyPatch) -> GrokServer:
    monkeypatch.setenv("FACEDRIFT_XAI_HOST", running_grok.host)
    monkeypatch.setenv("FACEDRIFT_XAI_INSECURE", "1")
    running_grok.asked.clear()
    running_grok.answer = lambda context: running_grok.image(data_uri(PICTURE))
    return running_grok


@pytest.mark.parametrize("provider", ["xai", "byteplus"])
def test_they_take_no_part_in_a_rehearsal(provider: str):
    with pytest.raises(DefinitionError, match=f"does not speak {provider}; leave its models out"):
        build(provider, "http://127.0.0.1:9")


@pytest.mark.parametrize("provider", ["xai", "byteplus"])
def test_a_missing_key_is_named(provider: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VARIABLES[provider])
    with pytest.raises(DefinitionError, match=f"{provider} needs a key: set {VARIABLES[provider]}"):
        build(provider)


WITHOUT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("openai", "xai_sdk", "byteplussdkarkruntime"):
            raise ImportError(name)
sys.meta_path.insert(0, Absent())
from importlib import import_module
from domain.errors import DefinitionError
for provider in ("openai", "xai", "byteplus"):
    try:
        import_module(f"adapters.providers.{provider}").api()
    except DefinitionError as error:
        print(error)
"""


def test_a_missing_extra_is_named():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    for extra in ("openai", "xai", "byteplus"):
        assert f"install the extra: uv sync --extra {extra}" in done.stdout


class TestXai:
    def test_what_is_sent_and_what_it_cost(self, grok: GrokServer):
        outcome = edited(ask(build("xai"), a_request("Add a hat")))
        assert (outcome.image, outcome.served_version) == (PICTURE, "grok-served")
        assert outcome.cost_usd == pytest.approx(0.06)
        assert outcome.details["declared_mime"] == "image/png"
        (asked,) = grok.asked
        assert (asked.prompt, asked.model, asked.n) == ("Add a hat", "paint-1", 1)
        assert asked.image.image_url == data_uri(PICTURE)
        assert grok.metadata[-1]["authorization"] == f"Bearer {SECRET}"

    def test_refusals(self, grok: GrokServer):
        grok.answer = lambda context: grok.image("", allowed=False)
        outcome = ask(build("xai"), a_request())
        assert isinstance(outcome, Refused)
        assert outcome.cost_usd == pytest.approx(0.06)
        grok.fail(Code.INVALID_ARGUMENT, "Generated image rejected by content moderation.")
        assert isinstance(ask(build("xai"), a_request()), Refused)

    def test_an_answer_without_an_image(self, grok: GrokServer):
        grok.answer = lambda context: grok.image("")
        assert isinstance(ask(build("xai"), a_request()), NoImage)

    @pytest.mark.parametrize("encoded", ["data:image/png;base64,AAAA", "data:image/png;base64,&"])
    def test_a_broken_image_was_paid(self, grok: GrokServer, encoded: str):
        grok.answer = lambda context: grok.image(encoded)
        error = failure(AmbiguousError, "xai", lambda: ask(build("xai"), a_request()))
        assert not error.job_over

    @pytest.mark.parametrize(
        ("code", "details", "kind"),
        [
            (Code.UNAVAILABLE, "Socket closed", AmbiguousError),
            (Code.UNAVAILABLE, "Stream removed", AmbiguousError),
            (Code.UNAVAILABLE, "overloaded", TransientError),
            (Code.RESOURCE_EXHAUSTED, "too many requests", TransientError),
            (Code.RESOURCE_EXHAUSTED, "CLIENT: Received message larger than max (9 vs. 8)", AmbiguousError),
            (Code.INTERNAL, "oops", TransientError),
            (Code.UNKNOWN, "oops", TransientError),
            (Code.PERMISSION_DENIED, "Your team has used all credits", QuotaError),
            (Code.PERMISSION_DENIED, "reached its monthly spending limit", QuotaError),
            (Code.PERMISSION_DENIED, "not allowed", FatalError),
            (Code.UNAUTHENTICATED, "no", FatalError),
            (Code.INVALID_ARGUMENT, "Incorrect API key provided", FatalError),
            (Code.INVALID_ARGUMENT, "n must be positive", FatalError),
            (Code.NOT_FOUND, "no such model", FatalError),
            (Code.UNIMPLEMENTED, "no", FatalError),
        ],
    )
    def test_the_kind_of_an_error(
        self, grok: GrokServer, code: grpc.StatusCode, details: str, kind: type[ProviderError]
    ):
        grok.fail(code, details)
        failure(kind, "xai", lambda: ask(build("xai"), a_request()))
        assert len(grok.asked) == 1

    def test_a_wrong_key_names_its_variable(self, grok: GrokServer):
        grok.fail(Code.UNAUTHENTICATED, f"bad key {SECRET}")
        editor = build("xai")
        assert isinstance(editor, Checkable)
        with pytest.raises(FatalError, match="check XAI_API_KEY") as caught:
            editor.check()
        assert SECRET not in str(caught.value)

    def test_a_call_that_hangs_ends_at_its_limit(self, grok: GrokServer, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("FACEDRIFT_XAI_TIMEOUT_S", "1")
        editor = build("xai")
        editor.check()
        grok.hang()
        started = time.monotonic()
        failure(AmbiguousError, "xai", lambda: editor.submit(a_request()))
        assert 0.9 <= time.monotonic() - started < 4
        assert len(grok.asked) == 1

    def test_a_server_that_is_not_there_was_sent_nothing(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setenv("FACEDRIFT_XAI_HOST", "127.0.0.1:9")
        monkeypatch.setenv("FACEDRIFT_XAI_INSECURE", "1")
        error = failure(TransientError, "xai", lambda: build("xai").submit(a_request()))
        assert error.provider == "xai"


def ark(status: int, code: str, message: str = "no") -> Answer:
    return Answer({"error": {"code": code, "message": message, "param": "", "type": "x"}}, status)


class TestBytePlus:
    def test_what_is_sent(self, server: ScriptedServer):
        usage = {"generated_images": 1, "output_tokens": 4096, "total_tokens": 4096}
        data = [{"b64_json": IMAGE, "size": "48x40"}]
        server.will(Answer({"model": "seedream-served", "created": 1, "data": data, "usage": usage}))
        outcome = edited(ask(build("byteplus"), a_request("Add a hat")))
        assert (outcome.image, outcome.served_version) == (PICTURE, "seedream-served")
        assert outcome.details["usage"]["generated_images"] == 1
        (asked,) = server.asked
        assert asked.path == "/api/v3/images/generations"
        assert asked.headers["authorization"] == f"Bearer {SECRET}"
        sent = {name: value for name, value in asked.json().items() if value is not None}
        assert sent == {
            "model": "paint-1",
            "prompt": "Add a hat",
            "image": data_uri(PICTURE),
            "seed": 11,
            "size": "2K",
            "watermark": False,
            "response_format": "b64_json",
        }

    @pytest.mark.parametrize(
        "answer",
        [
            ark(400, "InputImageSensitiveContentDetected"),
            ark(400, "OutputImageSensitiveContentDetected.PolicyViolation"),
            Answer({"data": [{"error": {"code": "OutputImageSensitiveContentDetected", "message": "no"}}]}),
        ],
    )
    def test_refusals(self, server: ScriptedServer, answer: Answer):
        server.will(answer)
        assert isinstance(ask(build("byteplus"), a_request()), Refused)

    def test_an_empty_list_of_images(self, server: ScriptedServer):
        server.will(Answer({"model": "m", "data": []}))
        assert isinstance(ask(build("byteplus"), a_request()), NoImage)

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            (Answer(fault="drop"), AmbiguousError),
            (Answer(b"{}", fault="cut"), AmbiguousError),
            (Answer(b'{"data": ['), AmbiguousError),
            (Answer({"data": [{"b64_json": "AAAA"}]}), AmbiguousError),
            (Answer({"data": [{"url": None}]}), AmbiguousError),
            (
                Answer({"data": [{"error": {"code": "InternalServiceError", "message": "no"}}]}),
                TransientError,
            ),
            (ark(403, "AccountOverdueError"), QuotaError),
            (ark(429, "SetLimitExceeded"), QuotaError),
            (ark(429, "RateLimitExceeded.EndpointRPMExceeded"), TransientError),
            (ark(500, "InternalServiceError"), TransientError),
            (Answer(b"odd", 529), TransientError),
            (ark(401, "AuthenticationError"), FatalError),
            (ark(404, "InvalidEndpointOrModel.NotFound"), FatalError),
            (ark(400, "InvalidParameter"), FatalError),
            (Answer(b"teapot", 418), FatalError),
        ],
    )
    def test_the_kind_of_an_error(self, server: ScriptedServer, answer: Answer, kind: type[ProviderError]):
        server.will(answer)
        failure(kind, "byteplus", lambda: ask(build("byteplus"), a_request()))
        assert len(server.asked) == 1

    def test_the_wait_is_read_from_the_header(self, server: ScriptedServer):
        server.will(Answer({"error": {"code": "RateLimitExceeded"}}, 429, {"retry-after": "6"}))
        error = failure(TransientError, "byteplus", lambda: ask(build("byteplus"), a_request()))
        assert error.retry_after_s == 6

    def test_a_call_that_hangs_ends_at_its_limit(
        self, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setenv("FACEDRIFT_BYTEPLUS_TIMEOUT_S", "1")
        editor = build("byteplus")
        server.will(Answer(fault="hang"))
        started = time.monotonic()
        failure(AmbiguousError, "byteplus", lambda: editor.submit(a_request()))
        assert 0.9 <= time.monotonic() - started < 8  # the SDK takes seconds to import
        assert len(server.asked) == 1
