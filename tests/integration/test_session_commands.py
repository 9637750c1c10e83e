"""`facedrift sessions` as people meet it: what it says, and how it ends."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from flows import cli

pytestmark = pytest.mark.integration

PACKAGED = str(resources.files("domain") / "definitions" / "sessions" / "face-edit-sessions.yaml")
BAD = """\
id: mine
version: 1
taxonomy: face-edit-attributes
source: me
sessions:
  - id: hair_001
    test_set: hair
    steps:
      - prompt: Add a goat.
        attribute: goatee
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in cli.PREFECT_DEFAULTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("FACEDRIFT_DEFINITIONS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def say(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["sessions", *arguments])


def test_warnings_end_with_0_and_with_strict_with_3() -> None:
    found = say("lint", PACKAGED)
    assert found.exit_code == 0
    assert "0 errors" in found.stderr
    assert f"{PACKAGED}:6: warning: " in found.stdout
    assert say("lint", PACKAGED, "--strict").exit_code == 3


def test_errors_end_with_3_each_with_its_line(here: Path) -> None:
    (here / "mine.yaml").write_text(BAD)
    found = say("lint", "mine.yaml")
    assert found.exit_code == 3
    assert "mine.yaml:9: error: the prompt names no attribute" in found.stdout
    assert found.stderr.startswith("1 errors")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lint", "nowhere.yaml"), "cannot be read"),
        (("lint", PACKAGED, "--taxonomy", "faces"), "no definition 'faces'"),
        (("write", "city", "--writer", "nobody"), "no definition 'nobody' in judges"),
        (("write", "city", "--writer", "gemini-2.5-flash"), "no prompt for sessions"),
        (("write", "City", "--writer", "local"), "set_id"),
        (("write", "city", "--writer", "local", "--hair", "0"), "test_sets"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_1(arguments: tuple[str, ...], said: str) -> None:
    ended = say(*arguments)
    assert ended.exit_code == 1
    assert ended.stderr.startswith("error: ")
    assert said in ended.stderr


def test_a_dry_run_asks_nobody_and_says_the_price() -> None:
    ended = say("write", "city", "--writer", "gpt-6.1-sol", "--hair", "2", "--steps", "3", "--dry-run")
    assert ended.exit_code == 0
    assert "6 of 6 instructions to write at $0.02: about $0.12" in ended.stdout


def test_the_list_names_the_packaged_set() -> None:
    ended = say("list")
    assert ended.exit_code == 0
    assert "face-edit-sessions" in ended.stdout


def test_the_list_names_the_good_ones_and_the_files_that_are_wrong(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(here))
    (here / "sessions").mkdir()
    for name in ("one", "two"):
        (here / "sessions" / f"{name}.yaml").write_text("id: x\n")
    ended = say("list")
    assert ended.exit_code == 1
    assert "face-edit-sessions" in ended.stdout
    for name in ("one", "two"):
        assert f"error: {here}/sessions/{name}.yaml:1: " in ended.stderr
