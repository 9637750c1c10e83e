"""A chooser that is easy to foresee: the least judged first, in order; every other match mirrored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from adapters.votes.page.chooser import Chosen


class InOrder:
    """Serves ids in their order, those with the fewest votes and holders first."""

    def __init__(self, matches: Sequence[str]) -> None:
        self.matches = list(matches)
        self.counts: Counter[str] = Counter()
        self.recorded: list[tuple[str, str]] = []

    def record(self, match: str, voter: str) -> None:
        self.counts[match] += 1
        self.recorded.append((match, voter))

    def next(self, voter: str, served: Sequence[str], held: Sequence[str]) -> Chosen | None:
        waiting = Counter(held)
        rest = [match for match in self.matches if match not in served]
        if not rest:
            return None
        match = min(rest, key=lambda one: self.counts[one] + waiting[one])
        return Chosen(match, "a" if self.matches.index(match) % 2 == 0 else "b")
