"""What is said before the numbers of a board: stand-ins, ranks left open, changes that are not alike."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from synthetic_site import SUITE, run_of

from domain.photos import Dataset
from domain.requests import RunRequest
from domain.runs import RunPlan, Snapshot
from domain.sessions import Instruction, Session
from tasks import wiring
from tasks.pointers import part_notice
from tasks.site_board import change_note, other_than
from tasks.site_notices import open_notice, stand_in_notices
from tasks.site_source import SiteSource


@pytest.fixture
def run() -> RunPlan:
    steps = (Instruction(prompt="Add glasses.", attribute="square glasses"),)
    session = Session(id="s", test_set="accessories", steps=steps)
    photos = Dataset(id=SUITE, embedder_fingerprint="none", photos=(), left_out=())
    made = run_of(1, photos, "datasets/a.json", (session,), ["flux-dev", "qwen-edit"])
    return made.model_copy(update={"photos": tuple("abcdefg")})


def by(run: RunPlan, **providers: str) -> RunPlan:
    """The run with other cards of those who judge."""
    card = run.judge_card
    assert card is not None
    cards = {f"{role}_card": card.model_copy(update={"provider": name}) for role, name in providers.items()}
    return run.model_copy(update=cards)


def test_heuristics_in_place_of_a_language_model_are_said(run: RunPlan):
    assert stand_in_notices(by(run, judge="openai", tracker="google", checker="openai")) == ()
    [both] = stand_in_notices(by(run, judge="local", tracker="local"))
    assert both == (
        "Judge and tracker of this run are local heuristics, stand-ins for a language model: SC and OER of "
        "real models mean nothing with them."
    )
    [one] = stand_in_notices(by(run, judge="openai", tracker="local"))
    assert one.startswith("Tracker of this run is a local heuristic, stand-in for a language model")
    [checker] = stand_in_notices(by(run, checker="local"))
    assert checker.startswith("The step checker of this run is a local heuristic")
    nobody = {"judge_card": None, "tracker_card": None}
    assert stand_in_notices(run.model_copy(update=nobody)) == ()


@pytest.mark.parametrize(("undetermined", "is_told"), [(0, False), (5, False), (6, True), (190, True)])
def test_ranks_that_votes_leave_open_are_said_where_an_end_can_be_open(undetermined: int, is_told: bool):
    names = ("dimension", "value", "resamples", "resamples_undetermined", "n_photos")
    rows = [("all", "all", 200, undetermined, 4), ("view", "half", 200, 200, 1)]
    told = open_notice(pl.DataFrame(rows, names, orient="row"))
    assert len(told) == is_told
    if is_told:
        assert told[0].startswith(
            f"With so few photos (4) the votes leave ranks open: in {undetermined} of 200"
        )


def test_a_part_says_of_how_many_photos(run: RunPlan):
    part = run.model_copy(update={"photos": tuple("abc"), "request": RunRequest(suite=SUITE, images=3)})
    assert "2 of 2 models, 3 of 7 photos, 1 sessions" in part_notice(part, 7)[0]
    assert "2 of 2 models, 3 photos, 1 sessions" in part_notice(part)[0]


def test_a_change_says_what_else_differs(run: RunPlan, tmp_path: Path):
    snapshot = Snapshot(suite=SUITE, digest="ab" * 32, run_id=run.id, is_new=False)
    before = SiteSource(snapshot, run, wiring.store_at(tmp_path))
    said = f"Change is against the snapshot {'ab' * 8} of 2026-11-01"
    assert change_note(run, None) == ""
    later = run.model_copy(update={"created_at": "2026-11-01T09:30:00+00:00"})
    assert change_note(later, before) == f"{said} 00:00."  # two boards of one day
    assert change_note(run.model_copy(update={"created_at": "2026-11-02T"}), before) == f"{said}."
    part = run.model_copy(update={"created_at": "2026-11-02T", "photos": tuple("abc")})
    assert change_note(part, before) == f"{said}, which had other photos (7, here 3)."
    [card, *_] = run.cards
    only = {"cards": (card,), "settings_fingerprints": {card.id: run.settings_fingerprints[card.id]}}
    assert other_than(run.model_copy(update=only), before) == ["models (2, here 1)"]
    sent = run.settings_fingerprints | {card.id: "other"}
    assert other_than(run.model_copy(update={"settings_fingerprints": sent}), before) == [
        "settings of models"
    ]
