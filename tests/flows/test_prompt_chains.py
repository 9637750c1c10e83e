"""A suite of prompt chains from plan to page: attempts, checks, and going on in the middle of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes.drift_suites import FIRST, SECOND, write_suite

from domain import keys
from domain.errors import DefinitionError
from domain.requests import RetryRequest, RunRequest
from domain.runs import RunSummary
from flows.retry_failed import retry_failed
from tasks import wiring
from tasks.planning import preview
from tasks.refreshing import unchanged
from tasks.report_views import board
from tasks.scoring import read_table

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]
SCRIPT: dict[str, object] = {
    FIRST[0]: ["not_made", "refuse", "edit"],
    FIRST[1]: ["off_shape", "edit"],
    FIRST[2]: "transient:1",
    SECOND[2]: ["not_made", "no_image", "off_shape"],
}


def test_attempts_verdicts_and_tables(home: Path, run_tiny: Run) -> None:
    places = write_suite(home)
    places.tell(SCRIPT)
    summary, complete = run_tiny(images=None)
    assert complete
    edits = summary.edits
    assert (edits.edited, edits.refused, edits.no_image, edits.failed) == (9, 1, 1, 0)
    assert (edits.not_made, edits.off_shape, edits.checked) == (2, 2, 7)
    assert places.counts() == (12, 7), "a busy model uses no attempt; another shape is not checked"
    assert (edits.cost_usd, edits.checking_usd) == (pytest.approx(0.09), pytest.approx(0.14))
    assert summary.judging_usd == pytest.approx(0.14)
    assert (summary.states_tracked, summary.edits_judged, summary.faces_read) == (0, 0, 5)
    assert summary.planned.answers_missing == {"checker": 18}

    store, snapshot = wiring.store(), summary.snapshot
    [row] = read_table(store, snapshot, "completion").iter_rows(named=True)
    assert (row["n_chains"], row["n_complete"], row["n_stopped"], row["n_unfinished"]) == (2, 1, 1, 0)
    assert (row["completion"], row["threshold"], row["ranked"], row["reason"]) == (0.5, 0.5, True, None)
    attempts = read_table(store, snapshot, "attempts")
    assert attempts["n_tried"].to_list() == [2, 2, 2]
    assert attempts["made_at"].to_list() == [[1, 0, 1], [1, 1, 0], [1, 0, 0]]
    assert attempts["n_failed"].to_list() == [0, 0, 1]
    failed = read_table(store, snapshot, "failed_steps")
    assert failed.select("photo", "step").rows() == [("group-1", 3)]
    assert failed["reasons"][0].to_list() == [
        "not_made: right_item_changed, item_visibly_changed",
        "no_image: text_only: scripted",
        "off_shape",
    ]
    drift = read_table(store, snapshot, "progression")
    assert drift["step"].to_list() == [0, 1, 2, 3]
    assert drift["fss"].to_list() == pytest.approx([1.0] * 4), "the picture is the same in other bytes"
    left_out = read_table(store, snapshot, "left_out").select("source", "reason").rows()
    assert ("nobody", "no_photo") in left_out
    assert sum(reason == "no_chain" for _, reason in left_out) == 5
    coverage = read_table(store, snapshot, "coverage").select("what", "reason", "n").rows()
    assert coverage == [("photo", "no_chain", 5), ("prompt_chain", "no_photo", 1), ("chain", "off_shape", 1)]
    assert read_table(store, snapshot, "chains")["n_models_complete"].to_list() == [1, 0]
    served = read_table(store, snapshot, "served").select("role", "served", "n", "is_the_model").rows()
    assert served == [("checker", "checker-1", 7, True)]
    assert [row.model for row in board(snapshot).rows] == ["scripted"]
    page = store.get(keys.report("tiny", snapshot.digest, "index.html"))
    assert page
    assert b"scripted" in page

    again, complete = run_tiny(images=None)
    assert complete
    assert (again.edits.edited, again.edits.checked, again.edits.found) == (0, 0, 0)
    assert again.planned.stopped == again.planned.complete == 1
    assert places.counts() == (12, 7)
    assert again.snapshot == snapshot.model_copy(update={"run_id": again.run_id, "is_new": False})
    dataset = wiring.run_plan(again.run_id).dataset
    assert unchanged(RunRequest(suite="tiny", approve_above_usd=None), dataset) == again


def test_a_run_goes_on_in_the_middle_of_the_attempts_and_of_a_check(home: Path, run_tiny: Run) -> None:
    places = write_suite(home)
    places.tell({FIRST[0]: ["not_made", "crash", "edit"]}, {SECOND[1]: "unparsable"})
    summary, complete = run_tiny(images=None)
    assert not complete
    assert {failure.error for failure in summary.edits.failures} == {"KeyError", "UnreadableError"}
    assert places.counts() == (4, 2 + 3), "an unreadable answer is asked for three times"
    assert summary.edits.checking_usd == pytest.approx(0.10)
    [row] = read_table(wiring.store(), summary.snapshot, "completion").iter_rows(named=True)
    assert (row["n_complete"], row["n_stopped"], row["n_unfinished"]) == (0, 0, 2)
    assert (row["ranked"], row["reason"]) == (False, "unfinished")
    unread = [key for key in wiring.store().list("checks") if "-unread-" in key]
    assert len(unread) == 1, "kept for people"

    request = RunRequest(suite="tiny", approve_above_usd=None)
    _, missing = preview(request)
    assert missing.steps_missing == {"scripted": (9 - 1) + (6 - 1)}, "one attempt has its edit already"
    assert missing.answers_missing == {"checker": (9 - 1) + 6}
    places.tell({FIRST[0]: ["not_made", "edit"]})
    retry = asyncio.run(retry_failed(RetryRequest(suite="tiny", approve_above_usd=None)))
    assert isinstance(retry, RunSummary)
    assert (retry.edits.failed, retry.edits.unfinished) == (0, 0)
    assert places.counts() == (4 + 4, 5 + 5), "what was edited or checked is never asked for again"
    [row] = read_table(wiring.store(), retry.snapshot, "completion").iter_rows(named=True)
    assert (row["n_complete"], row["ranked"]) == (2, True)
    assert asyncio.run(retry_failed(RetryRequest(suite="tiny", approve_above_usd=None))) is None


def test_a_checker_that_cannot_be_called_ends_the_run(home: Path, run_tiny: Run) -> None:
    places = write_suite(home)
    places.tell({}, dict.fromkeys((*FIRST, *SECOND), "fatal"))
    summary, complete = run_tiny(images=None, concurrency=1)
    assert not complete
    assert "CHECKER_KEY" in summary.problems[0]
    assert places.counts() == (1, 1)


def test_the_cost_of_checks_counts_for_the_cap(home: Path, run_tiny: Run) -> None:
    places = write_suite(home, price_usd=0.01)
    summary, complete = run_tiny(images=None, concurrency=1, max_cost_usd=0.13)
    assert not complete
    assert "the next edit costs $0.07" in summary.problems[0], "with three answers that a check may need"
    assert places.counts() == (3, 3)
    assert summary.edits.cost_usd + summary.edits.checking_usd == pytest.approx(0.09)


def test_a_judge_that_cannot_check_steps_is_refused(home: Path) -> None:
    write_suite(home, provider="not-checking")
    with pytest.raises(DefinitionError, match="cannot check steps") as caught:
        preview(RunRequest(suite="tiny"))
    assert caught.value.field == "steps.checker"
    assert {"google", "openai", "checking"} <= set(caught.value.allowed)


def test_no_photo_with_a_chain_is_a_clear_error(home: Path) -> None:
    write_suite(home, photos=("ann", "bea"))
    with pytest.raises(DefinitionError, match="chains are for ann, bea, nobody, the photos") as caught:
        preview(RunRequest(suite="tiny"))
    assert caught.value.field == "chain_set"
