"""Drafting a set from end to end: with the local writer, and with a model that the stand-in plays."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from chain_photos import a_dataset_of
from fakes.writers import SaysDrafter, drafted

from adapters.standin.app import build_app
from adapters.standin.faults import Faults
from adapters.standin.serving import running
from adapters.standin.work import StandinWork
from domain.chain_drafting import DraftedSet, DraftsMissing
from domain.chains import ChainSet
from domain.errors import IncompleteError
from domain.requests import DraftChainsRequest
from flows.draft_chains import draft_chains
from tasks import wiring
from tasks.chain_files import lint_chain_file
from tasks.chain_photos import base_photos
from tasks.chain_sets import export
from tasks.definitions import load

pytestmark = pytest.mark.flow
BAD = drafted(["Make the man smile."] * 5)
GEMINI = {"writer": "gemini-3.8-flash", "rehearse": True}


def a_request(**fields: object) -> DraftChainsRequest:
    base = {"set_id": "city", "writer": "local", "dataset": "everyday", "approve_above_usd": None}
    return DraftChainsRequest.model_validate({**base, **fields})


def draft(**fields: object) -> DraftedSet:
    return cast(DraftedSet, asyncio.run(draft_chains(a_request(**fields))))


@pytest.fixture
def behind(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SaysDrafter]:
    """Who drafts behind a stand-in of this process."""
    writer, nobody = SaysDrafter(), cast(Any, None)
    with running(build_app(StandinWork(nobody, nobody, nobody, None, writer), Faults())) as url:
        monkeypatch.setenv("FACEDRIFT_STANDIN_URL", url)
        a_dataset_of(wiring.store())
        yield writer


def test_a_drafted_set_is_a_definition_without_findings(home: Path) -> None:
    a_dataset_of(wiring.store())
    made = draft()
    assert (made.id, made.chains, made.asked, made.cost_usd, made.is_new) == ("city", 3, 3, 0.0, True)
    file = export(made, home / "chains")
    assert lint_chain_file(file, "everyday")[0] == []
    assert set(load(ChainSet, "city").by_photo) == {"market-1", "bench-2", "stairs-3"}
    again = draft()
    assert (again.asked, again.is_new, again.key) == (0, False, made.key)


def test_nothing_is_asked_twice_after_a_run_that_the_cap_cut_short(behind: SaysDrafter) -> None:
    with pytest.raises(IncompleteError, match="raise max_cost_usd"):
        draft(**GEMINI, max_cost_usd=0.02)
    assert len(behind.asked) == 2
    plan = cast(DraftsMissing, asyncio.run(draft_chains(a_request(**GEMINI, dry_run=True))))
    assert (plan.missing, plan.photos, plan.cost_usd) == (1, 3, pytest.approx(0.01))
    made = draft(**GEMINI)
    assert (made.asked, made.chains, made.cost_usd) == (1, 3, pytest.approx(0.01))
    assert len(behind.asked) == 3


def test_a_photo_without_a_good_draft_is_kept_out_and_counted(behind: SaysDrafter, home: Path) -> None:
    shas = {photo.id: photo.image_sha256 for photo in base_photos("everyday")}
    behind.instead[shas["bench-2"]] = [BAD, BAD]
    made = draft(**GEMINI, max_asks=2)
    assert (made.chains, made.asked) == (2, 4)
    assert [(one.photo, one.error) for one in made.kept_out] == [("bench-2", "")]
    assert "# Kept out: bench-2: none of 2 answers" in export(made, home / "chains").read_text()
    found, _ = lint_chain_file(home / "chains" / "city.yaml", "everyday")
    assert [one.code for one in found] == ["no_chain"]
    behind.instead[shas["market-1"]] = [BAD]
    with pytest.raises(IncompleteError, match="none of 1 answers") as caught:
        draft(**GEMINI, photos=("market-1",), set_id="alone", max_asks=1, steps=4)
    assert caught.value.done == 1
