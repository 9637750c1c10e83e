"""The newest report of a suite beside the paper, and the paper beside itself; kept with the report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from adapters.base import ObjectStore
from adapters.pages.markdown import escaped
from domain import keys
from domain.printed import PrintedPaper, Slip, printed_paper
from domain.suites import Rules
from tasks import ledger, wiring
from tasks.definitions import load_suite
from tasks.paper_closure import CHECKS, Closure, closures
from tasks.paper_comparison import VERDICTS, compare, compare_lists, counts_of, our_numbers, sorted_tables
from tasks.paper_text import NOTHING, number_text, rules_text
from tasks.pointers import current
from tasks.scoring import scan_table

NEEDED = (
    "leaderboard", "group_means", "disparities", "session_counts", "fss0_means", "fss0_distances",
    "occlusion_means", "occlusion_distances", "stereotype_means", "stereotype_distances", "patterns",
    "shared_attributes",
)  # fmt: skip
"""The tables of a snapshot that are compared."""

WITHOUT_SUITE = (
    "No suite was named: nothing of ours is compared; the paper's tables are checked by themselves."
)


@dataclass(frozen=True)
class PaperComparison:
    """All that `facedrift compare-paper` tells."""

    lead: str
    """What was compared, or why nothing was; one sentence or two."""
    cells: pl.DataFrame
    """Frame `tasks.paper_comparison.SCHEMA`."""
    lists: pl.DataFrame
    """Frame `tasks.paper_comparison.LIST_SCHEMA`."""
    closures: Sequence[Closure]
    slips: Sequence[Slip]
    """The known slips of the paper, each once."""
    has_ours: bool
    files: Sequence[str] = ()
    """Keys of what was written beside the report."""


def compare_with_paper(suite: str | None) -> PaperComparison:
    """Compare the newest report of a suite with the paper, and write what was found beside it.

    Args:
        suite: Id of a suite or path of its file; None compares the paper with itself only.

    Raises:
        DefinitionError: there is no such suite.
        StoreError: the report is of an older version and lacks a table.
    """
    paper = printed_paper()
    if suite is None:
        return _made(paper, {}, WITHOUT_SUITE)
    wanted, store = load_suite(suite), wiring.store()
    digest = newest_snapshot(store, wanted.id)
    if digest is None:
        return _made(
            paper, {}, f"Suite {wanted.id} has no report: nothing of ours is compared. Run it first: "
            f"facedrift run {wanted.id}. The paper's tables are checked by themselves.",
        )  # fmt: skip
    tables = {name: scan_table(store, wanted.id, digest, name).collect() for name in NEEDED}
    run = tables["leaderboard"]
    datasets = sorted({cell.dataset for cell in paper.cells})
    shared = run.filter(pl.col("dataset").is_in(datasets) & pl.col("model").is_in(list(paper.cards.values())))
    rules = ledger.read(store, keys.report(wanted.id, digest, "rules.json"), Rules) or wanted.rules
    lead = f"Suite {wanted.id}, snapshot {digest[:16]}; rules: {rules_text(rules)}."
    if shared.is_empty():
        lead += (
            f" It shares no model and dataset with the paper (datasets {', '.join(datasets)}), "
            "so every printed cell stands alone."
        )
    made = _made(paper, tables, lead)
    names = {f"compare_paper.{form}": data for form, data in comparison_files(made).items()}
    written = [keys.report(wanted.id, digest, name) for name in names]
    for key, data in zip(written, names.values(), strict=True):
        if store.get(key) != data:
            store.put(key, data)
    return PaperComparison(
        made.lead, made.cells, made.lists, made.closures, made.slips, made.has_ours, tuple(written)
    )


def _made(paper: PrintedPaper, tables: dict[str, pl.DataFrame], lead: str) -> PaperComparison:
    cells = compare(paper, our_numbers(tables) if tables else {})
    once = {slip.id: slip for slip in paper.slips}
    return PaperComparison(
        lead,
        cells,
        compare_lists(paper, tables),
        closures(paper),
        list(once.values()),
        has_ours=bool((cells["verdict"] != "not run").any()),
    )


def newest_snapshot(store: ObjectStore, suite: str) -> str | None:
    """The digest of the report that is a suite's board; None when there is none."""
    held = current(suite, store)
    return held.snapshot if held else None


def comparison_files(made: PaperComparison) -> dict[str, bytes]:
    """The comparison as CSV and Markdown, by the files' endings."""
    return {"csv": made.cells.write_csv().encode(), "md": comparison_markdown(made).encode()}


def comparison_markdown(made: PaperComparison) -> str:
    """Everything that was compared, as Markdown; cells that were not run are counted, not listed."""
    lines = ["# Our numbers beside those of arXiv 2608.28802", "", escaped(made.lead), ""]
    lines += _table(("table", *VERDICTS), _counted(made.cells))
    lines += ["", "## Cell by cell", ""]
    shown = made.cells.filter(pl.col("verdict") != "not run")
    lines += _table(CELL_HEADS, cell_rows(shown)) if shown.height else ["Nothing of the paper was run."]
    answered = made.lists.filter(pl.col("ours") != "not run")
    lines += ["", "## Models named in Tables 3 and 28", ""]
    rows = [[str(value) for value in row] for row in answered.iter_rows()]
    lines += _table(made.lists.columns, rows) if rows else ["Nothing of the paper was run."]
    lines += ["", "## The printed tables by themselves", ""]
    lines += _table(("check", "holds", "fails", "of these known slips"), closure_counts(made.closures))
    lines += ["", *_table(CLOSURE_HEADS, failed_rows(made.closures))]
    lines += ["", "## Known slips of the paper", ""]
    slips = [(str(slip.id), slip.where, slip.printed, slip.numbers_say, slip.severity) for slip in made.slips]
    lines += _table(("id", "where", "printed", "what the numbers say", "severity"), slips)
    return "\n".join(lines) + "\n"


CELL_HEADS = (
    "table", "dataset", "model", "test set", "group", "metric", "ours", "n", "printed", "difference",
    "verdict", "slips",
)  # fmt: skip
CLOSURE_HEADS = (
    "check", "table", "dataset", "model", "test set", "printed", "expected", "rounding", "slips",
)  # fmt: skip


def cell_rows(cells: pl.DataFrame) -> list[list[str]]:
    """Compared cells as texts, under `CELL_HEADS`; `*` marks a distance that is not significant."""
    rows: list[list[str]] = []
    for row in cells.iter_rows(named=True):
        digits = len(row["printed"].partition(".")[2])
        ours = number_text(row["ours"], digits) + ("*" if row["ours_significant"] == "no" else "")
        if row["ours_low"] is not None:
            ours += f" [{row['ours_low']:.{digits}f}, {row['ours_high']:.{digits}f}]"
        printed = row["printed"] + ("*" if row["printed_significant"] == "no" else "")
        printed += f" ± {row['printed_ci']}" if row["printed_ci"] else ""
        named = [row[name] for name in ("table", "dataset", "model", "test_set", "group", "metric")]
        gap = NOTHING if row["difference"] is None else f"{row['difference']:+.{digits}f}"
        rows.append([*named, ours, str(row["n"]), printed, gap, row["verdict"], row["slips"]])
    return rows


def _counted(cells: pl.DataFrame) -> list[list[str]]:
    counted = counts_of(cells)
    return [
        [table, *(str(counted[table][verdict]) for verdict in VERDICTS)]
        for table in sorted_tables(list(counted))
    ]


def closure_counts(made: Sequence[Closure]) -> list[list[str]]:
    """How many checks of each kind hold, fail, and fail because of a known slip."""
    rows: list[list[str]] = []
    for check, told in CHECKS.items():
        own = [item for item in made if item.check == check]
        failed = [item for item in own if not item.holds]
        known = sum(bool(item.slips) for item in failed)
        rows.append([told, str(len(own) - len(failed)), str(len(failed)), str(known)])
    return rows


def failed_rows(made: Sequence[Closure]) -> list[list[str]]:
    """The checks that fail, as texts under `CLOSURE_HEADS`."""
    return [
        [
            item.check, item.table, item.dataset, item.model, item.test_set, f"{abs(item.printed):g}",
            f"{abs(item.expected):.2f}", f"{item.tolerance:.3g}", ", ".join(map(str, item.slips)) or NOTHING,
        ]
        for item in made
        if not item.holds
    ]  # fmt: skip


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}"]
    return lines + [f"| {' | '.join(map(escaped, row))} |" for row in rows]
