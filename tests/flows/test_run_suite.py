"""The main job on a scripted model: counts, resuming, and what each kind of failure does."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from fakes import editors

from domain.runs import RunSummary
from tasks import wiring
from tasks.scoring import collect, read_table

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]


def test_second_run_calls_nothing_and_changes_nothing(home: Path, run_tiny: Run) -> None:
    log, _ = editors.write_definitions(home, sessions=["hair_001", "hair_002"])
    first, complete = run_tiny()
    assert complete
    assert first.edits.edited == 16  # 2 photos × 2 sessions × 4 steps
    assert first.edits.cost_usd == pytest.approx(0.16)
    assert len(editors.calls(log)) == 16
    assert (first.faces_read, first.states_tracked, first.edits_judged) == (16, 18, 16)
    before = _files(home / "store")

    second, complete = run_tiny()
    assert complete
    assert second.edits.edited == second.faces_read == second.states_tracked == second.edits_judged == 0
    assert second.planned.complete == 4
    assert second.snapshot.digest == first.snapshot.digest
    assert not second.snapshot.is_new
    assert len(editors.calls(log)) == 16
    after = _files(home / "store")
    assert {name: after[name] for name in before if not name.startswith("runs/newest")} == {
        name: data for name, data in before.items() if not name.startswith("runs/newest")
    }
    assert {name.split("/")[0] for name in after.keys() - before.keys()} == {"runs"}


def test_measurements_read_back_from_their_table_are_those_of_the_records(home: Path, run_tiny: Run) -> None:
    editors.write_definitions(home, sessions=["hair_001"])
    summary, _ = run_tiny(images=2)
    store = wiring.store()
    parts = list(store.list("tables/measured"))
    assert len(parts) == 2, "one part, and the list of parts"
    run = wiring.run_plan(summary.run_id)
    from_table = collect(run, store)
    assert list(store.list("tables/measured")) == parts, "nothing new was measured"
    for part in parts:
        store.put(part, b"damaged")
    from_records = collect(run, store)
    assert from_table.steps.height == 8
    assert from_table.steps.equals(from_records.steps)
    assert from_table.photos.equals(from_records.photos)
    assert from_table.served == from_records.served
    assert collect(run, store).steps.equals(from_table.steps)


def test_more_photos_edit_only_what_is_new(home: Path, run_tiny: Run) -> None:
    log, _ = editors.write_definitions(home, sessions=["hair_001"])
    run_tiny(images=1)
    assert len(editors.calls(log)) == 4
    summary, _ = run_tiny(images=3)
    assert summary.edits.edited == 8
    assert len(editors.calls(log)) == 12


def test_refusal_and_no_image_end_a_chain_and_are_outcomes(home: Path, run_tiny: Run) -> None:
    log, script = editors.write_definitions(home, sessions=["hair_001", "hair_003"])
    script.write_text(json.dumps({"Add pin-straight hair.": "refuse", "Add spiked hair.": "no_image"}))
    summary, complete = run_tiny()
    assert complete
    assert (summary.edits.edited, summary.edits.refused, summary.edits.no_image) == (2, 2, 2)
    board = read_table(wiring.store(), summary.snapshot, "leaderboard").filter(pl.col("test_set") == "all")
    assert board["n_complete"].to_list() == [0]
    assert board["refusal"].to_list() == [0.5]
    assert board["no_image"].to_list() == [0.5]
    assert board["drop_fss"].to_list() == [None]
    assert board["drop_fss_n"].to_list() == [0]
    again, _ = run_tiny()
    assert again.planned.stopped == 4
    assert len(editors.calls(log)) == 6


def test_transient_errors_are_retried_within_the_step(home: Path, run_tiny: Run) -> None:
    log, script = editors.write_definitions(home, sessions=["hair_001"])
    script.write_text(json.dumps({"Add pin-straight hair.": "transient:2"}))
    summary, complete = run_tiny()
    assert complete
    assert summary.edits.edited == 8
    assert len(editors.calls(log)) == 8 + 2 * 2


def test_a_failed_step_stops_its_chain_only_and_is_all_that_is_repeated(home: Path, run_tiny: Run) -> None:
    log, script = editors.write_definitions(home, sessions=["hair_001", "hair_002"])
    script.write_text(json.dumps({"Add pin-straight hair.": "crash"}))
    summary, complete = run_tiny()
    assert not complete
    assert (summary.edits.edited, summary.edits.failed) == (10, 2)
    assert {failure.error for failure in summary.edits.failures} == {"KeyError"}
    assert {failure.step for failure in summary.edits.failures} == {2}
    coverage = read_table(wiring.store(), summary.snapshot, "coverage")
    assert coverage.select("what", "reason", "n").rows() == [("session", "failed", 2)]
    made = len(editors.calls(log))
    script.write_text("{}")
    again, complete = run_tiny()
    assert complete
    assert (again.edits.edited, again.edits.found) == (6, 0)
    assert len(editors.calls(log)) == made + 6


@pytest.mark.parametrize("answer", ["truncated", "empty"])
def test_bytes_that_are_no_image_are_asked_for_once_more_and_then_left_to_a_person(
    home: Path, run_tiny: Run, answer: str
) -> None:
    log, script = editors.write_definitions(home, sessions=["hair_001"], price_usd=0.5)
    script.write_text(json.dumps({"Add pin-straight hair.": answer}))
    summary, complete = run_tiny()
    assert not complete
    assert {failure.error for failure in summary.edits.failures} == {"UnresolvedError"}
    assert (summary.edits.ambiguous, summary.edits.maybe_paid_usd) == (4, 2.0)
    assert "max_resends" in summary.problems[0]
    assert len(editors.calls(log)) == 2 + 2 * 2

    again, complete = run_tiny()
    assert (complete, again.edits.ambiguous) == (False, 0)
    assert len(editors.calls(log)) == 2 + 2 * 2, "what may have been paid as often as allowed is left alone"


def test_a_fatal_error_stops_further_calls_and_says_what_to_mend(home: Path, run_tiny: Run) -> None:
    sessions = ["hair_001", "hair_002", "hair_003", "hair_005"]
    log, script = editors.write_definitions(home, sessions=sessions, shard_chains=7)
    prompts = ["Add caramel brown hair", "Add light hazel brown hair", "Add spiked hair.", "Add a bob cut."]
    script.write_text(json.dumps(dict.fromkeys(prompts, "fatal")))
    summary, complete = run_tiny(concurrency=2, images=7)
    assert not complete
    assert len(editors.calls(log)) <= 2  # one in-flight window of 28 chains in 4 shards
    assert "SCRIPTED_KEY" in summary.problems[0]


def test_chains_with_the_same_first_step_share_it(home: Path, run_tiny: Run) -> None:
    log, _ = editors.write_definitions(home, sessions=["twin_a", "twin_b"], session_set="twins", delay_s=0.05)
    _write_twins(home)
    summary, complete = run_tiny(images=1, concurrency=2)
    assert complete
    assert (summary.edits.edited, summary.edits.found) == (3, 1)
    assert len(editors.calls(log)) == 3


def _files(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def _write_twins(home: Path) -> None:
    (home / "sessions").mkdir()
    (home / "sessions" / "twins.yaml").write_text(
        """
id: twins
version: 1
taxonomy: face-edit-attributes
source: tests
sessions:
  - id: twin_a
    test_set: accessories
    steps:
      - {prompt: "Add a knit hat.", attribute: knit hat}
      - {prompt: "Add oval glasses", attribute: oval glasses}
  - id: twin_b
    test_set: accessories
    steps: [{prompt: "Add a knit hat.", attribute: knit hat}, {prompt: "Add a dad hat", attribute: dad hat}]
"""
    )
