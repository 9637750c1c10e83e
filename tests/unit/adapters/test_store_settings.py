"""Where the store is, by one variable, and how a bucket is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.stores.settings import BucketPlace, S3Settings, is_relative, parse, place, s3_settings
from domain.errors import DefinitionError

VARIABLES = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("s3://bench", ("bench", "")),
        ("s3://bench/", ("bench", "")),
        ("s3://bench/a/b-1.2/", ("bench", "a/b-1.2")),
        ("s3://my.old_Bucket/a", ("my.old_Bucket", "a")),
        ("/data/store", Path("/data/store")),
        ("~/store", Path.home() / "store"),
        ("a:b", None),
        ("store", None),
    ],
)
def test_a_location(tmp_path: Path, text: str, found: object):
    assert parse(text) == (found or tmp_path / text)


@pytest.mark.parametrize(
    "text",
    ["s3:bench/a", "s3:/bench", "s3://", "s3:///a", "s3://ab", "s3://bench/a b", "s3://bench/../x", "S3://bench",
     "s3://bench//a", "gs://bench/a", "https://host/bench", "file:///data", "~nobody-of-this-name/x"],
)  # fmt: skip
def test_a_malformed_location_is_said_with_what_is_allowed(text: str):
    with pytest.raises(DefinitionError, match="FACEDRIFT_STORE or --store") as caught:
        parse(text)
    assert "allowed: a directory, s3://bucket/prefix" in str(caught.value)
    assert text in str(caught.value)


def test_keys_in_a_location_are_not_shown():
    with pytest.raises(DefinitionError) as caught:
        parse("s3://KEY:hush-hush@bench/a")
    assert "hush" not in str(caught.value)


def test_one_variable_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("FACEDRIFT_STORE", raising=False)
    assert place() == tmp_path / ".facedrift/store"
    monkeypatch.setenv("FACEDRIFT_STORE", "s3://bench/a")
    assert place() == BucketPlace("bench", "a", S3Settings())
    assert str(place()) == "s3://bench/a"
    assert hash(place()) == hash(place())


def test_the_endpoint_is_ours_before_it_is_that_of_aws(monkeypatch: pytest.MonkeyPatch):
    assert s3_settings().endpoint_url is None
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "FACEDRIFT_S3_ENDPOINT_URL"):
        monkeypatch.setenv(name, f"http://{name.replace('_', '-').lower()}:9000/")
        assert s3_settings().endpoint_url == f"http://{name.replace('_', '-').lower()}:9000"
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "FACEDRIFT_S3_REGION"):
        monkeypatch.setenv(name, name)
        assert s3_settings().region == name


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"FACEDRIFT_S3_ENDPOINT_URL": "http://KEY:hush@host"}, "FACEDRIFT_S3_ENDPOINT_URL or AWS"),
        ({"AWS_ENDPOINT_URL": "host:9000"}, "AWS_ENDPOINT_URL: must be http"),
        ({"FACEDRIFT_S3_SSE": "hush"}, "FACEDRIFT_S3_SSE"),
        ({"FACEDRIFT_S3_ADDRESSING_STYLE": "hush"}, "FACEDRIFT_S3_ADDRESSING_STYLE"),
        ({"FACEDRIFT_S3_MAX_ATTEMPTS": "99"}, "FACEDRIFT_S3_MAX_ATTEMPTS"),
        ({"FACEDRIFT_S3_SECRET_ACCESS_KEY": "hush"}, "set both or neither"),
        ({"FACEDRIFT_S3_SSE_KMS_KEY_ID": "hush"}, "SSE=aws:kms"),
        ({"FACEDRIFT_S3_SESSION_TOKEN": "hush"}, "set all or none"),
    ],
)
def test_a_wrong_setting_names_its_variable_and_shows_no_value(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(DefinitionError) as caught:
        s3_settings()
    assert said in str(caught.value)
    assert "hush" not in str(caught.value) + repr(caught.value.__cause__)


@pytest.mark.parametrize(
    ("text", "relative"),
    [(".facedrift/store", True), ("/srv/store", False), ("~/store", False), ("s3://bucket/at", False)],
)
def test_a_folder_below_wherever_a_process_was_started(
    monkeypatch: pytest.MonkeyPatch, text: str, relative: bool
) -> None:
    monkeypatch.setenv("FACEDRIFT_STORE", text)
    assert is_relative() is relative
