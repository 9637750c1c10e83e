from __future__ import annotations

import polars as pl
import pytest

from domain.errors import MetricError
from metrics.coverage import COVERAGE_BY_GROUP, coverage, coverage_by_group, photo_groups
from metrics.frames import SESSIONS

PHOTOS = pl.DataFrame(
    {
        "dataset": ["d", "d", "d", "e"],
        "photo": ["p", "q", "r", "p"],
        "groups": [["gender=female", "age=old"], ["gender=male"], None, []],
    },
    schema={"dataset": pl.String, "photo": pl.String, "groups": pl.List(pl.String)},
)


def table(*rows):
    fields = {"suite": "s", "dataset": "d", "model": "m", "session": "x", "test_set": "hair", "n_steps": 4}
    return pl.DataFrame([fields | {"complete": True} | row for row in rows], schema=SESSIONS)


STOPPED = {"complete": False, "stopped": "refused"}


def test_each_exclusion_counts_once_on_every_axis():
    sessions = table(
        {"photo": "p"} | STOPPED,
        {"photo": "q"} | STOPPED,
        {"photo": "r"} | STOPPED,
        {"photo": "r", "session": "y", "sc_excluded": "judgement_missing"},
        {"photo": "p", "dataset": "e"} | STOPPED,
    )
    found = coverage_by_group(sessions, PHOTOS)
    assert found.schema == COVERAGE_BY_GROUP
    refused = found.filter(reason="refused").select("dataset", "axis", "group", "n").rows()
    assert refused == [
        ("d", "age", None, 2),
        ("d", "age", "old", 1),
        ("d", "all", "all", 3),
        ("d", "gender", None, 1),
        ("d", "gender", "female", 1),
        ("d", "gender", "male", 1),
        ("e", "all", "all", 1),
    ]
    assert found.filter(what="sc").select("axis", "group", "n").rows() == [
        ("age", None, 1),
        ("all", "all", 1),
        ("gender", None, 1),
    ]
    whole = coverage(sessions)
    assert found.filter(axis="all").select(whole.columns).equals(whole)
    for axis in ("age", "gender"):
        assert found.filter(axis=axis, dataset="d")["n"].sum() == whole.filter(dataset="d")["n"].sum()


def test_a_photo_without_a_group_is_on_the_axes_of_its_dataset():
    assert photo_groups(PHOTOS).filter(photo="r").select("axis", "group").sort("axis").rows() == [
        ("age", None),
        ("all", "all"),
        ("gender", None),
    ]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["female"], "a group without an axis"),
        (["all=yes"], "stands for all photos"),
        (["gender=female", "gender=male"], "two groups of one axis"),
    ],
)
def test_groups_that_say_nothing_clear_are_refused(groups, message):
    photos = PHOTOS[:1].with_columns(groups=pl.Series([groups]))
    with pytest.raises(MetricError, match=message):
        photo_groups(photos)


def test_a_session_of_a_stranger_is_refused():
    with pytest.raises(MetricError, match="photo 'z' has sessions"):
        coverage_by_group(table({"photo": "z"}), PHOTOS)
    with pytest.raises(MetricError, match="there twice"):
        photo_groups(pl.concat([PHOTOS, PHOTOS]))
