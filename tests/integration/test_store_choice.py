"""A store that cannot be used is said before anything runs: one line, exit code 1."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from servers.s3_endpoint import SECRET_KEY, S3Server
from typer.testing import CliRunner

from flows import cli

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in cli.PREFECT_DEFAULTS.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)


def refused(*arguments: str) -> str:
    """The one line that a command ends with."""
    ended = CliRunner().invoke(cli.app, list(arguments))
    assert ended.exit_code == 1
    assert ended.stderr.startswith("error: ")
    assert len(ended.stderr.strip().splitlines()) == 1
    assert SECRET_KEY not in ended.stderr
    return ended.stderr


def test_a_server_that_ignores_conditions_is_refused(
    rclone_server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in rclone_server.variables(uuid.uuid4().hex).items():
        monkeypatch.setenv(name, value)
    for command in (["run", "quickstart"], ["run", "quickstart", "--dry-run"]):
        said = refused(*command)
        assert "s3://facedrift-tests/" in said
        assert "(If-None-Match) is not honoured, so two runs could both pay" in said
    ended = CliRunner().invoke(cli.app, ["doctor"])
    assert ended.exit_code == 1
    assert "If-None-Match" in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("s3:/bench/a", "allowed: a directory, s3://bucket/prefix"),
        ("gs://bench/a", "neither a directory nor an s3:// address"),
        ("s3://bench/a", "no credentials for S3: set AWS_ACCESS_KEY_ID"),
    ],
)
def test_a_location_that_leads_nowhere(store: str, said: str) -> None:
    assert said in refused("run", "quickstart", "--store", store)


def test_a_missing_bucket_and_a_silent_endpoint(seaweed: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in seaweed.variables("a", bucket="no-such-bucket").items():
        monkeypatch.setenv(name, value)
    assert "there is no bucket 'no-such-bucket'" in refused("run", "quickstart")
    monkeypatch.setenv("FACEDRIFT_STORE", "s3://facedrift-tests/b")
    monkeypatch.setenv("FACEDRIFT_S3_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("FACEDRIFT_S3_MAX_ATTEMPTS", "1")
    assert "http://127.0.0.1:9 cannot be reached" in refused("run", "quickstart")


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "file").write_text("where the store should be")
    assert str(tmp_path / "file") in refused("run", "quickstart", "--store", "~/file")
