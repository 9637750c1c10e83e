"""What the lock installs: one ONNX runtime, whichever extra is chosen."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = tomllib.loads((ROOT / "uv.lock").read_text())["package"]
RUNTIMES = {"onnxruntime", "onnxruntime-gpu"}


def package(name: str) -> dict[str, Any]:
    [found] = [item for item in PACKAGES if item["name"] == name]
    return found


def reached(names: set[str]) -> set[str]:
    """The names and everything that they need in turn."""
    needs = {item["name"]: {need["name"] for need in item.get("dependencies", [])} for item in PACKAGES}
    seen: set[str] = set()
    while names:
        name = names.pop()
        seen.add(name)
        names |= needs.get(name, set()) - seen
    return seen


@pytest.mark.parametrize(
    ("extra", "runtime"), [("cpu", {"onnxruntime"}), ("gpu", {"onnxruntime-gpu"}), (None, set())]
)
def test_an_extra_brings_exactly_one_runtime(extra: str | None, runtime: set[str]) -> None:
    ours = package("facedrift")
    names = {need["name"] for need in ours["dependencies"]}
    names |= {need["name"] for need in ours["optional-dependencies"][extra]} if extra else set()
    assert reached(names) & RUNTIMES == runtime


def test_the_extras_exclude_each_other() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert [{"extra": "cpu"}, {"extra": "gpu"}] in project["tool"]["uv"]["conflicts"]


def test_opencv_comes_without_a_screen() -> None:
    ours = {need["name"] for need in package("facedrift")["dependencies"]}
    assert {name for name in reached(ours) if name.startswith("opencv")} == {"opencv-python-headless"}
