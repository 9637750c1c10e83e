"""The page as a source of votes; over SQLite and Postgres."""

from __future__ import annotations

import pytest
from unit.adapters.votes.page.place import Place

from adapters.registry import vote_source_class
from adapters.votes.page import source
from adapters.votes.page.links import Links
from adapters.votes.page.source import PageVotes
from domain.errors import DefinitionError
from domain.known_matches import KnownMatches
from domain.votes import FoundVote, RejectedVote, Vote


def vote_on_all(place: Place, name: str) -> None:
    voter = place.voter(name)
    while (opened := place.servings.table(voter).open) is not None:
        place.servings.vote(voter, opened.id, opened.nonce, "left")


def test_it_is_found_by_its_name_and_reads_the_votes_of_a_suite(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    vote_on_all(place, "anna")
    Links(place.database, "other").invite(["ben"], 10, 1, place.clock.ms)
    monkeypatch.setenv("FACEDRIFT_VOTE_DATABASE_URL", place.url)
    page = vote_source_class("page").build("demo")
    assert page.where == "demo"
    found = list(page.read(KnownMatches.of(place.matches)))
    assert all(isinstance(one, FoundVote) for one in found)
    first = found[0]
    assert isinstance(first, FoundVote)
    assert first == FoundVote(
        vote=Vote(
            match=place.matches[0].id,
            choice="a",
            annotator="anna",
            at="2027-01-15T08:00:00.000+00:00",
            source="page",
            source_id=first.vote.source_id,
            left="a",
            ms=0,
        ),
        line=1,
    )
    assert len(found) == 6
    assert list(vote_source_class("page").build("other").read(KnownMatches.of(place.matches))) == []


def test_votes_on_other_matches_are_rejected_and_the_rest_is_kept(place: Place) -> None:
    vote_on_all(place, "anna")
    found = list(PageVotes(place.database, "demo").read(KnownMatches.of(place.matches[2:])))
    assert [type(one) for one in found] == [RejectedVote] * 2 + [FoundVote] * 4
    assert isinstance(found[0], RejectedVote)
    assert (found[0].line, found[0].reason) == (1, "unknown_match")
    assert place.matches[0].id in found[0].detail


def test_reading_on_brings_what_is_new(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "_AT_ONCE", 4)
    votes = PageVotes(place.database, "demo")
    vote_on_all(place, "anna")
    first = list(votes.votes())
    assert len(first) == 6
    assert list(votes.votes(first[-1].number)) == []
    vote_on_all(place, "ben")
    more = list(votes.votes(first[-1].number))
    assert [one.vote.annotator for one in more] == ["ben"] * 6
    assert [one.vote.source_id for one in (*first, *more)] == [one.vote.source_id for one in votes.votes()]


def test_a_page_to_which_nobody_is_invited_is_none(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACEDRIFT_VOTE_DATABASE_URL", place.url)
    with pytest.raises(DefinitionError, match="no such voting page: nobody is invited to 'demo'"):
        PageVotes.build("demo")
