"""What this project relies on in Prefect beyond its documentation: results as a view of the ledger."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.filters import TaskRunFilter, TaskRunFilterFlowRunId
from prefect.context import FlowRunContext

from domain import keys
from domain.plan import Chain, StepPlan
from domain.records import OutcomeRecord, StepIdentity
from domain.summaries import StepResult
from tasks import ledger, policies, wiring
from tasks.editing import edit_step
from tasks.result_storage import LedgerStorage, keep_results_in_ledger

pytestmark = [pytest.mark.flow, pytest.mark.usefixtures("prefect_server")]


@pytest.fixture
def step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StepPlan:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path))
    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "PNG")
    sha = keys.sha256(out.getvalue())
    wiring.store().put_new(keys.image(sha, "png"), out.getvalue())
    identity = StepIdentity(
        input_sha256=sha, prompt="p", model="m", settings_fingerprint="f", seed=None, attempt=1
    )
    return StepPlan(
        chain=Chain(model="m", photo="p1", session="s1"), number=3, identity=identity, input_extension="png"
    )


def stored(step: StepPlan) -> OutcomeRecord:
    record = OutcomeRecord(
        key=step.key,
        identity=step.identity,
        kind="refused",
        reason="policy",
        latency_s=0.0,
        finished_at="2026-01-01T00:00:00+00:00",
    )
    ledger.write_new(wiring.store(), keys.outcome(step.key), record)
    return record


@flow
async def one_step(step: StepPlan) -> tuple[str, Any, str]:
    keep_results_in_ledger()
    state = await edit_step("no-such-run", step, return_state=True)
    context = FlowRunContext.get()
    assert context is not None
    assert context.flow_run is not None
    return state.name, await state.aresult(raise_on_failure=False), str(context.flow_run.id)


def test_a_stored_outcome_is_a_cached_result_and_the_task_body_does_not_run(step: StepPlan) -> None:
    record = stored(step)
    name, result, _ = asyncio.run(one_step(step))
    assert name == "Cached"
    assert result == StepResult(outcome=record, found=True)


def test_without_an_outcome_the_body_runs_and_no_result_is_invented(step: StepPlan) -> None:
    name, error, _ = asyncio.run(one_step(step))  # the body fails: there is no such run
    assert name == "Failed"
    assert "no-such-run" in str(error)
    assert ledger.outcome(wiring.store(), step.key) is None


def test_task_runs_are_named_by_model_photo_session_and_step(step: StepPlan) -> None:
    stored(step)

    async def names() -> list[str]:
        _, _, flow_run = await one_step(step)
        async with get_client() as client:
            for _ in range(100):  # the server records task runs a little later
                found = await client.read_task_runs(
                    task_run_filter=TaskRunFilter(flow_run_id=TaskRunFilterFlowRunId(any_=[flow_run]))
                )
                if found:
                    return [run.name for run in found]
                await asyncio.sleep(0.2)
        return []

    assert asyncio.run(names()) == ["edit m p1 s1/3"]


def test_other_results_are_kept_in_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path))
    storage = LedgerStorage()
    asyncio.run(storage.write_path("some-result", b"{}"))
    assert asyncio.run(storage.read_path("some-result")) == b"{}"
    assert (tmp_path / "results" / "some-result").is_file()
    with pytest.raises(FileNotFoundError):
        asyncio.run(storage.read_path("another"))


def test_every_task_takes_its_options_from_the_policies() -> None:
    assert edit_step.retries == policies.EDIT["retries"]
    assert edit_step.retry_condition_fn is policies.is_transient
    assert edit_step.cache_policy is policies.EDIT["cache_policy"]
