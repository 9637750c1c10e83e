"""Every deployment names a flow that exists, by its module."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from prefect import Flow
from prefect.flows import load_flow_from_entrypoint

ROOT = Path(__file__).parents[2]
DEPLOYMENTS = yaml.safe_load((ROOT / "deployments" / "prefect.yaml").read_text())["deployments"]
FLOWS = sorted(path.stem for path in (ROOT / "flows").glob("*.py") if "@flow" in path.read_text())


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda d: f"{d['entrypoint']}/{d['name']}")
def test_a_deployment_loads_its_flow(deployment: dict[str, str]) -> None:
    assert ":" not in deployment["entrypoint"]
    loaded = load_flow_from_entrypoint(deployment["entrypoint"])
    module, function = deployment["entrypoint"].rsplit(".", 1)
    assert loaded.fn.__module__ == module
    assert loaded.name == function.replace("_", "-")


def test_no_two_deployments_share_a_name() -> None:
    names = [(deployment["entrypoint"], deployment["name"]) for deployment in DEPLOYMENTS]
    assert len(set(names)) == len(names)


def test_no_shipped_schedule_runs_before_an_operator_turns_it_on() -> None:
    shipped = [one for deployment in DEPLOYMENTS for one in deployment.get("schedules", ())]
    assert [(one["slug"], one["active"]) for one in shipped] == [("nightly", False)]


@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_file_holds_one_flow_of_its_own_name(name: str) -> None:
    module = __import__(f"flows.{name}", fromlist=[name])
    own = [
        item
        for item in vars(module).values()
        if isinstance(item, Flow) and item.fn.__module__ == module.__name__
    ]
    assert [(flow.fn.__name__, flow.name) for flow in own] == [(name, name.replace("_", "-"))]
