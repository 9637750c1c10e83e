"""A clean store and definitions folder for each flow test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from fakes import editors

from domain.errors import IncompleteError
from domain.runs import RunRequest, RunSummary
from tasks.shards import summary_of


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prefect_server: None) -> Path:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    monkeypatch.setenv("FACEDRIFT_RETRY_WAITS_S", "[0.01]")
    editors.register()
    return tmp_path


@pytest.fixture
def run_tiny(home: Path) -> Callable[..., tuple[RunSummary, bool]]:
    """Runs the suite `tiny` on two photos; its summary, and whether it was complete."""
    from flows.run_suite import run_suite

    def run(**options: object) -> tuple[RunSummary, bool]:
        request = RunRequest.model_validate(
            {"suite": "tiny", "images": 2, "approve_above_usd": None, **options}
        )
        try:
            return asyncio.run(run_suite(request)), True
        except IncompleteError as error:
            summary = summary_of(error.run_id or "")
            assert summary is not None
            return summary, False

    return run
