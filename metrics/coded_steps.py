"""The compact form of a table of steps: what scoring reads, with states as bit masks.

The readable form (`metrics.frames.steps_schema`) and this one hold the same; scoring takes either. Reading
lists of names back from Parquet costs more than all the scoring does, so a snapshot keeps both.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from domain.errors import MetricError
from domain.taxonomy import Taxonomy
from metrics.checked_tables import StepRows, checked_step_rows
from metrics.frames import ALLOWED, SESSION_KEY, state_column, steps_schema
from metrics.masks import LAST_BIT, Masks, mask_column, mask_schema, masks_of
from metrics.row_checks import Check, columns_of, refuse_rows, row_error

_KEY = (*SESSION_KEY, "step")


def coded_steps_schema(taxonomy: Taxonomy) -> pl.Schema:
    """The columns of the compact form; those it shares with `STEPS` mean the same.

    Names are categoricals, closed columns enums, `asked_category` an enum of the taxonomy's categories
    (each has one sub-axis). `mask_<sub-axis>` holds a bit for each category in the taxonomy's order and
    the bit 2^15 where the feature is unknown; 0 = seen to be absent.
    """
    closed = {name: pl.Enum(values) for name, values in ALLOWED.items()}
    return pl.Schema(
        {
            **{name: pl.Categorical() for name in (*SESSION_KEY, "subject", "test_set")},
            "step": pl.UInt8(),
            "asked_category": pl.Enum(list(taxonomy.sub_axis_of)),
            "keep": pl.Boolean(),
            "outcome": closed["outcome"],
            "reason": pl.Categorical(),
            "face": closed["face"],
            "fss": pl.Float64(),
            "judgement": closed["judgement"],
            "success": pl.Float64(),
            "overediting": pl.Float64(),
            "tracked": closed["tracked"],
            **{name: kind() for name, kind in mask_schema(taxonomy).items()},
        }
    )


def code_steps(steps: pl.DataFrame, taxonomy: Taxonomy) -> pl.DataFrame:
    """The compact form of a table of steps.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.

    Returns:
        Frame `coded_steps_schema(taxonomy)`, sorted by session and step.

    Raises:
        MetricError: The table is malformed, or a category is not of its sub-axis; the row is named.

    """
    frame = checked_step_rows(columns_of(steps, steps_schema(taxonomy), "steps")).frame
    _refuse_intents(frame, taxonomy)
    tracked = (frame["tracked"] == "tracked").fill_null(value=False)
    masks = {
        mask_column(name): np.where(tracked.to_numpy(), _step_masks(frame, name, taxonomy), LAST_BIT)
        for name in taxonomy.sub_axes
    }
    schema = coded_steps_schema(taxonomy)
    return frame.with_columns(pl.Series(name, held) for name, held in masks.items()).select(
        pl.col(name).cast(kind) for name, kind in schema.items()
    )


def coded_rows(steps: pl.DataFrame, taxonomy: Taxonomy) -> StepRows:
    """A checked table of steps in the compact form, from either form.

    Raises:
        MetricError: As `code_steps`.

    """
    coded = steps if mask_column(taxonomy.sub_axes[0]) in steps.columns else code_steps(steps, taxonomy)
    frame = columns_of(coded, coded_steps_schema(taxonomy), "steps")
    checks: list[Check] = []
    for sub_axis, names in taxonomy.categories.items():
        column = mask_column(sub_axis)
        mask = pl.col(column)
        strange = (mask >= 1 << len(names)) & (mask != int(LAST_BIT))
        checks.append((f"{column} is not a set of categories", mask.is_null() | strange))
    refuse_rows(frame, checks, _KEY)
    return checked_step_rows(frame)


def photo_masks(photos: pl.DataFrame, taxonomy: Taxonomy) -> Masks:
    """States of base photos, shape `(photos, sub-axes)`.

    Args:
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.

    Raises:
        MetricError: A category is not of its sub-axis; the photo is named.

    """
    columns: list[Masks] = []
    for sub_axis, names in taxonomy.categories.items():
        masks, strange = masks_of(photos[state_column(sub_axis)], names)
        if strange is not None:
            raise _strange(photos, sub_axis, taxonomy, strange, 0, ("dataset", "photo"))
        columns.append(masks)
    return np.stack(columns, axis=1)


def _step_masks(frame: pl.DataFrame, sub_axis: str, taxonomy: Taxonomy) -> Masks:
    column = state_column(sub_axis)
    # What an unparsable answer left behind is not a state.
    states = frame.select(pl.when(pl.col("tracked") == "tracked").then(pl.col(column))).to_series()
    masks, strange = masks_of(states, taxonomy.categories[sub_axis])
    if strange is not None:
        named = frame.with_columns(states.alias(column))
        raise _strange(named, sub_axis, taxonomy, strange, int(frame["step"][strange]), SESSION_KEY)
    return masks


def _strange(
    frame: pl.DataFrame, sub_axis: str, taxonomy: Taxonomy, row: int, number: int, key: tuple[str, ...]
) -> MetricError:
    known = taxonomy.categories[sub_axis]
    name = next(name for name in frame[state_column(sub_axis)][row] if name not in known)
    return row_error(f"state {number}: {name!r} is not a category of {sub_axis!r}", frame, row, key)


def _refuse_intents(frame: pl.DataFrame, taxonomy: Taxonomy) -> None:
    asked = frame.select("asked_category", "asked_sub_axis").unique().rows()
    wrong = [(c, s) for c, s in asked if s is None or taxonomy.sub_axis_of.get(c) != s]
    refuse_rows(
        frame,
        (
            (
                f"{category!r} is not a category of {sub_axis!r}",
                (pl.col("asked_category") == category) & pl.col("asked_sub_axis").eq_missing(sub_axis),
            )
            for category, sub_axis in sorted(wrong, key=repr)
        ),
        _KEY,
    )
