"""From photos to a ranking: editors of known drift, a made-up crowd, and all of it a second time."""

from __future__ import annotations

import asyncio
from pathlib import Path

import polars as pl
import pytest
import yaml
from vote_stores import a_vote

from domain import keys
from domain.chains import ChainSet
from domain.loading import load
from domain.requests import PrepareRequest, RefreshRequest, RunRequest
from domain.runs import RunSummary, Snapshot
from domain.vote_requests import MatchesRequest, SimulateRequest
from domain.votes import VotesCollected
from flows.make_matches import make_matches
from flows.prepare_photos import prepare_photos
from flows.rank_models import rank_models
from flows.refresh_leaderboard import refresh_leaderboard
from flows.run_suite import run_suite
from flows.score_suite import score_suite
from flows.simulate_votes import simulate_votes
from tasks import match_tables, vote_store, wiring
from tasks.pointers import current
from tasks.scoring import read_table

pytestmark = pytest.mark.flow

SUITE = "drift-small"
PHOTOS = ("astronaut", "group-left", "group-right", "group-four")
DRIFTS = ("scene-steady", "scene-mild", "scene-medium", "scene-strong")
"""In the order of what they do to a person."""
TOO_FEW = {"control-unchanged": "below_threshold", "scene-careless": "below_threshold"}


def write_definitions(folder: Path) -> None:
    """The packaged demo on four of its photos, with four of its prompts each."""
    chains = load(ChainSet, "everyday-demo")
    held = [
        chain.model_copy(update={"prompts": chain.prompts[:4]}).model_dump()
        for chain in chains.chains
        if chain.photo in PHOTOS
    ]
    base = Path(__file__).parents[2] / "domain" / "definitions" / "suites" / "identity-drift-demo.yaml"
    suite = yaml.safe_load(base.read_text(encoding="utf-8"))
    files = {
        "chains/drift-small.yaml": {**chains.model_dump(), "id": "drift-small", "chains": held},
        "suites/drift-small.yaml": {
            **suite,
            "id": SUITE,
            "chain_set": "drift-small",
            "votes": {"resamples": 200},
        },
    }
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(_plain(content)), encoding="utf-8")


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(held) for key, held in value.items()}
    return [_plain(held) for held in value] if isinstance(value, list | tuple) else value


def run() -> RunSummary:
    found = asyncio.run(run_suite(RunRequest(suite=SUITE, approve_above_usd=None)))
    assert isinstance(found, RunSummary)
    return found


def simulate() -> VotesCollected:
    return asyncio.run(simulate_votes(SimulateRequest(suite=SUITE)))


def files(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()
    }


def facts_of(snapshot: Snapshot) -> dict[str, str]:
    told = read_table(wiring.store(), snapshot, "vote_facts").select("name", "value")
    return dict(told.iter_rows())


def board() -> str:
    held = current(SUITE, wiring.store())
    assert held is not None
    return held.snapshot


def test_from_photos_to_a_ranking_and_again(home: Path) -> None:
    write_definitions(home)
    asyncio.run(prepare_photos(PrepareRequest(suite=SUITE)))
    first = run()
    made = asyncio.run(make_matches(MatchesRequest(suite=SUITE)))
    assert (made.models, made.n_matches) == (tuple(sorted(DRIFTS)), 4 * 6)
    assert made.reasons == TOO_FEW
    voted = simulate()
    assert voted.new == 3 * (made.n_matches + made.n_gold)
    ranked = asyncio.run(rank_models(SUITE))
    _is_right(ranked, voted)
    assert board() == ranked.digest != first.snapshot.digest

    assert asyncio.run(score_suite(first.run_id)).digest == ranked.digest, "scoring is the same path"
    before = files(home / "store")
    assert asyncio.run(refresh_leaderboard(RefreshRequest(suites=(SUITE,), max_cost_usd=0))) == {
        SUITE: "nothing new"
    }
    assert files(home / "store") == before
    _again_changes_nothing(home, ranked, voted)
    _new_votes_and_a_night(ranked)


def _is_right(ranked: Snapshot, voted: VotesCollected) -> None:
    store = wiring.store()
    table = read_table(store, ranked, "ranking").filter(pl.col("dimension") == "all")
    assert tuple(table["model"]) == DRIFTS, "what is known of the editors is what comes out"
    assert table["voters"].unique().to_list() == ["a simulated crowd"]
    told = facts_of(ranked)
    assert told["models_not_ranked"] == ", ".join(sorted(TOO_FEW))
    assert told["votes_from_simulated"] == told["simulated_votes"] == str(voted.new)
    assert voted.crowd is not None
    assert voted.crowd.truth in told["simulated_crowds"]
    completion = read_table(store, ranked, "completion").filter(~pl.col("ranked"))
    assert dict(completion.select("model", "reason").iter_rows()) == TOO_FEW
    page = store.get(keys.report(SUITE, ranked.digest, "index.html")) or b""
    assert b"SIMULATED VOTES" in page
    share = read_table(store, ranked, "metric_agreement").filter(pl.col("dimension") == "all")["share"].item()
    assert share > 0.8, "the crowd was told the similarities"


def _again_changes_nothing(home: Path, ranked: Snapshot, voted: VotesCollected) -> None:
    before = files(home / "store")
    again = run()
    assert again.snapshot.digest == board() == ranked.digest
    assert "SIMULATED VOTES" in " ".join(again.notices)
    asyncio.run(make_matches(MatchesRequest(suite=SUITE)))
    assert (simulate().new, simulate().known) == (0, voted.new)
    assert asyncio.run(rank_models(SUITE)).digest == ranked.digest
    after = files(home / "store")
    assert {name: after[name] for name in before if not _is_of_a_run(name)} == {
        name: held for name, held in before.items() if not _is_of_a_run(name)
    }
    assert {name.split("/")[0] for name in after.keys() - before.keys()} <= {"runs", "matches"}


def _is_of_a_run(name: str) -> bool:
    """Which run is the newest changes with each, and the manifests list its shards."""
    return name.startswith("runs/newest/") or name.endswith(("CURRENT.json", "parts.json"))


def _new_votes_and_a_night(ranked: Snapshot) -> None:
    """One vote of a person, and the next night the board is by people."""
    store = wiring.store()
    made = match_tables.expect_match_set(SUITE, wiring.run_plan(_newest()).id, store)
    table = match_tables.read_matches(made, store).filter(pl.col("gold").is_null())
    vote_store.add(SUITE, [a_vote(match, "a", "ann") for match in table["id"]], store)
    night = RefreshRequest(suites=(SUITE,), max_cost_usd=0)
    assert asyncio.run(refresh_leaderboard(night)) == {SUITE: "refreshed"}
    assert board() != ranked.digest
    held = Snapshot(suite=SUITE, digest=board(), run_id=_newest(), is_new=False)
    told = facts_of(held)
    assert (told["voters"], told["votes"]) == ("people", str(table.height))
    assert int(told["simulated_votes_left_out"]) == 3 * (made.n_matches + made.n_gold)
    assert asyncio.run(refresh_leaderboard(night)) == {SUITE: "nothing new"}


def _newest() -> str:
    return (wiring.store().get(keys.newest_run(SUITE)) or b"").decode()
