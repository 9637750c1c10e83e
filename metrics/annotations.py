"""How well a state tracker agrees with people, and people with each other (Appendix E)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import combinations

import polars as pl

from domain.errors import MetricError
from metrics.agreement import Cell
from metrics.intervals import cluster_bootstrap_interval
from metrics.overediting import none_column
from metrics.relabelling import block_stream

VOTES = pl.Schema({name: pl.String for name in ("photo", "image", "sub_axis", "annotator", "category")})
"""One answer a row; `category` is null where the annotator saw none; no row = not answered.

`photo` is the base photo that the image comes from: its images are not independent of each other.
"""

TRACKED = pl.Schema({"image": pl.String, "sub_axis": pl.String, "categories": pl.List(pl.String)})
"""What a tracker saw: empty = none, null = unknown."""

HUMAN_AGREEMENT = pl.Schema(
    {
        "sub_axis": pl.String,
        **{name: pl.Int64 for name in ("n", "n_equal")},
        **{name: pl.Float64 for name in ("share", "low", "high")},
        "n_photos": pl.Int64,
        "n_found_unknown": pl.Int64,
        "n_tied": pl.Int64,
        **{name: pl.Float64 for name in ("ceiling", "alpha")},
        "n_alpha": pl.Int64,
    }
)
"""Agreement per sub-axis and over all (`ALL`)."""

ALL = "all"
"""The row over all sub-axes; it is dominated by features that are easy because absent."""


def majority(votes: Iterable[str | None]) -> frozenset[str | None]:
    """The categories with the most votes, all of them where they tie; None is a vote for "none seen".

    Raises:
        MetricError: There is no vote.

    References:
        arXiv 2608.28802, Appendix E.

    """
    counts = Counter(votes)
    if not counts:
        raise MetricError("no vote")
    most = max(counts.values())
    return frozenset(vote for vote, n in counts.items() if n == most)


def human_cells(votes: pl.DataFrame, tracked: pl.DataFrame) -> list[Cell]:
    """Majority of the people beside what the tracker saw, for `metrics.agreement`.

    Args:
        votes: Frame `VOTES`.
        tracked: Frame `TRACKED`; an image and sub-axis that is not there is unknown.

    Returns:
        One (sub-axis, truth, found) per image and sub-axis with a vote, sorted by image and sub-axis. A
        truth of none is empty; a tie with "none seen" holds `None[<sub-axis>]`, which no single answer
        equals.

    Raises:
        MetricError: A column is absent, or a row is there twice.

    References:
        arXiv 2608.28802, Appendix E and Figure 4.

    """
    return [cell for _, cell in _photo_cells(votes, tracked)]


def human_agreement(
    votes: pl.DataFrame, tracked: pl.DataFrame, *, seed: int = 0, resamples: int = 2_000
) -> pl.DataFrame:
    """Agreement of a tracker with the majority of people, per sub-axis and over all.

    Args:
        votes: Frame `VOTES`.
        tracked: Frame `TRACKED`.
        seed: Of the bootstrap over base photos.
        resamples: Resamples drawn.

    Returns:
        Frame `HUMAN_AGREEMENT`, sub-axes in alphabetical order, then `all`. `share` of the `n` cells known
        to the tracker are equal sets, 0 to 1, high is good, with its 95 % interval; null where n = 0.
        `ceiling` is the share that a tracker naming one category (or none) can reach at most: the cells
        whose people do not tie (`n_tied`). `alpha` is Krippendorff's of the people, nominal, over the
        `n_alpha` images with two votes; null where undefined; "none seen" is a category there, and in the
        row `all` categories of two sub-axes never meet.

    Raises:
        MetricError: A column is absent, or a row is there twice.

    References:
        arXiv 2608.28802, Appendix E.

    """
    cells = _photo_cells(votes, tracked)
    ratings = _ratings(votes)
    names = sorted({sub_axis for _, (sub_axis, _, _) in cells})
    rows = [
        _agreement_row(
            name,
            [pair for pair in cells if name in (ALL, pair[1][0])],
            [held for sub_axis, held in ratings if name in (ALL, sub_axis)],
            (seed, resamples),
        )
        for name in ((*names, ALL) if names else ())
    ]
    return pl.DataFrame(rows, schema=HUMAN_AGREEMENT)


def krippendorff_alpha(
    ratings: Sequence[Sequence[Hashable | None]],
    distance: Callable[[Hashable, Hashable], float] | None = None,
) -> float:
    """Agreement of several people beyond chance.

    alpha = 1 - D_o / D_e: mean distance of two ratings of one unit over that of any two ratings.

    Args:
        ratings: One sequence of ratings a unit, in any order; None is missing. Units with fewer than two
            ratings say nothing and are left out.
        distance: Of two different ratings, 0 to 1; nominal (always 1) where None. For sets of categories
            `masi_distance` over frozensets.

    Returns:
        Alpha, 1 = perfect, 0 = chance, below 0 = worse; high is good.

    Raises:
        MetricError: No unit has two ratings, or all ratings are equal: then chance agreement is perfect and
            alpha is not determined.

    References:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability,
        https://repository.upenn.edu/asc_papers/43; Hayes & Krippendorff (2007),
        doi:10.1080/19312450709336664.

    """
    pairable = [held for unit in ratings if len(held := [r for r in unit if r is not None]) > 1]
    if not pairable:
        raise MetricError("no unit has two ratings")
    far = distance or _nominal
    totals: Counter[Hashable] = Counter()
    observed = 0.0
    for held in pairable:
        counts = Counter(held)
        totals.update(counts)
        observed += 2 * _disagreement(counts, far) / (len(held) - 1)
    n = totals.total()
    expected = 2 * _disagreement(totals, far) / (n - 1)
    if expected == 0:
        raise MetricError("all ratings are equal, so alpha is not determined")
    return 1 - observed / expected


def masi_distance(a: Hashable, b: Hashable) -> float:
    """Distance of two sets of categories, 0 = equal, 1 = nothing shared.

    1 - J M with J the share of common members, and M = 1 for equal sets, 2/3 where one holds the other,
    1/3 where they overlap, 0 otherwise. Two empty sets are equal.

    Raises:
        MetricError: One is not a frozenset.

    References:
        Passonneau (2006), Measuring Agreement on Set-valued Items (MASI), LREC, section 3.

    """
    if not isinstance(a, frozenset) or not isinstance(b, frozenset):
        raise MetricError(f"not two frozensets: {a!r}, {b!r}")
    one: frozenset[Hashable] = frozenset(a)  # pyright: ignore[reportUnknownArgumentType]
    other: frozenset[Hashable] = frozenset(b)  # pyright: ignore[reportUnknownArgumentType]
    if one == other:
        return 0.0
    monotonicity = 2 / 3 if one <= other or other <= one else 1 / 3
    return 1 - monotonicity * len(one & other) / len(one | other)


def _nominal(_a: Hashable, _b: Hashable) -> float:
    return 1.0


def _disagreement(counts: Counter[Hashable], distance: Callable[[Hashable, Hashable], float]) -> float:
    """Sum of distances over unordered pairs of different ratings."""
    if distance is _nominal:
        return (counts.total() ** 2 - sum(n * n for n in counts.values())) / 2
    return sum(n * m * distance(a, b) for (a, n), (b, m) in combinations(counts.items(), 2))


def _photo_cells(votes: pl.DataFrame, tracked: pl.DataFrame) -> list[tuple[str, Cell]]:
    """The base photo of each cell beside it."""
    _check(votes, VOTES, ("image", "sub_axis", "annotator"), "votes")
    _check(tracked, TRACKED, ("image", "sub_axis"), "tracked")
    voted = votes.group_by("image", "sub_axis").agg("photo", "category").sort("image", "sub_axis")
    cells: list[tuple[str, Cell]] = []
    found = tracked.select(TRACKED.names())
    for row in voted.join(found, on=["image", "sub_axis"], how="left", maintain_order="left").iter_rows():
        image, sub_axis, photos, categories, seen = row
        if len(set(photos)) > 1:
            raise MetricError(f"image {image!r} comes from two photos")
        top = majority(categories)
        absent = none_column(sub_axis)
        named = sorted(absent if vote is None else vote for vote in top)
        truth = [] if named == [absent] else named
        cells.append((photos[0], (sub_axis, truth, seen)))
    return cells


def _ratings(votes: pl.DataFrame) -> list[tuple[str, list[Hashable | None]]]:
    """Ratings of each image and sub-axis, "none seen" as a category of its own."""
    named = votes.with_columns(pl.col("category").fill_null("").alias("category")).sort("image", "sub_axis")
    grouped = named.group_by("image", "sub_axis", maintain_order=True).agg("category")
    return [
        (sub_axis, [(sub_axis, category) for category in held]) for _, sub_axis, held in grouped.iter_rows()
    ]


def _agreement_row(
    name: str,
    cells: Sequence[tuple[str, Cell]],
    ratings: Sequence[Sequence[Hashable | None]],
    draws: tuple[int, int],
) -> dict[str, object]:
    seed, resamples = draws
    known = [
        (photo, truth, found) for photo, (_, truth, found) in cells if truth is not None and found is not None
    ]
    equal = [float(set(truth) == set(found)) for _, truth, found in known]
    tied = sum(len(truth) > 1 for _, truth, _ in known)
    photos = [photo for photo, _, _ in known]
    rng = block_stream(seed, ("human_agreement", name), 0)
    estimate = cluster_bootstrap_interval(equal, photos, rng=rng, resamples=resamples) if known else None
    pairable = [held for held in ratings if len(held) > 1]
    varied = len({rating for held in pairable for rating in held}) > 1
    return {
        "sub_axis": name,
        "n": len(known),
        "n_equal": int(sum(equal)),
        "share": estimate and estimate.mean,
        "low": estimate and estimate.low,
        "high": estimate and estimate.high,
        "n_photos": len(set(photos)),
        "n_found_unknown": len(cells) - len(known),
        "n_tied": tied,
        "ceiling": 1 - tied / len(known) if known else None,
        "alpha": krippendorff_alpha(pairable) if varied else None,
        "n_alpha": len(pairable),
    }


def _check(frame: pl.DataFrame, schema: pl.Schema, key: Sequence[str], table: str) -> None:
    for name, kind in schema.items():
        if frame.schema.get(name) != kind:
            raise MetricError(f"{table} have no column {name!r} of type {kind}")
    if frame.select(pl.struct(key).is_duplicated().any()).item():
        raise MetricError(f"{table}: a row is there twice")
    if frame.select(pl.any_horizontal(pl.col(*key).is_null()).any()).item():
        raise MetricError(f"{table}: one of {', '.join(key)} is null")
