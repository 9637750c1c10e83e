"""The Kubernetes manifests: what a strict API server takes, and what must hold of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from environment_variables import known_variables
from prefect.settings import Settings
from prefect_kubernetes.settings import KubernetesSettings

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "docker" / "kubernetes").glob("*.yaml"))
FOUND: list[dict[str, Any]] = [one for file in FILES for one in yaml.safe_load_all(file.read_text())]
PODS = [one["spec"]["template"]["spec"] for one in FOUND if one["kind"] in ("Deployment", "Job")]
VERSIONS = ("1.30", "1.34", "1.37")


def kind(name: str) -> list[dict[str, Any]]:
    return [one for one in FOUND if one["kind"] == name]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_manifest_is_valid(version: str) -> None:
    assert len(FOUND) > 10
    for one in FOUND:
        kubernetes_validate.validate(one, version, strict=True)


def test_a_misspelt_field_is_noticed() -> None:
    broken = yaml.safe_load(yaml.safe_dump(kind("Deployment")[0]))
    broken["spec"]["template"]["spec"]["serviceAcountName"] = "x"
    with pytest.raises(kubernetes_validate.ValidationError, match="serviceAcountName"):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_each_pool_has_a_worker_of_its_kind() -> None:
    commands = [pod["containers"][0]["args"] for pod in PODS if "worker" in pod["containers"][0]["args"]]
    assert {args[args.index("--pool") + 1] for args in commands} == {"edits", "gpu-embeddings"}
    assert {args[args.index("--type") + 1] for args in commands} == {"kubernetes"}


def test_pods_run_as_nobody_special_with_limits() -> None:
    for pod in PODS:
        assert pod["securityContext"]["runAsNonRoot"]
        for container in pod["containers"]:
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert {"cpu", "memory"} <= container["resources"]["limits"].keys()


def test_what_is_named_is_there() -> None:
    named = {(one["kind"], one["metadata"]["name"]) for one in FOUND}
    for pod in PODS:
        assert ("ServiceAccount", pod["serviceAccountName"]) in named
        for source in pod["containers"][0]["envFrom"]:
            [(how, ref)] = source.items()
            assert ({"configMapRef": "ConfigMap", "secretRef": "Secret"}[how], ref["name"]) in named
    of_the_templates = {
        ("ConfigMap", "facedrift-settings"),
        ("Secret", "facedrift-keys"),
        ("ServiceAccount", "facedrift-run"),
        ("PersistentVolumeClaim", "facedrift-packs"),
    }
    assert of_the_templates <= named


def test_secrets_are_empty_and_nowhere_else() -> None:
    for secret in kind("Secret"):
        assert set(secret["stringData"].values()) == {""}
    open_names = {name for one in kind("ConfigMap") for name in one["data"]}
    assert not [
        name for name in open_names if name.endswith(("_TOKEN", "API_KEY", "ACCESS_KEY", "AUTH_STRING"))
    ]


def test_a_worker_may_not_read_secrets() -> None:
    [role] = kind("Role")
    assert not kind("ClusterRole")
    allowed = {resource for rule in role["rules"] for resource in rule["resources"]}
    assert allowed == {"jobs", "pods", "pods/log", "pods/status", "events"}


def test_variables_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {name: value for one in kind("ConfigMap") for name, value in one["data"].items()}
    names |= {name: "x:y" for one in kind("Secret") for name in one["stringData"]}
    ours = {name for name in names if not name.startswith("PREFECT_")}
    assert ours <= known_variables(), sorted(ours - known_variables())
    prefects = {name: value for name, value in names.items() if name.startswith("PREFECT_")}
    for name, value in prefects.items():
        monkeypatch.setenv(name, value)
    plain = {name for name in prefects if "_INTEGRATIONS_" not in name}
    assert plain <= set(Settings().to_environment_variables(exclude_unset=True, include_secrets=True))
    read = KubernetesSettings()
    assert read.worker.api_auth_string_secret_name == "facedrift-prefect"
    assert read.worker.api_auth_string_secret_key == "PREFECT_API_AUTH_STRING"
    assert set(read.observer.namespaces or ()) == {"facedrift"}
    assert read.cluster_uid == "facedrift"
