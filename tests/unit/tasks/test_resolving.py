"""A suite whose prompt chains are a person's own: what it says before they are written, and after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.loading import packaged_text
from tasks.definitions import load_suite
from tasks.resolving import sessions_of


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACEDRIFT_DEFINITIONS", str(tmp_path))
    for folder in ("chains", "suites"):
        (tmp_path / folder).mkdir()
    return tmp_path


def test_the_published_suite_runs_once_its_chains_are_written(own: Path) -> None:
    suite = load_suite("identity-drift")
    with pytest.raises(DefinitionError, match="not written yet") as caught:
        sessions_of(suite)
    said = str(caught.value)
    for step in (
        "chains/identity-drift.yaml",
        "put photos and their table into identity-drift of FACEDRIFT_DATA",
        "`facedrift photos prepare identity-drift`",
        "`facedrift chains draft identity-drift --dataset identity-drift --writer gpt-6.1-sol`",
        "`facedrift chains lint`",
        "docs/identity-drift.md",
    ):
        assert step in said
    assert caught.value.field == "chain_set"
    text = packaged_text(ChainSet, "everyday-demo").replace("id: everyday-demo", "id: identity-drift")
    (own / "chains" / "identity-drift.yaml").write_text(text)
    assert len(sessions_of(suite)) == text.count("- photo: ") == 6


def test_a_slip_in_the_name_of_a_set_is_told(own: Path) -> None:
    demo = load_suite("identity-drift-demo").model_dump(mode="json")
    slip = demo | {"id": "mine", "chain_set": "everyday-dmeo"}
    (own / "suites" / "mine.yaml").write_text(json.dumps(slip))
    with pytest.raises(DefinitionError, match=r"did you mean everyday-demo\?") as caught:
        sessions_of(load_suite("mine"))
    assert "everyday-demo" in caught.value.allowed
    assert "run `facedrift photos prepare mine`" in caught.value.message
