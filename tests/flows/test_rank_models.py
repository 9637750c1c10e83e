"""Models of a real run ranked by stored votes: the snapshot, the command, and doing it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fakes import editors
from typer.testing import CliRunner
from vote_stores import a_match, a_vote, store_matches, store_votes, write_crops

from domain.errors import DefinitionError
from domain.runs import RunSummary
from flows import cli
from flows.rank_models import rank_models
from flows.score_suite import score_suite
from tasks import wiring
from tasks.pointers import current
from tasks.ranking_tables import RANKING_TABLES
from tasks.scoring import TABLES, read_table

pytestmark = pytest.mark.flow

MODELS = ("control-recompress", "control-stranger", "control-unchanged")


@pytest.fixture
def voted(home: Path, run_tiny: Callable[..., tuple[RunSummary, bool]]) -> RunSummary:
    """Four photos; people prefer what is unchanged, and are of two minds about the others."""
    editors.write_definitions(home, sessions=["hair_001"], others=MODELS)
    path = home / "suites" / "tiny.yaml"
    path.write_text(path.read_text() + "votes: {resamples: 200}\n")
    summary, complete = run_tiny(images=4, models=MODELS)
    assert complete
    run, store = wiring.run_plan(summary.run_id), wiring.store()
    recompress, stranger, unchanged = MODELS
    matches = [
        a_match(photo, "hair_001", a, b)
        for photo in run.photos
        for a, b in ((recompress, stranger), (recompress, unchanged), (stranger, unchanged))
    ]
    votes = []
    for number, match in enumerate(matches):
        upset = match.model_b == stranger and number == 0
        choice = "b" if match.model_b == unchanged or upset else "a"
        votes.append(a_vote(match.id, choice, f"person {number % 3}"))
    write_crops(matches, store)
    store_matches("tiny", run.id, matches, store)
    store_votes("tiny", votes, store)
    return summary


def test_ranking_a_run(voted: RunSummary, home: Path) -> None:
    ranked = asyncio.run(rank_models("tiny"))
    store = wiring.store()
    assert ranked.is_new
    assert ranked.digest != voted.snapshot.digest
    board = read_table(store, ranked, "ranking")
    assert board["model"].to_list() == ["control-unchanged", "control-recompress", "control-stranger"]
    assert board["note"].to_list() == ["unbeaten", None, None]
    assert board["rank"].to_list()[0] == 1
    assert board.columns[:2] == ["suite", "dataset"]
    for name in TABLES:
        assert read_table(store, ranked, name).equals(read_table(store, voted.snapshot, name)), name
    for name in RANKING_TABLES:
        assert not read_table(store, ranked, name).is_empty()
    pointer = current("tiny", store)
    assert pointer is not None
    assert pointer.snapshot == ranked.digest
    results = read_table(store, ranked, "match_results")
    assert results.filter(pl.col("model_b") == "control-unchanged")["fss_b"].null_count() == 0

    before = {path: path.stat().st_mtime_ns for path in (home / "store").rglob("*") if path.is_file()}
    again = asyncio.run(rank_models("tiny", voted.run_id))
    assert again.digest == ranked.digest
    assert not again.is_new
    after = {path: path.stat().st_mtime_ns for path in (home / "store").rglob("*") if path.is_file()}
    assert after == before

    assert asyncio.run(score_suite(voted.run_id)).digest == ranked.digest, "one path scores and ranks"
    assert current("tiny", store) == pointer

    match = results["match"][0]
    store_votes("tiny", [a_vote(match, "tie", "somebody new")], store)
    assert asyncio.run(rank_models("tiny")).digest != ranked.digest

    with pytest.raises(DefinitionError, match="not of 'quickstart'"):
        asyncio.run(rank_models("quickstart", voted.run_id))


def test_the_command_prints_the_board(voted: RunSummary) -> None:
    done = CliRunner().invoke(cli.app, ["rank", "tiny"])
    assert done.exit_code == 0, done.output
    assert "unbeaten" in done.output
    assert "too few to tell these models apart: ranks stay open" in " ".join(done.output.split())
    assert "12 votes of 3 people; 12 of 12 matches have a result" in done.output
    assert "FSS picks the face that people preferred in" in done.output
    wrong = CliRunner().invoke(cli.app, ["rank", "tiny", "--run", "20200101T000000-aaaaaa"])
    assert wrong.exit_code == 1
    assert "no run" in wrong.output
