from __future__ import annotations

import io

import polars as pl
import pytest
from oracles.one_session import names_in

from domain.errors import MetricError
from domain.taxonomy import Taxonomy
from metrics.coded_steps import code_steps, coded_steps_schema
from metrics.masks import LAST_BIT, mask_column, mask_schema, masks_of
from metrics.planned_sessions import planned_sessions


@pytest.fixture
def coded(taxonomy, steps, a_step, not_run):
    rows = [
        a_step(2, "red hair", {"hats": None, "beard": []}),
        a_step(1, "round glasses", {"hair color": ["black hair", "brown hair"]}),
        a_step(3, "red hair", {"beard": ["stubble"]}, tracked="unparsable"),
        a_step(4, **not_run),
    ]
    return code_steps(steps(rows), taxonomy)


def test_a_bit_for_each_category_and_one_for_unknown(coded, taxonomy):
    assert coded.schema == coded_steps_schema(taxonomy)
    assert coded["step"].to_list() == [1, 2, 3, 4]
    colours = taxonomy.categories["hair color"]
    black_and_brown = 1 << colours.index("black hair") | 1 << colours.index("brown hair")
    assert coded["mask_hair_color"].to_list() == [
        black_and_brown,
        1 << colours.index("red hair"),
        LAST_BIT,
        LAST_BIT,
    ]
    assert coded["mask_hats"].to_list() == [0, LAST_BIT, LAST_BIT, LAST_BIT]
    # What an unparsable answer left behind is no state.
    assert coded["mask_beard"].to_list()[1:] == [0, LAST_BIT, LAST_BIT]


def test_the_compact_form_survives_a_file(coded, taxonomy, photos, a_photo):
    data = io.BytesIO()
    coded.write_parquet(data)
    data.seek(0)
    again = pl.read_parquet(data)
    assert again.schema == coded.schema
    assert planned_sessions(again, photos([a_photo()]), taxonomy).n_steps.tolist() == [4]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask_hats": pl.lit(1 << 14, dtype=pl.UInt16)}, "mask_hats is not a set of categories .*step=1"),
        ({"mask_hats": pl.lit(None, dtype=pl.UInt16)}, "mask_hats is not a set of categories"),
        ({"mask_hats": pl.lit(1, dtype=pl.Int64)}, "column 'mask_hats' is Int64, not UInt16"),
        ({"fss": pl.lit(float("nan"))}, "fss is not finite"),
        ({"step": pl.lit(1, dtype=pl.UInt8)}, "a row is there twice"),
        ({"step": pl.col("step") + 1}, "do not count 1, 2, 3"),
    ],
)
def test_a_wrong_compact_table_is_refused(coded, taxonomy, photos, a_photo, change, message):
    with pytest.raises(MetricError, match=message):
        planned_sessions(coded.with_columns(**change), photos([a_photo()]), taxonomy)


def test_sessions_of_unequal_length(taxonomy, steps, photos, a_step, a_photo):
    rows = [a_step(1), a_step(1, session="x"), a_step(2, session="x")]
    planned = planned_sessions(steps(rows), photos([a_photo()]), taxonomy)
    assert planned.n_steps.tolist() == [1, 2]
    assert planned.planned.tolist() == [[True, False], [True, True]]
    assert planned.states.shape == (2, 3, 8)
    assert planned.complete.all()


def test_names_and_bits():
    names = ("a", "b", "c")
    masks, strange = masks_of(pl.Series([["c", "a", "c"], [], None, ["b"]]), names)
    assert (masks.tolist(), strange) == ([5, 0, int(LAST_BIT), 2], None)
    assert masks_of(pl.Series([[], ["a"], ["z"]]), names)[1] == 2
    assert masks_of(pl.Series([["a", None]]), names)[1] == 0
    assert names_in(5, names, "none") == ("a", "c")
    assert names_in(int(LAST_BIT), names, "none") == ("none",)
    assert mask_column("head position") == "mask_head_position"


def test_a_sub_axis_that_does_not_fit_is_refused(taxonomy):
    dump = taxonomy.model_dump()
    categories = [{"name": f"c{number}", "attributes": (f"a{number}",)} for number in range(16)]
    dump["axes"] = [{"name": "x", "sub_axes": [{"name": "y", "categories": categories}]}]
    with pytest.raises(MetricError, match="'y' has 16 categories"):
        mask_schema(Taxonomy.model_validate(dump))
