"""Votes in the store: each once, in parts that are only added to."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from known import MATCHES, a_match

from adapters.base import ObjectStore
from adapters.stores.local import LocalStore
from domain import keys
from domain.errors import StoreError
from domain.matches import MatchSet
from domain.votes import FoundVote, Vote
from tasks import match_tables, vote_store

SUITE = "everyday"
GOLD = a_match(5, "gold-original", "gold-stranger", gold="a")


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    return LocalStore(tmp_path / "store", fsync=False)


@pytest.fixture
def made(store: ObjectStore) -> MatchSet:
    data = match_tables.encode((*MATCHES[:2], GOLD))
    key = keys.matches_table(SUITE, keys.sha256(data))
    store.put_new(key, data)
    return MatchSet(
        suite=SUITE, run_id="r", table=key, n_matches=2, n_gold=1, strategy="least_judged", seed=0
    )


def a_vote(number: int = 0, annotator: str = "ann", **fields: object) -> Vote:
    base = {
        "match": (*MATCHES, GOLD)[number].id,
        "choice": "a",
        "annotator": annotator,
        "at": "2026-11-30T12:00:00+00:00",
        "source": "file",
        "source_id": f"{number}-{annotator}",
    }
    return Vote.model_validate({**base, **fields})


def test_votes_are_read_as_they_were_added(store: ObjectStore, made: MatchSet) -> None:
    votes = [
        a_vote(0, left="b", ms=12, country="DE", user_score=0.5),
        a_vote(1, choice="tie", at=None),
        a_vote(6),
    ]
    vote_store.add(SUITE, votes, store)
    found = vote_store.read_votes(SUITE, made, store)
    assert found.votes.columns == [
        "match", "choice", "annotator", "at", "source", "left", "ms", "country", "user_score", "is_gold"
    ]  # fmt: skip
    by_match = {row["match"]: row for row in found.votes.iter_rows(named=True)}
    for vote in votes:
        told = vote.model_dump(exclude={"source_id"})
        assert by_match[vote.match] == {**told, "is_gold": vote.match == GOLD.id}
    assert (found.other_matches, found.duplicates) == (0, 0)


def test_votes_on_other_matches_are_counted(store: ObjectStore, made: MatchSet) -> None:
    vote_store.add(SUITE, [a_vote(0), a_vote(3), a_vote(4)], store)
    found = vote_store.read_votes(SUITE, made, store)
    assert (found.votes.height, found.other_matches) == (1, 2)


def test_a_vote_in_two_parts_is_one(store: ObjectStore, made: MatchSet) -> None:
    """As after two collections of one source at the same time."""
    vote_store.add(SUITE, [a_vote(0), a_vote(1)], store)
    vote_store.add(SUITE, [a_vote(1), a_vote(0, "bob")], store)
    assert vote_store.stored(SUITE, store).height == 3
    found = vote_store.read_votes(SUITE, made, store)
    assert (found.votes.height, found.duplicates) == (3, 0)


def test_the_earlier_of_two_votes_of_one_annotator_counts(store: ObjectStore, made: MatchSet) -> None:
    late, early = a_vote(0, choice="b", at="2026-11-30T13:00:00+00:00"), a_vote(0)
    unknown = a_vote(0, choice="tie", at=None)
    for vote in (late, unknown, early):
        vote_store.add(SUITE, [vote], store)
    vote_store.add(SUITE, [a_vote(0, source="page", choice="b")], store)  # another ann
    found = vote_store.read_votes(SUITE, made, store)
    assert sorted(found.votes.select("source", "choice").rows()) == [("file", "a"), ("page", "b")]
    assert found.duplicates == 2


def test_the_digest_names_the_votes_and_not_the_parts(
    store: ObjectStore, made: MatchSet, tmp_path: Path
) -> None:
    other = LocalStore(tmp_path / "other", fsync=False)
    other.put_new(made.table, store.get(made.table) or b"")
    vote_store.add(SUITE, [a_vote(0), a_vote(1)], store)
    for vote in (a_vote(1), a_vote(0)):
        vote_store.add(SUITE, [vote], other)
    first, second = (vote_store.read_votes(SUITE, made, one) for one in (store, other))
    assert first.digest == second.digest
    assert first.votes.equals(second.votes)
    vote_store.add(SUITE, [a_vote(2), a_vote(0, "bob")], store)
    assert vote_store.read_votes(SUITE, made, store).digest != first.digest


def test_no_votes_are_a_table_too(store: ObjectStore, made: MatchSet) -> None:
    assert vote_store.add(SUITE, [], store) is None
    found = vote_store.read_votes(SUITE, made, store)
    assert found.votes.is_empty()
    assert found.votes.schema["is_gold"] == pl.Boolean
    assert vote_store.count_votes(SUITE, [MATCHES[0].id], store).tolist() == [0]


def test_votes_are_counted_by_match(store: ObjectStore) -> None:
    vote_store.add(SUITE, [a_vote(0), a_vote(0, "bob"), a_vote(2)], store)
    ids = [MATCHES[2].id, MATCHES[1].id, MATCHES[0].id]
    assert vote_store.count_votes(SUITE, ids, store).tolist() == [1, 0, 2]


def test_a_damaged_part_is_never_taken_for_no_votes(store: ObjectStore, made: MatchSet) -> None:
    key = vote_store.add(SUITE, [a_vote(0)], store)
    assert key
    store.put(key, b"damaged")
    with pytest.raises(StoreError, match="gone or damaged"):
        vote_store.read_votes(SUITE, made, store)


def test_a_second_vote_on_a_match_is_a_duplicate_and_the_same_vote_is_known(store: ObjectStore) -> None:
    vote_store.add(SUITE, [a_vote(0)], store)
    known = vote_store.Known(vote_store.stored(SUITE, store))
    assert known.take(FoundVote(vote=a_vote(0))) == "known"
    assert known.take(FoundVote(vote=a_vote(0, choice="b"))) == "duplicate_voter"
    assert known.take(FoundVote(vote=a_vote(1))) is None
    assert known.take(FoundVote(vote=a_vote(1))) == "known"
    assert known.take(FoundVote(vote=a_vote(1, choice="b"))) == "duplicate_voter"
    assert known.take(FoundVote(vote=a_vote(0, source="label_studio"))) is None
    assert known.fresh == [vote_store.row_of(a_vote(1)), vote_store.row_of(a_vote(0, source="label_studio"))]
