"""The templates of the work pools: Prefect's defaults, our differences, and jobs that can be started."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import kubernetes_validate
import pytest
import yaml
from docker.api.client import APIClient
from jsonpatch import JsonPatchException
from jsonpointer import JsonPointerException
from jsonschema import Draft202012Validator
from prefect.client.schemas.objects import FlowRun
from prefect.server.schemas.core import WorkPool
from prefect.utilities.templating import find_placeholders
from prefect.workers.process import ProcessJobConfiguration
from prefect_docker.worker import DockerWorkerJobConfiguration
from prefect_kubernetes.worker import KubernetesWorkerJobConfiguration

from deployments.work_pools import rebuild

ROOT = Path(__file__).parents[2]
PAIRS = [(pool, kind) for pool in rebuild.POOLS for kind in rebuild.WORKERS]
CONFIGURATIONS = {
    "process": ProcessJobConfiguration,
    "docker": DockerWorkerJobConfiguration,
    "kubernetes": KubernetesWorkerJobConfiguration,
}
KUBERNETES = "1.34"
MISPLACED = ("completions", "parallelism")
"""Of a job, which Prefect puts into the pod and insists on finding there; an API server ignores them."""


def shipped(pool: str, kind: str) -> dict[str, Any]:
    file = ROOT / "deployments" / "work_pools" / f"{pool}.{kind}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def job(pool: str, kind: str, **variables: Any) -> Any:
    """What a worker makes of a template for a flow run."""
    configuration, nobody = (
        CONFIGURATIONS[kind],
        cast(Any, object()),
    )  # no template asks the server for a block
    found = asyncio.run(configuration.from_template_and_values(shipped(pool, kind), variables, client=nobody))
    found.prepare_for_flow_run(FlowRun(id=uuid4(), flow_id=uuid4(), name="edit shard 1"))
    return found


def pod(pool: str, **variables: Any) -> dict[str, Any]:
    return job(pool, "kubernetes", **variables).job_manifest["spec"]["template"]["spec"]


@pytest.mark.parametrize(("pool", "kind"), PAIRS)
def test_a_template_is_the_default_of_prefect_with_our_differences(pool: str, kind: str) -> None:
    text = (ROOT / "deployments" / "work_pools" / f"{pool}.{kind}.json").read_text(encoding="utf-8")
    assert text == rebuild.text(pool, kind), "run `python deployments/work_pools/rebuild.py`, read the diff"


def test_every_difference_is_used() -> None:
    parts = yaml.safe_load((rebuild.FOLDER / "differences.yaml").read_text(encoding="utf-8"))
    assert set(parts) <= {"all", *rebuild.WORKERS, *(f"{pool}.{kind}" for pool, kind in PAIRS)}


def test_a_difference_that_no_longer_fits_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Changed:
        @staticmethod
        def get_default_base_job_template() -> dict[str, Any]:
            return {"variables": {"properties": {}}, "job_configuration": {}}

    monkeypatch.setitem(rebuild.WORKERS, "kubernetes", Changed)
    with pytest.raises((JsonPatchException, JsonPointerException)):
        rebuild.template("edits", "kubernetes")


@pytest.mark.parametrize(("pool", "kind"), PAIRS)
def test_the_server_takes_a_template_and_its_defaults_are_allowed_values(pool: str, kind: str) -> None:
    found = shipped(pool, kind)
    WorkPool(name=pool, type=kind, base_job_template=found, default_queue_id=uuid4())
    schema = found["variables"]
    Draft202012Validator.check_schema(schema)
    defaults = {name: about["default"] for name, about in schema["properties"].items() if "default" in about}
    Draft202012Validator(schema).validate(defaults)
    wrong = [Draft202012Validator(schema).is_valid({"env": {"A": 1}})]
    if "gpu_count" in schema["properties"]:
        wrong.append(Draft202012Validator(schema).is_valid({"gpu_count": "two"}))
    assert not any(wrong)


@pytest.mark.parametrize(("pool", "kind"), PAIRS)
def test_every_variable_reaches_the_job(pool: str, kind: str) -> None:
    found = shipped(pool, kind)
    used = {placeholder.name for placeholder in find_placeholders(found["job_configuration"])}
    assert used == set(found["variables"]["properties"])


@pytest.mark.parametrize(("pool", "kind"), PAIRS)
def test_a_run_sends_heartbeats_and_a_deployment_adds_to_its_variables(pool: str, kind: str) -> None:
    env = job(pool, kind, env={"FACEDRIFT_POOLS": "never"}).env
    found = {entry["name"]: entry["value"] for entry in env} if isinstance(env, list) else env
    assert found["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "30"
    assert found["FACEDRIFT_LOG"] == "json"
    assert found["FACEDRIFT_POOLS"] == "never"
    assert ("CUDA" in found.get("FACEDRIFT_ONNX_PROVIDERS", "")) == (
        pool == "gpu-embeddings" and kind != "process"
    )


@pytest.mark.parametrize("pool", rebuild.POOLS)
def test_kubernetes_takes_the_job(pool: str) -> None:
    manifest = job(pool, "kubernetes").job_manifest
    for name in MISPLACED:
        assert manifest["spec"]["template"]["spec"].pop(name) == 1
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    assert manifest["spec"]["backoffLimit"] == 0
    assert manifest["spec"]["ttlSecondsAfterFinished"] > 0
    container = pod(pool)["containers"][0]
    refs = [next(iter(source.items())) for source in container["envFrom"]]
    assert refs == [
        ("configMapRef", {"name": "facedrift-settings"}),
        ("secretRef", {"name": "facedrift-keys"}),
    ]


def test_kubernetes_does_not_take_a_broken_job() -> None:
    manifest = job("edits", "kubernetes").job_manifest
    with pytest.raises(kubernetes_validate.ValidationError, match="completions"):
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)


@pytest.mark.parametrize("pool", rebuild.POOLS)
def test_a_pod_has_no_rights_and_bounded_resources(pool: str) -> None:
    spec = pod(pool)
    container = spec["containers"][0]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert set(container["resources"]["limits"]) >= {"cpu", "memory"}


def test_only_the_gpu_pool_asks_for_gpus() -> None:
    [plain] = pod("edits")["containers"]
    spec = pod("gpu-embeddings", gpu_count=2, node_selector={"gpu": "h200"})
    assert "nvidia.com/gpu" not in plain["resources"]["limits"]
    assert spec["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 2
    assert spec["nodeSelector"] == {"gpu": "h200"}
    assert spec["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]


@pytest.mark.parametrize(("pool", "gpus"), [("edits", None), ("gpu-embeddings", [1])])
def test_docker_takes_the_container(pool: str, gpus: list[int] | None) -> None:
    found = job(pool, "docker")
    made = APIClient(version="1.44").create_host_config(
        mem_limit=found.mem_limit, **found.container_create_kwargs
    )
    assert found.privileged is False
    assert made["CapDrop"] == ["ALL"]
    assert made["Memory"] >= 4 << 30
    requests = made.get("DeviceRequests")
    assert (requests and [request["Count"] for request in requests]) == gpus
    assert all(request["Capabilities"] == [["gpu"]] for request in requests or ())
    assert "/etc/facedrift/facedrift.env:/run/facedrift/facedrift.env:ro" in found.volumes


@pytest.mark.parametrize(("pool", "kind"), PAIRS)
def test_no_template_holds_a_secret(pool: str, kind: str) -> None:
    values = shipped(pool, kind)["variables"]["properties"]["env"]["default"]
    assert not [name for name in values if any(word in name for word in ("KEY", "TOKEN", "SECRET", "AUTH"))]
