"""Matches and votes in a store, as the flows that make them leave them there."""

from __future__ import annotations

from collections.abc import Sequence

from builders import png

from adapters.base import ObjectStore
from domain import keys
from domain.matches import Match, MatchSet
from domain.votes import Vote
from tasks import ledger, match_tables, vote_store


def a_crop(shown: str) -> bytes:
    """A picture in a colour of its own."""
    return png(f"#{keys.sha256(shown.encode())[:6]}")


def a_match(photo: str, session: str, model_a: str, model_b: str, **fields: object) -> Match:
    """A match whose crops have a colour each, by what they show."""
    crops = {
        "original_sha256": keys.sha256(a_crop(photo)),
        "crop_a_sha256": keys.sha256(a_crop(f"{photo} {model_a}")),
        "crop_b_sha256": keys.sha256(a_crop(f"{photo} {model_b}")),
    }
    held = {"photo": photo, "session": session, "model_a": model_a, "model_b": model_b, **crops, **fields}
    return Match.model_validate(held)


def a_vote(match: str, choice: str, annotator: str, **fields: object) -> Vote:
    """A vote out of a file."""
    held = {
        "match": match,
        "choice": choice,
        "annotator": annotator,
        "at": "2026-11-30T12:00:00+00:00",
        "source": "file",
        "source_id": f"{annotator} {match}",
        **fields,
    }
    return Vote.model_validate(held)


def store_matches(suite: str, run_id: str, matches: list[Match], store: ObjectStore) -> MatchSet:
    """The record of a run's matches, with its table."""
    data = match_tables.encode(matches)
    digest = keys.sha256(data)[:16]
    made = MatchSet(
        suite=suite,
        run_id=run_id,
        table=keys.matches_table(suite, digest),
        n_matches=len(matches),
        n_gold=sum(match.gold is not None for match in matches),
        strategy="least_judged",
        seed=0,
    )
    store.put_new(made.table, data)
    ledger.write_new(store, keys.match_set(suite, run_id), made)
    return made


def write_crops(matches: Sequence[Match], store: ObjectStore) -> None:
    """The crops of such matches."""
    for match in matches:
        for shown in (match.photo, f"{match.photo} {match.model_a}", f"{match.photo} {match.model_b}"):
            data = a_crop(shown)
            store.put_new(keys.image(keys.sha256(data), "png"), data)


def store_votes(suite: str, votes: list[Vote], store: ObjectStore) -> None:
    """One more part of a suite's votes."""
    vote_store.add(suite, votes, store)
