"""Which photo is in which group, and how many are in none."""

from __future__ import annotations

import pytest
from unit.metrics.group_frames import photo, photos_frame, session, sessions_frame

from domain.errors import MetricError
from metrics.group_axes import (
    AGE,
    GENDER,
    GENDER_SKIN,
    PAPER_AXES,
    Axis,
    demographics,
    group_labels,
    photo_counts,
    session_counts,
)

PHOTOS = photos_frame(
    photo("p1", "ann", "gender=female", "skin=light", "age=young"),
    photo("p2", "ann", "gender=female", "skin=light", "age=old"),
    photo("p3", "bob", "gender=male", "age=38"),
    photo("p4", None, "gender=male", "skin=dark"),
    photo("p5", None, "skin=dark"),
)


def test_groups_in_order():
    assert GENDER_SKIN.groups == ("male-light", "male-dark", "female-light", "female-dark")
    assert AGE.groups == ("young", "old")
    assert [axis.is_intersection for axis in PAPER_AXES] == [False, False, False, True]


def test_unknown_and_other_values_are_in_no_group():
    labels = group_labels(PHOTOS, PAPER_AXES)
    found = {(row["axis"], row["photo"]): row["group"] for row in labels.to_dicts()}
    assert len(found) == 20
    assert found["gender", "p5"] is None
    assert found["age", "p3"] is None
    assert found["skin", "p3"] is None
    assert found["gender_skin", "p3"] is None
    assert found["gender_skin", "p1"] == "female-light"
    assert found["age", "p2"] == "old"


def test_photo_counts_hold_the_unknown_and_the_absent():
    counts = {(row["axis"], row["group"]): row for row in photo_counts(PHOTOS, PAPER_AXES).to_dicts()}
    assert counts["gender", "female"]["n_photos"] == 2
    assert counts["gender", "female"]["n_people"] == 1
    assert counts["gender", None]["n_photos"] == 1
    assert counts["age", None]["n_photos"] == 3
    assert counts["age", "young"]["n_people"] == counts["age", "old"]["n_people"] == 1
    assert counts["gender_skin", "male-light"]["n_photos"] == 0
    for axis in PAPER_AXES:
        assert sum(row["n_photos"] for key, row in counts.items() if key[0] == axis.name) == 5


def test_groups_come_in_the_order_of_the_axis_and_the_unknown_last():
    found = photo_counts(PHOTOS, [AGE, GENDER]).select("axis", "group").rows()
    assert found == [
        ("age", "young"),
        ("age", "old"),
        ("age", None),
        ("gender", "male"),
        ("gender", "female"),
        ("gender", None),
    ]


def test_session_counts_per_model_and_pooled():
    sessions = sessions_frame(
        session("hair_1", "p1"),
        session("hair_1", "p3"),
        session("hair_2", "p3", complete=False),
        session("pose_1", "p4", test_set="pose"),
        session("pose_1", "p5", test_set="pose"),
    )
    found = session_counts(sessions, PHOTOS, [GENDER])
    rows = {(row["test_set"], row["group"]): row for row in found.to_dicts()}
    assert rows["hair", "male"]["n_planned"] == 2
    assert rows["hair", "male"]["n_sessions"] == 1
    assert rows["all", "male"]["n_sessions"] == 2
    assert rows["all", "male"]["n_people"] == 2
    assert rows["all", None]["n_sessions"] == 1
    assert rows["pose", "female"]["n_planned"] == rows["pose", "female"]["n_photos"] == 0
    assert ("hair", None) not in rows


def test_a_session_of_an_unknown_photo_is_refused():
    with pytest.raises(MetricError, match="'p9'"):
        session_counts(sessions_frame(session("x", "p9")), PHOTOS, [GENDER])


def test_pooled_is_no_name_of_a_test_set():
    with pytest.raises(MetricError, match="all"):
        session_counts(sessions_frame(session("x", "p1", test_set="all")), PHOTOS, [GENDER])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["gender=male", "gender=female"], "two values"),
        (["male"], "name=value"),
        (["gender="], "name=value"),
    ],
)
def test_malformed_groups_are_refused(groups, message):
    with pytest.raises(MetricError, match=message):
        group_labels(photos_frame(photo("p1", "a", *groups)), [GENDER])


def test_a_photo_twice_and_an_axis_twice_are_refused():
    with pytest.raises(MetricError, match="twice"):
        group_labels(photos_frame(photo("p1", "a"), photo("p1", "a")), [GENDER])
    with pytest.raises(MetricError, match="share a name"):
        group_labels(PHOTOS, [GENDER, GENDER])


def test_an_axis_needs_two_values():
    for values in ({}, {"gender": ("male",)}, {"gender": ("male", "male")}):
        with pytest.raises(MetricError, match="two values"):
            Axis("x", values)


def test_groups_of_one_name_are_refused():
    with pytest.raises(MetricError, match="twice"):
        Axis("x", {"one": ("a", "a-b"), "other": ("c", "b-c")})


def test_demographics():
    assert demographics(["gender=male", "skin=a=b", "gender=male"]) == {"gender": "male", "skin": "a=b"}
