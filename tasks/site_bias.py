"""Group means and distances between groups, as a page shows them."""

from __future__ import annotations

from typing import Any

import polars as pl

from adapters.pages.site.views import Bias, Figure, GroupLine, GroupMean, Table
from metrics.leaderboard import POOLED
from tasks.paper_text import METRICS
from tasks.site_source import SiteSource
from tasks.site_tables import plain
from tasks.site_words import names_of

PAIR = ("wd", "p", "p_adjusted", "prominent", "worst")
LINE = ("dataset", "test_set", "axis", "metric")


def bias_of(source: SiteSource) -> Bias | None:
    """How differently groups of people are treated; None where a suite compares none."""
    means, tests = source.maybe("group_means"), source.maybe("disparities")
    if means is None:
        return None
    distances: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    if tests is not None:
        for row in tests.iter_rows(named=True):
            pair = {"a": row["group_a"], "b": row["group_b"], **{name: row[name] for name in PAIR}}
            distances.setdefault((*(row[name] for name in LINE), row["model"]), []).append(pair)
    shown = {metric.column: metric.title for metric in METRICS}
    lines: list[GroupLine] = []
    kept = means.filter(pl.col("metric").is_in(list(shown)))
    for key, rows in kept.group_by([*LINE, "model"], maintain_order=True):
        found = [
            GroupMean(row["group"], Figure(row["mean"], row["low"], row["high"], row["n"]))
            for row in rows.iter_rows(named=True)
        ]
        where = {name: str(value) for name, value in zip(LINE, key[:-1], strict=True)}
        lines.append(GroupLine(where, str(key[-1]), found, distances.get(tuple(map(str, key)), [])))
    lines.sort(key=lambda line: line.where["test_set"] != POOLED)
    axes = {
        axis: list(
            dict.fromkeys(mean.group for line in lines if line.where["axis"] == axis for mean in line.means)
        )
        for axis in dict.fromkeys(line.where["axis"] for line in lines)
    }
    metrics = [item for item in shown.items() if any(line.where["metric"] == item[0] for line in lines)]
    return Bias(lines, axes, metrics, _pooled(tests, names_of(source.run)))


def _pooled(tests: pl.DataFrame | None, called: dict[str, str]) -> Table:
    title = "Distances over all test sets"
    if tests is None:
        return Table(title, "", [], [])
    columns = [
        *("model", "dataset", "axis", "metric", "group_a", "group_b", "mean_a", "mean_b"),
        *("wd", "p", "p_adjusted", "prominent"),
    ]
    return plain(title, "", tests.filter(pl.col("test_set") == POOLED).select(columns), called)
