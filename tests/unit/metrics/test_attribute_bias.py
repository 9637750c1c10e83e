"""Which categories bring out differences between groups (Table 28), on hand-made steps."""

from __future__ import annotations

import polars as pl
import pytest
from unit.metrics.group_frames import photo, photos_frame

from domain.errors import MetricError
from metrics.attribute_bias import ATTRIBUTE_BIAS, SHARED_ATTRIBUTES, attribute_bias, shared_attributes
from metrics.comparison_rules import ComparisonRules
from metrics.group_axes import GENDER, GENDER_SKIN
from metrics.step_scores import STEP_SCORES

RULES = ComparisonRules(permutations=99)
PEOPLE = {"p1": "male", "p2": "male", "p3": "male", "p4": "female", "p5": "female", "p6": None}

COUNTS = {
    ("m1", "curly hair"): {"male": 2, "female": 0},
    ("m1", "bob cut"): {"male": 0, "female": 1},
    ("m1", "beret hat"): {"male": 1, "female": 1},
    ("m2", "curly hair"): {"male": 1, "female": 0},
    ("m2", "bob cut"): {"male": 3, "female": 0},
    ("m3", "curly hair"): {"male": 0, "female": 1},
}
"""Overedits of every step of a group."""


def scores() -> pl.DataFrame:
    rows = [
        {
            **{"suite": "s", "dataset": "celebset", "model": model, "photo": name, "session": category},
            **{"test_set": "hair", "step": 1, "sub_axis": "x", "category": category, "sc": 0.5},
            "overedits": held.get(gender, 7),
        }
        for (model, category), held in COUNTS.items()
        for name, gender in PEOPLE.items()
    ]
    rows.append(rows[0] | {"session": "no OER", "overedits": None})
    return pl.DataFrame(rows, schema=STEP_SCORES)


def people() -> pl.DataFrame:
    return photos_frame(
        *(photo(name, f"s-{name}", *([f"gender={g}"] if g else [])) for name, g in PEOPLE.items())
    )


def bias() -> pl.DataFrame:
    return attribute_bias(scores(), people(), [GENDER, GENDER_SKIN], RULES)


def test_distance_per_category_by_hand():
    found = bias()
    assert found.schema == ATTRIBUTE_BIAS
    rows = {(row["model"], row["category"]): row for row in found.to_dicts()}
    assert len(rows) == found.height == 6
    assert rows["m1", "curly hair"]["wd"] == 200.0
    assert rows["m1", "bob cut"]["wd"] == 100.0
    assert rows["m1", "beret hat"]["wd"] == 0.0
    assert (rows["m1", "curly hair"]["n_a"], rows["m1", "curly hair"]["n_b"]) == (3, 2)
    assert [rows["m1", name]["place"] for name in ("curly hair", "bob cut", "beret hat")] == [1, 2, None]
    assert rows["m1", "curly hair"]["worst"] == "male"
    assert rows["m3", "curly hair"]["worst"] == "female"


def test_shared_attributes_by_hand():
    found = shared_attributes(bias())
    assert found.schema == SHARED_ATTRIBUTES
    assert found.select("category", "n_models", "n_compared", "directions").rows() == [
        ("curly hair", 3, 3, "2 male, 1 female"),
        ("bob cut", 2, 3, "1 female, 1 male"),
    ]
    assert found["models"].to_list() == [["m1", "m2", "m3"], ["m1", "m2"]]
    assert found["worst"].to_list() == [["male", "male", "female"], ["female", "male"]]


def test_only_the_highest_of_each_model_count():
    found = shared_attributes(bias(), top=1)
    assert dict(found.select("category", "n_models").rows()) == {"curly hair": 2, "bob cut": 1}


def test_malformed_tables_are_refused():
    with pytest.raises(MetricError, match="top"):
        shared_attributes(bias(), top=0)
    with pytest.raises(MetricError, match="no column"):
        shared_attributes(bias().drop("place"))
    with pytest.raises(MetricError, match="step scores"):
        attribute_bias(scores().drop("overedits"), people(), [GENDER], RULES)
