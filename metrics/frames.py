"""The tables that go into and come out of the metrics: their columns, types and checks."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from domain.taxonomy import Taxonomy

_CATEGORIES = pl.List(pl.String)

PHOTOS = pl.Schema(
    {
        "dataset": pl.String,
        "photo": pl.String,
        "subject": pl.String,
        "fss0": pl.Float64,
        "n_references": pl.Int64,
        "near_duplicate": pl.Boolean,
        "groups": _CATEGORIES,
    }
)
"""Base photos, one row each, without the state columns (`photos_schema` adds them).

`subject` is null where the person is unknown; `fss0` where it was not measured; `groups` holds
"name=value".
"""

STEPS = pl.Schema(
    {
        "suite": pl.String,
        "dataset": pl.String,
        "model": pl.String,
        "photo": pl.String,
        "subject": pl.String,
        "session": pl.String,
        "test_set": pl.String,
        "step": pl.Int64,
        "prompt": pl.String,
        "asked_sub_axis": pl.String,
        "asked_category": pl.String,
        "keep": pl.Boolean,
        "outcome": pl.String,
        "reason": pl.String,
        "face": pl.String,
        "n_faces": pl.Int64,
        "fss": pl.Float64,
        "judgement": pl.String,
        "success": pl.Float64,
        "overediting": pl.Float64,
        "tracked": pl.String,
    }
)
"""Planned steps, one row each, finished or not, without the state columns (`steps_schema` adds them).

`step` counts from 1; `fss` is the raw cosine, -1 to 1; `success` and `overediting` are 0 to 10.
"""

SESSION_KEY = ("suite", "dataset", "model", "photo", "session")
"""The columns that name one session of one photo with one model."""

ALLOWED = {
    "outcome": ("edited", "refused", "no_image", "failed", "not_run"),
    "face": ("found", "no_face", "unreadable"),
    "judgement": ("scored", "unparsable", "missing"),
    "tracked": ("tracked", "unparsable", "missing"),
}
"""Values of the closed columns of `STEPS`; all but `outcome` may be null, which reads as not done."""

SESSIONS = pl.Schema(
    {
        **{name: pl.String for name in (*SESSION_KEY, "test_set", "subject")},
        "n_steps": pl.Int64,
        "complete": pl.Boolean,
        "stopped": pl.String,
        "stopped_reason": pl.String,
        "drop_fss": pl.Float64,
        "drop_fss_excluded": pl.String,
        "sc": pl.Float64,
        "sc_excluded": pl.String,
        "oer": pl.Float64,
        "oer_no_facial_hair": pl.Float64,
        "oer_excluded": pl.String,
        "n_examined": pl.Int64,
        "n_no_face": pl.Int64,
        "n_unparsable": pl.Int64,
        "unknown_state": pl.Boolean,
        "missed_edits": pl.Int64,
        "keep_violations": pl.Int64,
    }
)
"""Scores of one session a row; a score that is null names its reason in `<score>_excluded`."""

METRICS = ("drop_fss", "sc", "oer", "oer_no_facial_hair")
"""The scores that a leaderboard averages."""

STOPS = {"refused": "refusal", "no_image": "no_image", "failed": "failed", "not_run": "not_run"}
"""The leaderboard's rate for each outcome that ends a session."""


def estimate_columns(name: str) -> dict[str, type[pl.DataType]]:
    """The columns of one mean: value, 95 % interval, values averaged, independent clusters."""
    return {
        name: pl.Float64,
        f"{name}_low": pl.Float64,
        f"{name}_high": pl.Float64,
        f"{name}_n": pl.Int64,
        f"{name}_clusters": pl.Int64,
    }


def leaderboard_schema(metrics: Sequence[str] = METRICS) -> pl.Schema:
    """The columns of a leaderboard over these scores."""
    columns: dict[str, type[pl.DataType]] = {
        name: pl.String for name in ("suite", "dataset", "test_set", "model")
    }
    columns |= {"n_planned": pl.Int64, "n_complete": pl.Int64}
    for name in metrics:
        columns |= estimate_columns(name)
    columns |= {name: pl.Float64 for name in ("completion", *STOPS.values(), "no_face")}
    columns |= {name: pl.String for name in ("no_face_rule", "overedit_rule", "occlusion", "interval")}
    return pl.Schema(columns)


LEADERBOARD = leaderboard_schema()
"""One row per model and test set, and one pooled over them."""

PROGRESSION = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model")},
        "step": pl.Int64,
        **estimate_columns("fss"),
    }
)
"""Mean FSS of a model at each step; step 0 is the base photo."""

OVEREDITS = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "intended", "found")},
        "count": pl.Int64,
        "prompts": pl.Int64,
        "rate": pl.Float64,
        "eligible": pl.Int64,
        "rate_eligible": pl.Float64,
    }
)
"""Cells of the overediting matrix."""

MISSED_EDITS = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "intended", "found")},
        "count": pl.Int64,
        "prompts": pl.Int64,
        "rate": pl.Float64,
    }
)
"""What was found in the asked sub-axis instead of the asked category."""

COVERAGE = pl.Schema(
    {
        **{name: pl.String for name in ("suite", "dataset", "model", "test_set", "what", "reason")},
        "n": pl.Int64,
    }
)
"""Everything that is left out of a mean, counted."""

TRACKER_ACCURACY = pl.Schema(
    {
        "sub_axis": pl.String,
        "n": pl.Int64,
        "n_equal": pl.Int64,
        "share": pl.Float64,
        "n_truth_unknown": pl.Int64,
        "n_found_unknown": pl.Int64,
    }
)
"""Agreement of a state tracker with a known truth."""

TRACKER_CONFUSION = pl.Schema(
    {
        **{name: pl.String for name in ("sub_axis", "truth", "found")},
        "count": pl.Int64,
        "n_left_out": pl.Int64,
    }
)
"""Which category a state tracker takes for which."""


def state_column(sub_axis: str) -> str:
    """The column that holds the categories of a sub-axis: null = unknown, empty = seen to be absent."""
    return "state_" + sub_axis.replace(" ", "_")


def photos_schema(taxonomy: Taxonomy) -> pl.Schema:
    """`PHOTOS` with a state column for each sub-axis."""
    return pl.Schema({**PHOTOS, **_state_columns(taxonomy)})


def steps_schema(taxonomy: Taxonomy) -> pl.Schema:
    """`STEPS` with a state column for each sub-axis."""
    return pl.Schema({**STEPS, **_state_columns(taxonomy)})


def _state_columns(taxonomy: Taxonomy) -> dict[str, pl.List]:
    return {state_column(sub_axis): _CATEGORIES for sub_axis in taxonomy.sub_axes}
