"""What a run does about money: the cap, approval, shared limits, and providers that cannot be called."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakes import editors
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import FlowRunFilter
from prefect.client.schemas.objects import StateType

from domain.errors import BudgetError
from domain.runs import RunRequest, RunSummary
from tasks.limits import name_of

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]


def test_the_cap_stops_a_run_before_the_call_that_would_pass_it(home: Path, run_tiny: Run) -> None:
    log, _ = editors.write_definitions(home, sessions=["hair_001", "hair_002"], price_usd=0.01)
    summary, complete = run_tiny(max_cost_usd=0.055, concurrency=3)
    assert not complete
    assert len(editors.calls(log)) == 5
    assert summary.edits.cost_usd == pytest.approx(0.05)
    assert summary.edits.failed == 0
    assert "max_cost_usd" in summary.problems[0]
    assert summary.edits_judged == 5, "what is paid is measured"

    again, complete = run_tiny(max_cost_usd=0.11)
    assert complete
    assert again.edits.cost_usd == pytest.approx(0.11)
    assert len(editors.calls(log)) == 16


def test_a_used_up_quota_pauses_its_provider_and_not_the_run(home: Path, run_tiny: Run) -> None:
    log, script = editors.write_definitions(
        home, sessions=["hair_001", "hair_002"], others=("control-recompress",), shard_chains=1
    )
    script.write_text(
        json.dumps(dict.fromkeys(("Add caramel brown hair", "Add light hazel brown hair"), "quota"))
    )
    summary, complete = run_tiny(images=2)
    assert not complete
    assert len(editors.calls(log)) == 1, "further shards of the provider are not begun"
    assert summary.edits.edited == 2 * 2 * 4, "the other model is done"
    assert "top it up" in summary.problems[0]


def test_a_missing_key_is_one_sentence_and_no_call(
    home: Path, run_tiny: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPLICATE_API_TOKEN", raising=False)
    log, _ = editors.write_definitions(home, sessions=["hair_001"], others=("p-image-edit",))
    summary, complete = run_tiny()
    assert not complete
    assert [problem for problem in summary.problems if "REPLICATE_API_TOKEN" in problem] == list(
        summary.problems
    )
    assert len(summary.problems) == 1
    assert summary.edits.edited == len(editors.calls(log)) == 8


def test_slots_are_taken_from_the_server_and_given_back(
    home: Path, run_tiny: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FACEDRIFT_IN_FLIGHT", '{"scripted": 3}')
    seen: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(0.05):
            found = asyncio.run(_limit())
            if found is not None:
                seen.append(found[1])

    editors.write_definitions(home, sessions=["hair_001"], delay_s=0.2)
    thread = threading.Thread(target=watch)
    thread.start()
    try:
        assert run_tiny(concurrency=2)[1]
    finally:
        stop.set()
        thread.join()
    assert asyncio.run(_limit()) == (3, 0)
    assert 2 in seen


async def _limit() -> tuple[int, int] | None:
    async with get_client() as client:
        for limit in await client.read_global_concurrency_limits(limit=50, offset=0):
            if limit.name == name_of("scripted"):
                return limit.limit, limit.active_slots
    return None


@pytest.fixture(autouse=True)
def _no_limit_left(prefect_server: None) -> Iterator[None]:
    yield

    async def forget() -> None:
        async with get_client() as client:
            if await _limit() is not None:
                await client.delete_global_concurrency_limit_by_name(name_of("scripted"))

    asyncio.run(forget())


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_run_that_may_cost_much_waits_for_a_person(home: Path, decision: str) -> None:
    from flows.run_suite import run_suite

    log, _ = editors.write_definitions(home, sessions=["hair_001"], price_usd=1.0, suite=f"dear-{decision}")
    request = RunRequest(suite=f"dear-{decision}", images=1, approve_above_usd=3.5)
    ended: list[Any] = []

    def run() -> None:
        try:
            ended.append(asyncio.run(run_suite(request)))
        except BudgetError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    asyncio.run(_answer(request.suite, decision))
    assert not editors.calls(log)
    thread.join(timeout=120)
    [end] = ended
    if decision == "approve":
        assert (end.edits.edited, len(editors.calls(log))) == (4, 4)
    else:
        assert isinstance(end, BudgetError)
        assert "$4.00" in str(end)
        assert not editors.calls(log)


async def _answer(suite: str, decision: str) -> None:
    """Find the paused run as the UI lists it, and fill in its form."""
    deadline = time.monotonic() + 60
    async with get_client() as client:
        while time.monotonic() < deadline:
            paused = FlowRunFilter.model_validate({"state": {"type": {"any_": [StateType.PAUSED]}}})
            for found in await client.read_flow_runs(flow_run_filter=paused):
                if found.name == f"run {suite}":
                    await client.resume_flow_run(found.id, run_input={"decision": decision})
                    return
            await asyncio.sleep(0.2)
    raise AssertionError("the run did not pause")
