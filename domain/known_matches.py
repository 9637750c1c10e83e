"""The matches that votes may be on, found by what a source calls them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from domain.matches import Match, Side


class Placed(NamedTuple):
    """A match, and which of its two is the one that a source names first."""

    match: Match
    first: Side

    @property
    def second(self) -> Side:
        """The other one."""
        return "b" if self.first == "a" else "a"


class KnownMatches:
    """Matches by id, by photo and models, and by the pictures that are shown."""

    def __init__(self, matches: Iterable[Match]) -> None:
        self.by_id: dict[str, Match] = {}
        self._by_models: dict[tuple[str, str, str], list[Placed]] = defaultdict(list)
        self._by_crops: dict[tuple[str, str], list[Placed]] = defaultdict(list)
        for match in matches:
            self.by_id[match.id] = match
            a, b = Placed(match, "a"), Placed(match, "b")
            self._by_models[match.photo, match.model_a, match.model_b].append(a)
            self._by_models[match.photo, match.model_b, match.model_a].append(b)
            self._by_crops[match.crop_a_sha256, match.crop_b_sha256].append(a)
            if match.crop_a_sha256 != match.crop_b_sha256:
                self._by_crops[match.crop_b_sha256, match.crop_a_sha256].append(b)

    def of_models(self, photo: str, first: str, second: str) -> tuple[Placed, ...]:
        """The matches of two models on a photo: none, one, or one a session."""
        return tuple(self._by_models.get((photo, first, second), ()))

    def of_crops(self, first_sha256: str, second_sha256: str) -> tuple[Placed, ...]:
        """The matches that show two crops; several where models made the very same picture."""
        return tuple(self._by_crops.get((first_sha256, second_sha256), ()))
