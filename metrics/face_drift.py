"""How much of the original face is left after each step of a chain of everyday edits."""

from __future__ import annotations

import numpy as np
import polars as pl

from domain.errors import MetricError
from metrics.intervals import cluster_bootstrap_interval
from metrics.row_checks import columns_of, refuse_twice
from metrics.similarity import NoFaceRule, counted_fss

_KEY = ("suite", "dataset", "model")
FACE = pl.Schema(
    {
        **{name: pl.String for name in (*_KEY, "photo", "subject", "session")},
        "step": pl.Int64,
        "fss": pl.Float64,
    }
)
"""One step of a complete chain a row; `fss` is null where the step's image shows no face."""
FACE_DRIFT = pl.Schema(
    {
        **{name: pl.String for name in _KEY},
        "step": pl.Int64,
        "fss": pl.Float64,
        "fss_low": pl.Float64,
        "fss_high": pl.Float64,
        "n": pl.Int64,
        "clusters": pl.Int64,
        "n_no_face": pl.Int64,
    }
)
"""Mean FSS of a model at each step; step 0 is the original photo, whose own face it is compared with."""


def face_drift(
    faces: pl.DataFrame, *, rng: np.random.Generator, resamples: int, no_face: NoFaceRule = "zero"
) -> pl.DataFrame:
    """Mean similarity to the original face at steps 0, 1, 2, …, over the same chains at every step.

    Args:
        faces: Columns `FACE`; of each chain steps 1 to its last.
        rng: Source of the resamples, which are of people (subjects).
        resamples: Resamples drawn.
        no_face: What an image without a face counts as: FSS 0, no image, or a chain without FSS.

    Returns:
        Frame `FACE_DRIFT`, sorted by suite, dataset, model and step; `fss` 0 to 1, high = same person; a step
        at which nothing counts has no row. A model without chains has none.

    Raises:
        MetricError: A column is absent, a step is there twice or missing, or a value is not finite.

    References:
        The multi-step identity-drift leaderboard, section 5; cosine to the original as in arXiv 2608.28802.

    """
    held = refuse_twice(
        columns_of(faces, FACE, "faces"), (*_KEY, "photo", "session", "step"), "the step is there twice"
    )
    rows: list[dict[str, object]] = []
    for key, of_model in held.sort(*_KEY, "photo", "session", "step").group_by(_KEY, maintain_order=True):
        named = dict(zip(_KEY, key, strict=True))
        fss, planned, subjects = _table(of_model)
        counted = counted_fss(fss, planned, no_face)
        usable = ~np.isnan(counted).all(axis=1)
        base = np.where(usable, 1.0, np.nan)[:, np.newaxis]
        missing = np.concatenate([np.zeros((len(fss), 1), bool), np.isnan(fss) & planned], axis=1)
        for step, values in enumerate(np.concatenate([base, counted], axis=1).T):
            there = ~np.isnan(values)
            if not there.any():
                continue
            found = cluster_bootstrap_interval(
                values[there].tolist(), subjects[there].tolist(), rng=rng, resamples=resamples
            )
            rows.append(
                {
                    **named,
                    "step": step,
                    "fss": found.mean,
                    "fss_low": found.low,
                    "fss_high": found.high,
                    "n": found.n,
                    "clusters": found.clusters,
                    "n_no_face": int(missing[usable, step].sum()),
                }
            )
    return pl.DataFrame(rows, FACE_DRIFT)


def _table(of_model: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """FSS of each chain and step, which of them are planned, and whose photo each chain is of."""
    chains = of_model.group_by("photo", "session", maintain_order=True).agg(
        pl.col("subject").first(), pl.col("step"), pl.col("fss")
    )
    most = int(chains["step"].list.len().max() or 0)  # type: ignore[arg-type]
    fss, planned = np.full((chains.height, most), np.nan), np.zeros((chains.height, most), bool)
    for row, (photo, _, steps, values) in enumerate(
        chains.select("photo", "session", "step", "fss").iter_rows()
    ):
        if steps != list(range(1, len(steps) + 1)):
            raise MetricError(f"the chain of {photo!r} has steps {steps}, not each from 1 on")
        planned[row, : len(steps)] = True
        fss[row, : len(steps)] = [np.nan if value is None else value for value in values]
    return fss, planned, chains["subject"].to_numpy()
