"""Won matches as matrices: wins of row over column, for each photo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from metrics.name_codes import ranked

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PhotoWins:
    """The matches of some models."""

    models: tuple[str, ...]
    """In alphabetical order."""
    photos: int
    by_photo: Floats
    """Wins of row over column on each photo, a tie half a win for each, shape `(photos, n, n)`."""

    @cached_property
    def total(self) -> Floats:
        """Over all photos, shape `(n, n)`."""
        return self.by_photo.sum(0)

    def of(self, members: NDArray[np.int64]) -> PhotoWins:
        """The matches among some of the models; all photos stay, so that resamples do."""
        return PhotoWins(
            tuple(self.models[int(k)] for k in members),
            self.photos,
            self.by_photo[:, members][:, :, members],
        )


def photo_wins(results: pl.DataFrame) -> PhotoWins:
    """The matrices of match results.

    Args:
        results: Frame `metrics.ranking_frames.RESULTS`; only photo, models and result are read.

    """
    names = pl.concat([results["model_a"], results["model_b"]])
    codes = ranked(names)
    a, b = codes[: results.height], codes[results.height :]
    photo = ranked(results["photo"])
    n, photos = int(codes.max(initial=-1)) + 1, int(photo.max(initial=-1)) + 1
    share = (
        results.select(
            pl.when(pl.col("result") == "a").then(1.0).when(pl.col("result") == "b").then(0.0).otherwise(0.5)
        )
        .to_series()
        .to_numpy()
    )
    cells = np.concatenate([(photo * n + a) * n + b, (photo * n + b) * n + a])
    wins = np.bincount(cells, weights=np.concatenate([share, 1 - share]), minlength=photos * n * n)
    models = names.unique().sort()
    return PhotoWins(tuple(models.to_list()), photos, wins.reshape(photos, n, n).astype(np.float64))
