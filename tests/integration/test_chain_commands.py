"""`facedrift chains` as people meet it: what it says, and how it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from chain_photos import a_dataset_of
from typer.testing import CliRunner, Result

from flows import cli
from tasks import wiring

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[2]
GOOD = """\
id: mine
version: 1
source: me
chains:
  - photo: market-1
    edit_target: mixed
    people: 2
    face_size: medium
    photo_shape: landscape
    view: half
    prompts:
      - Change the man's jacket to green.
      - Add a blue mug on the table.
      - Move the basket to the right edge of the counter.
      - Replace the apple with a yellow pear.
      - Remove the scarf.
"""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in cli.PREFECT_DEFAULTS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.delenv("FACEDRIFT_DEFINITIONS", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(GOOD)
    return tmp_path


def say(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["chains", *arguments])


def test_a_good_file_ends_with_0_and_says_its_median(here: Path) -> None:
    found = say("lint", "mine.yaml", "--strict")
    assert (found.exit_code, found.stdout) == (0, "")
    assert found.stderr == "0 errors, 0 warnings; the median prompt has 7 words\n"
    assert not (here / "store").exists()


def test_errors_end_with_3_each_with_its_line(here: Path) -> None:
    (here / "mine.yaml").write_text(GOOD.replace("Remove the scarf", "Make the man smile"))
    found = say("lint", "mine.yaml")
    assert found.exit_code == 3
    assert "mine.yaml:16: error: no prompt concerns the face" in found.stdout
    assert "[face_word]" in found.stdout


def test_warnings_end_with_0_and_with_strict_with_3(here: Path) -> None:
    (here / "mine.yaml").write_text(GOOD.replace("green", "teal"))
    assert say("lint", "mine.yaml").exit_code == 0
    assert say("lint", "mine.yaml", "--strict").exit_code == 3


def test_chains_are_held_against_a_table_or_a_dataset(here: Path) -> None:
    (here / "photos.csv").write_text("photo,people,view\nmarket-1,3,half\n")
    found = say("lint", "mine.yaml", "--photos", "photos.csv")
    assert found.exit_code == 3
    assert "mine.yaml:7: error: people is '2' here, and '3' by measurement [differs]" in found.stdout
    a_dataset_of(wiring.store(), ("market-1", "bench-2"))
    found = say("lint", "mine.yaml", "--photos", "everyday")
    assert found.exit_code == 0
    assert "mine.yaml:4: warning: photos without a chain: bench-2" in found.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lint", "nowhere.yaml"), "cannot be read"),
        (("lint", "mine.yaml", "--photos", "nowhere.csv"), "cannot be read"),
        (("lint", "mine.yaml", "--photos", "nothing"), "no dataset 'nothing'"),
        (("draft", "city", "--dataset", "nothing", "--writer", "local"), "no dataset 'nothing'"),
        (("draft", "City", "--dataset", "everyday", "--writer", "local"), "set_id"),
        (
            ("draft", "city", "--dataset", "everyday", "--writer", "nobody"),
            "no definition 'nobody' in judges",
        ),
        (("draft", "city", "--dataset", "everyday", "--writer", "gemini-2.5-flash"), "no prompt for chains"),
        (
            ("draft", "city", "--dataset", "everyday", "--writer", "local", "--photos", "x"),
            "no base photo 'x'",
        ),
    ],
)
def test_what_cannot_be_done_is_one_line_and_1(arguments: tuple[str, ...], said: str) -> None:
    a_dataset_of(wiring.store())
    ended = say(*arguments)
    assert ended.exit_code == 1
    assert ended.stderr.startswith("error: ")
    assert said in ended.stderr


def test_a_dry_run_asks_nobody_and_says_the_price() -> None:
    a_dataset_of(wiring.store())
    ended = say("draft", "city", "--dataset", "everyday", "--writer", "gpt-6.1-sol", "--dry-run")
    assert ended.exit_code == 0
    assert "3 of 3 photos to ask about at $0.02: about $0.06" in ended.stdout


def test_a_look_at_a_file_needs_no_prefect(here: Path) -> None:
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); from pathlib import Path; "
        "from tasks.chain_files import lint_chain_file; found, _ = lint_chain_file(Path(sys.argv[1])); "
        "print(found, 'prefect' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(here / "mine.yaml")],
        capture_output=True, text=True, cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.stdout == "[] False\n", done.stderr
