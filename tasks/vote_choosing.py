"""Which match the voting page lays before whom: the least judged first, by `metrics.matchmaking`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from adapters.votes.page.chooser import Chosen
from domain import keys
from domain.matches import Match
from domain.votes import VoteRules
from metrics.matchmaking import next_match


class LeastJudgedFirst:
    """Chooses from a queue of matches.

    What is drawn for a voter's nth serving depends on the seed, the voter and n alone, so that neither a
    restart nor a second process changes it.

    Args:
        queue: The matches by id, in their order.
        rules: Of the suite.
        judged: Votes that matches have from elsewhere, by id.
    """

    def __init__(self, queue: Mapping[str, Match], rules: VoteRules, judged: Mapping[str, int]) -> None:
        self._ids = list(queue)
        self._places = {match: place for place, match in enumerate(self._ids)}
        self._gold = np.array([match.gold is not None for match in queue.values()], np.bool_)
        self._counts = np.array([judged.get(match, 0) for match in self._ids], np.int64)
        self._rules = rules

    def record(self, match: str, voter: str) -> None:
        """Learn that a vote on a match is stored."""
        if match in self._places:
            self._counts[self._places[match]] += 1

    def next(self, voter: str, served: Sequence[str], held: Sequence[str]) -> Chosen | None:
        """The match to show next; see `adapters.votes.page.chooser.MatchChooser`."""
        counts = self._counts.copy()
        np.add.at(counts, np.array(self._known(held), np.int64), 1)
        found = next_match(
            counts,
            self._gold,
            self._known(served),
            rng=np.random.default_rng(
                [self._rules.seed, int(keys.sha256(voter.encode())[:8], 16), len(served)]
            ),
            gold_first=self._rules.gold_first,
            gold_share=self._rules.gold_share,
        )
        return None if found is None else Chosen(self._ids[found.index], found.left)

    def _known(self, matches: Sequence[str]) -> list[int]:
        return [self._places[match] for match in matches if match in self._places]
