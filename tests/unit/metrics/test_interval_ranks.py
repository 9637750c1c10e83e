from __future__ import annotations

from metrics.interval_ranks import interval_ranks


def test_who_is_not_clearly_behind_another_shares_its_rank():
    low_is_good = [(1.0, 2.0), (1.9, 3.0), (2.1, 4.0), (5.0, 6.0)]
    assert interval_ranks(low_is_good, high_is_good=False) == [1, 1, 2, 4]
    assert interval_ranks([(-high, -low) for low, high in low_is_good], high_is_good=True) == [1, 1, 2, 4]


def test_intervals_that_touch_are_not_apart():
    assert interval_ranks([(0.0, 1.0), (1.0, 2.0)], high_is_good=False) == [1, 1]


def test_without_an_interval_there_is_no_rank_and_nobody_is_behind_it():
    assert interval_ranks([None, (0.0, 1.0)], high_is_good=False) == [None, 1]
    assert interval_ranks([], high_is_good=True) == []
