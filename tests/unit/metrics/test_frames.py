from __future__ import annotations

import math

import polars as pl
import pytest

from domain.errors import MetricError
from metrics.checked_tables import checked_photos, checked_steps
from metrics.frames import (
    LEADERBOARD,
    PHOTOS,
    STEPS,
    leaderboard_schema,
    photos_schema,
    state_column,
    steps_schema,
)


def test_schemas_hold_one_state_column_per_sub_axis(taxonomy):
    states = [state_column(sub_axis) for sub_axis in taxonomy.sub_axes]
    assert states[0] == "state_hair_color"
    assert len(states) == 8
    assert photos_schema(taxonomy).names() == [*PHOTOS.names(), *states]
    assert steps_schema(taxonomy).names() == [*STEPS.names(), *states]
    assert steps_schema(taxonomy)["state_beard"] == pl.List(pl.String)


def test_leaderboard_has_four_columns_beside_every_mean():
    assert leaderboard_schema() == LEADERBOARD
    beside = [f"drop_fss{end}" for end in ("", "_low", "_high", "_n", "_clusters")]
    assert LEADERBOARD.names()[6:11] == beside
    assert "extra_low" in leaderboard_schema(("extra",))


def test_good_tables_come_back_sorted_and_without_further_columns(taxonomy, photos, steps, a_photo, a_step):
    table = photos([a_photo(photo="p2"), a_photo()]).with_columns(pl.lit(1).alias("note"))
    assert checked_photos(table, taxonomy)["photo"].to_list() == ["p1", "p2"]
    assert checked_photos(table, taxonomy).schema == photos_schema(taxonomy)
    assert checked_steps(steps([a_step(2), a_step(1)]), taxonomy)["step"].to_list() == [1, 2]


def test_empty_tables_are_tables(taxonomy, photos, steps):
    assert checked_photos(photos([]), taxonomy).height == 0
    assert checked_steps(steps([]), taxonomy).height == 0


def test_columns_must_be_there_with_their_type(taxonomy, photos, a_photo):
    table = photos([a_photo()])
    with pytest.raises(MetricError, match="photos has no column 'fss0'"):
        checked_photos(table.drop("fss0"), taxonomy)
    with pytest.raises(MetricError, match="column 'fss0' is String, not Float64"):
        checked_photos(table.with_columns(pl.lit("high").alias("fss0")), taxonomy)


def test_a_photo_is_named_and_there_once(taxonomy, photos, a_photo):
    with pytest.raises(MetricError, match=r"there twice \(dataset='celeba', photo='p1'\)"):
        checked_photos(photos([a_photo(), a_photo(fss0=0.5)]), taxonomy)
    with pytest.raises(MetricError, match="is null"):
        checked_photos(photos([a_photo(photo=None)]), taxonomy)
    with pytest.raises(MetricError, match="fss0 is not finite"):
        checked_photos(photos([a_photo(fss0=math.nan)]), taxonomy)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"outcome": "lost"}, "outcome is not one of edited"),
        ({"outcome": None}, "is null"),
        ({"face": "two"}, "face is not one of"),
        ({"judgement": "good"}, "judgement is not one of"),
        ({"tracked": "yes"}, "tracked is not one of"),
        ({"success": 10.5}, "a score outside 0 to 10"),
        ({"fss": 7.0}, "outside -1 to 1"),
        ({"fss": -1.01}, "outside -1 to 1"),
        ({"overediting": -1.0}, "a score outside 0 to 10"),
        ({"success": None}, "judged, but without both scores"),
        ({"fss": None}, "a face, but no FSS"),
        ({"fss": math.inf}, "fss is not finite"),
        ({"keep": None}, "is null"),
        ({"step": 1}, "a row is there twice"),
        ({"step": 3}, "do not count 1, 2, 3"),
        ({"test_set": "pose"}, "two test_sets"),
        ({"subject": None}, "two subjects"),
    ],
)
def test_a_wrong_step_is_named(taxonomy, steps, a_step, fields, message):
    with pytest.raises(MetricError, match=f"{message}.*session='hair_001', step="):
        checked_steps(steps([a_step(1), a_step(2) | fields]), taxonomy)


def test_steps_not_done_need_no_values(taxonomy, steps, a_step, not_run):
    assert checked_steps(steps([a_step(1), a_step(2, **not_run)]), taxonomy).height == 2
