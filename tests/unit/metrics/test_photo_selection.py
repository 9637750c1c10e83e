from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from domain.errors import MetricError
from metrics.photo_selection import choose_per_group


def contents(n: int, start: int = 0) -> list[str]:
    return [hashlib.sha256(str(number).encode()).hexdigest() for number in range(start, start + n)]


def test_the_lowest_hashes_of_seed_and_content():
    names = contents(20)
    ranks = {name: hashlib.sha256(f"3:{name}".encode()).digest() for name in names}
    assert choose_per_group(dict.fromkeys(names, "f"), 5, 3) == set(sorted(names, key=ranks.__getitem__)[:5])


GROUPS = st.dictionaries(st.sampled_from(contents(40)), st.sampled_from("abc"))


@given(GROUPS, st.integers(1, 9), st.integers(0, 5))
def test_never_more_than_wanted_and_all_of_a_small_group(groups: dict[str, str], n: int, seed: int):
    chosen = choose_per_group(groups, n, seed)
    for group in set(groups.values()):
        members = {name for name, of in groups.items() if of == group}
        assert len(chosen & members) == min(n, len(members))


@given(GROUPS, GROUPS, st.integers(1, 9), st.integers(0, 5))
def test_adding_photos_moves_out_no_more_than_it_moves_in(
    groups: dict[str, str], more: dict[str, str], n: int, seed: int
):
    before = choose_per_group(groups, n, seed)
    after = choose_per_group(more | groups, n, seed)
    assert len(before - after) <= len(after - before) <= len(set(more) - set(groups))
    assert not (after - before) & set(groups)  # nobody who was passed over comes in instead


def test_the_order_says_nothing():
    names = contents(30)
    groups = {name: name[0] for name in names}
    assert choose_per_group(groups, 2, 1) == choose_per_group(dict(reversed(groups.items())), 2, 1)


def test_every_photo_is_as_likely():
    names, counts = contents(10), dict.fromkeys(contents(10), 0)
    for seed in range(2000):
        for name in choose_per_group(dict.fromkeys(names, ""), 3, seed):
            counts[name] += 1
    assert chisquare(list(counts.values())).pvalue > 0.01


def test_no_photos_wanted():
    with pytest.raises(MetricError, match="0 photos a group"):
        choose_per_group({}, 0)
