"""`facedrift photos` as people meet it: a folder with a table becomes a set, or it says what to mend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from builders import encoded, noise
from everyday_files import table
from typer.testing import CliRunner, Result

from adapters.datasets.packaged_faces import ASTRONAUT, picture_bytes
from flows import cli

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[2]
SUITE = """\
id: mine
title: mine
dataset: {id: mine, adapter: everyday_photos, path: photos, options: {licences: [public domain]}}
taxonomy: face-edit-attributes
session_set: face-edit-sessions
models: [control-unchanged]
embedder: {pack: mobile}
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in cli.PREFECT_DEFAULTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(SUITE)
    return tmp_path


def say(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["photos", *arguments])


def test_what_cannot_be_prepared_is_said_in_a_line(here: Path):
    found = say("prepare", "mine.yaml")
    assert found.exit_code == 1
    assert "no folder of everyday photos with a table of their authors at" in " ".join(found.stderr.split())
    found = say("prepare", "mine.yaml", "--images", str(here))
    assert found.exit_code == 1
    assert "no table 'photos.csv'" in found.stderr
    found = say("prepare", "quickstart")
    assert found.exit_code == 1
    assert "has no everyday photos" in found.stderr
    assert not (here / "store" / "datasets").exists()


def test_a_folder_becomes_a_set_of_photos(here: Path):
    (here / "photos").mkdir()
    (here / "photos" / "anna.png").write_bytes(picture_bytes(ASTRONAUT))
    (here / "photos" / "wall.png").write_bytes(encoded(noise(600, 400)))
    rows = [
        {"file": "anna.png", "licence": "Public domain", "author": "NASA"},
        {"file": "wall.png"},
        {"file": "x"},
    ]
    table(here / "photos", rows)
    done = subprocess.run(
        [sys.executable, "-m", "flows.cli", "photos", "prepare", "mine.yaml", "--out", "out"],
        cwd=here, capture_output=True, text=True, timeout=250, check=False,
        env=os.environ | {"PREFECT_HOME": str(here / "prefect"), "PYTHONPATH": str(ROOT), "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 photos; 1 × missing_file, 1 × no_face" in done.stdout
    assert "photos.csv:4: missing_file: x: No such file or directory" in done.stdout
    assert "wall (https://example.org/1): no_face: no face found" in done.stdout
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "anna.png", "attribution.csv", "attribution.md", "contact-sheet-001.jpg", "summary.md",
    ]  # fmt: skip
    assert "NASA" in (here / "out" / "attribution.csv").read_text()
