"""Writes the base job templates of the work pools: Prefect's defaults with our differences.

`python deployments/work_pools/rebuild.py` after an upgrade of Prefect; `git diff` then shows what changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonpatch
import yaml
from prefect.workers.process import ProcessWorker
from prefect_docker.worker import DockerWorker
from prefect_kubernetes.worker import KubernetesWorker

FOLDER = Path(__file__).parent
POOLS = ("edits", "gpu-embeddings")
WORKERS = {"process": ProcessWorker, "docker": DockerWorker, "kubernetes": KubernetesWorker}


def template(pool: str, kind: str) -> dict[str, Any]:
    """The template of a pool; raises JsonPatchException where Prefect's default has changed under ours."""
    differences = yaml.safe_load((FOLDER / "differences.yaml").read_text(encoding="utf-8"))
    found: dict[str, Any] = WORKERS[kind].get_default_base_job_template()
    for part in ("all", kind, f"{pool}.{kind}"):
        found = jsonpatch.apply_patch(found, differences.get(part, []))
    return found


def text(pool: str, kind: str) -> str:
    """A template as it stands in its file."""
    return json.dumps(template(pool, kind), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in POOLS:
        for worker in WORKERS:
            (FOLDER / f"{name}.{worker}.json").write_text(text(name, worker), encoding="utf-8")
