"""How similar a face still is after each step."""

from __future__ import annotations

import numpy as np
import polars as pl

from domain.taxonomy import Taxonomy
from metrics.cell_means import bootstrap_means, normal_means, without_pools
from metrics.frames import PROGRESSION
from metrics.name_codes import cluster_codes, distinct, joined
from metrics.planned_sessions import PlannedSessions, planned_sessions
from metrics.session_scores import ScoringRules, seen_fss, session_fss
from metrics.similarity import counted_fss

_KEY = ("suite", "dataset", "model")


def progression(
    steps: pl.DataFrame, photos: pl.DataFrame, taxonomy: Taxonomy, rules: ScoringRules | None = None
) -> pl.DataFrame:
    """Mean FSS of each model at steps 0 (base photo), 1, 2, ...

    Over the sessions that have a Drop_FSS under the same rules; a step that the rule skips is left out
    of its mean.

    Args:
        steps: Frame `metrics.frames.steps_schema(taxonomy)` or its compact form.
        photos: Frame `metrics.frames.photos_schema(taxonomy)`.
        taxonomy: The sub-axes and their categories.
        rules: The rules in force; the defaults where None.

    Returns:
        Frame `metrics.frames.PROGRESSION`, sorted by suite, dataset, model and step; `fss` 0 to 1, high =
        same person, with its 95 % interval, n (images) and clusters (people).

    Raises:
        MetricError: A table is malformed; the row is named.

    References:
        arXiv 2608.28802, Figure 18.

    """
    return progression_frame(planned_sessions(steps, photos, taxonomy), rules or ScoringRules())


def progression_frame(planned: PlannedSessions, rules: ScoringRules) -> pl.DataFrame:
    """The progression of planned sessions: the frame of `progression`."""
    _, usable = session_fss(planned)
    counted = counted_fss(seen_fss(planned), planned.planned, rules.no_face)
    kept = np.flatnonzero(usable & ~np.isnan(counted).all(axis=1))
    fss = np.concatenate([planned.fss0[np.newaxis, kept], counted[kept].T])
    places = {name: held[kept] for name, held in planned.places.items()}
    models, model = distinct(joined([places[name] for name in _KEY]))
    cells = without_pools(model, cluster_codes(places["subject"], places["photo"]))
    means = (
        bootstrap_means(list(fss), cells, seed=rules.seed, resamples=rules.resamples)
        if rules.interval == "bootstrap"
        else [normal_means(values, cells) for values in fss]
    )
    names = planned.keys[kept[models]].select(_KEY)
    frame = pl.concat(
        names.with_columns(pl.Series("step", [step] * len(models), dtype=pl.Int64), **held.columns("fss"))
        for step, held in enumerate(means)
    )
    return frame.filter(pl.col("fss_n") > 0).select(PROGRESSION.names()).sort(*_KEY, "step")
