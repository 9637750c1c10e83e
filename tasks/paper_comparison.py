"""Our tables beside the printed ones, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import polars as pl

from domain.printed import PrintedCell, PrintedPaper
from metrics.comparison_rules import LEVEL
from metrics.leaderboard import POOLED
from tasks.paper_text import METRICS

Verdict = Literal["equal", "overlaps", "differs", "not run"]
VERDICTS: tuple[Verdict, ...] = ("equal", "overlaps", "differs", "not run")
"""Within half a unit of the last printed digit; else intervals overlap or not; or nothing of ours."""

GROUPS = {
    "M": "male", "F": "female", "Y": "young", "O": "old", "ML": "male-light", "MD": "male-dark",
    "FL": "female-light", "FD": "female-dark", "with_accessory": "with", "without_accessory": "without",
}  # fmt: skip
"""The paper's groups by the values that they take."""

PAIRS = {
    "gender": {"male", "female"}, "skin": {"light", "dark"}, "age": {"young", "old"},
    "accessory": {"with", "without"},
}  # fmt: skip
"""The groups that a printed distance is between."""

SCHEMA = pl.Schema(
    {
        **{name: pl.String for name in ("table", "dataset", "model", "card", "test_set", "group", "metric")},
        **{name: pl.String for name in ("printed", "printed_ci", "printed_significant")},
        **{name: pl.Float64 for name in ("ours", "ours_low", "ours_high")},
        "ours_significant": pl.String,
        "n": pl.Int64,
        "difference": pl.Float64,
        "verdict": pl.String,
        "same_significance": pl.Boolean,
        "slips": pl.String,
    }
)
"""One printed cell a row; values in the printed unit, `slips` the ids of known slips about it."""

FACIAL_HAIR = "male_centric"
BASE = "base-images"


class Key(NamedTuple):
    """What names a number in both papers and ours; the card is empty for base photos."""

    dataset: str
    card: str
    test_set: str
    group: str
    metric: str


@dataclass(frozen=True)
class Ours:
    """A number of ours, in the printed unit."""

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    p: float | None = None


def our_numbers(tables: Mapping[str, pl.DataFrame]) -> dict[Key, Ours]:
    """Every number of a snapshot that the paper has a counterpart of.

    Args:
        tables: `leaderboard`, `group_means`, `disparities`, `session_counts`, and the means and distances of
            FSS₀, occlusion and stereotypes.
    """
    found = dict(_board(tables["leaderboard"]))
    found |= dict(_means(tables["group_means"]))
    found |= dict(_distances(tables["disparities"]))
    found |= dict(_counts(tables["session_counts"]))
    hair = pl.lit(FACIAL_HAIR).alias("test_set")
    found |= dict(_means(tables["stereotype_means"].with_columns(hair)))
    found |= dict(_distances(tables["stereotype_distances"].with_columns(hair)))
    base = (pl.lit("").alias("model"), pl.lit("base").alias("test_set"))
    for name in ("fss0", "occlusion"):
        found |= dict(_means(tables[f"{name}_means"].with_columns(*base)))
        found |= dict(_distances(tables[f"{name}_distances"].with_columns(*base)))
    return found


def _board(board: pl.DataFrame) -> Iterator[tuple[Key, Ours]]:
    for row in board.iter_rows(named=True):
        for metric in METRICS:
            mean, low, high = (
                None if row[name] is None else row[name] * metric.factor
                for name in (metric.column, f"{metric.column}_low", f"{metric.column}_high")
            )
            key = Key(row["dataset"], row["model"], row["test_set"], "all", f"mean_{metric.column}")
            yield key, Ours(mean, row[f"{metric.column}_n"], low, high)


def _printed_metric(metric: str) -> str:
    return "fss0_pct" if metric == "fss0" else metric


def _means(means: pl.DataFrame) -> Iterator[tuple[Key, Ours]]:
    for row in means.iter_rows(named=True):
        metric = f"mean_{_printed_metric(row['metric'])}"
        key = Key(row["dataset"], row["model"], row["test_set"], row["group"], metric)
        yield key, Ours(row["mean"], row["n"], row["low"], row["high"])
        if row["metric"] == "fss0":
            yield key._replace(metric="n_images"), Ours(float(row["n_photos"]), row["n_photos"])


def _distances(distances: pl.DataFrame) -> Iterator[tuple[Key, Ours]]:
    for row in distances.iter_rows(named=True):
        sides = {row["group_a"], row["group_b"]}
        metric = f"wd_{_printed_metric(row['metric'])}"
        for group in (name for name, pair in PAIRS.items() if pair == sides):
            key = Key(row["dataset"], row["model"], row["test_set"], group, metric)
            n = row["n_a"] + row["n_b"]
            yield key, Ours(row["wd"], n, p=row["p"])
            if group == "accessory":
                yield key._replace(metric="p_value"), Ours(row["p"], n)


def _counts(counts: pl.DataFrame) -> Iterator[tuple[Key, Ours]]:
    for row in counts.filter(pl.col("group").is_not_null()).iter_rows(named=True):
        key = Key(row["dataset"], row["model"], row["test_set"], row["group"], "n_sessions")
        yield key, Ours(float(row["n_sessions"]), row["n_sessions"])


def compare(paper: PrintedPaper, ours: Mapping[Key, Ours]) -> pl.DataFrame:
    """Every printed cell beside ours; frame `SCHEMA`, in the printed order."""
    return pl.DataFrame([_row(paper, cell, ours) for cell in paper.cells], schema=SCHEMA)


def key_of(paper: PrintedPaper, cell: PrintedCell) -> Key:
    """What a printed cell is called in our tables."""
    card = "" if cell.model == BASE else paper.cards.get(cell.model, cell.model)
    test_set = POOLED if cell.test_set == "avg" else cell.test_set
    return Key(cell.dataset, card, test_set, GROUPS.get(cell.group, cell.group), cell.metric)


def _row(paper: PrintedPaper, cell: PrintedCell, ours: Mapping[Key, Ours]) -> dict[str, Any]:
    key = key_of(paper, cell)
    found = ours.get(key)
    row: dict[str, Any] = {
        "table": cell.table, "dataset": cell.dataset, "model": cell.model, "card": key.card,
        "test_set": cell.test_set, "group": cell.group, "metric": cell.metric, "printed": cell.value,
        "printed_ci": cell.ci, "printed_significant": cell.significant,
        "slips": ", ".join(map(str, paper.slips_of(cell))), "n": 0 if found is None else found.n,
        "verdict": "not run",
    }  # fmt: skip
    if found is None or found.value is None:
        return row
    star = None if found.p is None else "yes" if found.p < LEVEL else "no"
    return row | {
        "ours": found.value,
        "ours_low": found.low,
        "ours_high": found.high,
        "ours_significant": star,
        "difference": found.value - cell.number,
        "verdict": verdict(cell, found),
        "same_significance": None if star is None or cell.significant is None else star == cell.significant,
    }


def verdict(cell: PrintedCell, ours: Ours) -> Verdict:
    """How a number of ours stands to a printed one."""
    if ours.value is None:
        return "not run"
    # A hair more than half a unit: 24.605 is no binary number.
    if abs(ours.value - cell.number) <= cell.half_unit * (1 + 1e-9):
        return "equal"
    low, high = _printed_interval(cell)
    ours_low = ours.value if ours.low is None else ours.low
    ours_high = ours.value if ours.high is None else ours.high
    has_interval = cell.ci is not None or ours.low is not None
    return "overlaps" if has_interval and ours_low <= high and low <= ours_high else "differs"


def _printed_interval(cell: PrintedCell) -> tuple[float, float]:
    """The printed interval, or what rounding allows."""
    half = cell.half_unit if cell.ci is None else float(cell.ci)
    return cell.number - half, cell.number + half


LIST_SCHEMA = pl.Schema(
    {name: pl.String for name in ("table", "dataset", "what", "model", "card", "printed", "ours")}
)
"""A model that the paper names in a list, or that ours names: `yes`, `no` or `not run`."""


def compare_lists(paper: PrintedPaper, tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Tables 3 and 28, which name models and no numbers; frame `LIST_SCHEMA`, sorted.

    Args:
        paper: The printed tables.
        tables: `leaderboard`, `patterns` and `shared_attributes`; none where nothing was run.
    """
    run = _have_run(tables)
    printed = {("3", p.dataset, f"{p.intended} → {p.found}", p.model) for p in paper.patterns}
    printed |= {("28", b.dataset, f"{b.axis}: {b.category}", b.model) for b in paper.attribute_bias}
    named = {card: model for model, card in paper.cards.items()}
    ours = {(*held[:3], named[held[3]]) for held in _our_lists(tables) if held[3] in named}
    shown = {held[:3] for held in printed}
    rows = [
        {
            "table": held[0], "dataset": held[1], "what": held[2], "model": held[3],
            "card": paper.cards.get(held[3], held[3]), "printed": "yes" if held in printed else "no",
            "ours": _answer(held in ours, (held[1], paper.cards.get(held[3], held[3])) in run),
        }
        for held in sorted(printed | {held for held in ours if held[:3] in shown})
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=LIST_SCHEMA)


def _have_run(tables: Mapping[str, pl.DataFrame]) -> set[tuple[str, str]]:
    if "leaderboard" not in tables:
        return set()
    held = tables["leaderboard"].filter((pl.col("test_set") == POOLED) & (pl.col("oer_n") > 0))
    return set(held.select("dataset", "model").rows())


def _our_lists(tables: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, str, str, str]]:
    if "patterns" in tables:
        for row in tables["patterns"].iter_rows(named=True):
            found = "None" if row["found"].startswith("None[") else row["found"]
            for model in row["models"]:
                yield "3", row["dataset"], f"{row['intended']} → {found}", model
    if "shared_attributes" in tables:
        for row in tables["shared_attributes"].iter_rows(named=True):
            for model in row["models"]:
                yield "28", row["dataset"], f"{row['axis']}: {row['category']}", model


def _answer(is_there: bool, was_run: bool) -> str:
    return "not run" if not was_run else "yes" if is_there else "no"


def counts_of(rows: pl.DataFrame) -> dict[str, dict[Verdict, int]]:
    """How many cells of each printed table have which verdict."""
    counted: dict[str, dict[Verdict, int]] = {}
    for row in rows.select("table", "verdict").iter_rows():
        table, found = row
        held = counted.setdefault(table, dict.fromkeys(VERDICTS, 0))
        held[found] += 1
    return counted


def sorted_tables(tables: Sequence[str]) -> list[str]:
    """Names of printed tables in the order of the paper: numbers first, then appendices."""
    return sorted(
        tables, key=lambda name: (not name[0].isdigit(), int("0" + "".join(filter(str.isdigit, name))), name)
    )
