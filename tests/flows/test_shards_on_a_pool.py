"""Shards given to a pool: width, the cap over all of them, and what one failing shard costs the others.

The pool's workers are played by this process: a shard is the same flow with the same parameters, and only
what is in the store comes back.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from fakes import editors
from prefect.states import Completed, Crashed

from domain.runs import RunSummary
from flows import edit_shards, embed_faces
from flows.edit_chains import edit_chains
from tasks.run_states import ended

pytestmark = pytest.mark.flow

Run = Callable[..., tuple[RunSummary, bool]]
SESSIONS = ["hair_001", "hair_002", "hair_003", "hair_005"]


class Pool:
    """Takes what is given to the deployments, and counts."""

    def __init__(self) -> None:
        self.given: list[tuple[str, dict[str, Any]]] = []
        self.in_work = self.most_in_work = 0
        self.lose: set[int] = set()
        """Shards whose process is lost at once."""

    async def on_pool(self, deployment: str) -> bool:
        return True

    async def run(self, deployment: str, parameters: Mapping[str, Any], name: str) -> Any:
        self.given.append((deployment, dict(parameters)))
        self.in_work += 1
        self.most_in_work = max(self.in_work, self.most_in_work)
        await asyncio.sleep(0)
        try:
            if parameters.get("shard") in self.lose:
                return Crashed(message="the process was killed")
            flow = edit_chains if deployment == edit_shards.DEPLOYMENT else embed_faces.embed_faces
            state = await ended(flow(**parameters, return_state=True))
            return Completed() if state.is_completed() else state.model_copy(update={"data": None})
        finally:
            self.in_work -= 1


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    pool = Pool()
    for module in (edit_shards, embed_faces):
        monkeypatch.setattr(module, "on_pool", pool.on_pool)
        monkeypatch.setattr(module, "run_on_pool", pool.run)
    return pool


def test_a_run_over_a_pool_does_what_one_in_its_process_does(home: Path, run_tiny: Run, pool: Pool) -> None:
    log, _ = editors.write_definitions(home, sessions=SESSIONS, shard_chains=2, delay_s=0.02)
    summary, complete = run_tiny(shards_at_once=3)
    assert complete
    assert len(editors.calls(log)) == summary.edits.edited == 2 * 4 * 4
    assert summary.faces_read == summary.states_tracked - 2 > 0, "the two base photos were read before"
    assert pool.most_in_work == 3
    shards = [given["shard"] for name, given in pool.given if name == "edit-chains/shard"]
    assert sorted(shards) == [1, 2, 3, 4]
    lists = [given for name, given in pool.given if name == "embed-faces/gpu"]
    assert len(lists) == 3, "photos, their mirror images, edits"
    assert len(json.dumps(lists)) < 500, "a list is given by its name"
    assert summary.providers[0].edited == 32
    assert summary.providers[0].calls_s > 0


def test_a_lost_shard_costs_the_others_nothing_and_is_named(home: Path, run_tiny: Run, pool: Pool) -> None:
    log, _ = editors.write_definitions(home, sessions=SESSIONS, shard_chains=2)
    pool.lose = {2}
    summary, complete = run_tiny()
    assert not complete
    assert summary.edits.edited == 3 * 2 * 4
    assert summary.problems == ("edits: shard 2 ended Crashed: the process was killed",)
    pool.lose = set()
    again, complete = run_tiny()
    assert complete
    assert (again.edits.edited, len(editors.calls(log))) == (8, 32)


@pytest.mark.parametrize("cap_usd", [0.05, 0.165, 0.31])
def test_the_cap_holds_over_shards_in_work_at_the_same_time(
    home: Path, run_tiny: Run, pool: Pool, cap_usd: float
) -> None:
    log, _ = editors.write_definitions(home, sessions=SESSIONS, shard_chains=2, price_usd=0.01)
    summary, complete = run_tiny(shards_at_once=4, max_cost_usd=cap_usd)
    assert not complete
    assert len(editors.calls(log)) == int(cap_usd / 0.01 + 1e-9), "all of the cap is used, and no cent more"
    assert [text for text in summary.problems if "max_cost_usd" in text]
    _, complete = run_tiny(shards_at_once=4, max_cost_usd=0.32)
    assert complete
    assert len(editors.calls(log)) == 32


def test_a_wrong_key_in_one_shard_keeps_the_others_from_starting(
    home: Path, run_tiny: Run, pool: Pool
) -> None:
    log, script = editors.write_definitions(home, sessions=SESSIONS, shard_chains=1)
    prompts = ["Add caramel brown hair", "Add light hazel brown hair", "Add spiked hair.", "Add a bob cut."]
    script.write_text(json.dumps(dict.fromkeys(prompts, "fatal")))
    summary, complete = run_tiny(shards_at_once=2)
    assert not complete
    assert len(editors.calls(log)) <= 2
    assert "SCRIPTED_KEY" in summary.problems[0]
