"""What `facedrift deploy` keeps of what an operator has set, and what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.schedules import CronSchedule
from prefect.events.schemas.automations import AutomationCore

from tasks.deploying import limit_line, line_without_url, renewed, said_last
from tasks.kept_deployments import full_name, line_of, with_kept

FOLDER = Path(__file__).parents[3] / "deployments"
ENTRIES = {
    full_name(one): one for one in yaml.safe_load((FOLDER / "prefect.yaml").read_text())["deployments"]
}
NIGHTLY, ADHOC = ENTRIES["refresh-leaderboard/nightly"], ENTRIES["run-suite/adhoc"]
OWN = {"request": {"suites": ["mine"], "max_cost_usd": 20}}


def deployment(**fields: Any) -> DeploymentResponse:
    return DeploymentResponse(name="any", flow_id=uuid4(), **fields)


def schedule() -> DeploymentSchedule:
    return DeploymentSchedule(schedule=CronSchedule(cron="0 4 * * *"), active=True)


def test_a_first_deployment_is_as_the_file_says() -> None:
    assert with_kept(NIGHTLY, None) == NIGHTLY
    assert line_of(NIGHTLY, None) == "deployment refresh-leaderboard/nightly"


def test_an_existing_one_keeps_parameters_schedules_and_pause() -> None:
    existing = deployment(parameters=OWN, schedules=[schedule()], paused=True)
    made = with_kept(NIGHTLY, existing)
    assert made["parameters"] == OWN
    assert made["paused"] is True
    assert made["schedules"] is None  # with which Prefect leaves those of the server alone
    same = NIGHTLY.keys() - {"parameters", "schedules"}
    assert {name: made[name] for name in same} == {name: NIGHTLY[name] for name in same}
    assert NIGHTLY["schedules"]  # the file's own entry is not changed


def test_a_schedule_that_was_removed_is_not_made_again() -> None:
    made = with_kept(NIGHTLY, deployment(parameters={}))
    assert made["schedules"] is None
    assert made["parameters"] == {}


@pytest.mark.parametrize(
    ("entry", "existing", "says"),
    [
        (NIGHTLY, deployment(), True),
        (ADHOC, deployment(), False),
        (ADHOC, deployment(schedules=[schedule()]), True),
        (ADHOC, deployment(parameters=OWN), True),
        (ADHOC, deployment(paused=True), True),
    ],
)
def test_it_is_said_where_there_was_something_to_keep(
    entry: dict[str, Any], existing: DeploymentResponse, says: bool
) -> None:
    end = ": kept its own parameters and schedule" if says else ""
    assert line_of(entry, existing) == f"deployment {full_name(entry)}{end}"


@pytest.mark.parametrize(("found", "asked"), [(16, None), (16, 16)])
def test_a_limit_that_is_as_asked(found: int, asked: int | None) -> None:
    assert limit_line("facedrift-google", found, asked) == "limit facedrift-google: 16"


def test_a_limit_other_than_the_variable_says_how_to_set_it() -> None:
    assert limit_line("facedrift-google", 16, 99) == (
        "limit facedrift-google: 16 on the server, and FACEDRIFT_IN_FLIGHT says 99; set it there with "
        "`prefect gcl update facedrift-google --limit 99`"
    )


def automation(*, enabled: bool) -> tuple[dict[str, Any], AutomationCore]:
    found = yaml.safe_load((FOLDER / "automations.yaml").read_text())[0]
    return found, AutomationCore.model_validate({**found, "enabled": enabled, "description": "of before"})


def test_without_a_url_only_what_is_not_there_is_left_out() -> None:
    _, known = automation(enabled=True)
    assert line_without_url("notify-on-failure", None) == (
        "automation notify-on-failure left out: it needs --alert-url"
    )
    assert line_without_url("notify-on-failure", known) == (
        "automation notify-on-failure: kept as it is, with the alert URL that the server has"
    )


@pytest.mark.parametrize("enabled", [True, False])
def test_an_automation_stays_on_or_off_and_is_renewed_otherwise(enabled: bool) -> None:
    found, known = automation(enabled=enabled)
    made = renewed(found, known)
    assert made.enabled is enabled
    assert made.description == found["description"]


def test_the_reason_of_a_refusal_is_not_cut_off_by_what_went_well() -> None:
    said = said_last("│ Deploying adhoc │\n" * 100, "╭ Error ╮\n│ 'gone' is not one of ['quickstart'] │\n")
    assert said.endswith("Error 'gone' is not one of ['quickstart']")
    assert len(said) == 500
