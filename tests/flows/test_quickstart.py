"""The main job on real faces: the controls land where they must, and the truth is near what is measured."""

from __future__ import annotations

import asyncio
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import polars as pl
import pytest

from domain.runs import RunRequest, Snapshot
from flows.run_suite import run_suite
from flows.score_suite import score_suite
from tasks import wiring
from tasks.planning import newest_run_of
from tasks.scoring import TABLES, read_table

pytestmark = pytest.mark.flow

SESSIONS = ("accessories_008", "hair_008", "poses_005")


@pytest.fixture(scope="module")
def store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quickstart")


@pytest.fixture(scope="module")
def snapshot(store_folder: Path, prefect_server: None) -> Snapshot:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FACEDRIFT_STORE", str(store_folder))
        request = RunRequest(suite="quickstart", sessions=SESSIONS, images=3)
        return asyncio.run(run_suite(request)).snapshot


@pytest.fixture
def board(
    snapshot: Snapshot, store_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, dict[str, float]]:
    monkeypatch.setenv("FACEDRIFT_STORE", str(store_folder))
    rows = read_table(wiring.store(), snapshot, "leaderboard").filter(pl.col("test_set") == "all")
    return {row["model"]: row for row in rows.iter_rows(named=True)}


def test_unchanged_has_no_drop_no_overedit_and_no_success(board: dict[str, dict[str, float]]) -> None:
    row = board["control-unchanged"]
    assert (row["drop_fss"], row["oer"], row["sc"]) == (0.0, 0.0, 0.0)
    assert (row["drop_fss_n"], row["oer_n"], row["sc_n"]) == (9, 9, 9)


def test_stranger_is_worst_by_far(board: dict[str, dict[str, float]]) -> None:
    drops = {model: row["drop_fss"] for model, row in board.items()}
    worst = drops.pop("control-stranger")
    assert worst > 80
    assert worst > 2 * max(drops.values())


def test_recompression_drifts_a_little_and_more_at_each_step(
    board: dict[str, dict[str, float]], snapshot: Snapshot
) -> None:
    assert 0 < board["control-recompress"]["drop_fss"] < 3
    assert board["control-recompress"]["oer"] <= 0.05
    rows = read_table(wiring.store(), snapshot, "progression").filter(pl.col("model") == "control-recompress")
    fss = rows.sort("step")["fss"].to_list()
    assert len(fss) == 5
    assert fss == sorted(fss, reverse=True)


def test_procedural_is_measured_near_its_own_account(
    board: dict[str, dict[str, float]], snapshot: Snapshot
) -> None:
    assert 5 < board["procedural"]["drop_fss"] < 60
    assert board["procedural"]["sc"] > 0.4
    truth = read_table(wiring.store(), snapshot, "truth")
    assert truth.height >= 7
    assert truth["oer_true"].mean() == pytest.approx(truth["oer_measured"].mean(), abs=0.25)
    seen = read_table(wiring.store(), snapshot, "tracker_accuracy")
    assert seen["n_equal"].sum() / seen["n"].sum() > 0.7


def test_the_page_is_whole_and_loads_nothing(
    board: dict[str, dict[str, float]], snapshot: Snapshot, store_folder: Path
) -> None:
    page = store_folder / "reports/quickstart" / snapshot.digest[:16] / "index.html"
    text = page.read_text()
    for model in board:
        assert model in text
    compared = list((page.parent / "compare").glob("*.html"))
    assert len(compared) == 9
    for comparison in compared:
        assert comparison.read_text().count("<figure>") == 4 * 5
    assert len(list((store_folder / "thumbnails").rglob("*.webp"))) >= 3 + 3 * 3 * 4
    assert 'src="http' not in text
    assert 'href="http' not in text
    assert (store_folder / "reports/quickstart/CURRENT.json").is_file()


def report_folder(snapshot: Snapshot, store_folder: Path) -> Path:
    return store_folder / "reports/quickstart" / snapshot.digest[:16]


def test_every_table_is_there_twice_and_equal(snapshot: Snapshot, store_folder: Path) -> None:
    folder = report_folder(snapshot, store_folder)
    for name in TABLES:
        parquet = pl.read_parquet(folder / f"{name}.parquet")
        csv = pl.read_csv(folder / f"{name}.csv", infer_schema=False)
        assert csv.shape == parquet.shape, name
        assert not {"NaN", "nan", "inf", "-inf"} & set(
            re.split("[,\n]", (folder / f"{name}.csv").read_text())
        )
    for name in ("leaderboard", "sessions", "progression", "coverage", "truth", "sensitivity"):
        parquet = pl.read_parquet(folder / f"{name}.parquet")
        csv = pl.read_csv(folder / f"{name}.csv", schema_overrides=parquet.schema)
        assert csv.equals(parquet), name


def test_photos_without_groups_are_compared_with_nobody(snapshot: Snapshot, store_folder: Path) -> None:
    folder = report_folder(snapshot, store_folder)
    for name in ("group_means", "disparities", "session_counts", "fss0_means", "stereotype_means"):
        assert pl.read_parquet(folder / f"{name}.parquet").height == 0, name


def test_the_index_names_files_that_are_there_and_parse(snapshot: Snapshot, store_folder: Path) -> None:
    folder = report_folder(snapshot, store_folder)
    index = json.loads((folder / "index.json").read_text(), parse_constant=pytest.fail)
    assert index["rules"] == json.loads((folder / "rules.json").read_text())
    assert index["rules"]["permutations"] == 9999
    entries = {entry["name"]: entry for entry in index["entries"]}
    assert {"means_drop_fss", "means_sc", "means_oer", "sensitivity", "progression"} <= set(entries)
    page = (folder / "index.html").read_text()
    for entry in index["entries"]:
        assert entry["files"] or entry["absent"]
        for name in entry["files"]:
            data = (folder / name).read_bytes()
            assert data, name
            assert f'href="{name}"' in page
            if name.endswith(".svg"):
                ET.fromstring(data)
            if name.endswith(".tex"):
                assert data.count(b"\\begin{") == data.count(b"\\end{") == 2
    assert "attribute_bias" in (folder / "index.md").read_text()
    listed = {
        str(path.relative_to(folder)) for kind in ("tables", "figures") for path in (folder / kind).iterdir()
    }
    assert listed == {name for e in index["entries"] for name in e["files"] if "/" in name}


def test_scoring_again_writes_nothing(
    snapshot: Snapshot, store_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACEDRIFT_STORE", str(store_folder))
    before = {path: path.stat().st_mtime_ns for path in store_folder.rglob("*") if path.is_file()}
    again = asyncio.run(score_suite(newest_run_of("quickstart")))
    assert (again.digest, again.is_new) == (snapshot.digest, False)
    assert {path: path.stat().st_mtime_ns for path in store_folder.rglob("*") if path.is_file()} == before
