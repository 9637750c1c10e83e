"""Where the votes are kept, and what is said of a wrong address."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.votes.page.database import open_database
from adapters.votes.page.settings import vote_settings
from domain.errors import DefinitionError, StoreError


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FACEDRIFT_STORE", "FACEDRIFT_VOTE_DATABASE_URL", "FACEDRIFT_VOTE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_the_votes_are_beside_the_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "here" / "store"))
    assert vote_settings().database() == f"sqlite:///{tmp_path}/here/votes.sqlite"


def test_for_a_bucket_they_are_in_the_current_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACEDRIFT_STORE", "s3://bucket/prefix")
    assert vote_settings().database() == "sqlite:///.facedrift/votes.sqlite"


def test_a_password_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACEDRIFT_VOTE_DATABASE_URL", "postgresql://votes:hunter2@db/votes")
    found = vote_settings()
    assert "hunter2" not in f"{found!r} {found} {found.model_dump()}"
    assert found.database() == "postgresql://votes:hunter2@db/votes"


@pytest.mark.parametrize("url", ["mysql://root:hunter2@db/votes", "votes.sqlite", "sqlite:///", "hunter2"])
def test_a_wrong_address_is_named_and_not_quoted(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("FACEDRIFT_VOTE_DATABASE_URL", url)
    with pytest.raises(
        DefinitionError, match="FACEDRIFT_VOTE_DATABASE_URL: must be one of sqlite:///"
    ) as found:
        vote_settings()
    assert "hunter2" not in str(found.value)


@pytest.mark.parametrize(
    "url", ["votes.example.org", "ftp://x", "https://u:p@x", "https://x/?a=1", "https:///x"]
)
def test_a_base_url_is_an_address_without_login(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("FACEDRIFT_VOTE_BASE_URL", url)
    with pytest.raises(DefinitionError, match="FACEDRIFT_VOTE_BASE_URL: must "):
        vote_settings()


def test_a_base_url_may_have_a_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACEDRIFT_VOTE_BASE_URL", "https://x.example/faces/")
    assert vote_settings().base_url == "https://x.example/faces"


def test_a_file_that_is_no_database_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "votes.sqlite").write_text("no database " * 1000)
    with pytest.raises(StoreError, match=r"file is not a database .*votes\.sqlite"):
        open_database(f"sqlite:///{tmp_path}/votes.sqlite")


def test_a_folder_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="no folder for the votes"):
        open_database(f"sqlite:///{tmp_path}/file/votes.sqlite")


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    pytest.importorskip("psycopg", reason="the extra `vote` is not installed")
    with pytest.raises(StoreError, match=r"cannot be used: .*refused") as found:
        open_database("postgresql://votes:hunter2@127.0.0.1:9/votes")
    assert "hunter2" not in str(found.value)


def test_an_address_that_postgres_cannot_read_is_told_without_the_password() -> None:
    pytest.importorskip("psycopg", reason="the extra `vote` is not installed")
    with pytest.raises(DefinitionError, match="none that Postgres can read") as found:
        open_database("postgresql://votes:hunter2@db/votes?nonsense=1")
    assert "hunter2" not in str(found.value)
    assert found.value.__cause__ is None
