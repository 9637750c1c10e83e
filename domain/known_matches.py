"""The matches that votes may be on, found by what a source calls them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

from domain.matches import Match, Side


class Placed(NamedTuple):
    """A match, and which of its two is the one that a source names first."""

    id: str
    match: Match
    first: Side

    @property
    def second(self) -> Side:
        """The other one."""
        return "b" if self.first == "a" else "a"


class KnownMatches:
    """Matches by id, by photo and models, and by the pictures that are shown."""

    def __init__(self, named: Iterable[tuple[str, Match]]) -> None:
        """Of matches with their ids, which take long to work out."""
        self.by_id: dict[str, Match] = {}
        self._by_models: dict[tuple[str, str, str], tuple[str, ...]] = {}
        self._by_crops: dict[tuple[str, str], tuple[str, ...]] = {}
        for name, match in named:
            self.by_id[name] = match
            models = (match.photo, match.model_a, match.model_b)
            self._by_models[models] = (*self._by_models.get(models, ()), name)
            crops = (match.crop_a_sha256, match.crop_b_sha256)
            self._by_crops[crops] = (*self._by_crops.get(crops, ()), name)

    @classmethod
    def of(cls, matches: Iterable[Match]) -> Self:
        """Of matches alone."""
        return cls((match.id, match) for match in matches)

    def of_models(self, photo: str, first: str, second: str) -> tuple[Placed, ...]:
        """The matches of two models on a photo: none, one, or one a session."""
        straight = self._by_models.get((photo, first, second), ())
        return self._placed(straight, self._by_models.get((photo, second, first), ()))

    def of_crops(self, first_sha256: str, second_sha256: str) -> tuple[Placed, ...]:
        """The matches that show two crops; several where models made the very same picture."""
        straight = self._by_crops.get((first_sha256, second_sha256), ())
        if first_sha256 == second_sha256:
            return self._placed(straight, ())
        return self._placed(straight, self._by_crops.get((second_sha256, first_sha256), ()))

    def _placed(self, straight: tuple[str, ...], turned: tuple[str, ...]) -> tuple[Placed, ...]:
        found = [Placed(name, self.by_id[name], "a") for name in straight]
        return (*found, *(Placed(name, self.by_id[name], "b") for name in turned))
