"""Collecting votes: only what is new is added, whatever happens and however often."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from known import FIRST, KNOWN, MATCHES

from adapters.base import ObjectStore
from adapters.stores.local import LocalStore
from adapters.votes.file import FileVotes
from domain import votes as vote_words
from domain.errors import DefinitionError, StoreError
from domain.known_matches import KnownMatches
from domain.votes import FoundVote, RejectedVote, VotesCollected
from tasks import vote_collecting, vote_store
from tasks.vote_collecting import account, collect, collections, rows_of

SUITE = "everyday"
START = VotesCollected(
    suite=SUITE, source="file", where="", run_id="r", at="2026-11-30T12:00:00+00:00", read=0, new=0, known=0
)
ROWS = [f"{match.id},{'ab'[n % 2]},voter-{n}" for match in MATCHES for n in range(4)]


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return LocalStore(tmp_path / "store", fsync=False)


def a_file(folder: Path, rows: list[str], name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text("\n".join(("match,choice,annotator", *rows)) + "\n")
    return path


def collected(path: Path, store: ObjectStore, known: KnownMatches = KNOWN) -> VotesCollected:
    source = FileVotes.build(str(path))
    return collect(source, known, START.model_copy(update={"where": source.where}), store)


def counts(done: VotesCollected) -> tuple[int, int, int, int]:
    return done.read, done.new, done.known, done.n_rejected


def test_collecting_again_adds_nothing(store: ObjectStore, tmp_path: Path) -> None:
    path = a_file(tmp_path, ROWS)
    first = collected(path, store)
    assert counts(first) == (24, 24, 0, 0)
    assert first.part
    parts = list(store.list("votes/everyday/parts/"))
    again = collected(path, store)
    assert (counts(again), again.part) == ((24, 0, 24, 0), None)
    mixed = ROWS[:]
    random.Random(0).shuffle(mixed)
    assert counts(collected(a_file(tmp_path, mixed, "other.csv"), store)) == (24, 0, 24, 0)
    assert list(store.list("votes/everyday/parts/")) == parts
    assert vote_store.stored(SUITE, store).height == 24


def test_a_longer_file_adds_what_is_new(store: ObjectStore, tmp_path: Path) -> None:
    collected(a_file(tmp_path, ROWS[:10]), store)
    assert counts(collected(a_file(tmp_path, ROWS), store)) == (24, 14, 10, 0)


def test_a_second_vote_of_one_annotator_is_rejected_with_its_line(store: ObjectStore, tmp_path: Path) -> None:
    rows = [f"{FIRST},a,ann", f"{FIRST},b,ann", f"{FIRST},a,ann", f"{MATCHES[1].id},a,ann"]
    done = collected(a_file(tmp_path, rows), store)
    assert counts(done) == (4, 2, 0, 2)
    assert [(one.line, one.reason) for one in done.rejected] == [(n, "duplicate_voter") for n in (3, 4)]
    assert vote_store.stored(SUITE, store).sort("match")["choice"].to_list() == ["a", "a"]
    later = collected(a_file(tmp_path, [f"{FIRST},b,ann"], "later.csv"), store)
    assert (counts(later), later.reasons) == ((1, 0, 0, 1), {"duplicate_voter": 1})


def test_good_rows_count_among_bad_ones(store: ObjectStore, tmp_path: Path) -> None:
    done = collected(a_file(tmp_path, [*ROWS[:3], "x,a,ann", f"{FIRST},c,ann", f"{FIRST},d,ann"]), store)
    assert counts(done) == (6, 3, 0, 3)
    assert done.reasons == {"bad_choice": 2, "unknown_match": 1}
    assert [row["line"] for row in rows_of(done)] == [5, 6, 7]
    assert "3 rejected (2 × bad_choice, 1 × unknown_match)" in account(done)


def test_only_so_many_rejected_rows_are_kept_and_all_are_counted(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vote_collecting, "MOST_REJECTED", 5)
    done = collected(a_file(tmp_path, ["x,a,ann"] * 9), store)
    assert (done.n_rejected, len(done.rejected), len(done.shown(2).rejected)) == (9, 5, 2)
    assert vote_words.MOST_REJECTED == 1000


class Dies:
    """A source that ends in an error after some votes."""

    where = "somewhere"

    def __init__(self, path: Path) -> None:
        self._votes = FileVotes.build(str(path))

    def read(self, known: KnownMatches) -> Iterator[FoundVote | RejectedVote]:
        for number, one in enumerate(self._votes.read(known)):
            if number == 7:
                raise StoreError("the source is gone")
            yield one


def test_a_collection_that_dies_adds_nothing_and_can_be_repeated(store: ObjectStore, tmp_path: Path) -> None:
    path = a_file(tmp_path, ROWS)
    with pytest.raises(StoreError):
        collect(Dies(path), KNOWN, START, store)
    assert vote_store.stored(SUITE, store).is_empty()
    assert counts(collected(path, store)) == (24, 24, 0, 0)


def test_one_that_dies_between_votes_and_record_is_repeated_without_doubles(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> bool:
        raise StoreError("gone")

    path = a_file(tmp_path, ROWS)
    with monkeypatch.context() as patch:
        patch.setattr(vote_collecting.ledger, "write_new", fails)
        with pytest.raises(StoreError):
            collected(path, store)
    assert collections(SUITE, store) == []
    assert counts(collected(path, store)) == (24, 0, 24, 0)
    assert len(collections(SUITE, store)) == 1


def test_anonymous_votes_are_said(store: ObjectStore, tmp_path: Path) -> None:
    path = tmp_path / "crowd.csv"
    path.write_text("photo,model1,model2,votes_image1,votes_image2\np0-1,m0,m1,3,2\n")
    done = collected(path, store)
    assert (done.new, done.anonymous) == (5, 5)
    assert "5 are of voters whom the source does not name" in account(done)
    assert counts(collected(path, store)) == (5, 0, 5, 0)


def test_what_is_pending_is_said() -> None:
    text = account(START.model_copy(update={"where": "job-1", "pending": "it runs; collect again later"}))
    assert "nothing collected yet: it runs" in text


def test_an_empty_file_is_no_collection(store: ObjectStore, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(" \n")
    with pytest.raises(DefinitionError, match="no header and no votes"):
        collected(path, store)
    assert collections(SUITE, store) == []
    assert vote_store.stored(SUITE, store).is_empty()


def test_a_vote_of_the_future_is_rejected(store: ObjectStore, tmp_path: Path) -> None:
    """The clock says noon of 30 November: noon of 1 December is a day ahead, a second later is too late."""
    path = tmp_path / "votes.csv"
    times = [
        "2026-12-01T12:00:00Z",
        "2026-12-01T12:00:01Z",
        "2026-12-01T13:00:01+01:00",
        "2099-01-01T00:00:00Z",
    ]
    rows = [f"{FIRST},a,voter-{n},{at}" for n, at in enumerate(times)]
    path.write_text("\n".join(("match,choice,annotator,at", *rows)) + "\n")
    done = collected(path, store)
    assert counts(done) == (4, 1, 0, 3)
    assert done.reasons == {"bad_time": 3}
    assert [one.line for one in done.rejected] == [3, 4, 5]
    assert done.rejected[2].detail == (
        "2099-01-01T00:00:00+00:00 lies in the future: the votes were collected at 2026-11-30T12:00:00+00:00"
    )
    later = START.model_copy(update={"where": str(path), "at": "2099-01-01T00:00:00+00:00"})
    assert counts(collect(FileVotes.build(str(path)), KNOWN, later, store)) == (4, 3, 1, 0)
