"""The leaderboard of a page: every test set, dataset and group, and what moved since the last snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from adapters.pages.site.views import Board, BoardLine, Column, Figure, ModelName, Switch
from domain.runs import RunPlan
from metrics.interval_ranks import interval_ranks
from metrics.leaderboard import POOLED
from metrics.session_scores import FLOOR_METRIC
from tasks.paper_text import TEST_SETS
from tasks.site_source import SiteSource

PRICE = Column(
    "price_per_100",
    "$ / 100 edits",
    "price of 100 edits by the model's card (list price on the day the card names), not what this run paid",
)
RATES = (
    Column("completion", "complete", "share of planned sessions with all images", "high", 1, 100.0, " %"),
    Column("refusal", "refused", "share of planned sessions that a refusal stopped", "low", 1, 100.0, " %"),
    Column(
        "no_image", "no image", "share of planned sessions that an answer without an image stopped", "low", 1,
        100.0, " %", is_shown=False,
    ),
    Column(
        "no_face", "no face", "share of edited images of complete sessions without a face", "low", 1, 100.0,
        " %", is_shown=False,
    ),
)  # fmt: skip
SCORES = (
    Column(
        "drop_fss", "Drop_FSS %", "mean loss of similarity to the person over the steps, in % of the photo's",
        "low", 1, has_interval=True,
    ),
    Column(
        "sc", "SC", "semantic consistency, 0 to 1: the worse of editing success and (no) overediting", "high",
        3, has_interval=True,
    ),
    Column("oer", "OER", "overedits per step: changes nobody asked for", "low", 3, has_interval=True),
    Column(
        "oer_no_facial_hair", "OER w/o facial hair",
        "the same without mustache and beard, which can only move for some people", "low", 3,
        has_interval=True, is_shown=False,
    ),
)  # fmt: skip
FLOOR = Column(
    FLOOR_METRIC, "Drop to floor %", "Drop_FSS on a scale where a photo of somebody else is 100", "low", 1,
    has_interval=True, is_shown=False,
)  # fmt: skip
GROUP_FACTOR = {"drop_fss": 1.0, "sc": 0.01, "oer": 0.01}
"""From the points of `group_means` to the unit of the leaderboard."""
RULE = (
    "Rank: 1 + the number of models of the same dataset whose whole 95 % interval is better by the column "
    "that the table is sorted by; models that no interval tells apart share a rank. Controls measure the "
    "measuring and have no rank; without an interval there is none."
)


def model_names(run: RunPlan) -> list[ModelName]:
    """How the models of a run are called."""
    return [ModelName(card.id, card.name, card.lab, card.is_control, card.note) for card in run.cards]


def prices(run: RunPlan) -> dict[str, Figure]:
    """Price of 100 edits of each model, by its card."""
    return {card.id: Figure(round(card.price_usd * 100, 4)) for card in run.cards}


def score_board(source: SiteSource, before: SiteSource | None) -> Board:
    """The board of a suite that is scored by metrics."""
    table, run = source.table("leaderboard"), source.run
    columns = [*SCORES, *((FLOOR,) if FLOOR_METRIC in table.columns else ()), *RATES, PRICE]
    paid = prices(run)
    old = {} if before is None else _by_key(before.table("leaderboard"))
    lines = [
        BoardLine(
            model=row["model"],
            where={"dataset": row["dataset"], "test_set": row["test_set"], "group": "all"},
            figures={
                **{c.id: _figure(row, c.id, old.get(_key(row))) for c in columns if c.has_interval},
                **{c.id: _rate(row, c.id, old.get(_key(row))) for c in RATES},
                PRICE.id: paid[row["model"]],
            },
        )
        for row in table.iter_rows(named=True)
    ]
    groups = list(_group_lines(source, paid))
    return Board(
        columns=columns,
        switches=_switches(source, groups),
        lines=_ranked(lines, run),
        models=model_names(run),
        sorted_by="drop_fss",
        rank_rule=RULE,
        change_note=change_note(run, before),
        is_change_fair=not other_than(run, before),
        later=groups,
    )


def change_note(run: RunPlan, before: SiteSource | None) -> str:
    """Against which snapshot changes are counted, and what makes that comparison unfair."""
    if before is None:
        return ""
    other = other_than(run, before)
    own, its = run.created_at, before.run.created_at
    when = its[:16].replace("T", " ") if own[:10] == its[:10] else its[:10]
    said = f"Change is against the snapshot {before.snapshot.digest[:16]} of {when}"
    return f"{said}, which had other {' and '.join(other)}." if other else f"{said}."


def other_than(run: RunPlan, before: SiteSource | None) -> list[str]:
    """In what a run is not like the one that it is compared with; a part of a suite has fewer photos."""
    if before is None:
        return []
    old = before.run
    both = set(run.settings_fingerprints) & set(old.settings_fingerprints)
    pairs = (
        ("judge", run.judge, old.judge),
        ("tracker", run.tracker, old.tracker),
        ("step checker", run.checker, old.checker),
        ("embedder", run.embedder, old.embedder),
        ("rules", run.suite.rules, old.suite.rules),
        ("photos", (run.dataset, sorted(run.photos)), (old.dataset, sorted(old.photos))),
        ("sessions", run.sessions, old.sessions),
        ("models", set(run.settings_fingerprints), set(old.settings_fingerprints)),
        ("settings of models", *({m: r.settings_fingerprints[m] for m in both} for r in (run, old))),
    )
    counts = {
        what: f" ({len(its)}, here {len(own)})"
        for what, own, its in (
            ("photos", run.photos, old.photos),
            ("sessions", run.sessions, old.sessions),
            ("models", run.cards, old.cards),
        )
        if len(own) != len(its)
    }
    return [f"{what}{counts.get(what, '')}" for what, own, its in pairs if own != its]


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["dataset"], row["test_set"], row["model"]


def _by_key(table: pl.DataFrame) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {_key(row): row for row in table.iter_rows(named=True)}


def _figure(row: Mapping[str, Any], name: str, old: Mapping[str, Any] | None) -> Figure:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    was = None if old is None else old.get(name)
    change = None if value is None or was is None else value - was
    return Figure(value, low, high, row[f"{name}_n"], change, is_apart(low, high, old, name))


def is_apart(low: float | None, high: float | None, old: Mapping[str, Any] | None, name: str) -> bool | None:
    """Whether an interval and the one before it do not meet; None where one is not known."""
    old_low, old_high = (None, None) if old is None else (old.get(f"{name}_low"), old.get(f"{name}_high"))
    if low is None or high is None or old_low is None or old_high is None:
        return None
    return bool(high < old_low or low > old_high)


def _rate(row: Mapping[str, Any], name: str, old: Mapping[str, Any] | None) -> Figure:
    was = None if old is None else old.get(name)
    change = None if row[name] is None or was is None else row[name] - was
    return Figure(row[name], n=row["n_planned"] if name == "completion" else None, change=change)


def _ranked(lines: list[BoardLine], run: RunPlan) -> list[BoardLine]:
    """The lines with the ranks of the column that is sorted by first."""
    views: dict[tuple[str, ...], list[BoardLine]] = {}
    for line in lines:
        views.setdefault(tuple(line.where.values()), []).append(line)
    ranks: dict[int, int | None] = {}
    for held in views.values():
        rivals = [line for line in held if not run.card[line.model].is_control]
        ends = [(line.figures["drop_fss"].low, line.figures["drop_fss"].high) for line in rivals]
        known = [None if low is None or high is None else (low, high) for low, high in ends]
        ranks |= dict(zip(map(id, rivals), interval_ranks(known, high_is_good=False), strict=True))
    return [
        BoardLine(line.model, line.where, line.figures, None if rank is None else (rank, rank, rank))
        for line in lines
        for rank in (ranks.get(id(line)),)
    ]


def _group_lines(source: SiteSource, paid: Mapping[str, Figure]) -> Iterator[BoardLine]:
    means = source.maybe("group_means")
    if means is None:
        return
    key = ["dataset", "model", "test_set", "axis", "group"]
    for (dataset, model, test_set, axis, group), rows in means.group_by(key, maintain_order=True):
        figures = {
            row["metric"]: Figure(
                *(
                    None if row[c] is None else row[c] * GROUP_FACTOR[row["metric"]]
                    for c in ("mean", "low", "high")
                ),
                n=row["n"],
            )
            for row in rows.iter_rows(named=True)
            if row["metric"] in GROUP_FACTOR
        }
        where = {"dataset": str(dataset), "test_set": str(test_set), "group": f"{axis}={group}"}
        yield BoardLine(str(model), where, {**figures, PRICE.id: paid[str(model)]})


def _switches(source: SiteSource, groups: list[BoardLine]) -> list[Switch]:
    table = source.table("leaderboard")
    datasets = sorted(table["dataset"].unique().to_list())
    there = set(table["test_set"].unique().to_list()) - {POOLED}
    order: list[str] = [*(name for name in TEST_SETS if name in there), *sorted(there - set(TEST_SETS))]
    names = list(dict.fromkeys(line.where["group"] for line in groups))
    every = [("*", "all, side by side")] if len(datasets) > 1 else []
    return [
        Switch("dataset", "Dataset", [*((name, name) for name in datasets), *every]),
        Switch("test_set", "Test set", [(POOLED, "all"), *((n, TEST_SETS.get(n) or n) for n in order)]),
        Switch(
            "group",
            "Group",
            [("all", "everybody"), *((n, n.replace("_", " × ", 1).replace("=", ": ")) for n in names)],
        ),
    ]
