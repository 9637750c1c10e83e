"""Who says which match comes next; the page only asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.matches import Side


@dataclass(frozen=True)
class Chosen:
    """A match to be laid before a voter."""

    match: str
    """Its id."""
    left: Side
    """Which model's face is shown left, drawn anew for this serving."""


class MatchChooser(Protocol):
    """Chooses from a fixed queue of matches; ids that are not in it are of an older one, and ignored."""

    def record(self, match: str, voter: str) -> None:
        """Learn that a vote on a match is stored."""
        ...

    def next(self, voter: str, served: Sequence[str], held: Sequence[str]) -> Chosen | None:
        """The match to show next, or None when this voter has seen all.

        Args:
            voter: Name of the voter.
            served: Ids of all that was ever laid before this voter, in that order, voted on or not. None of
                them comes again.
            held: Ids of matches that lie before other voters now: each is about to get a vote.
        """
        ...


ChooserMaker = Callable[[], MatchChooser]
"""Makes a chooser that has learnt of no vote of the page yet."""
