"""The compose stack: its schema, and what must hold of every service. Read without Docker."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from environment_variables import known_variables
from jsonschema import Draft202012Validator
from prefect.settings import Settings
from prefect_redis.client import RedisMessagingSettings

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
SETTINGS_EXAMPLE = (DOCKER / "facedrift.env.example").read_text(encoding="utf-8")
TEXT = (DOCKER / "compose.yaml").read_text(encoding="utf-8")
SCHEMA = json.loads((files("check_jsonschema.builtin_schemas.vendor") / "compose-spec.json").read_text())
SECRETS = ("PREFECT_AUTH_STRING", "POSTGRES_PASSWORD", "S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
FILLED_IN = dict.fromkeys(SECRETS, "filled-in") | {"PREFECT_AUTH_STRING": "user:password"}
_VARIABLE = re.compile(r"\$\{(\w+)(?:(:?[-?])([^}]*))?\}")


class NotSet(Exception):
    """A variable that has to be set is not."""


def read(values: dict[str, str]) -> dict[str, Any]:
    """The file as `docker compose` reads it, with the values of `.env`."""

    def value(match: re.Match[str]) -> str:
        name, how, other = match.groups()
        if values.get(name) or (name in values and how in ("-", "?")):
            return values[name]
        if how in ("?", ":?"):
            raise NotSet(f"{name}: {other}")
        return other or ""

    return yaml.safe_load(_VARIABLE.sub(value, TEXT))


STACK = read(FILLED_IN)
SERVICES: dict[str, dict[str, Any]] = STACK["services"]


def problems(stack: dict[str, Any]) -> Iterator[str]:
    """What must not be in a stack, a sentence each."""
    for name, service in stack["services"].items():
        if not re.search(r":v?\d+(\.\d+)+(-\w+)?$", service["image"]):
            yield f"{name} has no exact tag"
        if service.get("restart") != "no" and "healthcheck" not in service:
            yield f"{name} has no health check"
        if any(not str(port).startswith("127.0.0.1:") for port in service.get("ports", ())):
            yield f"{name} is published beyond this machine"
        if "no-new-privileges:true" not in service.get("security_opt", ()) or service.get("privileged"):
            yield f"{name} may gain rights"
        if "mem_limit" not in service or "cpus" not in service or "pids_limit" not in service:
            yield f"{name} has no limits"
        if service["image"].startswith("facedrift:") and not (
            service.get("read_only") and service.get("cap_drop") == ["ALL"]
        ):
            yield f"{name} is not read only"


def test_it_is_a_compose_file_that_keeps_our_rules() -> None:
    Draft202012Validator(SCHEMA).validate(STACK)
    assert list(problems(STACK)) == []


BREAKS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "redis has no exact tag": lambda services: services["redis"].update(image="redis:latest"),
    "postgres has no exact tag": lambda services: services["postgres"].update(image="postgres"),
    "server has no health check": lambda services: services["server"].pop("healthcheck"),
    "server is published beyond": lambda services: services["server"].update(ports=["4200:4200"]),
    "edits may gain rights": lambda services: services["edits"].pop("security_opt"),
    "edits has no limits": lambda services: services["edits"].pop("mem_limit"),
    "edits is not read only": lambda services: services["edits"].pop("read_only"),
}


@pytest.mark.parametrize("said", BREAKS)
def test_a_broken_stack_is_noticed(said: str) -> None:
    broken = copy.deepcopy(STACK)
    BREAKS[said](broken["services"])
    assert [problem for problem in problems(broken) if said in problem]


def test_the_schema_notices_a_misspelt_key() -> None:
    broken = copy.deepcopy(STACK)
    broken["services"]["edits"]["enviroment"] = {}
    assert not Draft202012Validator(SCHEMA).is_valid(broken)


@pytest.mark.parametrize("name", SECRETS)
def test_nothing_starts_without_a_secret(name: str) -> None:
    with pytest.raises(NotSet, match=rf"{name}: set {name} in docker/\.env"):
        read(FILLED_IN | {name: ""})


@pytest.mark.parametrize("name", ["server", "services"])
def test_the_server_asks_for_a_login(name: str) -> None:
    assert SERVICES[name]["environment"]["PREFECT_SERVER_API_AUTH_STRING"] == "user:password"


def test_whoever_talks_to_the_server_has_the_login_and_only_it_has_the_database() -> None:
    for name, service in SERVICES.items():
        environment = service.get("environment", {})
        if "PREFECT_API_URL" in environment:
            assert environment["PREFECT_API_AUTH_STRING"] == "user:password"
            assert not [key for key in environment if "DATABASE" in key], name


@pytest.mark.parametrize("name", ["server", "services", "edits", "faces-cpu", "faces-gpu", "deploy"])
def test_prefect_reads_the_settings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {key: str(value) for key, value in SERVICES[name]["environment"].items()}
    for key in [key for key in os.environ if key.startswith("PREFECT_")]:
        monkeypatch.delenv(key)
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    named = {key for key in environment if key.startswith("PREFECT_") and "_REDIS_" not in key}
    found = Settings()
    assert named <= set(found.to_environment_variables(exclude_unset=True, include_secrets=True))
    if "PREFECT_REDIS_MESSAGING_HOST" in environment:
        assert RedisMessagingSettings().host == "redis"
        assert found.server.services.task_run_recorder.batch_size == 50
        assert found.server.events.retention_period.days == 2
        assert found.server.concurrency.lease_storage == "prefect_redis.lease_storage"


def test_our_variables_are_known_to_a_settings_class() -> None:
    ours = [service for service in SERVICES.values() if service["image"].startswith("facedrift:")]
    names = {key for service in ours for key in service["environment"] if not key.startswith("PREFECT_")}
    names |= set(re.findall(r"^# ([A-Z][A-Z0-9_]+)=", SETTINGS_EXAMPLE, re.MULTILINE))
    assert {"FAL_KEY", "FACEDRIFT_STORE"} <= names
    assert names <= known_variables(), sorted(names - known_variables())


def test_the_example_names_every_variable_and_holds_no_secret() -> None:
    text = (DOCKER / ".env.example").read_text()
    named = dict(re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$", text, re.MULTILINE))
    assert {match.group(1) for match in _VARIABLE.finditer(TEXT)} <= set(named)
    assert all(named[name] == "" for name in SECRETS)


def test_a_gpu_is_asked_for_by_one_service_and_workers_poll_both_pools() -> None:
    asking = [name for name, service in SERVICES.items() if "deploy" in service]
    assert asking == ["faces-gpu"]
    assert SERVICES["faces-gpu"]["image"].endswith("-gpu")
    polled = {service["command"][service["command"].index("--pool") + 1] for service in SERVICES.values()
              if "--pool" in service.get("command", ())}  # fmt: skip
    assert polled == {"edits", "gpu-embeddings"}
    assert (SERVICES["faces-cpu"]["profiles"], SERVICES["faces-gpu"]["profiles"]) == (["cpu"], ["gpu"])
