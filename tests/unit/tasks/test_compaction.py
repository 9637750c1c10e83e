"""The table of finished steps: who writes it, what is looked up beside it, and what is never believed."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from chains import FOUR, History, a_dataset, a_plan, an_end, sessions_of

from adapters.stores.local import LocalStore
from domain import keys
from domain.errors import StoreError
from domain.plan import StepPlan, Walk
from domain.runs import RunPlan, RunRequest, Shard
from domain.summaries import ShardSummary
from tasks import compaction, failures, ledger, parts, step_tables, wiring
from tasks.compaction import settle
from tasks.missing_work import shards
from tasks.surveys import Survey, survey

SESSIONS = sessions_of([FOUR, FOUR[::-1], FOUR[1:]])


class Place:
    """A store, and runs over it that are planned and edited as the flows do."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("FACEDRIFT_STORE", str(root))
        self.store = wiring.store()
        assert isinstance(self.store, LocalStore)
        self.photos = a_dataset(4)
        self.asked: list[str] = []
        read = self.store.get

        def get(key: str) -> bytes | None:
            self.asked.append(key)
            return read(key)

        monkeypatch.setattr(self.store, "get", get)
        run = a_plan(self.photos, SESSIONS)
        own = tuple(session.id for session in SESSIONS)
        suite = run.suite.model_copy(update={"shard_chains": 4, "sessions": own})
        self.base = run.model_copy(update={"suite": suite})
        ledger.write_new(self.store, run.dataset, self.photos)

    def run(self, number: int, **fields: object) -> RunPlan:
        return self.base.model_copy(update={"id": f"20261130T00000{number}-abcdef", **fields})

    def survey(self, run: RunPlan) -> Survey:
        return survey(run, self.photos, self.store)

    def plan(self, run: RunPlan) -> list[Shard]:
        """As `plan_run` does."""
        seen = self.survey(run)
        planned = shards(seen.history)
        for part in planned:
            ledger.write_new(self.store, keys.shard(run.id, part.number), part)
        ledger.write_new(self.store, keys.run(run.id), run.model_copy(update={"shards": len(planned)}))
        settle(seen, self.store, planned, run_id=run.id)
        self.store.put(keys.newest_run(run.suite.id), run.id.encode())
        return planned

    def edit(self, run: RunPlan, part: Shard, steps: int = 4) -> None:
        """Make a shard's steps up to a number; a chain whose photo is p3-1 is refused at its second."""
        for first in part.steps:
            at: StepPlan | None = first
            while at and at.number <= steps:
                kind = "refused" if (at.chain.photo, at.number) == ("p3-1", 2) else "edited"
                outcome = an_end(at, kind)
                ledger.write_new(self.store, keys.outcome(at.key), outcome)
                at = run.step_after(at, outcome)

    def report(self, run: RunPlan, part: Shard) -> ShardSummary:
        """As a shard ends."""
        summary = compaction._compact_shard(run.id, part.number, ShardSummary(edited=1))
        failures.keep(run.id, part.number, summary, self.store)
        return summary

    def walks(self, run: RunPlan) -> list[Walk]:
        return History(run, self.photos).walks(lambda key: ledger.outcome(self.store, key))

    def looked_up(self, act: Callable[[], object]) -> int:
        """How many outcomes are read one by one while something is done."""
        self.asked.clear()
        act()
        return sum(key.startswith("outcomes/") for key in self.asked)

    def manifest(self) -> step_tables.Manifest:
        found = step_tables.manifest(self.base.suite.id, self.photos.id, self.store)
        assert found is not None
        return found

    def check(self, run: RunPlan) -> None:
        """What a survey says is what the ledger says of every chain."""
        history, walks = self.survey(run).history, self.walks(run)
        steps = [
            (history.chain(c).label, n, k) for c, n, k in history.steps.select("chain", "step", "key").rows()
        ]
        assert steps == [(w.chain.label, n, o.key) for w in walks for n, o in enumerate(w.outcomes, 1)]
        assert list(history.next_steps()) == [walk.next_step for walk in walks if walk.next_step]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def test_a_run_from_plan_to_end_reads_no_outcome_for_its_plan(place: Place) -> None:
    run, again = place.run(1), place.run(2)
    planned: list[Shard] = []
    assert place.looked_up(lambda: planned.extend(place.plan(run))) == 0, "nothing was ever made"
    assert len(planned) == 6
    assert place.manifest().open == {run.id: (1, 2, 3, 4, 5, 6)}
    for part in planned:
        place.edit(run, part)
        summary = place.report(run, part)
        assert (summary.unfinished, summary.edited) == (0, 1)
        assert summary.part is not None
    compaction._compact_steps(run.id)
    assert place.manifest().open == {}
    assert {model: len(held) for model, held in place.manifest().parts.items()} == {"m0": 3, "m1": 3}
    place.check(run)
    before = {key: place.store.get(key) for key in place.store.list("tables")}
    assert place.looked_up(lambda: planned.extend(place.plan(again))) == 0
    assert len(planned) == 6
    assert {key: place.store.get(key) for key in place.store.list("tables")} == before, "nothing new"


def test_a_shard_that_never_reported_is_looked_up_and_kept_at_once(place: Place) -> None:
    run = place.run(1)
    planned = place.plan(run)
    place.edit(run, planned[0])
    place.report(run, planned[0])  # and the run is killed before its parent lists the part
    place.edit(run, planned[1], steps=2)  # killed in its middle
    place.check(run)
    again = place.run(2)
    looked_up = place.looked_up(lambda: place.plan(again))
    assert 0 < looked_up <= 20 + 2 * 4, "one miss for each chain of five shards, and what the second made"
    assert list(place.manifest().open) == [again.id], "the new run has every chain that is not over"
    place.check(again)
    third = place.looked_up(lambda: place.survey(place.run(3)))
    assert third == 20, "each chain of the open shards once, and no finished step"


@pytest.mark.parametrize("how", ["deleted", "damaged", "older", "no pointer"])
def test_without_a_list_of_parts_everything_is_looked_up(place: Place, how: str) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.edit(run, part)
        place.report(run, part)
    compaction._compact_steps(run.id)
    parts_before = place.manifest().parts
    pointer = keys.steps_manifest(run.suite.id, place.photos.id)
    if how in ("deleted", "no pointer"):
        for key in list(place.store.list("tables")):
            place.store.delete(key)
    else:
        place.store.put(pointer, b"half" if how == "damaged" else json.dumps({"parts": {"m0": "x"}}).encode())
    if how == "no pointer":
        place.store.delete(keys.newest_run(run.suite.id))
        assert place.looked_up(lambda: place.survey(run)) == 0, "a suite that never ran"
        return
    place.check(run)
    again = place.run(2)
    assert place.plan(again) == []
    assert place.looked_up(lambda: place.survey(run)) == 0, "the table has it again"
    assert set(place.manifest().parts) == set(parts_before)
    place.check(run)


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_part_is_not_believed_and_written_anew(place: Place, damage: bytes | None) -> None:
    run = place.run(1)
    planned = place.plan(run)
    for part in planned:
        place.edit(run, part)
        place.report(run, part)
    compaction._compact_steps(run.id)
    broken = place.manifest().parts["m0"][1]
    if damage is None:
        place.store.delete(broken)
    else:
        place.store.put(broken, damage)
    place.check(run)
    assert place.plan(place.run(2)) == []
    assert place.looked_up(lambda: place.check(run)) > 0  # by the check itself
    assert place.looked_up(lambda: place.survey(run)) == 0
    assert broken not in place.manifest().listed or place.store.get(broken) not in (b"", b"half")


def test_a_part_with_other_bytes_than_its_name_says_is_not_believed(place: Place) -> None:
    run = place.run(1)
    planned = place.plan(run)
    for part in planned:
        place.edit(run, part)
        place.report(run, part)
    compaction._compact_steps(run.id)
    one, two = place.manifest().parts["m0"][:2]
    place.store.put(one, place.store.get(two) or b"")
    assert place.looked_up(lambda: place.check(run)) > 0, "its steps are looked up one by one"


def test_a_store_that_stumbles_is_no_miss(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    run = place.run(1)
    planned = place.plan(run)
    place.edit(run, planned[0])
    read = place.store.get
    for prefix in ("outcomes/", "tables/", f"runs/{run.id}/summaries"):

        def get(key: str, prefix: str = prefix) -> bytes | None:
            if key.startswith(prefix):
                raise StoreError("it stumbles", key=key)
            return read(key)

        monkeypatch.setattr(place.store, "get", get)
        with pytest.raises(StoreError, match="stumbles"):
            place.plan(place.run(2))
    monkeypatch.setattr(place.store, "get", read)
    assert not list(place.store.list(f"runs/{place.run(2).id}"))


def test_a_damaged_outcome_costs_its_shard_no_other_row(place: Place) -> None:
    run = place.run(1)
    part = place.plan(run)[0]
    place.edit(run, part)
    place.store.put(keys.outcome(part.steps[0].key), b"{}")
    summary = place.report(run, part)
    assert summary.unfinished == 1
    held, _ = step_tables.read(place.store, [summary.part or ""])
    assert part.steps[0].key not in held["key"].to_list()
    assert part.steps[1].key in held["key"].to_list()
    with pytest.raises(StoreError, match="damaged"):
        place.survey(run)


def test_a_run_of_some_models_leaves_the_open_shards_of_others(place: Place) -> None:
    run = place.run(1)
    for part in place.plan(run):
        place.edit(run, part, steps=1)
    some = place.run(2, cards=run.cards[:1], settings_fingerprints={"m0": run.settings_fingerprints["m0"]})
    place.plan(some)
    assert place.manifest().open == {run.id: (4, 5, 6), some.id: (1, 2, 3)}
    whole = place.run(3)
    place.plan(whole)
    assert list(place.manifest().open) == [whole.id]
    place.check(whole)


def test_a_shard_with_failures_stays_open_until_it_has_none(place: Place) -> None:
    run = place.run(1)
    planned = place.plan(run)
    for part in planned:
        place.edit(run, part, steps=4 if part.number > 1 else 2)
        place.report(run, part)
    compaction._compact_steps(run.id)
    assert place.manifest().open == {run.id: (1,)}
    place.edit(run, planned[0])  # 'Retry' of the shard's run, after the run that started it is over
    place.report(run, planned[0])
    place.check(run)
    assert place.plan(place.run(2)) == []
    assert place.manifest().open == {}
    assert place.looked_up(lambda: place.survey(run)) == 0


def test_many_writers_lose_nothing_of_each_other(place: Place) -> None:
    run = place.run(1)
    planned = place.plan(run)
    for part in planned:
        place.edit(run, part)
    together = threading.Barrier(len(planned))

    def end(part: Shard) -> None:
        together.wait()
        place.report(run, part)
        settle(place.survey(run), place.store)

    with ThreadPoolExecutor(len(planned)) as pool:
        list(pool.map(end, planned))
    compaction._compact_steps(run.id)
    assert place.manifest().open == {}
    assert place.looked_up(lambda: place.survey(run)) == 0
    place.check(run)


def test_many_parts_are_merged_and_say_the_same(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_PARTS", 2)
    run = place.run(1)
    for part in place.plan(run):
        place.edit(run, part)
        place.report(run, part)
    compaction._compact_steps(run.id)
    assert {model: len(held) for model, held in place.manifest().parts.items()} == {"m0": 1, "m1": 1}
    assert place.looked_up(lambda: place.survey(run)) == 0
    place.check(run)


def test_only_a_whole_plan_knows_a_model(place: Place) -> None:
    run = place.run(1)
    place.plan(run)
    place.store.delete(keys.steps_manifest(run.suite.id, place.photos.id))
    some = place.run(2, photos=run.photos[:2], request=RunRequest(suite=run.suite.id, images=2))
    place.plan(some)
    assert place.manifest().known == ()
    place.plan(place.run(3))
    assert place.manifest().known == ("m0", "m1")
