"""`retry-failed` repeats the steps that have no outcome, those that are asked for, and no other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fakes import editors

from domain.errors import DefinitionError, IncompleteError, StoreError
from domain.requests import RetryRequest
from domain.runs import Missing, RunSummary
from flows.retry_failed import retry_failed
from tasks import wiring
from tasks.scoring import read_table

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]
CRASHES, BUSY = "Add pin-straight hair.", "Add spiked hair."


def _retry(**fields: Any) -> RunSummary | Missing | None:
    request = RetryRequest.model_validate({"suite": "tiny", "approve_above_usd": None, **fields})
    return asyncio.run(retry_failed(request))


@pytest.fixture
def failed(home: Path, run_tiny: Run) -> tuple[Path, Path]:
    """A run in which two chains crashed, two found the model busy and two were done; its log and script."""
    log, script = editors.write_definitions(home, sessions=["hair_001", "hair_002", "hair_003"])
    script.write_text(json.dumps({CRASHES: "crash", BUSY: "transient:99"}))
    summary, complete = run_tiny()
    assert not complete
    assert summary.edits.failed == 4
    return log, script


def test_only_what_failed_is_repeated_and_the_whole_suite_is_scored(failed: tuple[Path, Path]) -> None:
    log, script = failed
    script.write_text("{}")
    before = len(editors.calls(log))
    summary = _retry()
    assert isinstance(summary, RunSummary)
    made = len(editors.calls(log)) - before
    assert (summary.edits.edited, summary.edits.found) == (made, 0)
    assert summary.planned.chains == 4, "the two that were done are no part of it"
    board = read_table(wiring.store(), summary.snapshot, "leaderboard")
    assert board.filter(board["test_set"] == "all")["n_complete"].to_list() == [6]
    assert _retry() is None, "nothing is left"
    assert len(editors.calls(log)) == before + made


def test_by_kind_of_error(failed: tuple[Path, Path]) -> None:
    log, script = failed
    script.write_text("{}")
    before = len(editors.calls(log))
    summary = _retry(errors=["other"])
    assert isinstance(summary, RunSummary)
    assert summary.planned.chains == 2
    assert all(BUSY not in call for call in editors.calls(log)[before:])
    assert _retry(errors=["QuotaError"]) is None


def test_by_day(failed: tuple[Path, Path]) -> None:
    _, script = failed
    script.write_text("{}")
    today = datetime.now(UTC).date()
    assert _retry(since=today + timedelta(days=1)) is None
    assert _retry(since=today - timedelta(days=9), until=today - timedelta(days=2)) is None
    found = _retry(since=today - timedelta(days=1), dry_run=True)
    assert isinstance(found, Missing)
    assert found.chains == 4


def test_a_small_run_since_then_does_not_hide_the_failures_of_a_whole_one(home: Path, run_tiny: Run) -> None:
    _, script = editors.write_definitions(home, sessions=["hair_001"])
    script.write_text(json.dumps({CRASHES: "crash"}))
    whole, _ = run_tiny(images=None)
    assert whole.edits.failed == 7
    script.write_text("{}")
    run_tiny(images=1)
    assert _retry() is None, "the newest run is whole"
    found = _retry(since=datetime.now(UTC).date() - timedelta(days=1), dry_run=True)
    assert isinstance(found, Missing)
    assert (found.chains, found.unfinished) == (6, 6)


def test_retrying_one_kind_of_error_leaves_the_others_to_the_next_retry(failed: tuple[Path, Path]) -> None:
    _, script = failed
    script.write_text("{}")
    assert isinstance(_retry(errors=["other"]), RunSummary)
    left = _retry()
    assert isinstance(left, RunSummary)
    assert left.planned.chains == 2
    assert _retry() is None


def test_a_model_that_the_suite_has_not_is_refused(home: Path) -> None:
    editors.write_definitions(home, sessions=["hair_001"])
    with pytest.raises(DefinitionError, match="unknown models"):
        _retry(models=["control-unchanged"])


def test_what_fails_again_is_said_again(failed: tuple[Path, Path]) -> None:
    with pytest.raises(IncompleteError, match=r"KeyError|busy"):
        _retry()


def test_chains_whose_turn_never_came_are_found(home: Path, run_tiny: Run) -> None:
    log, _ = editors.write_definitions(home, sessions=["hair_001", "hair_002"], price_usd=0.01)
    summary, complete = run_tiny(max_cost_usd=0.03, concurrency=1)
    assert not complete
    assert summary.edits.edited == 3
    found = _retry(errors=["not_run"], dry_run=True)
    assert isinstance(found, Missing)
    assert found.chains == 4
    assert isinstance(_retry(errors=["not_run"]), RunSummary)
    assert len(editors.calls(log)) == 16


def test_a_suite_that_never_ran_is_one_sentence(home: Path) -> None:
    editors.write_definitions(home, sessions=["hair_001"])
    with pytest.raises(StoreError, match="has no run"):
        _retry()
