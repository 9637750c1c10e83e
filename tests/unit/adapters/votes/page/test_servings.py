"""What lies before voters, and what becomes of their votes; over SQLite and Postgres."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from unit.adapters.votes.page.place import Place

from adapters.votes.page.database import open_database
from adapters.votes.page.links import Voter
from adapters.votes.page.servings import HELD_MS, Answer, Refused, Serving, Servings, Table
from adapters.votes.page.source import PageVotes
from domain.errors import StoreError

Raw = Callable[[str], list[tuple[Any, ...]]]


def opened(table: Table | Refused) -> Serving:
    assert isinstance(table, Table)
    assert table.open is not None
    return table.open


def answered(place: Place, voter: Voter, answer: Answer = "left") -> Table:
    """Vote on what lies before a voter."""
    serving = opened(place.servings.table(voter))
    done = place.servings.vote(voter, serving.id, serving.nonce, answer)
    assert isinstance(done, Table)
    return done


def test_the_same_serving_lies_there_until_it_is_voted_on(place: Place) -> None:
    anna = place.voter()
    first = place.servings.table(anna)
    again = place.another().table(anna)
    assert again == first
    assert (first.votes, first.wanted) == (0, 6)  # 100 were asked for, and there are 6 matches
    after = answered(place, anna)
    assert opened(after).id == first.ahead
    assert after.votes == 1


@pytest.mark.parametrize(
    ("answer", "choices"), [("left", ["a", "b"]), ("right", ["b", "a"]), ("tie", ["tie", "tie"])]
)
def test_a_side_becomes_the_model_that_was_shown_there(
    place: Place, answer: Answer, choices: list[str]
) -> None:
    anna = place.voter()
    for _ in choices:  # a is left in the first match, b in the second
        place.clock.ms += 1234
        answered(place, anna, answer)
    votes = [one.vote for one in PageVotes(place.database, "demo").votes()]
    assert [vote.choice for vote in votes] == choices
    assert [vote.left for vote in votes] == ["a", "b"]
    assert [vote.match for vote in votes] == [match.id for match in place.matches[:2]]
    assert [vote.ms for vote in votes] == [0, 1234]  # the first was laid there when it was voted on
    assert [vote.at for vote in votes] == ["2027-01-15T08:00:01.234+00:00", "2027-01-15T08:00:02.468+00:00"]
    assert {(vote.annotator, vote.source) for vote in votes} == {("anna", "page")}
    assert len({vote.source_id for vote in votes}) == 2


def test_the_pictures_of_a_serving_are_those_of_its_sides(place: Place) -> None:
    anna = place.voter()
    first, second = place.matches[:2]
    serving = opened(place.servings.table(anna))
    ahead = place.servings.table(anna).ahead
    assert ahead is not None
    assert place.servings.picture(serving.id, "original") == first.original_sha256
    assert place.servings.picture(serving.id, "left") == first.crop_a_sha256
    assert place.servings.picture(serving.id, "right") == first.crop_b_sha256
    assert place.servings.picture(ahead, "left") == second.crop_b_sha256
    assert place.servings.picture(ahead, "right") == second.crop_a_sha256
    assert place.servings.picture("x" * 24, "left") is None
    place.links.revoke("anna", place.clock.ms)
    assert place.servings.picture(serving.id, "left") is None


def test_a_vote_counts_once(place: Place, raw: Raw) -> None:
    anna = place.voter()
    serving = opened(place.servings.table(anna))
    assert isinstance(place.servings.vote(anna, serving.id, serving.nonce, "left"), Table)
    for answer in ("left", "right", "tie"):
        again = place.servings.vote(anna, serving.id, serving.nonce, answer)
        assert isinstance(again, Refused)
        assert again.reason == "voted"
        assert again.table.votes == 1
    assert raw("SELECT choice FROM vote_votes") == [("a",)]


def test_nobody_votes_on_anothers_serving_or_on_one_that_is_not_open(place: Place, raw: Raw) -> None:
    anna, ben = place.voter("anna"), place.voter("ben")
    annas = opened(place.servings.table(anna))
    bens = place.servings.table(ben)
    [(ahead, nonce)] = [
        (id_, nonce)
        for id_, nonce, state, voter in raw("SELECT id, nonce, state, voter FROM vote_servings")
        if state == "next" and voter == anna.number
    ]
    tries = [
        ("not_yours", ben, annas.id, annas.nonce),
        ("not_yours", anna, annas.id, opened(bens).nonce),
        ("not_yours", anna, annas.id, ""),
        ("not_yours", anna, annas.id, "ä"),
        ("not_yours", anna, "A" * 24, annas.nonce),
        ("not_open", anna, ahead, nonce),
    ]
    for reason, voter, serving, given in tries:
        refused = place.servings.vote(voter, serving, given, "left")
        assert isinstance(refused, Refused)
        assert refused.reason == reason
    assert raw("SELECT count(*) FROM vote_votes") == [(0,)]
    assert place.servings.table(ben) == bens


def test_two_voters_have_different_pairs_before_them(place: Place) -> None:
    anna, ben = place.voter("anna"), place.voter("ben")
    place.servings.table(anna)  # 0, and 1 ahead
    serving = opened(place.servings.table(ben))
    assert place.servings.picture(serving.id, "original") == place.matches[2].original_sha256


def test_what_was_left_lying_half_an_hour_is_anybodys(place: Place) -> None:
    anna, ben = place.voter("anna"), place.voter("ben")
    place.servings.table(anna)
    place.clock.ms += HELD_MS
    serving = opened(place.servings.table(ben))
    assert place.servings.picture(serving.id, "original") == place.matches[0].original_sha256


def test_a_voter_is_done_after_the_votes_asked_for_and_none_is_drawn_in_vain(place: Place, raw: Raw) -> None:
    anna = place.voter(wanted=2)
    assert answered(place, anna).ahead is None
    done = answered(place, anna)
    assert (done.open, done.votes, done.wanted) == (None, 2, 2)
    assert place.servings.table(anna) == done
    assert raw("SELECT count(*) FROM vote_servings") == [(2,)]


def test_a_voter_is_done_when_all_was_seen_and_sees_no_match_twice(place: Place) -> None:
    anna = place.voter()
    for _ in range(6):
        done = answered(place, anna)
    assert (done.open, done.votes, done.wanted) == (None, 6, 6)
    assert Counter(one.vote.match for one in PageVotes(place.database, "demo").votes()) == Counter(
        match.id for match in place.matches
    )


def test_every_process_learns_of_the_votes_of_the_others(place: Place) -> None:
    anna, ben = place.voter("anna"), place.voter("ben")
    theirs, ours = place.servings, place.another()
    for servings, voter in ((theirs, anna), (ours, ben), (theirs, anna), (ours, ben)):
        serving = opened(servings.table(voter))
        assert isinstance(servings.vote(voter, serving.id, serving.nonce, "tie"), Table)
    ours.table(place.voter("carl"))
    votes = [one.vote for one in PageVotes(place.database, "demo").votes()]
    assert place.chooser.recorded == [(vote.match, vote.annotator) for vote in votes]
    assert len(votes) == 4


def test_a_serving_of_matches_that_are_no_more_makes_way(place: Place, raw: Raw) -> None:
    anna = place.voter()
    old = opened(place.servings.table(anna))
    place.matches = place.matches[3:]
    newer = place.more_servings(place.database)
    table = newer.table(anna)
    assert opened(table).id != old.id
    assert table.wanted == 3
    assert raw("SELECT state FROM vote_servings ORDER BY number") == [
        ("gone",),
        ("gone",),
        ("open",),
        ("next",),
    ]
    refused = newer.vote(anna, old.id, old.nonce, "left")
    assert isinstance(refused, Refused)
    assert refused.reason == "not_open"
    assert newer.picture(old.id, "left") is None


def test_what_fails_leaves_nothing_and_is_learnt_anew(place: Place, raw: Raw) -> None:
    anna = place.voter()
    answered(place, anna)
    serving = opened(place.servings.table(anna))

    def breaks(*_: Any) -> None:
        raise RuntimeError("the chooser broke")

    place.chooser.next = breaks  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="the chooser broke"):
        place.servings.vote(anna, serving.id, serving.nonce, "left")
    assert raw("SELECT count(*) FROM vote_votes") == [(1,)]
    assert isinstance(place.servings.vote(anna, serving.id, serving.nonce, "left"), Table)
    assert place.chooser.recorded == [(match.id, "anna") for match in place.matches[:2]]


def test_clicks_at_once_are_one_vote(place: Place, raw: Raw) -> None:
    anna = place.voter()
    serving = opened(place.servings.table(anna))
    processes = [place.another() for _ in range(2)]
    ready = threading.Barrier(8)

    def click(number: int) -> Table | Refused:
        ready.wait()
        return processes[number % 2].vote(anna, serving.id, serving.nonce, "left")

    with ThreadPoolExecutor(8) as pool:
        ends = list(pool.map(click, range(8)))
    assert Counter(type(end) for end in ends) == {Table: 1, Refused: 7}
    assert raw("SELECT count(*) FROM vote_votes") == [(1,)]


def test_many_voters_at_once_over_two_processes_lose_and_double_nothing(place: Place, raw: Raw) -> None:
    voters = [place.voter(f"v{number}") for number in range(6)]
    processes = [place.another() for _ in range(2)]

    def vote_all(number: int) -> int:
        servings: Servings = processes[number % 2]
        table, count = servings.table(voters[number]), 0
        while table.open is not None:
            done = servings.vote(voters[number], table.open.id, table.open.nonce, "right")
            assert isinstance(done, Table)
            table, count = done, count + 1
        return count

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(vote_all, range(6))) == [6] * 6
    pairs = raw("SELECT voter, match FROM vote_servings WHERE state = 'voted'")
    assert len(pairs) == len(set(pairs)) == 36
    assert [one.number for one in PageVotes(place.database, "demo").votes()] == sorted(
        number for (number,) in raw("SELECT number FROM vote_votes")
    )


def test_a_database_of_another_version_is_left_alone(place: Place) -> None:
    with place.database.writing() as write:
        write.rows("UPDATE vote_version SET version = ?", 2)
    with pytest.raises(StoreError, match="kept as version 2, and this facedrift knows 1"):
        open_database(place.url)
