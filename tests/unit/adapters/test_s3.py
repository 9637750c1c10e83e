"""What an S3 endpoint says, as errors that tell what to do; the answers are scripted."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from fakes.scripted_server import Answer, ScriptedServer, scripted_server

from adapters.stores.s3 import S3Store, content_type
from adapters.stores.settings import BucketPlace, S3Settings
from domain.errors import DefinitionError, StoreError

SECRET = "a-secret-that-nobody-may-read"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    with scripted_server() as server:
        yield server


def open_store(server: ScriptedServer, **settings: object) -> S3Store:
    given = {"endpoint_url": server.url, "region": "us-east-1", "access_key_id": "KEY", "max_attempts": 2}
    given |= {"secret_access_key": SECRET, "read_timeout_s": 0.5, **settings}
    return S3Store(BucketPlace("bench", "p", S3Settings.model_validate(given)))


@pytest.fixture(scope="module")
def store(server: ScriptedServer) -> S3Store:
    return open_store(server)


def refusal(status: int, code: str, more: str = "", **headers: str) -> Answer:
    text = f"<Error><Code>{code}</Code><Message>said so</Message>{more}</Error>"
    return Answer(text.encode(), status, {"content-type": "application/xml", **headers})


def error_of(store: S3Store, verb: str = "get") -> StoreError:
    calls = {
        "get": lambda: store.get("a/b"),
        "head": lambda: store.head("a/b"),
        "put_new": lambda: store.put_new("a/b", b"x"),
        "list": lambda: list(store.list("a/b")),
        "delete": lambda: store.delete("a/b"),
    }
    with pytest.raises(StoreError) as caught:
        calls[verb]()
    return caught.value


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (refusal(404, "NoSuchBucket"), "there is no bucket 'bench' at http://127.0.0.1:"),
        (refusal(403, "InvalidAccessKeyId"), "check AWS_ACCESS_KEY_ID"),
        (refusal(401, "Unauthorized"), "check AWS_ACCESS_KEY_ID"),
        (refusal(403, "SignatureDoesNotMatch"), "copy AWS_SECRET_ACCESS_KEY again"),
        (refusal(400, "ExpiredToken"), "have expired"),
        (refusal(403, "RequestTimeTooSkewed"), "the clock of this machine"),
        (refusal(403, "AccessDenied"), "allow s3:GetObject, and s3:ListBucket"),
        (refusal(403, "KMS.DisabledException"), "FACEDRIFT_S3_SSE_KMS_KEY_ID"),
        (refusal(418, "Teapot"), "answered 418 Teapot"),
        (Answer(b"<html>not S3</html>", 404), "answered 404"),
        (
            refusal(400, "AuthorizationHeaderMalformed", "<Region>eu-central-1</Region>"),
            "bucket 'bench' is in region 'eu-central-1', not in 'us-east-1'; set AWS_REGION=eu-central-1",
        ),
        (
            refusal(301, "PermanentRedirect", **{"x-amz-bucket-region": "eu-west-3"}),
            "set AWS_REGION=eu-west-3",
        ),
        (refusal(301, "PermanentRedirect"), "is in another region"),
    ],
)
def test_a_refusal_says_what_to_mend(server: ScriptedServer, store: S3Store, answer: Answer, said: str):
    server.will(answer)
    error = error_of(store)
    assert said in str(error)
    assert error.key == "a/b"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.key) == (str(error), "a/b")
    assert SECRET not in repr(error) + repr(error.__cause__) + repr(store.place)
    assert len(server.asked) == 1, "nothing was tried elsewhere, or again"


@pytest.mark.parametrize(
    ("verb", "permission"),
    [("put_new", "s3:PutObject"), ("list", "s3:ListBucket"), ("delete", "s3:DeleteObject")],
)
def test_a_forbidden_call_names_the_permission(
    server: ScriptedServer, store: S3Store, verb: str, permission: str
):
    server.will(refusal(403, "AccessDenied"))
    assert permission in str(error_of(store, verb))


def test_only_a_missing_key_is_absent(server: ScriptedServer, store: S3Store):
    server.will(refusal(404, "NoSuchKey"))
    assert store.get("a") is None
    server.will(Answer(b"", 404), refusal(404, "NoSuchKey"))  # an answer to HEAD has no body
    assert store.head("a") is None
    server.will(Answer(b"", 404), refusal(404, "NoSuchBucket"))
    assert "no bucket" in str(error_of(store, "head"))
    server.will(refusal(500, "NoSuchKey"), refusal(500, "NoSuchKey"))
    assert "answered 500" in str(error_of(store))


def test_an_overloaded_endpoint_is_asked_again_and_not_for_ever(server: ScriptedServer, store: S3Store):
    server.will(refusal(503, "SlowDown"), Answer(b"data"))
    assert store.get("a") == b"data"
    server.will(*[refusal(503, "SlowDown")] * 5)
    assert "said 2 times that it is overloaded" in str(error_of(store))
    assert len(server.asked) == 2


def test_bytes_that_stop_on_the_way_are_asked_for_again(server: ScriptedServer, store: S3Store):
    server.will(Answer(b"da", fault="cut"), Answer(b"data"))
    assert store.get("a") == b"data"
    server.will(*[Answer(b"da", fault="cut")] * 5)
    assert "cannot be reached" in str(error_of(store))
    assert len(server.asked) == 3


def test_a_silent_endpoint_is_given_up(server: ScriptedServer, store: S3Store):
    server.will(*[Answer(fault="hang")] * 2)
    assert "cannot be reached (ReadTimeoutError)" in str(error_of(store))


def test_a_conflict_is_tried_again(server: ScriptedServer, store: S3Store):
    server.will(refusal(409, "ConditionalRequestConflict"), Answer())
    assert store.put_new("a", b"x") is True
    server.will(refusal(409, "ConditionalRequestConflict"), refusal(412, "PreconditionFailed"))
    assert store.put_new("a", b"x") is False
    assert len(server.asked) == 2


def test_a_lost_answer_where_metadata_is_not_kept_is_settled_by_the_bytes(
    server: ScriptedServer, store: S3Store
):
    for stored, ours in ((b"mine", True), (b"theirs", False)):
        server.will(Answer(fault="drop"), refusal(412, "PreconditionFailed"), Answer(b""), Answer(stored))
        assert store.put_new("a", b"mine") is ours


def test_what_is_sent(server: ScriptedServer):
    store = open_store(server, sse="aws:kms", sse_kms_key_id="key-7", session_token="token-3")
    server.will(Answer())
    store.put_new("a/b.json", b"{}")
    [asked] = server.asked
    assert (asked.method, asked.path) == ("PUT", "/bench/p/a/b.json")
    assert asked.headers["if-none-match"] == "*"
    assert asked.headers["content-type"] == "application/json"
    assert asked.headers["x-amz-server-side-encryption"] == "aws:kms"
    assert asked.headers["x-amz-server-side-encryption-aws-kms-key-id"] == "key-7"
    assert asked.headers["x-amz-security-token"] == "token-3"
    assert "x-amz-sdk-checksum-algorithm" not in asked.headers
    assert "x-amz-trailer" not in asked.headers
    assert asked.headers["authorization"].startswith("AWS4-HMAC-SHA256")
    server.will(Answer())
    open_store(server).put("a/pointer", b"x")
    kept = set(server.asked[0].headers)
    assert not kept & {"if-none-match", "x-amz-security-token", "x-amz-server-side-encryption"}


def test_polars_is_given_the_same_access(server: ScriptedServer):
    found = open_store(server, sse="AES256").address("a/b.parquet")
    assert found.url == "s3://bench/p/a/b.parquet"
    options = found.storage_options or {}
    assert (options["aws_access_key_id"], options["aws_secret_access_key"]) == ("KEY", SECRET)
    assert (options["aws_endpoint_url"], options["aws_region"]) == (server.url, "us-east-1")
    assert (options["aws_server_side_encryption"], options["max_retries"]) == ("AES256", 1)
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    ("style", "endpoint", "virtual", "told"),
    [
        ("auto", None, "true", "https://bench.s3.eu-west-1.amazonaws.com"),
        ("path", None, "false", "https://s3.eu-west-1.amazonaws.com"),
        ("auto", "http://127.0.0.1:9000", "false", "http://127.0.0.1:9000"),
        ("virtual", "http://s3.test:9000", "true", "http://bench.s3.test:9000"),
    ],
)
def test_boto3_and_polars_agree_on_how_a_bucket_is_addressed(
    style: str, endpoint: str | None, virtual: str, told: str
):
    given = {"endpoint_url": endpoint, "region": "eu-west-1", "addressing_style": style}
    given |= {"access_key_id": "KEY", "secret_access_key": SECRET}
    store = S3Store(BucketPlace("bench", "p", S3Settings.model_validate(given)))
    options = store.address("a").storage_options or {}
    assert (options["aws_virtual_hosted_style_request"], options["aws_endpoint_url"]) == (virtual, told)
    signed = store.client.generate_presigned_url("get_object", Params={"Bucket": "bench", "Key": "p/a"})
    assert urlsplit(signed).path == ("/p/a" if virtual == "true" else "/bench/p/a")
    assert signed.startswith("https://bench.s3." if (style, endpoint) == ("auto", None) else told)


def test_without_credentials_nobody_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: object):
    """The network of tests ends at this machine: asking the metadata address would be an error of its own."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{tmp_path}/none")
    monkeypatch.setenv("AWS_CONFIG_FILE", f"{tmp_path}/none")
    with pytest.raises(StoreError, match="no credentials for S3: set AWS_ACCESS_KEY_ID"):
        S3Store(BucketPlace("bench", "", S3Settings()))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "KEY")
    with pytest.raises(StoreError, match="no credentials for S3"):
        S3Store(BucketPlace("bench", "", S3Settings()))
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(DefinitionError, match="nobody"):
        S3Store(BucketPlace("bench", "", S3Settings()))


def test_what_the_probe_runs_into_is_said_of_the_store(server: ScriptedServer, store: S3Store) -> None:
    server.will(refusal(404, "NoSuchBucket"))
    with pytest.raises(StoreError) as caught:
        store.probe()
    assert str(caught.value).startswith(
        "the store s3://bench cannot be used: there is no bucket 'bench' at http://127.0.0.1:"
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a/site.0123.js", "text/javascript; charset=utf-8"),
        ("a/site.0123.css", "text/css; charset=utf-8"),
        ("a/index.html", "text/html; charset=utf-8"),
        ("a/b.webp", "image/webp"),
        ("a/b", "application/octet-stream"),
    ],
)
def test_browsers_are_told_what_a_file_of_a_page_is(name: str, kind: str):
    assert content_type(name) == kind
