"""`facedrift matches` and `facedrift votes` as people meet them: what they say, and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest
from matched_runs import a_voted_run, make_matches
from typer.testing import CliRunner, Result

from adapters.stores.local import LocalStore
from domain.votes import VoteRules
from flows import cli

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in cli.PREFECT_DEFAULTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    for name in ("RAPIDATA_CLIENT_ID", "RAPIDATA_CLIENT_SECRET", "RAPIDATA_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def say(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, [*arguments])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("votes", "export", "quickstart", "--to", "out"), "has no run in this store"),
        (("votes", "export", "nothing", "--to", "out"), "'nothing'"),
        (("votes", "list", "nothing"), "'nothing'"),
        (("votes", "collect", "quickstart", "--from", "file"), "needs a `path`"),
        (("votes", "collect", "quickstart", "--from", "rapidata", "--path", "x"), "takes no `path`"),
        (
            ("votes", "collect", "quickstart", "--from", "telepathy"),
            "error: --from: 'telepathy' is no source of votes; allowed: page, file, label_studio, rapidata\n",
        ),
        (("votes", "collect", "quickstart", "--from", "simulated"), "--from: 'simulated' is no source"),
        (("votes", "collect", "quickstart", "--from", "rapidata", "--price-usd", "1"), "has no run"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_1(arguments: tuple[str, ...], said: str) -> None:
    ended = say(*arguments)
    assert ended.exit_code == 1
    assert ended.stderr.startswith("error: ")
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


def test_matches_are_given_out(here: Path) -> None:
    store = LocalStore(here / "store", fsync=False)
    make_matches(a_voted_run(store, people=2, models=2, rules=VoteRules(gold_share=0, gold_first=0)))
    ended = say("votes", "export", "quickstart", "--to", "out", "--as", "label-studio", "--mirrored")
    assert ended.exit_code == 0, ended.stderr
    assert "2 matches: out/tasks.json" in ended.stdout
    assert "labelling configuration: out/labelling-config.xml" in ended.stdout
    assert (here / "out" / "tasks.json").is_file()
    asked = say("votes", "collect", "quickstart", "--from", "rapidata")
    assert asked.exit_code == 1
    assert "set RAPIDATA_CLIENT_ID" in asked.stderr


def test_nothing_was_collected_yet(here: Path) -> None:
    ended = say("votes", "list", "quickstart")
    assert ended.exit_code == 0
    assert "quickstart: 0 votes" in ended.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--strength", "m0"), "is not model=number"),
        (("--strength", "m0=fast"), "strengths.m0"),
        (("--votes", "9", "--annotators", "3"), "need as many voters"),
        (("--gold-errors", "0"), "gold_errors"),
    ],
)
def test_a_crowd_that_cannot_be_is_one_line_and_1(options: tuple[str, ...], said: str) -> None:
    ended = say("votes", "simulate", "quickstart", *options)
    assert ended.exit_code == 1
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
