"""Ranks that respect intervals: who is not clearly behind another is not ranked behind it."""

from __future__ import annotations

from collections.abc import Sequence


def interval_ranks(
    intervals: Sequence[tuple[float, float] | None], *, high_is_good: bool
) -> list[int | None]:
    """1 + the number of others whose whole interval is better.

    Args:
        intervals: Low and high end of each; None where an interval is not determined.
        high_is_good: The direction.

    Returns:
        Ranks in the order given, shared by those that nobody clearly beats; None without an interval.

    References:
        The rule of LMArena's leaderboard.

    """
    known = [held for held in intervals if held is not None]
    if high_is_good:
        return [None if own is None else 1 + sum(low > own[1] for low, _ in known) for own in intervals]
    return [None if own is None else 1 + sum(high < own[0] for _, high in known) for own in intervals]
