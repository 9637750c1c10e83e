"""Every automation is one that Prefect takes, and its messages can be rendered."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
import yaml
from prefect.automations import Automation
from prefect.events.actions import CallWebhook, ChangeFlowRunState
from prefect.events.schemas.events import Resource
from prefect.server.utilities.user_templates import render_user_template
from pydantic import ValidationError

from tasks.run_accounts import RUN_ENDED

ROOT = Path(__file__).parents[2]
WEBHOOK = str(uuid4())
TEXT = (ROOT / "deployments" / "automations.yaml").read_text(encoding="utf-8")
FOUND: list[dict[str, Any]] = yaml.safe_load(TEXT.replace("{{ alert_webhook }}", WEBHOOK))
NAMES = [one["name"] for one in FOUND]
CONTEXT = {
    "flow": SimpleNamespace(name="run-suite"),
    "flow_run": SimpleNamespace(
        name='run "quickstart"', state=SimpleNamespace(name="Failed", message="a line\nand 'another'")
    ),
    "work_pool": SimpleNamespace(name="edits"),
    "event": SimpleNamespace(
        resource=Resource({"prefect.resource.id": "facedrift.suite.s", "prefect.resource.name": "s"}),
        payload={"snapshot": "0123", "snapshot_is_new": True, "complete": False},
    ),
}


def automation(name: str) -> Automation:
    [found] = [one for one in FOUND if one["name"] == name]
    return Automation.model_validate(found)


@pytest.mark.parametrize("found", FOUND, ids=NAMES)
def test_prefect_takes_it(found: dict[str, Any]) -> None:
    made = Automation.model_validate(found)
    assert made.actions
    assert made.description
    assert found.keys() <= Automation.model_fields.keys()


def test_names_differ() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_prefect_does_not_take_a_wrong_one() -> None:
    with pytest.raises(ValidationError):
        Automation.model_validate(FOUND[0] | {"actions": [{"type": "call-webhook", "block_document_id": ""}]})


def test_the_placeholder_stands_alone_where_a_block_is_named() -> None:
    blocks = [one for one in yaml.safe_load(TEXT) if "block_document_id" in json.dumps(one)]
    assert blocks
    for one in blocks:
        assert {action["block_document_id"] for action in one["actions"]} == {"{{ alert_webhook }}"}


def test_a_silent_run_is_given_up_after_three_heartbeats() -> None:
    template = json.loads((ROOT / "deployments" / "work_pools" / "edits.process.json").read_text())
    beat = int(template["variables"]["properties"]["env"]["default"]["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"])
    made = automation("crash-zombies")
    [action] = made.actions
    assert made.trigger.within.total_seconds() >= 3 * beat
    assert made.trigger.after == {"prefect.flow-run.heartbeat"}
    assert isinstance(action, ChangeFlowRunState)
    assert {"prefect.flow-run.heartbeat", "prefect.flow-run.AwaitingRetry"} <= made.trigger.expect


def test_our_own_event_is_the_one_that_runs_send() -> None:
    made = automation("publish-after-run")
    assert made.trigger.expect == {RUN_ENDED}
    assert not made.enabled


@pytest.mark.parametrize("name", [name for name in NAMES if name != "crash-zombies"])
def test_a_message_is_json_whatever_it_quotes(name: str) -> None:
    [action] = automation(name).actions
    assert isinstance(action, CallWebhook)
    template = action.payload.replace("| ui_url", "| string")  # a filter of the server's own process
    said = json.loads(asyncio.run(render_user_template(template, CONTEXT)))
    assert said.keys() >= ({"text"} if "text" in action.payload else {"suite", "snapshot", "new", "complete"})
    assert all(value not in ("", None) for value in said.values())
