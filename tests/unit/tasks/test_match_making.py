"""From finished chains to matches: crops, who meets, known answers, and all of it once."""

from __future__ import annotations

import io
import math
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from matched_runs import BOX, VotedRun, a_picture, a_voted_run, make_matches, put
from PIL import Image

from adapters.base import ObjectStore
from adapters.imaging import crops
from adapters.stores.local import LocalStore
from domain import keys
from domain.errors import DefinitionError, IncompleteError, PhotoError, StoreError
from domain.matches import Match, MatchSet
from domain.photos import Dataset
from domain.plan import StepPlan
from domain.records import FaceBox, FaceReading, FaceRecord
from domain.votes import Vote, VoteRules
from tasks import ledger, match_tables, vote_store
from tasks.cropping import crop_key, cut_face, found_box, missing_crops
from tasks.embedding import ImageKey
from tasks.finished_chains import finished
from tasks.match_making import build, crop_work, field_of, keep, left_out_rows, rules_of


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ObjectStore:
    monkeypatch.setenv("FACEDRIFT_STORE", str(tmp_path / "store"))
    return LocalStore(tmp_path / "store", fsync=False)


def cut_all(made: VotedRun) -> int:
    run, photos = made.run, made.photos
    field = field_of(run, finished(run, photos, made.store))
    work = missing_crops(run, crop_work(field, photos), made.store)
    boxes = {photo.id: found_box(run, photo, made.store) for photo in photos.base}
    return sum(cut_face(boxes[one.photo], one.image, made.store) for one in work)


def table(made: MatchSet, store: ObjectStore) -> pl.DataFrame:
    return match_tables.read_matches(made, store)


def refuses(model: str, *photos: str):
    def makes(step: StepPlan) -> bool:
        return not (step.chain.model == model and step.chain.photo in photos and step.number == 2)

    return makes


def test_all_models_meet_on_all_photos(store: ObjectStore) -> None:
    made = a_voted_run(store)
    found = make_matches(made)
    assert (found.n_matches, found.n_gold, found.models) == (9, 3, ("m0", "m1", "m2"))
    assert (found.left_out, found.not_ranked, found.alone) == ({}, {}, 0)
    rows = table(found, store)
    pairs = rows.filter(pl.col("gold").is_null()).select("photo", "model_a", "model_b").rows()
    assert len(set(pairs)) == 9
    assert all(a < b for _, a, b in pairs)
    assert [match.id for match in match_tables.matches_of(rows)] == rows["id"].to_list()


def test_a_match_shows_the_faces_of_the_last_step(store: ObjectStore) -> None:
    made = a_voted_run(store, people=1, models=2)
    match = next(m for m in match_tables.matches_of(table(make_matches(made), store)) if m.gold is None)
    box = found_box(made.run, made.photos.base[0], store)
    ends = finished(made.run, made.photos, store).chains
    assert ends["model"].to_list() == ["m0", "m1"]
    for sha, crop in zip(ends["image_sha256"], (match.crop_a_sha256, match.crop_b_sha256), strict=True):
        assert ledger.read_image(store, crop, "png") == crops.cut(ledger.read_image(store, sha, "png"), box)
    original = ledger.read_image(store, match.original_sha256, "png")
    assert original == crops.cut(a_picture("photo", 0), box)
    assert Image.open(io.BytesIO(original)).size == (768, 768)


def test_models_meet_only_where_both_finished(store: ObjectStore) -> None:
    made = a_voted_run(store, people=5, rules=VoteRules(gold_share=0), makes=refuses("m1", "p2-1"))
    found = make_matches(made)
    rows = table(found, store).filter(pl.col("gold").is_null())
    assert found.n_matches == 13
    assert rows.filter(pl.col("photo") == "p2-1").select("model_a", "model_b").rows() == [("m0", "m2")]
    assert found.left_out == {"m1": 1}
    assert left_out_rows(found) == [{"model": "m1", "photos": 1, "why": "did not complete them"}]


def test_who_finished_too_few_meets_nobody(store: ObjectStore) -> None:
    """4 of 5 are 80 %, 3 of 5 are not."""
    bad = {"m1": ("p0-1", "p1-1"), "m2": ("p0-1",)}

    def makes(step: StepPlan) -> bool:
        return step.chain.photo not in bad.get(step.chain.model, ())

    found = make_matches(a_voted_run(store, people=5, makes=makes))
    assert found.models == ("m0", "m2")
    assert found.not_ranked == {"m1": 0.6}
    assert found.left_out == {"m1": 5, "m2": 1}
    assert found.alone == 1
    assert left_out_rows(found)[0]["why"] == "completed 60.0% of its chains"
    shown = table(found, store)
    assert "m1" not in {*shown["model_a"], *shown["model_b"]}


def test_unfinished_chains_are_no_matches(store: ObjectStore) -> None:
    made = a_voted_run(store, people=2, models=2)
    outcome = next(
        key
        for key in store.list("outcomes/")
        if (o := ledger.outcome(store, key.split("/")[-1][:-5])) and o.identity.prompt == "Add square glasses"
    )
    store.delete(outcome)
    assert finished(made.run, made.photos, store).chains.height == 3
    told = finished(made.run, made.photos, store).completion
    assert sorted(told["completion"]) == [0.5, 1.0]
    assert told["reason"].drop_nulls().to_list() == ["unfinished"], "the open chain would decide"


def test_making_them_again_gives_the_same_and_cuts_nothing(store: ObjectStore) -> None:
    made = a_voted_run(store)
    first = make_matches(made)
    assert cut_all(made) == 0
    keys_before = sorted(store.list("matches/"))
    assert make_matches(made) == first
    run, photos = made.run, made.photos
    field = field_of(run, finished(run, photos, store))
    matches, n_gold, _ = build(run, field, photos, store)
    assert n_gold == first.n_gold
    assert match_tables.encode(matches) == store.get(first.table)
    assert sorted(store.list("matches/")) == keys_before


def test_another_seed_is_another_queue_of_the_same_matches(store: ObjectStore) -> None:
    one = make_matches(a_voted_run(store, rules=VoteRules(gold_share=0, gold_first=0, seed=1)))
    other_run = a_voted_run(
        store, rules=VoteRules(gold_share=0, gold_first=0, seed=2), id="20261201T000000-b"
    )
    other = make_matches(other_run)
    ids = [table(found, store)["id"].to_list() for found in (one, other)]
    assert ids[0] != ids[1]
    assert sorted(ids[0]) == sorted(ids[1])


def test_known_answers(store: ObjectStore) -> None:
    made = a_voted_run(store, people=4, rules=VoteRules(gold_share=0.5, gold_first=2))
    found = make_matches(made)
    assert found.n_gold == 6  # half of 12
    rows = table(found, store)
    assert rows["gold"].head(2).null_count() == 0
    gold = [m for m in match_tables.matches_of(rows) if m.gold]
    kinds = Counter(m.model_b if m.gold == "a" else m.model_a for m in gold)
    assert kinds == {"gold-stranger": 3, "gold-degraded": 3}
    originals = {m.photo: m.original_sha256 for m in match_tables.matches_of(rows) if not m.gold}
    for match in gold:
        right, wrong = match.crop_a_sha256, match.crop_b_sha256
        if match.gold == "b":
            right, wrong = wrong, right
        assert match.original_sha256 == originals[match.photo]
        own = ledger.read_image(store, match.original_sha256, "png")
        assert ledger.read_image(store, right, "png") == crops.twin(own, f"{match.photo} on {match.photo}")
        found = ledger.read_image(store, wrong, "png")
        if "gold-stranger" in (match.model_a, match.model_b):
            strangers = {photo: sha for photo, sha in originals.items() if photo != match.photo}
            assert found in [
                crops.twin(ledger.read_image(store, sha, "png"), f"{photo} on {match.photo}")
                for photo, sha in strangers.items()
            ]
        else:
            assert found == crops.degraded(own)


def test_no_picture_tells_a_known_answer(store: ObjectStore) -> None:
    """No face beside an original is an original of any photo, and none is shown on two photos."""
    made = a_voted_run(store, people=4, rules=VoteRules(gold_share=0.5, gold_first=9))
    matches = list(match_tables.matches_of(table(make_matches(made), store)))
    originals = {match.original_sha256 for match in matches}
    shown = {(sha, m.photo) for m in matches for sha in (m.crop_a_sha256, m.crop_b_sha256)}
    assert not originals & {sha for sha, _ in shown}
    assert len({sha for sha, _ in shown}) == len(shown)


def test_one_photo_has_one_known_answer(store: ObjectStore) -> None:
    found = make_matches(
        a_voted_run(store, people=1, models=2, rules=VoteRules(gold_share=0.5, gold_first=3))
    )
    assert found.n_gold == 1


def test_there_are_no_known_answers_where_none_are_wanted(store: ObjectStore) -> None:
    found = make_matches(a_voted_run(store, rules=VoteRules(gold_share=0, gold_first=0)))
    assert (found.n_gold, found.n_matches) == (0, 9)


def test_strangers_are_other_people(store: ObjectStore) -> None:
    made = a_voted_run(store, people=3, rules=VoteRules(gold_share=0.5, gold_first=50))
    photos = Dataset(
        id=made.photos.id,
        embedder_fingerprint="none",
        photos=tuple(photo.model_copy(update={"subject": "anna"}) for photo in made.photos.photos),
    )
    cut_all(made)
    run = made.run
    field = field_of(run, finished(run, photos, store))
    matches, n_gold, _ = build(run, field, photos, store)
    assert n_gold == 3
    assert all("gold-degraded" in (m.model_a, m.model_b) for m in matches if m.gold)


def test_a_new_model_comes_first_where_the_queue_is_d_optimal(store: ObjectStore) -> None:
    rules = VoteRules(gold_share=0, gold_first=0, strategy="d_optimal")
    old = make_matches(a_voted_run(store, people=4, models=3, rules=rules))
    votes = [
        Vote(match=m.id, choice="a", annotator="ann", source="page", source_id=m.id)
        for m in match_tables.matches_of(table(old, store))
    ]
    vote_store.add(old.suite, votes, store)
    made = a_voted_run(store, people=4, models=4, rules=rules, id="20261201T000000-b")
    found = make_matches(made)
    rows = table(found, store)
    assert found.votes_known == 12
    assert [b for b in rows["model_b"].head(12)] == ["m3"] * 12
    assert {a for a in rows["model_a"].head(3)} == {"m0", "m1", "m2"}
    assert set(rows["id"].tail(12)) == {vote.match for vote in votes}


def test_a_suite_without_votes_says_so(store: ObjectStore) -> None:
    run = a_voted_run(store).run
    silent = run.model_copy(update={"suite": run.suite.model_copy(update={"votes": None})})
    with pytest.raises(DefinitionError, match="not voted on"):
        rules_of(silent)


def test_a_missing_crop_is_no_match_left_out(store: ObjectStore) -> None:
    made = a_voted_run(store)
    run, photos = made.run, made.photos
    field = field_of(run, finished(run, photos, store))
    with pytest.raises(IncompleteError, match="12 of 12 faces are not cut out"):
        keep(run, field, photos, store)
    assert match_tables.match_set(run.suite.id, run.id, store) is None


def test_the_square_is_of_the_largest_face_that_was_read_and_is_kept(store: ObjectStore) -> None:
    made = a_voted_run(store, people=1)
    photo = made.photos.base[0]
    faces = [FaceBox(box=box, score=0.9, embedding="") for box in (BOX, (2.0, 2.0, 22.0, 22.0))]
    record = FaceRecord(
        image_sha256=photo.image_sha256,
        embedder=made.run.embedder,
        providers=("CPU",),
        reading=FaceReading(status="read", width=60, height=40, faces=tuple(faces)),
    )
    key = keys.faces(keys.fingerprint(made.run.embedder), photo.image_sha256)
    ledger.write_new(store, key, record)
    box = found_box(made.run, photo, store)
    # 1.7 × 20 = 34; centre (12, 12 − 1) − 17 → outside on both sides → 0.
    assert (box.face, box.x, box.y, box.side) == ((2.0, 2.0, 22.0, 22.0), 0, 0, 34)
    store.delete(key)
    assert found_box(made.run, photo, store) == box
    other = made.run.model_copy(update={"embedder": made.run.embedder.model_copy(update={"pack": "x"})})
    assert found_box(other, photo, store) == box


def test_without_a_face_there_is_no_crop(store: ObjectStore) -> None:
    made = a_voted_run(store, people=1)
    photo = made.photos.base[0]
    record = FaceRecord(
        image_sha256=photo.image_sha256,
        embedder=made.run.embedder,
        providers=("CPU",),
        reading=FaceReading(status="read", width=60, height=40),
    )
    ledger.write_new(store, keys.faces(keys.fingerprint(made.run.embedder), photo.image_sha256), record)
    with pytest.raises(PhotoError, match="no face"):
        found_box(made.run, photo, store)


def test_a_crop_is_cut_once_and_another_square_is_another_crop(store: ObjectStore) -> None:
    made = a_voted_run(store, people=1)
    photo = made.photos.base[0]
    box = found_box(made.run, photo, store)
    image = ImageKey(sha256=photo.image_sha256, extension="png")
    assert cut_face(box, image, store)
    assert not cut_face(box, image, store)
    other = box.model_copy(update={"side": box.side + 1})
    assert crop_key(other, image.sha256) != crop_key(box, image.sha256)
    assert crop_key(box, image.sha256, crops.DEGRADER) != crop_key(box, image.sha256)
    assert cut_face(other, image, store)


def test_an_image_that_is_gone_is_an_error(store: ObjectStore) -> None:
    made = a_voted_run(store, people=1)
    box = found_box(made.run, made.photos.base[0], store)
    with pytest.raises(StoreError, match="is gone"):
        cut_face(box, ImageKey(sha256="0" * 64, extension="png"), store)
    bad = put(b"no image", store)
    with pytest.raises(PhotoError, match="not an image"):
        cut_face(box, ImageKey(sha256=bad.sha256, extension="png"), store)


def test_a_table_of_matches_that_is_damaged_is_an_error(store: ObjectStore) -> None:
    found = make_matches(a_voted_run(store))
    store.put(found.table, b"no parquet")
    with pytest.raises(StoreError, match="damaged"):
        match_tables.read_matches(found, store)
    store.delete(found.table)
    with pytest.raises(StoreError, match="gone"):
        match_tables.read_matches(found, store)
    with pytest.raises(StoreError, match="facedrift matches make"):
        match_tables.expect_match_set(found.suite, "other", store)


def test_the_share_of_known_answers_is_rounded_up(store: ObjectStore) -> None:
    found = make_matches(a_voted_run(store, people=4, rules=VoteRules(gold_share=0.05, gold_first=0)))
    assert found.n_gold == math.ceil(0.05 * 12)


def test_matches_are_equal_by_what_is_shown() -> None:
    fields = {
        "photo": "p",
        "session": "s",
        "original_sha256": "o",
        "crop_a_sha256": "a",
        "crop_b_sha256": "b",
    }
    match = Match(model_a="m0", model_b="m1", **fields)
    assert match.id == Match(model_a="m0", model_b="m1", **fields).id
    assert match.id != match.model_copy(update={"crop_b_sha256": "c"}).id
