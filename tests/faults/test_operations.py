"""A suite over a real server on Postgres, two pools with workers and a real S3 store, each of them killed.

The providers are played by the stand-in, whose counts say what was paid. What an operator does in Prefect's
UI is done through its API.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.operating import (
    PHOTOS,
    REQUEST,
    STEPS,
    Stack,
    answers,
    installation,
    kill_process_of,
    objects,
    summary,
    undisturbed,
)

pytestmark = [pytest.mark.integration, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with installation(tmp_path_factory.mktemp("operations")) as stack:
        yield stack


def test_killed_everywhere_a_run_ends_with_the_records_of_an_undisturbed_one(
    stack: Stack, tmp_path: Path
) -> None:
    run = stack.api.start("run-suite/adhoc", {"request": REQUEST})

    stack.until("a shard is at work", lambda: stack.accepted() >= STEPS // 6)
    shard = stack.api.runs(flow_runs={"id": {"any_": [stack.running(" shard ")[0]]}})[0]
    kill_process_of(shard["id"])  # the worker sees it, and the run starts the shard again
    stack.until("the shard was started again", lambda: len(stack.named(shard["name"])) == 2)

    stack.until("half is done", lambda: stack.accepted() >= STEPS // 2)
    stack.server.kill()
    time.sleep(2)
    stack.server.start()
    stack.server.ready()

    stack.until("most is done", lambda: stack.accepted() >= STEPS * 2 // 3)
    stack.edits.kill()  # the run, its shards and their worker
    stack.edits.start()
    assert stack.mark_as_crashed(" shard ")
    assert stack.mark_as_crashed("run small") == [run]
    stack.api.set_state(run, "SCHEDULED", "AwaitingRetry")

    stack.until("faces are being read", lambda: bool(stack.running("embed ")))
    stack.gpu.kill()
    stack.gpu.start()
    stack.until("the lost reading is seen", lambda: bool(stack.mark_as_crashed("embed ")))

    assert stack.api.wait(run)["type"] == "COMPLETED"
    counts = stack.counts()
    assert sum(count["accepted"] for count in counts.values()) == STEPS
    assert [count["paid_twice"] for count in counts.values() if count["posts"]] == [[], []]
    assert summary().snapshot.digest == undisturbed(tmp_path)


@pytest.mark.slow  # with its own target: make test-operations
def test_an_outage_costs_its_steps_and_retry_repeats_those_alone(stack: Stack) -> None:
    request = REQUEST | {"images": PHOTOS + 1}
    before, added = stack.accepted(), STEPS // PHOTOS
    run = stack.api.start("run-suite/adhoc", {"request": request})
    stack.until("the new photo is edited", lambda: stack.accepted() >= before + added // 3)
    stack.standin.kill()
    assert stack.api.wait(run)["type"] == "FAILED"
    stack.standin.command += ["--faults", '{"seed": 7}']  # from here on nobody has to be caught at work
    stack.standin.start()
    stack.until("the stand-in is back", lambda: answers(stack.standin_url))
    assert summary().edits.failed > 0
    done = stack.accepted() - before
    assert 0 < done < added

    again = stack.api.start("retry-failed/adhoc", {"request": {"suite": "small", "approve_above_usd": None}})
    assert stack.api.wait(again)["type"] == "COMPLETED"
    assert stack.accepted() - before == added, "each missing step once, and no other"

    stack.api.set_state(run, "SCHEDULED", "AwaitingRetry")  # Retry, in the UI
    assert stack.api.wait(run)["type"] == "COMPLETED"
    assert stack.accepted() - before == added, "nothing was left to do"


@pytest.mark.slow  # with its own target: make test-operations
def test_a_night_with_nothing_new_calls_nobody_and_changes_no_object(stack: Stack) -> None:
    request = {"suites": ["small"], "max_cost_usd": 5}
    first = stack.api.start("refresh-leaderboard/nightly", {"request": request})
    assert stack.api.wait(first)["type"] == "COMPLETED"  # all seven photos
    before, paid = objects(), stack.accepted()
    assert len(before) > STEPS
    night = stack.api.start("refresh-leaderboard/nightly", {"request": request})
    assert stack.api.wait(night)["type"] == "COMPLETED"
    assert stack.accepted() == paid
    assert objects() == before


def test_the_server_refuses_what_no_suite_is_and_says_what_is(stack: Stack) -> None:
    with pytest.raises(AssertionError, match="quickstart"):
        stack.api.start("run-suite/adhoc", {"request": {"suite": "no-such-suite"}})
    both = REQUEST | {"sessions": ["hair_001"], "test_sets": ["hair"]}
    run = stack.api.start("run-suite/adhoc", {"request": both})
    state = stack.api.wait(run)
    assert (state["type"], "not both" in state["message"]) == ("FAILED", True)
