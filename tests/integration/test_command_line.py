"""The command line as people and scripts meet it: bad input, exit codes, a folder of one's own photos."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings
from typer.testing import CliRunner

from flows import cli
from flows.terminal import show_board
from tasks.report_views import Board, BoardRow

Say = Callable[..., "Ended"]

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Ended:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ended]:
    """Runs a command in this process, for what ends before any flow begins."""
    for name, value in cli.PREFECT_DEFAULTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> Ended:
        result = CliRunner().invoke(cli.app, list(arguments))
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


def facedrift(home: Path, *arguments: str, timeout_s: float = 250) -> subprocess.CompletedProcess[str]:
    """Runs a command as a process of its own."""
    environment = os.environ | {
        "FACEDRIFT_STORE": str(home / "store"),
        "PREFECT_HOME": str(home / "prefect"),
        "PYTHONPATH": str(ROOT),
        "COLUMNS": "200",
    }
    command = [sys.executable, "-m", "flows.cli", *arguments]
    return subprocess.run(
        command, cwd=home, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "quickstrt"), "did you mean quickstart?"),
        (("run", "missing.yaml"), "missing.yaml: the file cannot be read"),
        (("run", "quickstart", "--models", "procedurall"), "'procedurall'"),
        (("run", "quickstart", "--sessions", "hair_999"), "'hair_999'"),
        (("run", "quickstart", "--images", "nowhere"), "neither a number nor a folder"),
        (("run", "quickstart", "--images", "0"), "--images takes"),
        (("run", "quickstart", "--sessions", ","), "--sessions names nothing"),
        (("run", "quickstart", "--models", ""), "--models names nothing"),
        (("report", "quickstart"), "facedrift run quickstart"),
        (("plan", "face-edit-celeba"), "mmlab.ie.cuhk.edu.hk"),
        (("run", "face-edit-celebset"), "Saving Face"),
        (("plan", "identity-drift"), "`facedrift chains draft identity-drift --dataset identity-drift"),
        (("run", "identity-drift", "--rehearse"), 'docs/identity-drift.md, "Your own set"'),
        (("datasets", "look", "london"), "figshare"),
        (("datasets", "look"), "name a suite, or --adapter"),
        (
            ("datasets", "look", "--adapter", "fodler", "--path", "x"),
            "'fodler' is not a choice here (field 'dataset.adapter'); allowed: packaged_faces, folder, ",
        ),
    ],
)
def test_bad_input_is_one_clear_line_and_exit_code_1(say: Say, arguments: tuple[str, ...], said: str) -> None:
    ended = say(*arguments)
    assert ended.returncode == 1
    assert said in ended.stderr
    assert ended.stderr.startswith("error: ")
    assert len(ended.stderr.strip().splitlines()) == 1
    assert "Traceback" not in ended.stderr


def test_the_list_of_suites_says_whose_chains_are_to_be_written(say: Say) -> None:
    lines = {line.split()[0]: line for line in say("suites").stdout.splitlines() if line[:1].strip()}
    assert "to be written" in lines["identity-drift"]
    assert "to be written" not in lines["identity-drift-demo"]


def test_a_plan_warns_of_a_retired_model(say: Say, tmp_path: Path) -> None:
    text = (ROOT / "domain/definitions/suites/quickstart.yaml").read_text()
    (tmp_path / "mine.yaml").write_text(text.replace("- control-stranger", "- nano-banana-2"))
    ended = say("plan", "mine.yaml", "--images", "1")
    assert ended.returncode == 0, ended.stderr
    warned = [line for line in ended.stderr.splitlines() if line.startswith("notice: ")]
    assert warned == ["notice: nano-banana-2 was retired on 2026-10-29; leave it out, or name its successor"]
    assert "notice" not in say("plan", "mine.yaml", "--images", "1", "--models", "procedural").stderr


def test_a_malformed_suite_file_names_file_line_field_and_allowed_fields(say: Say, tmp_path: Path) -> None:
    text = (ROOT / "domain/definitions/suites/quickstart.yaml").read_text().replace("models:", "modells:")
    (tmp_path / "mine.yaml").write_text(text)
    ended = say("run", "mine.yaml")
    assert ended.returncode == 1
    assert "mine.yaml:" in ended.stderr
    assert "modells" in ended.stderr
    assert "allowed: " in ended.stderr or "Field required" in ended.stderr


def test_an_unwritable_store_is_said_before_anything_runs(say: Say, tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file where the store should be")
    ended = say("run", "quickstart")
    assert ended.returncode == 1
    assert "cannot be used" in ended.stderr
    assert "is a file" in ended.stderr
    assert "probe" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_server_that_does_not_answer_is_said_at_once(say: Say) -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}):
        ended = say("run", "quickstart")
    assert ended.returncode == 1
    assert "PREFECT_API_URL" in ended.stderr
    assert "127.0.0.1:9" in ended.stderr


@pytest.mark.parametrize(("setting", "said"), [("quality: 500", "quality"), ("qualty: 60", "qualty")])
def test_a_card_with_a_wrong_setting_is_found_before_its_first_step(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, said: str
) -> None:
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    for folder, old, new in (
        ("models", "id: control-recompress", "id: mine"),
        ("suites", "  - procedural", "  - mine"),
    ):
        (tmp_path / folder).mkdir()
        name = "control-recompress" if folder == "models" else "quickstart"
        text = (ROOT / f"domain/definitions/{folder}/{name}.yaml").read_text().replace(old, new)
        text = text.replace("quality: 60", setting).replace("id: quickstart", "id: mine")
        (tmp_path / folder / "mine.yaml").write_text(text)
    ended = say("plan", "mine", "--images", "1")
    assert ended.returncode == 1
    assert "models/mine.yaml" in ended.stderr
    assert f"settings.{said}" in ended.stderr


def test_datasets_are_listed_and_looked_at(say: Say, tmp_path: Path) -> None:
    listed = say("datasets")
    assert listed.returncode == 0
    assert all(name in listed.stdout for name in ("celeba", "imdb_wiki", "london", 'partition="all"'))
    (tmp_path / "ann").mkdir()
    (tmp_path / "ann" / "1.jpg").write_bytes(b"x")
    (tmp_path / "photos.csv").write_text("image,person,age\nann/1.jpg,Ann,27\nann/2.jpg,Ann,28\n")
    ended = say("datasets", "look", "--adapter", "manifest", "--path", "photos.csv", "--rows", "rows.csv")
    assert ended.returncode == 0, ended.stderr
    for said in ("1 photos of 1 people", "age", "missing_file", "photos.csv:3: ann/2.jpg: No such file"):
        assert said in ended.stdout
    assert (tmp_path / "rows.csv").read_text().count("\n") == 3


def test_wrong_usage_is_exit_code_2(say: Say) -> None:
    assert say("run").returncode == 2
    assert say("run", "quickstart", "--concurrency", "0").returncode == 2


def test_a_folder_with_bad_photos_runs_on_the_good_ones_and_says_what_it_left_out(tmp_path: Path) -> None:
    from adapters.datasets.packaged_faces import PICTURES, PackagedFaces, picture_bytes

    people = list(PackagedFaces().read())
    photos = tmp_path / "photos"
    (photos / "anna").mkdir(parents=True)
    (photos / "anna" / "1.png").write_bytes(people[0].data)
    (photos / "bea.png").write_bytes(people[1].data)
    (photos / "notes.txt").write_text("not a photo")
    (photos / "cut.png").write_bytes(people[2].data[:2000])
    (photos / "group.jpg").write_bytes(picture_bytes(PICTURES[0]))
    ended = facedrift(
        tmp_path, "run", "quickstart", "--images", str(photos), "--models", "control-unchanged",
        "--sessions", "hair_001",
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert "3 files left out" in ended.stderr
    [table] = (tmp_path / "store/datasets").rglob("left_out.parquet")
    assert f"all of them: {table}; to read: {table.with_name('summary.md')}" in ended.stderr.replace("\n", "")
    [report] = (tmp_path / "store/reports/quickstart").rglob("left_out.csv")
    left_out = dict(pl.read_csv(report).select("source", "reason").iter_rows())
    assert left_out == {"cut.png": "truncated", "group.jpg": "several_faces", "notes.txt": "not_an_image"}
    page = report.with_name("index.html")
    assert "several faces" in page.read_text()
    page.unlink()
    again = facedrift(tmp_path, "report", "quickstart")
    assert again.returncode == 0, again.stderr
    assert page.is_file()  # whatever report names is there
    assert page.name in again.stdout


def test_a_folder_without_a_usable_photo_ends_with_the_reasons(say: Say, tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "a.txt").write_text("no")
    (photos / "b.txt").write_text("no more")
    ended = say("run", "quickstart", "--images", str(photos))
    assert ended.returncode == 1
    assert "2 × not_an_image" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_plan_says_what_is_missing_and_writes_no_run(say: Say, tmp_path: Path) -> None:
    ended = say("plan", "quickstart", "--images", "2")
    assert ended.returncode == 0, ended.stderr
    assert "64 chains, 0 complete, 0 stopped, 64 to do" in ended.stdout
    assert not (tmp_path / "store/runs").exists()
    dry = say("run", "quickstart", "--images", "2", "--dry-run")
    assert dry.stdout == ended.stdout


def test_lists_and_doctor_work(say: Say) -> None:
    assert "procedural" in say("models").stdout
    assert "quickstart" in say("suites").stdout
    ended = say("doctor")
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.count("ok ") == 7


def test_a_star_is_explained_where_there_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [BoardRow("flux", is_control=False, note="", cells=()), BoardRow("same", True, "", ())]
    show_board(Board("all", (), rows))
    said = capsys.readouterr().out
    assert "same *" in said
    assert "* a control; below each mean its 95 % interval and n" in said
    show_board(Board("all", (), rows[:1]))
    said = capsys.readouterr().out
    assert "below each mean its 95 % interval and n" in said
    assert "*" not in said
