"""Examples are steps that the matrix counts: of each cell some, of different photos first."""

from __future__ import annotations

import polars as pl
import pytest
from synthetic import Plan, Run, synthetic_run

from domain.loading import load
from domain.taxonomy import Taxonomy
from metrics.masks import mask_column
from metrics.overedit_examples import CELL, EXAMPLES, overedit_examples
from metrics.overedit_tables import overediting_matrix

KEY = ["dataset", "model", "photo", "session", "step"]


@pytest.fixture(scope="module")
def taxonomy() -> Taxonomy:
    return load(Taxonomy, "face-edit-attributes")


@pytest.fixture(scope="module")
def run(taxonomy: Taxonomy) -> Run:
    pairs = (("celeba", "flux-dev"), ("celebset", "flux-dev"))
    return synthetic_run(taxonomy, 3, Plan(pairs=pairs, test_sets={"hair": 4, "pose": 2}, every=20))


def test_every_cell_has_as_many_examples_as_it_counts_up_to_the_limit(run: Run, taxonomy: Taxonomy):
    matrix = overediting_matrix(run.steps, run.photos, taxonomy)
    found = overedit_examples(run.steps, run.photos, taxonomy, per_cell=3)
    assert found.schema == EXAMPLES
    counted = found.group_by(CELL).len("shown")
    both = matrix.filter(pl.col("count") > 0).join(counted, on=list(CELL), how="full", coalesce=True)
    assert both.height > 100
    assert both["shown"].to_list() == [min(3, count) for count in both["count"]]
    every = overedit_examples(run.steps, run.photos, taxonomy, per_cell=10**6)
    assert every.height == matrix["count"].sum()


def test_an_example_shows_the_found_category_where_another_was_asked(run: Run, taxonomy: Taxonomy):
    found = overedit_examples(run.steps, run.photos, taxonomy)
    steps = run.steps.with_columns(
        pl.col("model", "photo", "session", "dataset", "asked_category").cast(pl.String)
    )
    joined = found.join(steps.with_columns(pl.col("step").cast(pl.Int64)), on=KEY)
    assert joined.height == found.height
    assert joined["intended"].to_list() == joined["asked_category"].to_list()
    seen = joined.filter(~pl.col("found").str.starts_with("None["))
    for row in seen.iter_rows(named=True):
        sub_axis = taxonomy.sub_axis_of[row["found"]]
        place = taxonomy.categories[sub_axis].index(row["found"])
        assert row[mask_column(sub_axis)] >> place & 1
        assert taxonomy.sub_axis_of[row["intended"]] != sub_axis


def test_other_photos_come_before_a_second_step_of_one(run: Run, taxonomy: Taxonomy):
    found = overedit_examples(run.steps, run.photos, taxonomy, per_cell=4)
    every = overedit_examples(run.steps, run.photos, taxonomy, per_cell=10**6)
    photos = every.group_by(CELL).agg(pl.col("photo").n_unique().alias("there"))
    shown = found.group_by(CELL).agg(pl.col("photo").n_unique().alias("shown")).join(photos, on=list(CELL))
    assert shown.filter(pl.col("there") > 1).height > 50
    assert shown["shown"].to_list() == [min(4, there) for there in shown["there"]]


def test_chosen_sessions_come_first(run: Run, taxonomy: Taxonomy):
    every = overedit_examples(run.steps, run.photos, taxonomy, per_cell=10**6)
    last = every.select("photo", "session").sort("photo", "session").tail(1)
    cells = every.join(last, on=["photo", "session"], how="semi").select(CELL).unique()
    found = overedit_examples(run.steps, run.photos, taxonomy, per_cell=1, first=last)
    hits = found.join(cells, on=list(CELL), how="semi").join(last, on=["photo", "session"], how="semi")
    assert hits.height == cells.height > 0
