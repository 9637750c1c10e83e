"""The board of a suite of prompt chains: by people's votes, or before anybody has voted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from adapters.pages.site.views import Board, BoardLine, Column, Figure, Switch
from domain.chains import DIMENSIONS
from domain.runs import RunPlan
from tasks.site_board import PRICE, change_note, is_apart, model_names, other_than, prices
from tasks.site_drift import completion_by
from tasks.site_notices import open_notice
from tasks.site_source import SiteSource
from tasks.site_votes import is_simulated
from tasks.site_words import REASONS, words

COLUMNS = (
    Column(
        "rating", "rating", "strength by people's votes (Bradley–Terry)", "high", 0, has_interval=True,
        has_open_ends=True,
    ),
    Column("completion", "complete", "share of its chains that a model finished", "high", 1, 100.0, " %"),
    Column(
        "fss", "similarity", "cosine of the last face to that of the original photo", "high", 3,
        has_interval=True,
    ),
    Column("n_votes", "votes", "votes on the matches of the model", "", 0),
    Column("n_photos", "photos", "photos that the model's matches are on", "", 0, is_shown=False),
    Column("wins", "wins", "matches won", "high", 0),
    Column("losses", "losses", "matches lost", "low", 0),
    Column("ties", "ties", "matches without a winner", "", 0, is_shown=False),
    PRICE,
)  # fmt: skip
SIMULATED = replace(COLUMNS[0], meaning="strength by the votes of a simulated crowd (Bradley–Terry)")
RULE = (
    "Rank: 1 + the number of models whose whole 95 % interval of the rating is higher; below it the ranks in "
    "95 % of the resampled photos. 400 points are odds of 10 to 1, and 1000 is the mean. “…” is an end of an "
    "interval that votes leave open; n counts matches. A model with too few complete chains is not ranked."
)
FEW_PHOTOS = 10
"""Below this many, a view says so."""
NOTES = {
    "unbeaten": "won every match: the votes give no rating",
    "winless": "lost every match: the votes give no rating",
    "disconnected": "met only some of the others: ratings of the two groups cannot be compared",
}
ALL = ("all", "all")
COUNTS = ("n_votes", "n_photos", "wins", "losses", "ties")


def rating_board(source: SiteSource, before: SiteSource | None) -> Board:
    """The board of a suite that is ranked by votes."""
    table, run = source.table("ranking"), source.run
    old_table = None if before is None else before.maybe("ranking")
    old = {} if old_table is None else {_key(row): row for row in old_table.iter_rows(named=True)}
    completion, last, parts = _completion(source), _last_similarity(source), completion_by(source)
    paid = prices(run)
    lines: list[BoardLine] = []
    for row in table.iter_rows(named=True):
        model = row["model"]
        if (row["dimension"], row["value"]) == ALL:
            more = {"completion": completion.get(model), "fss": last.get(model)}
        else:
            more = {"completion": _part(parts.get(_key(row)))}
        lines.append(_line(row, old.get(_key(row)), more, paid))
    return Board(
        columns=(SIMULATED, *COLUMNS[1:]) if is_simulated(source) else COLUMNS,
        switches=[Switch("dimension", "Photos and edits", _options(source, table))],
        lines=lines,
        models=model_names(run),
        sorted_by="rating",
        rank_rule=RULE,
        has_ranks=True,
        change_note=change_note(run, before if old else None),
        is_change_fair=not other_than(run, before if old else None),
        notices=open_notice(table),
        unranked=list(_unranked(source)),
    )


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["dimension"], row["value"], row["model"]


def _line(
    row: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    more: Mapping[str, Figure | None],
    paid: Mapping[str, Figure],
) -> BoardLine:
    value, low, high = row["rating"], row["rating_low"], row["rating_high"]
    was = None if old is None else old["rating"]
    change = None if value is None or was is None else value - was
    ranks = (row["rank"], row["rank_low"], row["rank_high"])
    return BoardLine(
        model=row["model"],
        where={"dimension": _view(row["dimension"], row["value"])},
        figures={
            "rating": Figure(value, low, high, row["n_matches"], change, is_apart(low, high, old, "rating")),
            **{name: Figure(row[name]) for name in COUNTS if name in row},
            **{name: figure for name, figure in more.items() if figure is not None},
            PRICE.id: paid[row["model"]],
        },
        ranks=_ranks(*ranks),
        note=NOTES.get(row["note"]) or words(row["note"] or ""),
    )


def _ranks(rank: int | None, low: int | None, high: int | None) -> tuple[int, int, int] | None:
    """A rank with its range; of a model that cannot be rated the range is not known."""
    return None if rank is None else (rank, low or rank, high or rank)


def _view(dimension: str, value: str) -> str:
    return "all" if (dimension, value) == ALL else f"{dimension}={value}"


def _options(source: SiteSource, table: pl.DataFrame) -> list[tuple[str, str]]:
    """The views that have a model, in the order of the dimensions, with how many photos each stands on."""
    there = set(table.select("dimension", "value").iter_rows())
    photos = _photos_by(source)
    made = [("all", "everything")]
    for name, values in DIMENSIONS.items():
        for value in values:
            if (name, value) in there:
                n = photos.get((name, value))
                few = ", few" if n is not None and n < FEW_PHOTOS else ""
                counted = "" if n is None else f" ({n} photo{'s' * (n != 1)}{few})"
                made.append((_view(name, value), f"{words(name)}: {value}{counted}"))
    return made


def _photos_by(source: SiteSource) -> dict[tuple[str, str], int]:
    chains = source.maybe("chains")
    if chains is None:
        return {}
    counts = ((name, chains.group_by(name).agg(pl.col("photo").n_unique())) for name in DIMENSIONS)
    return {(name, value): n for name, frame in counts for value, n in frame.iter_rows()}


def _part(found: tuple[float, int] | None) -> Figure | None:
    return None if found is None else Figure(found[0], n=found[1])


def _completion(source: SiteSource) -> dict[str, Figure]:
    table = source.maybe("completion")
    if table is None:
        return {}
    rows = table.select("model", "completion", "n_chains").iter_rows()
    return {model: Figure(share, n=n) for model, share, n in rows}


def _last_similarity(source: SiteSource) -> dict[str, Figure]:
    table = source.maybe("progression")
    if table is None:
        return {}
    n = "fss_n" if "fss_n" in table.columns else "n"
    last = table.filter(pl.col("step") == pl.col("step").max())
    rows = last.select("model", "fss", "fss_low", "fss_high", n).iter_rows()
    return {model: Figure(*figures) for model, *figures in rows}


def _unranked(source: SiteSource) -> Iterator[tuple[str, str]]:
    table = source.maybe("completion")
    if table is None:
        return
    names = {card.id: card.name for card in source.run.cards}
    for row in table.filter(~pl.col("ranked")).sort("model").iter_rows(named=True):
        reason = REASONS.get(row["reason"]) or words(row["reason"] or "")
        share = "" if row["completion"] is None else f" ({row['completion']:.0%})"
        done = f"{row['n_complete']} of {row['n_chains']} chains complete{share}"
        opened = f", {row['n_unfinished']} left open by errors" if row["n_unfinished"] else ""
        least = f"; ranked from {row['threshold']:.0%} on" if row["threshold"] is not None else ""
        yield names.get(row["model"]) or str(row["model"]), f"{reason}: {done}{opened}{least}"


def unranked_board(run: RunPlan, source: SiteSource) -> Board:
    """The board of a suite whose votes are still to come: what is known without them."""
    completion, last, paid = _completion(source), _last_similarity(source), prices(run)
    columns = [column for column in COLUMNS if column.id in ("completion", "fss", PRICE.id)]
    lines = [
        BoardLine(
            card.id,
            {"dimension": "all"},
            {
                name: figure
                for name, figure in (
                    ("completion", completion.get(card.id)),
                    ("fss", last.get(card.id)),
                    (PRICE.id, paid[card.id]),
                )
                if figure is not None
            },
        )
        for card in run.cards
    ]
    return Board(
        columns,
        [Switch("dimension", "Photos and edits", [("all", "everything")])],
        lines,
        model_names(run),
        "fss",
        "There are no ranks before people have voted.",
        has_ranks=True,
        unranked=list(_unranked(source)),
    )
