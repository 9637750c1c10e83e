"""Answers of Rapidata's crowd, as its public tables and its results hold them: a match a row, many voters.

Its voters have no names, so each vote gets one of its own that begins with `domain.votes.ANONYMOUS`: nothing
can be said of a single voter. What is told of one, country and trust, is kept with the vote. Equal answers to
a match are told apart by counting them, so a second file with further answers to the same matches cannot be
told from the first one read again: answers that are to add up must be in one file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, cast

from pydantic import JsonValue

from adapters.votes.rows import strict_json
from adapters.votes.source import Bad
from adapters.votes.values import Occurrences, number, text, whole
from domain.known_matches import KnownMatches, Placed
from domain.matches import Choice
from domain.votes import ANONYMOUS, Vote, VoteSourceName

MOST_VOTES = 10_000
"""Of one answer to one match; more is a slip."""
PHOTO_COLUMNS = ("photo", "prompt", "identifier", "id")
DETAILS = ("detailed_results", "detailed_results_preference")
COLUMNS = (
    "model1", "model2", "image1", "image2", "image1_path", "image2_path", "votes_image1", "votes_image2",
    "weighted_results_image1", "weighted_results_image2", *PHOTO_COLUMNS, *DETAILS,
)  # fmt: skip
_TIES = ("both", "neither", "tie")


class CrowdReader:
    """Turns answers into votes of one source."""

    def __init__(self, source: VoteSourceName) -> None:
        self._source: VoteSourceName = source
        self._names = Occurrences("response")

    def of_row(self, values: Mapping[str, Any], known: KnownMatches) -> Iterator[Vote | Bad]:
        """The votes of a row of either public table."""
        placed = find(values, known)
        if isinstance(placed, Bad):
            yield placed
            return
        details = next((values[name] for name in DETAILS if values.get(name)), None)
        if details is not None:
            words = {
                "1": [text(values, name) for name in ("image1", "image1_path", "model1")],
                "2": [text(values, name) for name in ("image2", "image2_path", "model2")],
            }
            yield from self.of_details(details, placed, words)
            return
        counts = [whole(values.get(f"votes_image{n}"), "count", MOST_VOTES) for n in (1, 2)]
        bad = next((count for count in counts if isinstance(count, Bad)), None)
        if bad or None in counts:
            yield bad or Bad("no_votes", "neither counts nor single answers; weighted results are no votes")
            return
        for count, chosen in zip(cast(list[int], counts), (placed.first, placed.second), strict=True):
            for _ in range(count):
                yield self._vote(placed, chosen, {})

    def of_details(
        self, details: object, placed: Placed, words: Mapping[str, Sequence[str | Bad]]
    ) -> Iterator[Vote | Bad]:
        """The votes of single answers: a list, or the JSON text of one.

        Args:
            details: Each `{"votedFor": …, "userDetails": …}`.
            placed: The match, and whom it calls first.
            words: What stands for the first (`1`) and for the second (`2`).
        """
        if isinstance(details, str):
            try:
                details = strict_json(details)
            except (ValueError, RecursionError) as error:
                yield Bad("not_json", f"the single answers are not JSON: {error}")
                return
        if not isinstance(details, list):
            yield Bad("not_json", "the single answers are no list")
            return
        named = {"1": _names(words["1"], "1"), "2": _names(words["2"], "2")}
        for answer in cast(list[object], details):
            yield self._of_answer(answer, placed, named)

    def _of_answer(self, answer: object, placed: Placed, named: Mapping[str, set[str]]) -> Vote | Bad:
        if not isinstance(answer, dict):
            return Bad("bad_choice", "an answer is an object with `votedFor`")
        held = cast(dict[str, Any], answer)
        said = text(held, "votedFor")
        if isinstance(said, Bad):
            return said
        either = {word: [n for n in ("1", "2") if word in named[n]] for word in (said, stem(said))}
        meant = next((numbers[0] for numbers in either.values() if len(numbers) == 1), None)
        chosen: Choice = placed.first if meant == "1" else placed.second
        if meant is None:
            if said.casefold() not in _TIES:
                return Bad("bad_choice", f"{said[:100]!r} is none of the two")
            chosen = "tie"
        user = held.get("userDetails")
        return self._vote(placed, chosen, cast(dict[str, Any], user) if isinstance(user, dict) else {})

    def _vote(self, placed: Placed, chosen: Choice, user: Mapping[str, Any]) -> Vote | Bad:
        scores = user.get("userScores")
        trust = cast(dict[str, Any], scores).get("global") if isinstance(scores, dict) else scores
        if trust is None:
            trust = user.get("userScore")
        score = number(trust, "user_score", 1)
        country = text(user, "country")
        if isinstance(score, Bad) or isinstance(country, Bad):
            return score if isinstance(score, Bad) else cast(Bad, country)
        match = placed.id
        content: dict[str, JsonValue] = {
            "match": match, "choice": chosen, "country": country, "user_score": score
        }  # fmt: skip
        source_id = self._names.name_of(content)
        return Vote(
            match=match,
            choice=chosen,
            annotator=f"{ANONYMOUS}{source_id.removeprefix('response-')}",
            source=self._source,
            source_id=source_id,
            country=country[:100] or None,
            user_score=score,
        )


def find(values: Mapping[str, Any], known: KnownMatches) -> Placed | Bad:
    """Which match a row is on: by the names of its pictures if they are crops, else by photo and models."""
    pictures = [_picture(values, n) for n in (1, 2)]
    found = known.of_crops(pictures[0], pictures[1])
    models = [text(values, f"model{n}") for n in (1, 2)]
    photos = [text(values, name) for name in PHOTO_COLUMNS]
    bad = next((one for one in (*models, *photos) if isinstance(one, Bad)), None)
    if bad:
        return bad
    names = cast(list[str], models)
    if len(found) > 1:
        found = tuple(one for one in found if {one.match.model_a, one.match.model_b} == set(names))
    if not found:
        each = (known.of_models(photo, *names) for photo in cast(list[str], photos) if photo)
        found = next((held for held in each if held), ())
    if len(found) == 1:
        return found[0]
    if found:
        return Bad("ambiguous_match", f"{len(found)} matches are of these models and this photo")
    return Bad("unknown_match", f"no match of {names[0]!r} and {names[1]!r} on such a photo")


def _picture(values: Mapping[str, Any], number: int) -> str:
    for column in (f"image{number}_path", f"image{number}"):
        said = text(values, column)
        if isinstance(said, str) and said:
            return stem(said)
    return ""


def stem(said: str) -> str:
    """The name of a file without folders, query and ending."""
    name = PurePosixPath(said.replace("\\", "/").partition("?")[0]).name
    kept, dot, ending = name.rpartition(".")
    return kept if dot and kept and ending.isalnum() and len(ending) <= 5 else name


def _names(words: Sequence[str | Bad], number: str) -> set[str]:
    said = {word for word in words if isinstance(word, str) and word}
    letter = "A" if number == "1" else "B"
    return said | {stem(word) for word in said} | {number, letter, letter.lower(), f"image{number}"}
