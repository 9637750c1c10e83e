"""Links: who may vote, until when; over SQLite and Postgres."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from unit.adapters.votes.page.place import Place

from adapters.votes.page.links import DAY_MS, Links, Standing, Voter
from domain.errors import DefinitionError

Raw = Callable[[str], list[tuple[Any, ...]]]


def test_a_token_is_long_and_only_its_digest_is_kept(place: Place, raw: Raw) -> None:
    made = place.links.invite(["anna", "ben"], 50, 30, place.clock.ms)
    assert [one.name for one in made] == ["anna", "ben"]
    assert all(len(one.token) == 32 for one in made)  # 192 bits
    assert made[0].token not in repr(made)
    kept = raw("SELECT token_sha256 FROM vote_links ORDER BY number")
    assert kept == [(hashlib.sha256(one.token.encode()).hexdigest(),) for one in made]
    everything = str([raw(f"SELECT * FROM {table}") for table in ("vote_links", "vote_voters")])
    assert not [one for one in made if one.token in everything]


def test_a_link_leads_to_its_voter_until_it_expires(place: Place) -> None:
    token = place.token("anna", wanted=50, days=2)
    anna = place.links.voter(token, place.clock.ms)
    assert anna is not None
    assert (anna.name, anna.wanted) == ("anna", 50)
    assert place.links.voter(token, place.clock.ms + 2 * DAY_MS - 1) == anna
    assert place.links.voter(token, place.clock.ms + 2 * DAY_MS) is None


@pytest.mark.parametrize("token", ["", "x", "A" * 32, "A" * 31 + "'", "ä" * 32, "A" * 33])
def test_no_other_token_leads_anywhere(place: Place, token: str) -> None:
    place.token()
    assert place.links.voter(token, place.clock.ms) is None


def test_a_link_of_another_suite_leads_nowhere(place: Place) -> None:
    [made] = Links(place.database, "other").invite(["anna"], 50, 30, place.clock.ms)
    assert place.links.voter(made.token, place.clock.ms) is None


def test_a_revoked_link_is_over_and_a_new_one_is_for_the_same_voter(place: Place) -> None:
    token = place.token("anna")
    anna = place.links.voter(token, place.clock.ms)
    assert place.links.revoke("anna", place.clock.ms) == 1
    assert place.links.voter(token, place.clock.ms) is None
    assert place.links.revoke("anna", place.clock.ms) == 0
    again = place.links.voter(place.token("anna", wanted=7), place.clock.ms)
    assert anna is not None
    assert again == Voter(anna.number, "anna", 7)


def test_a_name_has_one_valid_link(place: Place, raw: Raw) -> None:
    place.token("anna")
    with pytest.raises(
        DefinitionError, match="anna has a link that is valid; revoke it first: facedrift vote"
    ):
        place.links.invite(["zoe", "anna"], 50, 30, place.clock.ms)
    assert raw("SELECT name FROM vote_voters") == [("anna",)]  # all or none


@pytest.mark.parametrize("name", ["", " anna", "anna b", "-anna", "a" * 101, "anna\n"])
def test_other_names_are_refused(place: Place, name: str) -> None:
    with pytest.raises(DefinitionError, match="cannot name a voter"):
        place.links.invite([name], 50, 30, place.clock.ms)


def test_revoking_names_those_who_are_there(place: Place) -> None:
    place.token("ben")
    place.token("anna")
    with pytest.raises(DefinitionError, match=r"nobody named 'ana' votes here .*allowed: anna, ben"):
        place.links.revoke("ana", place.clock.ms)


def test_how_far_each_is(place: Place) -> None:
    anna = place.voter("anna", wanted=3)
    place.token("ben", days=1)
    place.token("carl")
    place.links.revoke("carl", place.clock.ms)
    table = place.servings.table(anna)
    assert table.open is not None
    place.clock.ms += DAY_MS
    place.servings.vote(anna, table.open.id, table.open.nonce, "tie")
    assert place.links.standings(place.clock.ms) == [
        Standing("anna", 1, 3, "valid", place.clock.ms),
        Standing("ben", 0, 100, "expired", None),
        Standing("carl", 0, 100, "revoked", None),
    ]
