"""The files of a snapshot that people read: tables in the paper's layout, figures, and the list of them all.

They are derived from the snapshot's tables, so they are no part of its digest: another version of the drawing
library must not make a snapshot of equal numbers another one. They are written once, the list last.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from adapters.base import ObjectStore
from adapters.pages.figures import draw
from adapters.pages.latex import latex_table
from adapters.pages.markdown import escaped, markdown_table
from domain import keys
from domain.runs import RunPlan, Snapshot
from domain.suites import Rules
from domain.taxonomy import Taxonomy
from tasks.definitions import taxonomy_of
from tasks.paper_figures import paper_figures
from tasks.paper_tables import Absent, paper_tables
from tasks.paper_text import Wording, rules_text
from tasks.scoring import TABLES, read_table

Entry = dict[str, Any]

USED = (
    "leaderboard", "progression", "coverage", "coverage_by_group", "overediting", "patterns",
    "tracker_confusion", "session_counts", "group_means", "disparities", "attribute_bias",
    "shared_attributes", "fss0_means", "fss0_distances", "occlusion_means", "occlusion_distances",
    "stereotype_means", "stereotype_distances", "sensitivity",
)  # fmt: skip
"""The tidy tables that are laid out or drawn."""


def wording_of(run: RunPlan) -> Wording:
    """How a run's tables are worded."""
    return Wording(
        rules=run.suite.rules,
        names={card.id: card.name for card in run.cards},
        controls=frozenset(card.id for card in run.cards if card.is_control),
        axes=run.suite.axes,
    )


def publish_paper(run: RunPlan, snapshot: Snapshot, store: ObjectStore) -> None:
    """Write a snapshot's tables in the paper's layout, its figures and `index.json` and `index.md`, last."""
    tables = {name: read_table(store, snapshot, name) for name in USED}
    entries = list(tidy_entries(snapshot, store))
    taxonomy = taxonomy_of(run.suite)
    for entry, files in paper_files(tables, wording_of(run), taxonomy):
        for name, data in files.items():
            store.put_new(keys.report(snapshot.suite, snapshot.digest, name), data)
        entries.append(entry)
    for name, data in index_files(entries, run.suite.rules).items():
        store.put_new(keys.report(snapshot.suite, snapshot.digest, name), data)


def tidy_entries(snapshot: Snapshot, store: ObjectStore) -> Iterator[Entry]:
    """What the index says of the tidy tables; n is their rows."""
    for name in TABLES:
        rows = read_table(store, snapshot, name).height
        yield {
            "name": name,
            "kind": "tidy table",
            "number": "",
            "title": name.replace("_", " "),
            "n": rows,
            "files": [f"{name}.csv", f"{name}.parquet"],
        }


def paper_files(
    tables: Mapping[str, pl.DataFrame], wording: Wording, taxonomy: Taxonomy
) -> Iterator[tuple[Entry, dict[str, bytes]]]:
    """Each table in the paper's layout and each figure: its line of the index, and its files.

    Args:
        tables: The tidy tables that are `USED`.
        wording: Names, axes and rules.
        taxonomy: The categories in their order.
    """
    for table in paper_tables(tables, wording):
        if isinstance(table, Absent):
            yield _absent(table, "table"), {}
            continue
        files = {
            f"tables/{table.name}.md": markdown_table(table, level=1).encode(),
            f"tables/{table.name}.tex": latex_table(table).encode(),
        }
        yield _entry("table", table.name, table.number, table.title, table.n, files), files
    for figure in paper_figures(tables, wording, taxonomy):
        if isinstance(figure, Absent):
            yield _absent(figure, "figure"), {}
            continue
        said = figure.caption
        drawn = {f"figures/{said.name}.{form}": data for form, data in draw(figure).items()}
        yield _entry("figure", said.name, said.number, said.title, said.n, drawn), drawn


def _entry(kind: str, name: str, number: str, title: str, n: int, files: Mapping[str, bytes]) -> Entry:
    return {"name": name, "kind": kind, "number": number, "title": title, "n": n, "files": list(files)}


def _absent(absent: Absent, kind: str) -> Entry:
    entry = _entry(kind, absent.name, absent.number, absent.title, 0, {})
    return entry | {"absent": absent.reason}


def index_files(entries: list[Entry], rules: Rules) -> dict[str, bytes]:
    """The list of a snapshot's tables and figures, for programs and for people."""
    held = {"paper": "arXiv 2608.28802", "rules": rules.model_dump(), "entries": entries}
    lines = ["# Tables and figures", "", f"Rules: {escaped(rules_text(rules))}.", ""]
    lines += ["| what | in the paper | title | n | files |", "| --- | --- | --- | ---: | --- |"]
    for entry in entries:
        links = ", ".join(f"[{escaped(name)}]({name})" for name in entry["files"])
        told = links or f"absent: {escaped(entry['absent'])}"
        cells = (entry["kind"], entry["number"] or "–", escaped(entry["title"]), str(entry["n"]), told)
        lines.append(f"| {' | '.join(cells)} |")
    return {
        "index.md": ("\n".join(lines) + "\n").encode(),
        "index.json": json.dumps(held, indent=1, sort_keys=True, ensure_ascii=False).encode(),
    }


def read_index(snapshot: Snapshot, store: ObjectStore) -> list[Entry]:
    """The lines of a snapshot's index; none where it was published before there was one."""
    data = store.get(keys.report(snapshot.suite, snapshot.digest, "index.json"))
    return [] if data is None else json.loads(data)["entries"]
