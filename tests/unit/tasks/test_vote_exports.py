"""Matches given out: complete, with their pictures, and without what a voter must not know."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from matched_runs import VotedRun, a_voted_run, make_matches

from adapters.stores.local import LocalStore
from adapters.votes.file import FileVotes
from adapters.votes.label_studio import LabelStudioVotes
from domain.errors import DefinitionError, StoreError
from domain.votes import FoundVote, VoteRules
from tasks import ledger, match_tables
from tasks.vote_exports import export
from tasks.vote_jobs import known_matches


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> VotedRun:
    """Three matches and one with a known answer."""
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    store = LocalStore(tmp_path / "store", fsync=False)
    found = a_voted_run(store, people=3, models=2, rules=VoteRules(gold_share=0.0, gold_first=1))
    make_matches(found)
    return found


def rows_of(file: Path, kind: str) -> list[dict[str, str]]:
    if kind == "jsonl":
        return [json.loads(line) for line in file.read_text().splitlines()]
    return (pl.read_csv(file) if kind == "csv" else pl.read_parquet(file)).to_dicts()


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_of_matches(made: VotedRun, tmp_path: Path, kind: str) -> None:
    done = export("quickstart", tmp_path / "out", kind)
    rows = rows_of(done.file, kind)
    assert done.matches == len(rows) == 4
    table = match_tables.read_matches(
        match_tables.expect_match_set("quickstart", made.run.id, made.store), made.store
    )
    matches = {match["id"]: match for match in table.iter_rows(named=True)}
    assert {row["match"] for row in rows} == set(matches)
    others = table.filter(pl.col("gold").is_null())["id"].to_list()
    assert [row["match"] for row in rows if row["match"] in others] == others, "in the order of the queue"
    for row in rows:
        match = matches[row["match"]]
        for column, sha in (("original", "original_sha256"), ("image_a", "crop_a_sha256")):
            file = tmp_path / "out" / row[column]
            assert file.read_bytes() == ledger.read_image(made.store, match[sha], "png")
        assert row["left"] in ("a", "b")
        assert row["question"] == VoteRules().question
    told = done.file.read_bytes()
    for secret in (b"m0", b"m1", b"gold", b"stranger"):
        assert secret not in told
    assert done.images == len(list((tmp_path / "out" / "images").iterdir()))
    assert export("quickstart", tmp_path / "out", kind) == done


def test_known_answers_stand_anywhere_among_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two begin the queue, and neither order nor names of pictures tell them in the file."""
    first = set[bool]()
    for seed in range(6):
        store = LocalStore(tmp_path / f"store-{seed}", fsync=False)
        monkeypatch.setenv("FACEDRIFT_STORE", str(store.root))
        made = a_voted_run(store, people=3, models=2, rules=VoteRules(gold_share=0, gold_first=2, seed=seed))
        table = match_tables.read_matches(make_matches(made), store)
        assert table["gold"].is_not_null().to_list() == [True, True, False, False, False]
        gold = set(table.filter(pl.col("gold").is_not_null())["id"])
        rows = rows_of(export("quickstart", tmp_path / f"out-{seed}", "csv").file, "csv")
        first.add(rows[0]["match"] in gold)
        assert not {row["original"] for row in rows} & {
            row[x] for row in rows for x in ("image_a", "image_b")
        }
    assert first == {True, False}


def test_what_was_given_out_comes_back(made: VotedRun, tmp_path: Path) -> None:
    rows = rows_of(export("quickstart", tmp_path / "out", "csv").file, "csv")
    answers = pl.DataFrame(
        {
            "match": [row["match"] for row in rows],
            "choice": ["left"] * len(rows),
            "annotator": ["ann"] * len(rows),
            "left": [row["left"] for row in rows],
        }
    )
    answers.write_csv(tmp_path / "answers.csv")
    found = list(FileVotes.build(str(tmp_path / "answers.csv")).read(known_matches(made.run, made.store)))
    assert [one.vote.choice for one in found if isinstance(one, FoundVote)] == [row["left"] for row in rows]


def test_tasks_of_label_studio_come_back(made: VotedRun, tmp_path: Path) -> None:
    done = export(
        "quickstart", tmp_path / "out", "label-studio", mirrored=True, base_url="https://example.org/faces/"
    )
    tasks = json.loads(done.file.read_text())
    assert done.config
    assert "<Pairwise" in done.config.read_text()
    assert len(tasks) == 8
    assert tasks[0]["data"]["left"].startswith("https://example.org/faces/")
    answered = [
        {**task, "annotations": [{"id": n, "completed_by": 1, "result": [
            {"from_name": "pw", "type": "pairwise", "value": {"selected": "left"}}]}]}
        for n, task in enumerate(tasks)
    ]  # fmt: skip
    (tmp_path / "export.json").write_text(json.dumps(answered))
    source = LabelStudioVotes.build(str(tmp_path / "export.json"))
    found = list(source.read(known_matches(made.run, made.store)))
    assert [one.vote.choice for one in found if isinstance(one, FoundVote)] == [
        task["data"]["left_is"] for task in tasks
    ]


def test_sides_are_drawn_once(made: VotedRun, tmp_path: Path) -> None:
    first = rows_of(export("quickstart", tmp_path / "one", "csv").file, "csv")
    again = rows_of(export("quickstart", tmp_path / "two", "csv").file, "csv")
    assert first == again


def test_what_cannot_be_given_out(made: VotedRun, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="allowed: csv, jsonl, parquet, label-studio"):
        export("quickstart", tmp_path, "xlsx")
    with pytest.raises(DefinitionError, match="mirrored"):
        export("quickstart", tmp_path, "csv", mirrored=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(DefinitionError, match="cannot be written"):
        export("quickstart", tmp_path / "file", "csv")
    with pytest.raises(StoreError, match="no run"):
        export("quickstart", tmp_path, "csv", run="20261130T000000-000000")
