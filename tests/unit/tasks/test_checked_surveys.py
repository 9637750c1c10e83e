"""The table of checks: who writes it, what is looked up beside it, and that no other checker believes it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import polars as pl
import pytest
from chains import read_face
from drift import CHECKER, DriftHistory, a_drift_plan, large

from domain import keys
from domain.plan import StepPlan
from domain.runs import RunPlan, Shard
from domain.summaries import ShardSummary
from tasks import compaction, failures, ledger, wiring
from tasks.check_tables import CheckTable
from tasks.compaction import settle
from tasks.drift_scoring import collect_drift, score_drift
from tasks.missing_work import shards
from tasks.surveys import Survey, survey


class Place:
    """A store, and runs of prompt chains over it that are planned, edited and checked as the flows do."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, people: int = 5) -> None:
        monkeypatch.setenv("FACEDRIFT_STORE", str(root))
        self.store = wiring.store()
        self.photos = large(people)
        self.base = a_drift_plan(self.photos, dataset=keys.dataset("made-up", "0" * 16))
        ledger.write_new(self.store, self.base.dataset, self.photos)

    def run(self, number: int, **fields: object) -> RunPlan:
        return self.base.model_copy(update={"id": f"20261130T00000{number}-abcdef", **fields})

    def survey(self, run: RunPlan) -> Survey:
        return survey(run, self.photos, self.store)

    def plan(self, run: RunPlan) -> list[Shard]:
        seen = self.survey(run)
        planned = shards(seen.history)
        for part in planned:
            ledger.write_new(self.store, keys.shard(run.id, part.number), part)
        ledger.write_new(self.store, keys.run(run.id), run.model_copy(update={"shards": len(planned)}))
        settle(seen, self.store, planned, run_id=run.id)
        self.store.put(keys.newest_run(run.suite.id), run.id.encode())
        return planned

    def go_on(self, run: RunPlan, part: Shard, draw: dict[tuple[int, int], str], most: int = 99) -> None:
        """Take each chain of a shard so many attempts further."""
        history = DriftHistory(run, self.photos)
        for first in part.steps:
            step: StepPlan | None = first
            for _ in range(most):
                if step is None:
                    break
                step = history.end(step, draw.get((step.number, step.identity.attempt), "made"))
        for check in history.checks.values():
            own = check.model_copy(update={"checker": run.checker})
            ledger.write_new(self.store, keys.check(keys.fingerprint(own.checker), own.key), own)
        for record in history.records.values():
            ledger.write_new(self.store, keys.outcome(record.key), record)

    def report(self, run: RunPlan, part: Shard) -> ShardSummary:
        summary = compaction._compact_shard(run.id, part.number, ShardSummary(edited=1))
        failures.keep(run.id, part.number, summary, self.store)
        return summary

    def check(self, run: RunPlan) -> None:
        """What a survey says is what the ledger says of every chain."""
        checker = keys.fingerprint(run.checker) if run.checker else ""
        held = DriftHistory(run, self.photos)
        held.records = _Reads(lambda key: ledger.outcome(self.store, key))
        held.checks = _Reads(lambda key: ledger.check(self.store, checker, key))
        history, walks = self.survey(run).history, held.walks()
        shown = history.steps.select("chain", "step", "attempt", "verdict", "key")
        assert [(history.chain(c).label, *row) for c, *row in shown.rows()] == [
            (w.chain.label, a.step.number, a.step.identity.attempt, a.verdict, a.step.key)
            for w in walks
            for a in w.attempts
        ]
        assert list(history.next_steps()) == [walk.next_step for walk in walks if walk.next_step]


class _Reads(dict):  # type: ignore[type-arg]
    def __init__(self, find) -> None:
        super().__init__()
        self.get = find


FAILS = {(2, 1): "not_made", (2, 2): "off_shape", (3, 1): "refused"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def test_a_finished_run_is_known_without_a_look_at_any_check(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.go_on(run, part, FAILS)
        assert place.report(run, part).unfinished == 0
    compaction._compact_steps(run.id)
    asked: list[str] = []
    read = place.store.get
    monkeypatch.setattr(place.store, "get", lambda key: asked.append(key) or read(key))
    seen = place.survey(run)
    assert (seen.history.open.height, seen.has_news) == (0, False)
    assert not [key for key in asked if key.startswith(("outcomes/", "checks/"))]
    monkeypatch.undo()
    monkeypatch.setenv("FACEDRIFT_STORE", str(place.store.root))  # type: ignore[attr-defined]
    place.check(run)


@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_a_killed_shard_is_found_as_far_as_it_came(place: Place, most: int) -> None:
    run = place.run(1)
    planned = place.plan(run)
    place.go_on(run, planned[0], FAILS, most)
    place.check(run)
    again = place.run(2)
    for part in place.plan(again):
        place.go_on(again, part, FAILS)
        place.report(again, part)
    compaction._compact_steps(again.id)
    place.check(again)
    assert place.survey(again).history.open.is_empty()
    assert place.plan(place.run(3)) == []


def test_edits_that_wait_for_their_check_are_in_the_table_and_looked_up_each_time(place: Place) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.go_on(run, part, {(1, 1): "made", (2, 1): "unchecked"}, most=2)
        assert place.report(run, part).unfinished == len(part.steps)
    compaction._compact_steps(run.id)
    seen = place.survey(run)
    assert seen.history.open["is_edited"].all()
    assert not seen.has_news, "the table has the edits"
    place.check(run)


def test_another_checker_goes_its_own_way_over_the_same_edits(place: Place) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.go_on(run, part, {})
        place.report(run, part)
    compaction._compact_steps(run.id)
    before = CheckTable(run, place.store).read()
    assert before.height == 2 * 5 * 5
    second = CHECKER.model_copy(update={"version": "2"})
    other = place.run(2, checker=second)
    planned = place.plan(other)
    history = place.survey(other).history
    assert (history.open["step"].to_list(), history.open["is_edited"].all()) == ([1] * 10, True)
    for part in planned:
        place.go_on(other, part, {(1, 1): "not_made"})
        place.report(other, part)
    compaction._compact_steps(other.id)
    place.check(other)
    place.check(run)
    assert place.survey(run).history.steps.height == 50
    assert place.survey(other).history.steps.height == 60
    assert CheckTable(run, place.store).read().equals(before)


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_table_of_checks_is_not_believed_and_written_anew(
    place: Place, damage: bytes | None
) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.go_on(run, part, FAILS)
        place.report(run, part)
    compaction._compact_steps(run.id)
    fingerprint = keys.fingerprint(CHECKER)
    for key in list(place.store.list(keys.measured_manifest(fingerprint).rpartition("/")[0] + "/")):
        if damage is None:
            place.store.delete(key)
        else:
            place.store.put(key, damage)
    assert CheckTable(run, place.store).read().is_empty()
    place.check(run)
    compaction._compact_steps(run.id)
    assert not place.survey(run).has_news


def test_the_tables_of_a_run_say_what_was_done(place: Place) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.go_on(run, part, FAILS | ({(5, n): "refused" for n in (1, 2, 3)} if part.number == 1 else {}))
        place.report(run, part)
    compaction._compact_steps(run.id)
    history = DriftHistory(run, place.photos)
    history.records = _Reads(lambda key: ledger.outcome(place.store, key))
    checker = keys.fingerprint(CHECKER)
    history.checks = _Reads(lambda key: ledger.check(place.store, checker, key))
    walks = history.walks()
    for photo in place.photos.base:
        read_face(run, place.store, photo.image_sha256, Random(0), is_photo=True)
    tables = score_drift(run, collect_drift(run, place.store))
    board = tables["completion"].select("model", "n_chains", "n_complete", "ranked", "reason").rows()
    assert board == [("m0", 5, 1, False, "below_threshold"), ("m1", 5, 5, True, None)]
    steps = tables["steps"]
    assert steps.height == sum(len(walk.attempts) for walk in walks)
    assert steps["verdict"].to_list() == [a.verdict for walk in walks for a in walk.attempts]
    assert steps.filter(pl.col("verdict") != "made")["fss"].is_null().all()
    assert tables["failed_steps"]["reasons"].to_list() == [["refused: policy: refused"] * 3] * 4
    assert tables["shapes"].rows() == [("m0", 5 * 7 - 4, 5, 5), ("m1", 5 * 7, 5, 5)]
    refused = tables["refusals"].filter(pl.col("group") == "all").select("model", "refused").rows()
    assert refused == [("m0", 5 + 4 * 3), ("m1", 5)]
