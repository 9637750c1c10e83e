"""The Dockerfile: what hadolint says, and what must hold of an image."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
DOCKERFILE = (DOCKER / "Dockerfile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
INSTRUCTIONS = re.sub(r"\\\n\s*", " ", re.sub(r"^#.*\n", "", DOCKERFILE, flags=re.MULTILINE)).splitlines()
HADOLINT = str(Path(sys.executable).parent / "hadolint")


def lint(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([HADOLINT, "-"], input=text, capture_output=True, text=True, check=False)


def of(kind: str) -> list[str]:
    return [line.split(None, 1)[1] for line in INSTRUCTIONS if line.startswith(f"{kind} ")]


def test_hadolint_has_nothing_to_say() -> None:
    ended = lint(DOCKERFILE)
    assert (ended.returncode, ended.stdout) == (0, "")


def test_hadolint_would_say_something() -> None:
    assert "DL3007" in lint("FROM python:latest\n").stdout


def test_every_base_is_pinned_by_a_full_tag() -> None:
    images = [line.split("=", 1)[1] for line in of("ARG") if "_IMAGE=" in line]
    assert len(images) == 2
    assert all(re.search(r":\d+\.\d+\.\d+", image) for image in images)
    names = {line.split()[2] for line in of("FROM")}
    assert {line.split()[0] for line in of("FROM")} <= names | {"${UV_IMAGE}", "${PYTHON_IMAGE}"}


def test_both_targets_are_there_and_cpu_is_the_default() -> None:
    stages = [line.split()[2] for line in of("FROM")]
    assert {"cpu", "gpu"} <= set(stages)
    assert stages[-1] == "cpu"


def test_images_run_as_nobody_special() -> None:
    assert of("USER") == ["10001:10001"]
    after = INSTRUCTIONS[INSTRUCTIONS.index("USER 10001:10001") :]
    assert not [line for line in after if line.startswith("RUN") and "python" not in line]


def test_packages_come_from_the_lock_and_its_extras_exist() -> None:
    syncs = [line for line in of("RUN") if "uv sync" in line]
    assert Counter(re.findall(r"--extra (cpu|gpu) ", " ".join(syncs))) == {"cpu": 2, "gpu": 2}
    assert all({"--locked", "--no-dev"} <= set(line.split()) for line in syncs)
    [extras] = [line.split("=", 1)[1].strip('"').split() for line in of("ARG") if line.startswith("EXTRAS")]
    assert set(extras) <= set(PROJECT["optional-dependencies"])


def test_the_version_of_uv_is_that_of_the_makefile() -> None:
    [wanted] = re.findall(r"^UV_VERSION := (\S+)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert f"astral-sh/uv:{wanted}\n" in DOCKERFILE


def test_the_version_of_the_images_is_that_of_the_project() -> None:
    files = [DOCKER / "Dockerfile", DOCKER / "compose.yaml", *(DOCKER / "kubernetes").glob("*.yaml")]
    files += [ROOT / "deployments" / "work_pools" / "differences.yaml"]
    named = {tag for file in files for tag in re.findall(r"facedrift:([\w.]+)-[cg]pu", file.read_text())}
    assert named == {PROJECT["version"]}


def test_what_is_copied_exists_and_nothing_else_is_sent() -> None:
    lines = [
        line
        for line in (DOCKER / "Dockerfile.dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert lines[0] == "*"
    kept = [line[1:] for line in lines if line.startswith("!")]
    assert all((ROOT / name).exists() for name in kept)
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert {*packages["wheel"]["packages"], "deployments", "uv.lock", "pyproject.toml"} <= set(kept)
    assert "**/*.env" in lines


def test_git_ignores_what_holds_secrets() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    assert {"docker/.env", "docker/facedrift.env"} <= set(ignored)


@pytest.mark.parametrize("name", ["A_KEY", "PASSWORD", "TOKEN"])
def test_no_secret_is_built_in(name: str) -> None:
    assert name not in " ".join([*of("ENV"), *of("ARG")])
