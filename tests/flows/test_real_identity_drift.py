"""A set of real photos from its table to a ranking: screened, chains drafted, edited, voted on by a crowd."""

from __future__ import annotations

import asyncio
import csv
from pathlib import Path
from typing import cast

import polars as pl
import pytest
import yaml
from everyday_files import table

from adapters.editors.scene import SceneSettings
from domain.chain_drafting import DraftedSet
from domain.crowds import CrowdRules
from domain.loading import load
from domain.model_cards import ModelCard
from domain.requests import DraftChainsRequest, PrepareRequest, RunRequest
from domain.runs import RunSummary, Snapshot
from domain.vote_requests import MatchesRequest, SimulateRequest
from flows.draft_chains import draft_chains
from flows.make_matches import make_matches
from flows.prepare_photos import prepare_photos
from flows.rank_models import rank_models
from flows.run_suite import run_suite
from flows.simulate_votes import simulate_votes
from tasks import wiring
from tasks.chain_files import lint_chain_file
from tasks.chain_sets import export
from tasks.scoring import read_table

pytestmark = [pytest.mark.flow, pytest.mark.slow]

SUITE = "real-drift"
DRIFTS = ("scene-steady", "scene-mild", "scene-medium", "scene-strong")
EVERY = 8
"""Of the photos that pass, each eighth gets a chain; the others are listed without one."""

STRENGTH_PER_DRIFT = -100.0
"""Of the crowd, in logarithms of odds: it judges by the drift of the cards, and not by what was measured."""


def write_photos(real_photos: Path, root: Path) -> None:
    """The photos with a table as a person writes it."""
    listed = real_photos / "SOURCES.tsv"
    if not listed.is_file():
        pytest.skip("another folder of photos than the one that was looked at")
    rows: list[dict[str, str]] = []
    with listed.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            (root / row["file"]).parent.mkdir(parents=True, exist_ok=True)
            (root / row["file"]).write_bytes((real_photos / row["file"]).read_bytes())
            licence = row["licence"].split(":")[0].split(" (")[0]
            rows.append(
                {"file": row["file"], "author": row["source"], "source": row["source"], "licence": licence}
            )
    table(root, rows)


def write_suite(home: Path) -> None:
    suite = {
        "id": SUITE,
        "title": "Real photos",
        "dataset": {
            "id": "real",
            "adapter": "everyday_photos",
            "path": str(home / "photos"),
            "options": {"licences": ["MIT", "public domain"]},
        },
        "chain_set": SUITE,
        "models": [*DRIFTS, "scene-careless"],
        "embedder": {"pack": "mobile"},
        "judges": {"consistency": None, "tracker": None},
        "steps": {"attempts": 3, "checker": "local", "max_aspect_change": 0.01},
        "votes": {},
    }
    (home / "suites").mkdir()
    (home / "suites" / f"{SUITE}.yaml").write_text(yaml.safe_dump(suite), encoding="utf-8")


def strengths() -> dict[str, float]:
    """How much a crowd prefers each model, by what its card does to a face."""
    drifts = {
        name: SceneSettings.model_validate(load(ModelCard, name).settings).face_drift for name in DRIFTS
    }
    return {name: STRENGTH_PER_DRIFT * drift for name, drift in drifts.items()}


@pytest.mark.timeout(1800)
def test_real_photos_from_their_table_to_a_ranking(home: Path, real_photos: Path) -> None:
    write_photos(real_photos, home / "photos")
    write_suite(home)
    dataset = asyncio.run(prepare_photos(PrepareRequest(suite=SUITE)))
    photos = wiring.dataset(dataset)
    assert (len(photos.photos), len(photos.left_out)) == (57, 13)

    chosen = tuple(photo.id for photo in photos.base)[::EVERY]
    request = DraftChainsRequest(
        set_id=SUITE, writer="local", dataset=dataset, photos=chosen, approve_above_usd=None
    )
    drafted = cast(DraftedSet, asyncio.run(draft_chains(request)))
    assert drafted.chains == len(chosen) == 8
    found, _ = lint_chain_file(export(drafted, home / "chains"), dataset)
    assert [one.code for one in found] == ["no_chain"], "the 49 other photos"

    summary = cast(RunSummary, asyncio.run(run_suite(RunRequest(suite=SUITE, approve_above_usd=None))))
    made = asyncio.run(make_matches(MatchesRequest(suite=SUITE)))
    crowd = SimulateRequest(suite=SUITE, strengths=strengths(), crowd=CrowdRules(votes_per_match=3))
    assert asyncio.run(simulate_votes(crowd)).new == 3 * (made.n_matches + made.n_gold)
    ranked = asyncio.run(rank_models(SUITE))
    assert ranked.digest != summary.snapshot.digest
    _is_right(ranked)


def _is_right(ranked: Snapshot) -> None:
    store = wiring.store()
    completion = read_table(store, ranked, "completion")
    assert completion["n_chains"].to_list() == [8] * 5
    assert completion["n_unfinished"].sum() == 0
    assert completion.filter("ranked")["model"].to_list() == sorted(DRIFTS), "at the spec's own 80 %"
    board = read_table(store, ranked, "ranking").filter(pl.col("dimension") == "all")
    assert tuple(board["model"]) == DRIFTS
    assert board["rating"].null_count() == 0
    ends = read_table(store, ranked, "progression").sort("step").group_by("model").last()
    fss = dict(ends.select("model", "fss").iter_rows())
    assert [fss[name] for name in DRIFTS] == sorted((fss[name] for name in DRIFTS), reverse=True)
    told = read_table(store, ranked, "metric_agreement").filter(pl.col("dimension") == "all")
    assert told["share"].item() > 0.7
    left_out = read_table(store, ranked, "left_out").group_by("reason").len().sort("reason").rows()
    assert left_out == [("blurred", 13), ("no_chain", 49)]
