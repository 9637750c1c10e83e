"""Our numbers beside the printed ones, and the printed ones beside each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from paper_frames import AXES, RULES, tables_of_a_run
from typer.testing import CliRunner

from adapters.stores.local import LocalStore
from domain import keys
from domain.errors import StoreError
from domain.printed import PrintedCell, printed_paper
from flows.cli import app
from tasks.comparing import NEEDED, compare_with_paper, newest_snapshot
from tasks.paper_closure import closures
from tasks.paper_comparison import (
    Key,
    Ours,
    compare,
    compare_lists,
    key_of,
    our_numbers,
    sorted_tables,
    verdict,
)
from tasks.scoring import files_of

PAPER = printed_paper()

SUITE = """
id: like-the-paper
title: a suite with a model and dataset of the paper
dataset: {id: celeba, adapter: folder, path: photos}
taxonomy: face-edit-attributes
session_set: face-edit-sessions
models: [flux-1-dev, bagel-edit]
embedder: {pack: mobile}
"""


def a_cell(**fields: Any) -> PrintedCell:
    base = {"table": "1", "dataset": "celeba", "model": "bagel-edit", "test_set": "hair", "group": "all"}
    return PrintedCell.model_validate(base | {"metric": "mean_drop_fss", "value": "24.60"} | fields)


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LocalStore:
    """A store with a report of the synthetic run, and the suite that it is of."""
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites/like-the-paper.yaml").write_text(SUITE)
    store = LocalStore(tmp_path / "store")
    files = files_of({name: tables_of_a_run()[name] for name in NEEDED}, RULES.model_dump())
    digest = "0123456789abcdef" * 4
    for name, data in files.items():
        store.put_new(keys.report("like-the-paper", digest, name), data)
    store.put(keys.report_pointer("like-the-paper"), json.dumps({"snapshot": digest}).encode())
    return store


@pytest.mark.parametrize(
    ("ours", "cell", "wanted"),
    [
        (Ours(24.604, 5), {}, "equal"),
        (Ours(24.605, 5), {}, "equal"),
        (Ours(24.606, 5), {}, "differs"),
        (Ours(25.0, 5, 24.7, 25.3), {"ci": "0.16"}, "overlaps"),
        (Ours(25.0, 5, 24.9, 25.3), {"ci": "0.16"}, "differs"),
        (Ours(25.0, 5), {"ci": "0.5"}, "overlaps"),
        (Ours(25.0, 5, 24.6, 25.3), {}, "overlaps"),
        (Ours(None, 0), {}, "not run"),
        (Ours(24.66, 5), {"unit": 0.2}, "equal"),
        (Ours(24.4, 5), {"value": "24"}, "equal"),
        (Ours(1220.0, 1220), {"value": "1221", "metric": "n_sessions"}, "differs"),
    ],
)
def test_verdict(ours: Ours, cell: dict[str, Any], wanted: str):
    assert verdict(a_cell(**cell), ours) == wanted


def test_printed_names_become_ours():
    cell = a_cell(model="flux-kontext-pro", test_set="avg", group="FD")
    assert key_of(PAPER, cell) == Key("celeba", "flux-1-kontext-pro", "all", "female-dark", "mean_drop_fss")
    base = a_cell(model="base-images", test_set="base", group="with_accessory", metric="n_images")
    assert key_of(PAPER, base) == Key("celeba", "", "base", "with", "n_images")


def test_the_paper_compared_with_itself_is_equal_throughout():
    ours = {
        key_of(PAPER, cell): Ours(cell.number, 1, p={"yes": 0.01, "no": 0.5, None: None}[cell.significant])
        for cell in reversed(PAPER.cells)
    }
    found = compare(PAPER, ours)
    assert found.height == len(PAPER.cells)
    odd = found.filter(pl.col("verdict") != "equal")
    assert odd["slips"].to_list() == ["12"]  # one group is printed twice in one cell
    assert found["same_significance"].drop_nulls().all()
    assert found.filter(pl.col("slips") != "").height > 150


def test_without_a_run_nothing_of_ours_is_invented():
    found = compare(PAPER, {})
    assert set(found["verdict"]) == {"not run"}
    assert found["ours"].null_count() == found.height
    assert found["n"].sum() == 0
    assert set(compare_lists(PAPER, {})["ours"]) == {"not run"}


def test_numbers_of_a_run_stand_where_the_paper_prints_them():
    tables = tables_of_a_run()
    found = compare(PAPER, our_numbers(tables))
    ran = found.filter(pl.col("verdict") != "not run")
    assert set(ran["table"]) == {cell.table for cell in PAPER.cells} - {"E"}
    # All synthetic photos show hats: a count of none without is a number, a distance to none is not.
    occluded = ran.filter(pl.col("table") == "L").select("group", "metric").rows()
    assert ("without_accessory", "n_images") in occluded
    assert ("accessory", "wd_fss0_pct") not in occluded
    assert set(ran["card"]) == {"flux-1-dev", "bagel-edit", ""}
    [row] = ran.filter(
        (pl.col("table") == "2") & (pl.col("model") == "bagel-edit") & (pl.col("dataset") == "celeba")
        & (pl.col("test_set") == "avg")
    ).iter_rows(named=True)  # fmt: skip
    board = tables["leaderboard"].filter(
        (pl.col("model") == "bagel-edit") & (pl.col("dataset") == "celeba") & (pl.col("test_set") == "all")
    )
    assert row["ours"] == pytest.approx(board["sc"][0] * 100)
    assert row["n"] == board["sc_n"][0]
    assert row["difference"] == pytest.approx(row["ours"] - 76.2)
    assert row["slips"] == "2"
    tested = ran.filter(pl.col("metric").str.starts_with("wd_"))
    assert tested["ours_significant"].null_count() == 0
    assert tested["same_significance"].null_count() == 0


def test_lists_of_models_say_yes_no_or_not_run():
    found = compare_lists(PAPER, tables_of_a_run())
    assert set(found["ours"]) <= {"yes", "no", "not run"}
    ran = found.filter(pl.col("ours") != "not run")
    assert set(zip(ran["dataset"], ran["card"], strict=True)) == {
        ("celeba", "flux-1-dev"), ("celeba", "bagel-edit"), ("celebset", "bagel-edit"),
    }  # fmt: skip
    assert found.filter(pl.col("printed") == "yes").height == len(PAPER.patterns) + len(PAPER.attribute_bias)


def test_every_check_of_the_printed_tables_that_fails_is_a_known_slip():
    made = closures(PAPER)
    failed = [item for item in made if not item.holds]
    assert {number for item in failed for number in item.slips} == {3, 4, 5, 6, 7, 8, 9, 10}
    assert all(item.slips for item in failed)
    assert len(failed) == 9
    held = {check: sum(item.check == check for item in made) for check in {item.check for item in made}}
    assert held["average"] == 33
    assert held["groups"] == 120
    assert held["counts"] == 20


def test_a_wrong_average_is_found():
    cells = tuple(
        cell.model_copy(update={"value": "30.68"})
        if (cell.table, cell.model, cell.test_set, cell.dataset) == ("1", "flux-kontext-pro", "avg", "celeba")
        else cell
        for cell in PAPER.cells
    )
    broken = [item for item in closures(replace(PAPER, cells=cells)) if not item.holds]
    assert [(item.printed, round(item.expected, 2)) for item in broken if item.check == "average"] == [
        (30.68, 28.69)
    ]


def test_tables_are_in_the_order_of_the_paper():
    assert sorted_tables(["L", "10", "2", "29b", "29a", "E", "1"]) == ["1", "2", "10", "29a", "29b", "E", "L"]


def test_a_report_is_compared_and_the_comparison_is_kept_beside_it(stored: LocalStore):
    made = compare_with_paper("like-the-paper")
    assert made.has_ours
    csv, text = (stored.get(key) or b"" for key in made.files)
    assert [Path(key).name for key in made.files] == ["compare_paper.csv", "compare_paper.md"]
    frame = pl.read_csv(csv, infer_schema=False)
    assert frame.height == len(PAPER.cells)
    assert b"NaN" not in csv
    told = text.decode()
    for words in (
        "## Cell by cell",
        "Known slips of the paper",
        "bagel-edit",
        "permutations = 99",
    ):  # the rules of the report
        assert words in told
    assert compare_with_paper("like-the-paper").files == made.files
    assert stored.get(made.files[1]) == text


def test_the_command_shows_ours_beside_the_printed(stored: LocalStore):
    done = CliRunner().invoke(app, ["compare-paper", "like-the-paper"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    for words in ("Cell by cell", "bagel-edit", "mean_drop_fss", "What does not hold", "compare_paper.md"):
        assert words in done.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [([], "No suite was named"), (["quickstart"], "Suite quickstart has no report")],
)
def test_without_a_run_the_command_checks_the_paper_alone(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    done = CliRunner().invoke(app, ["compare-paper", *arguments], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert sentence in " ".join(done.output.split())
    assert "What does not hold" in done.output
    assert "written:" not in done.output


def test_a_suite_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    done = CliRunner().invoke(app, ["compare-paper", "nothing"])
    assert done.exit_code == 1


def test_a_report_that_lacks_a_table_says_so(stored: LocalStore):
    digest = newest_snapshot(stored, "like-the-paper") or ""
    stored.delete(keys.report("like-the-paper", digest, "disparities.parquet"))
    with pytest.raises(StoreError, match="disparities"):
        compare_with_paper("like-the-paper")


def test_a_damaged_pointer_is_an_error(stored: LocalStore):
    stored.put(keys.report_pointer("like-the-paper"), b"{}")
    with pytest.raises(StoreError, match="damaged"):
        compare_with_paper("like-the-paper")


def test_the_axes_of_the_tests_are_those_of_the_paper():
    assert {axis.name for axis in AXES} == {"gender", "skin", "age", "gender_skin"}
