"""The tables of the metrics, from frames, are byte for byte those made row by row."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from chains import FOUR, History, a_dataset, a_plan, measure, mixed, sessions_of
from oracles.collecting import RowByRow

from adapters.stores.local import LocalStore
from domain import keys
from domain.plan import StepPlan
from domain.summaries import StepFailure
from metrics.shapes import shapes
from tasks import parts
from tasks.collecting import COLUMNS, Collected, Collector
from tasks.surveys import survey
from tasks.unmeasured import Unmeasured

PROMPTS = (FOUR, FOUR[::-1], (FOUR[0], FOUR[2]))
TRUTH = {"made": True, "changed": ["hats"]}


class Place:
    """A mixed history of two models in a store, measured in part."""

    def __init__(self, root: Path, share: float) -> None:
        self.store = LocalStore(root, fsync=False)
        self.photos = a_dataset(4)
        self.run = a_plan(self.photos, sessions_of(PROMPTS))
        self.history = History(self.run, self.photos)
        draw = mixed(3)
        self.history.do(draw, details={"truth": TRUTH})
        self.history.store(self.store)
        self.walks = self.history.walks()
        measure(self.run, self.walks, self.photos, self.store, share)
        steps = [walk.next_step for walk in self.walks if walk.next_step]
        self.failures = [_failure(step, "Other") for step in steps[:1]]
        self.failures += [_failure(step, "KeyError") for step in steps[::2]]
        self.store.put(keys.newest_run(self.run.suite.id), b"20261129T000000-abcdef")

    def collect(self) -> Collected:
        seen = survey(self.run, self.photos, self.store, COLUMNS)
        return Collector(seen.history, self.store).collect(self.failures)

    def check(self) -> Collected:
        """Collect, and compare with what is made row by row."""
        found = self.collect()
        oracle = RowByRow(self.run, self.photos, self.store).collect(self.walks, self.failures)
        for name in ("steps", "photos"):
            assert getattr(found, name).equals(oracle[name])
            assert parts.encode(getattr(found, name)) == parts.encode(oracle[name])
        for name in ("truth", "served", "floor", "sizes"):
            assert getattr(found, name) == oracle[name], name
        assert shapes(found.sizes).equals(shapes(oracle["sizes"].elements()))
        return found


def _failure(step: StepPlan, error: str) -> StepFailure:
    return StepFailure(chain=step.chain, step=step.number, key=step.key, error=error, message=error)


@pytest.mark.parametrize("share", [1.0, 0.8, 0.0])
def test_what_is_collected_is_what_is_made_row_by_row(tmp_path: Path, share: float) -> None:
    place = Place(tmp_path, share)
    first = place.check()
    assert {"edited", "refused", "no_image", "failed", "not_run"} == set(first.steps["outcome"])
    listed = list(place.store.list("tables/measured"))
    assert (len(listed) > 0) == (share > 0)
    again = place.check()  # now from the table of measurements, where there is one
    assert again.steps.equals(first.steps)
    assert list(place.store.list("tables/measured")) == listed, "nothing new was measured"
    assert first.served
    assert {role for role, _, _ in first.served} >= ({"model", "judge", "tracker"} if share else {"model"})


def test_what_is_measured_later_is_collected_later(tmp_path: Path) -> None:
    place = Place(tmp_path, 0.5)
    partly = place.check().steps
    measure(place.run, place.walks, place.photos, place.store)
    wholly = place.check().steps
    of_edits = pl.col("outcome") == "edited"
    assert partly.filter(of_edits, pl.col("judgement") == "missing").height > 0
    assert wholly.filter(of_edits, pl.col("judgement") == "missing").height == 0
    assert len(list(place.store.list("tables/measured"))) == 5, "two parts of each model and their list"


def test_a_step_in_the_table_of_measurements_is_measured_and_needs_no_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Place(tmp_path, 1.0)
    seen = survey(place.run, place.photos, place.store)
    asked: list[str] = []
    head = place.store.head

    def counted(key: str) -> int | None:
        asked.append(key)
        return head(key)

    monkeypatch.setattr(place.store, "head", counted)
    edited = {o.image.sha256 for walk in place.walks for o in walk.outcomes if o.image}
    assert Unmeasured(seen.history, place.store).is_empty
    assert len(asked) > 3 * len(edited)
    place.collect()
    asked.clear()
    assert Unmeasured(seen.history, place.store).is_empty
    assert {key.split("/")[0] for key in asked} == {"faces", "states"}
    assert len(asked) == 2 * len(place.photos.base), "base photos are in no table"


def test_only_what_lacks_a_record_is_unmeasured(tmp_path: Path) -> None:
    place = Place(tmp_path, 1.0)
    place.collect()
    base = place.photos.base[0].image_sha256
    state = keys.state(keys.fingerprint(place.run.tracker), base)
    place.store.delete(state)
    history = survey(place.run, place.photos, place.store).history
    left = Unmeasured(history, place.store)
    assert ([image.sha256 for image in left.states], left.faces, left.edits) == ([base], [], [])
    other = place.run.model_copy(update={"judge": place.run.judge.model_copy(update={"version": "2"})})
    unjudged = Unmeasured(survey(other, place.photos, place.store).history, place.store).edits
    made = dict.fromkeys(
        (outcome.identity.input_sha256, outcome.image.sha256, outcome.identity.prompt)
        for walk in place.walks
        for outcome in walk.outcomes
        if outcome.image
    )
    found = [(edit.before.sha256, edit.after.sha256, edit.prompt) for edit in unjudged]
    assert found == list(made), "in the order of the chains, each once"
    extensions = {o.image.sha256: o.image.extension for o in place.history.records.values() if o.image}
    extensions |= {photo.image_sha256: photo.extension for photo in place.photos.photos}
    for edit in unjudged:
        assert edit.before.extension == extensions[edit.before.sha256]
        assert edit.after.extension == extensions[edit.after.sha256]


def test_damaged_parts_of_the_table_are_read_anew_from_the_records(tmp_path: Path) -> None:
    place = Place(tmp_path, 1.0)
    first = place.check().steps
    listed = list(place.store.list("tables/measured"))
    for key in listed:
        before = place.store.get(key)
        place.store.put(key, b"damaged")
        assert place.check().steps.equals(first)
        assert place.store.get(key) == before, "written anew"


def test_many_parts_of_the_table_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_PARTS", 2)
    place = Place(tmp_path, 0.4)
    place.collect()
    for share in (0.5, 0.7, 1.0):
        measure(place.run, place.walks, place.photos, place.store, share)
        place.check()
    pointer = next(key for key in place.store.list("tables/measured") if key.endswith("parts.json"))
    listed = json.loads(place.store.get(pointer) or b"")["parts"]
    assert {model: len(held) <= 2 for model, held in listed.items()} == {"m0": True, "m1": True}
