"""How raw labels become groups."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from domain.groups import (
    Demographic,
    GroupDefinitions,
    group_notices,
    groups_of,
    label_counts,
    number_in,
    summary_of,
)
from domain.loading import load

AGE = Demographic(column="age", ranges={"young": (20, 30), "old": (50, 60)})
SKIN = Demographic.model_validate(
    {"column": "fitzpatrick", "values": {"light": ["I", "II", "III"], "dark": ["IV", "V", 6]}}
)


@pytest.mark.parametrize(
    ("raw", "group"),
    [
        ("20", "young"), ("30", "young"), ("30.5", None), ("19", None), ("50", "old"), ("60", "old"),
        ("61", None), ("abc", None), ("nan", None), ("inf", None), ("", None), (None, None),
        (" 25 ", "young"), ("2_5", None),
    ],
)  # fmt: skip
def test_both_ends_of_a_range_belong_to_it(raw: str | None, group: str | None):
    assert AGE.group(raw) == group


@pytest.mark.parametrize(
    ("raw", "group"),
    [
        ("III", "light"),
        (" iii ", "light"),
        ("IV", "dark"),
        ("6", "dark"),
        ("6.0", "dark"),
        ("VI", None),
        ("", None),
    ],
)
def test_several_values_are_one_group(raw: str, group: str | None):
    assert SKIN.group(raw) == group


@given(st.floats(allow_nan=True, allow_infinity=True))
def test_a_number_is_in_the_range_that_holds_it(number: float):
    expected = "young" if 20 <= number <= 30 else "old" if 50 <= number <= 60 else None
    assert AGE.group(str(number)) == expected


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "give either `values` or `ranges`"),
        ({"values": ["a"], "ranges": {"b": [1, 2]}}, "give either"),
        ({"values": {"a": ["x"], "b": ["X "]}}, "in two groups: x"),
        ({"values": {"a": [1], "b": ["1.0"]}}, "in two groups: 1"),
        ({"ranges": {"a": [2, 1]}}, "range of a ends before it starts"),
        ({"ranges": {"a": [1, 3], "b": [3, 5]}}, "a and b overlap"),
        ({"ranges": {"a": [1, float("inf")]}}, "finite"),
        ({"values": {"a": [True]}}, "put the word in quotes"),
        ({"values": {False: ["x"]}}, "no, off or false was read as a truth value; put the word in quotes"),
        ({"values": {"a=b": ["x"]}}, "pattern"),
        ({"column": "all", "values": ["x"]}, "cannot name a column"),
        ({"value": {"a": ["x"]}}, "Extra inputs"),
    ],
)
def test_definitions_that_are_refused(fields: dict[str, Any], message: str):
    with pytest.raises(ValidationError, match=message):
        Demographic.model_validate({"column": "c", **fields})


def test_groups_of_a_photo():
    definitions = {"age": AGE, "skin": SKIN}
    listed = {"age": ("young", "old"), "monk": ("7", "8")}
    labels = {"age": "27", "fitzpatrick": "III", "gender": "female", "monk": "7", "shoe": "42"}
    assert groups_of(labels, definitions, listed) == ["age=young", "gender=female", "monk=7", "skin=light"]
    assert groups_of({"gender": " Female", "monk": "7.0"}, {}, {"gender": ("male", "female"), **listed}) == [
        "gender=female", "monk=7",
    ]  # fmt: skip
    assert groups_of({"age": "40", "fitzpatrick": "?", "monk": "3"}, definitions, listed) == []
    assert groups_of(labels, {}, {}) == ["fitzpatrick=III", "gender=female"], "a number is no group by itself"


def test_a_column_under_another_name_hides_the_raw_one_of_that_name():
    by_words = Demographic(column="band", values={"young": ("20s",)})
    assert groups_of({"age": "old", "band": "20s"}, {"age": by_words}, {}) == ["age=young"]


def test_a_long_value_is_summed_up_by_its_beginning():
    assert summary_of(Counter({"x" * 100_000: 2})) == f"'{'x' * 60}… (100,000 characters)' (2)"


def test_numbers_may_name_groups_and_keep_their_digits():
    held = Demographic.model_validate({"column": 7, "values": {1234567: [12345678, 0.5]}})
    assert (held.column, held.values) == ("7", {"1234567": ("12345678", "0.5")})


def test_notices_name_what_does_occur():
    photos = [{"age": "27", "fitzpatrick": "III"}, {"age": "n. k.", "fitzpatrick": "VII"}, {"age": "29"}]
    seen = label_counts(photos)
    assert group_notices(seen, {"age": AGE, "skin": SKIN}, {}) == (
        "age: no photo is in old; 'age' holds '27' (1), '29' (1), 'n. k.' (1)",
        "age: 1 photos are in no group, no number: 'n. k.' (1)",
        "skin: no photo is in dark; 'fitzpatrick' holds 'III' (1), 'VII' (1)",
        "skin: 1 photos are in no group, no value of it: 'VII' (1)",
    )
    misspelt = Demographic(column="fitzpatrik", values={"light": ("I",)})
    assert group_notices(seen, {"skin": misspelt}, {}) == (
        "skin: no photo has the column 'fitzpatrik'; the photos have age, fitzpatrick",
    )
    assert group_notices(
        label_counts([{"gender": "Male"}, {"gender": "female"}]), {}, {"gender": ("male", "femal")}
    ) == (
        "gender: no photo is in femal; 'gender' holds 'Male' (1), 'female' (1)",
        "gender: 1 photos are in no group, no value of it: 'female' (1)",
    )
    assert group_notices({}, {}, {"gender": ("male",)}) == (
        "no photo has any label, so nobody is in a group of gender",
    )
    assert group_notices({}, {}, {}) == ()
    assert group_notices(label_counts([{"age": str(n)} for n in range(20, 61)]), {"age": AGE}, {}) == ()


def test_many_numbers_are_summed_up():
    [notice] = group_notices(label_counts([{"age": str(n)} for n in range(90)]), {"age": Demographic(
        column="age", ranges={"ancient": (900, 999)})}, {})  # fmt: skip
    assert notice.endswith("'age' holds numbers from 0 to 89")


@pytest.mark.parametrize(("text", "number"), [("1e1", 10.0), ("0x1", None), ("٣", 3.0), ("1,5", None)])
def test_numbers(text: str, number: float | None):
    assert number_in(text) == number


def test_the_packaged_scales_of_skin_tone():
    shared = load(GroupDefinitions, "skin-tones").demographics
    assert [shared["fitzpatrick_skin"].group(raw) for raw in ("III", "4", "VII")] == ["light", "dark", None]
    assert [shared["monk_skin"].group(raw) for raw in ("5", "6", "11")] == ["light", "dark", None]
