"""The report that people read: one page a snapshot, its provenance, and the pointer to it last."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, replace

from prefect import task
from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from adapters.base import ObjectStore
from adapters.pages.report_page import BoardRow, Cell, Comparison, render
from adapters.stores.settings import place
from domain import keys
from domain.photos import Dataset
from domain.runs import Snapshot
from tasks import policies, wiring
from tasks.drift_views import DRIFT_COLUMNS, drift_page, drift_rows, drift_tables_of
from tasks.paper_index import publish_paper, read_index
from tasks.pointers import point_to
from tasks.progress import artifact_key
from tasks.report_views import BOARD_COLUMNS, board_rows, comparisons_of, page_of, truth_summary
from tasks.scoring import read_table
from tasks.threads import in_thread


def publish(snapshot: Snapshot, store: ObjectStore) -> None:
    """Write all that is derived from a snapshot unless it is there, the page last; then point to it."""
    run = wiring.run_plan(snapshot.run_id)
    page = keys.report(snapshot.suite, snapshot.digest, "index.html")
    if store.head(page) is None:
        provenance = keys.report(snapshot.suite, snapshot.digest, "provenance.json")
        store.put_new(provenance, run.model_dump_json(indent=1).encode())
        if run.chain_set is None:
            publish_paper(run, snapshot, store)
        shown = page_of if run.chain_set is None else drift_page
        store.put_new(page, render(shown(run, snapshot, store)))
    point_to(snapshot, run, store)


@task(task_run_name="publish {snapshot.suite}", **policies.ONCE)
async def publish_report(snapshot: Snapshot) -> None:
    """Publish a snapshot's page."""
    await in_thread(publish, snapshot, wiring.store())


async def show_artifacts(snapshot: Snapshot) -> None:
    """The leaderboard, each table in the paper's layout and some chains, beside the run in Prefect's UI."""
    table, pictures = await in_thread(_artifacts, snapshot)
    await acreate_table_artifact(
        table, key=artifact_key("leaderboard", snapshot.suite), description=f"Snapshot {snapshot.digest}"
    )
    if pictures:
        await acreate_markdown_artifact(pictures, key=artifact_key("chains", snapshot.suite))
    for name, text in await in_thread(paper_texts, snapshot, wiring.store()):
        key = artifact_key(f"table-{name}", snapshot.suite)
        await acreate_markdown_artifact(text, key=key, description=f"Snapshot {snapshot.digest}")
    figures = await in_thread(figures_text, snapshot, wiring.store())
    if figures:
        await acreate_markdown_artifact(figures, key=artifact_key("figures", snapshot.suite))


def figures_text(snapshot: Snapshot, store: ObjectStore) -> str:
    """A snapshot's figures as Markdown that holds the pictures; empty when there is none."""
    parts: list[str] = []
    for entry in read_index(snapshot, store):
        pictures = [name for name in entry["files"] if name.endswith(".png")]
        if entry["kind"] == "figure" and pictures and len(parts) < MOST_FIGURES:
            data = store.get(keys.report(snapshot.suite, snapshot.digest, pictures[0])) or b""
            picture = base64.b64encode(data).decode()
            parts.append(f"### {entry['title']}\n\n![{entry['title']}](data:image/png;base64,{picture})")
    return "\n\n".join(parts)


def paper_texts(snapshot: Snapshot, store: ObjectStore) -> list[tuple[str, str]]:
    """Name and Markdown of each of a snapshot's tables in the paper's layout."""
    held = [entry for entry in read_index(snapshot, store) if entry["kind"] == "table" and entry["files"]]
    texts: list[tuple[str, str]] = []
    for entry in held:
        data = store.get(keys.report(snapshot.suite, snapshot.digest, entry["files"][0]))
        texts.append((entry["name"], (data or b"").decode()))
    return texts


def _artifacts(snapshot: Snapshot) -> tuple[list[dict[str, str]], str]:
    run, store = wiring.run_plan(snapshot.run_id), wiring.store()
    if run.chain_set is not None:
        held = drift_rows(drift_tables_of(snapshot, store), run)
        named = [name for name, _ in DRIFT_COLUMNS]
        return [{"model": r.model} | dict(zip(named, _texts(r.cells), strict=True)) for r in held], ""
    names = [name for name, _ in BOARD_COLUMNS]
    rows = board_rows(read_table(store, snapshot, "leaderboard"), run)
    table = [{"model": row.model} | dict(zip(names, _texts(row.cells), strict=True)) for row in rows]
    comparisons, _ = comparisons_of(
        run.model_copy(update={"sessions": run.sessions[:2]}), read_table(store, snapshot, "steps"), store
    )
    return table, "\n\n".join(_markdown(comparison) for comparison in comparisons)


def _texts(cells: Sequence[Cell]) -> list[str]:
    return [f"{cell.text} ({cell.interval})" if cell.interval else cell.text for cell in cells]


def _markdown(comparison: Comparison) -> str:
    lines = [f"### {comparison.title}", "", " → ".join(comparison.prompts), ""]
    for chain in comparison.chains:
        images = " ".join(f"![{step.caption}]({step.image})" for step in chain.steps if step.image)
        lines += [f"**{chain.model}**", "", images, ""]
    return "\n".join(lines)


MOST_FIGURES = 8
"""In the artifact; the page links to all."""
TERMINAL_COLUMNS = (0, 1, 2, 4, 6)
"""Of `BOARD_COLUMNS`, those that fit a terminal."""


@dataclass(frozen=True)
class Board:
    """The leaderboard as a terminal shows it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[BoardRow]


def board(snapshot: Snapshot) -> Board:
    """The pooled leaderboard of a snapshot."""
    run, store = wiring.run_plan(snapshot.run_id), wiring.store()
    if run.chain_set is not None:
        columns = [name for name, _ in DRIFT_COLUMNS]
        return Board(run.suite.title, columns, drift_rows(drift_tables_of(snapshot, store), run))
    rows = board_rows(read_table(store, snapshot, "leaderboard"), run)
    shown = [BOARD_COLUMNS[index][0] for index in TERMINAL_COLUMNS]
    cells = [replace(row, cells=[row.cells[index] for index in TERMINAL_COLUMNS]) for row in rows]
    return Board(run.suite.title, shown, cells)


def truth_lines(snapshot: Snapshot) -> list[str]:
    """Measured overediting beside the truth, for models that tell it; one sentence each."""
    if wiring.run_plan(snapshot.run_id).chain_set is not None:
        return []
    summary = truth_summary(read_table(wiring.store(), snapshot, "truth"))
    return [
        f"{row['model']} by its own account: OER {row['oer_true']:.3f} (measured {row['oer_measured']:.3f}), "
        f"missed edits {row['missed_true']:.1%} (measured {row['missed_measured']:.1%}), "
        f"{row['sessions']} sessions"
        for row in summary.iter_rows(named=True)
    ]


def page_location(snapshot: Snapshot) -> str:
    """Where the page of a snapshot is."""
    return stored_at(keys.report(snapshot.suite, snapshot.digest, "index.html"))


def left_out_locations(found: Dataset) -> tuple[str, str]:
    """Where all that was left out of a stored dataset is listed: as a table, and (its beginning) as text."""
    key = keys.dataset(found.id, keys.fingerprint(found))
    table, text = (keys.dataset_page(key, name) for name in ("left_out.parquet", "summary.md"))
    return stored_at(table), stored_at(text)


def stored_at(key: str) -> str:
    """Where an object of the store is: a file, or its s3:// address, which names no server and no key."""
    return f"{place()}/{key}"
