"""Rankings by people's votes, as a page shows them: the board, the win matrix, and how sure it all is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from adapters.pages.site.picture_views import MatchExample, Matchups, Picture, WinCell
from adapters.pages.site.views import Board, BoardLine, Column, Figure, Switch, Table
from domain.runs import RunPlan
from tasks.site_board import PRICE, change_note, is_apart, model_names, prices
from tasks.site_source import SiteSource
from tasks.site_tables import plain

COLUMNS = (
    Column(
        "rating", "rating", "strength by people's votes (Bradley–Terry)", "high", 0, has_interval=True,
    ),
    Column("completion", "complete", "share of its chains that a model finished", "high", 1, 100.0, " %"),
    Column(
        "fss", "similarity", "cosine of the last face to that of the original photo", "high", 3,
        has_interval=True,
    ),
    Column("wins", "wins", "matches won", "high", 0),
    Column("losses", "losses", "matches lost", "low", 0),
    Column("ties", "ties", "matches without a winner", "", 0, is_shown=False),
    PRICE,
)  # fmt: skip
RULE = (
    "Rank: 1 + the number of models whose whole 95 % interval of the rating is higher; below it the ranks "
    "that the interval allows. A model that finished too few chains is not ranked."
)
MOST_MATCHES = 60
ALL = ("all", "all")


def rating_board(source: SiteSource, before: SiteSource | None) -> Board:
    """The board of a suite that is ranked by votes."""
    table, run = source.table("ranking"), source.run
    old_table = None if before is None else before.maybe("ranking")
    old = {} if old_table is None else {_key(row): row for row in old_table.iter_rows(named=True)}
    completion, last = _completion(source), _last_similarity(source)
    paid = prices(run)
    lines = [
        _line(
            row,
            old.get(_key(row)),
            {"completion": completion.get(row["model"]), "fss": last.get(row["model"])},
            paid,
        )
        for row in table.iter_rows(named=True)
    ]
    views = list(dict.fromkeys(line.where["dimension"] for line in lines))
    views.sort(key=lambda name: name != "all")
    options = [
        (name, "everything" if name == "all" else name.replace("_", " ").replace("=", ": ")) for name in views
    ]
    return Board(
        columns=COLUMNS,
        switches=[Switch("dimension", "Photos and edits", options)],
        lines=lines,
        models=model_names(run),
        sorted_by="rating",
        rank_rule=RULE,
        has_ranks=True,
        change_note=change_note(run, before if old else None),
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
    whole = (row["dimension"], row["value"]) == ALL
    ranks = (row["rank"], row["rank_low"], row["rank_high"])
    return BoardLine(
        model=row["model"],
        where={"dimension": "all" if whole else f"{row['dimension']}={row['value']}"},
        figures={
            "rating": Figure(value, low, high, row["n_matches"], change, is_apart(low, high, old, "rating")),
            **{name: Figure(row[name]) for name in ("wins", "losses", "ties")},
            **{name: figure for name, figure in more.items() if figure is not None and whole},
            PRICE.id: paid[row["model"]],
        },
        ranks=None if None in ranks else ranks,
        note=row["note"] or "",
    )


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
        share = "unknown" if row["completion"] is None else f"{row['completion']:.0%}"
        reason = (row["reason"] or "").replace("_", " ")
        yield (
            names.get(row["model"]) or str(row["model"]),
            f"{reason}: {share} of {row['n_chains']} chains complete",
        )


def matchups_of(source: SiteSource) -> Matchups | None:
    """The win matrix and some of its matches; None where there are no votes."""
    table = source.maybe("matchups")
    if table is None:
        return None
    whole = table.filter((pl.col("dimension") == "all") & (pl.col("value") == "all"))
    models = _by_rating(source, whole)
    held = {(row["model"], row["other"]): row for row in whole.iter_rows(named=True)}
    cells = [[_cell(held.get((a, b))) for b in models] for a in models]
    examples = _matches(source)
    note = "Share of matches that the model of the row won against that of the column; a tie is half a win."
    return Matchups(models, cells, examples, note)


def _by_rating(source: SiteSource, table: pl.DataFrame) -> list[str]:
    ranking = source.maybe("ranking")
    there = set(table["model"].to_list()) | set(table["other"].to_list())
    if ranking is None:
        return sorted(there)
    best = ranking.filter(pl.col("dimension") == "all").sort(
        "rating", "model", descending=[True, False], nulls_last=True
    )
    order = [model for model in best["model"].to_list() if model in there]
    return [*order, *sorted(there - set(order))]


def _cell(row: Mapping[str, Any] | None) -> WinCell | None:
    if row is None or row["win_rate"] is None:
        return None
    ends = "" if row["low"] is None else f"{row['low']:.0%}–{row['high']:.0%}"
    detail = " ".join(part for part in (ends, f"n={row['n_matches']}") if part)
    return WinCell(f"{row['win_rate']:.0%}", detail, round(row["win_rate"] * 10))


def _matches(source: SiteSource) -> list[MatchExample]:
    table = source.maybe("match_results")
    if table is None:
        return []
    pairs = table.sort("model_a", "model_b", "match").with_columns(
        pl.int_range(pl.len()).over("model_a", "model_b").alias("turn")
    )
    rows = pairs.sort("turn", "model_a", "model_b").head(MOST_MATCHES).iter_rows(named=True)
    return [_match(row) for row in rows]


def _match(row: Mapping[str, Any]) -> MatchExample:
    won = {"a": f"{row['model_a']} won", "b": f"{row['model_b']} won", "tie": "a tie"}.get(
        row["result"], "open"
    )
    votes = f"{row['votes_a']} : {row['votes_b']} votes" + (
        f", {row['votes_tie']} ties" if row["votes_tie"] else ""
    )

    def caption(side: str) -> str:
        fss = row[f"fss_{side}"]
        return row[f"model_{side}"] + ("" if fss is None else f", similarity {fss:.2f}")

    return MatchExample(
        title=f"{row['photo']} · {row['model_a']} / {row['model_b']}",
        original=Picture(row["original_sha256"], "png"),
        a=Picture(row["crop_a_sha256"], "png"),
        b=Picture(row["crop_b_sha256"], "png"),
        caption_a=caption("a"),
        caption_b=caption("b"),
        result=f"{won}: {votes}",
    )


def analysis_tables(source: SiteSource) -> list[Table]:
    """Whether metrics agree with people, and people with each other."""
    told = (
        (
            "metric_agreement",
            "Metric against people",
            "Share of matches on which a metric names the winner of the votes; ties and unknown are counted.",
        ),
        ("vote_agreement", "People with each other", "Agreement of the votes."),
        ("annotators", "Annotators", "Under pseudonyms; gold matches have a known answer."),
        ("vote_facts", "Votes and rules", "What was counted, and by which rules."),
    )
    found = ((title, text, source.maybe(name)) for name, title, text in told)
    return [plain(title, text, table) for title, text, table in found if table is not None]


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
