"""What is beside a run in Prefect's UI: its board, the tables in the paper's layout, and some chains."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from adapters.base import ObjectStore
from adapters.pages.markdown import escaped
from adapters.pages.site.picture_views import Comparison, StepView
from adapters.pages.site.thumbnails import VERSION
from domain import keys
from domain.runs import Snapshot
from tasks import wiring
from tasks.paper_index import read_index
from tasks.progress import artifact_key
from tasks.report_views import BOARD_COLUMNS, Cell, board, board_rows
from tasks.scoring import read_table
from tasks.site_compare import comparisons_of
from tasks.site_source import SiteSource
from tasks.threads import in_thread


async def show_artifacts(snapshot: Snapshot) -> None:
    """The leaderboard, each table in the paper's layout and some chains, beside the run in Prefect's UI."""
    table, pictures = await in_thread(_artifacts, snapshot)
    await acreate_table_artifact(
        table, key=artifact_key("leaderboard", snapshot.suite), description=f"Snapshot {snapshot.digest}"
    )
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
    if run.chain_set is None:
        names = [name for name, _ in BOARD_COLUMNS]
        rows = board_rows(read_table(store, snapshot, "leaderboard"), run)
    else:
        shown = board(snapshot)
        names, rows = shown.columns, shown.rows
    table = [{"model": row.model} | dict(zip(names, _texts(row.cells), strict=True)) for row in rows]
    comparisons, _ = comparisons_of(SiteSource(snapshot, run, store), MOST_CHAINS)
    return table, "\n\n".join(_markdown(comparison, store) for comparison in comparisons)


def _texts(cells: Sequence[Cell]) -> list[str]:
    return [f"{cell.text} ({cell.interval})" if cell.interval else cell.text for cell in cells]


def _markdown(comparison: Comparison, store: ObjectStore) -> str:
    title = f"### {comparison.photo} · {comparison.session}"
    lines = [title, "", escaped(" → ".join(comparison.prompts)), ""]
    for chain in comparison.chains:
        images = " ".join(_image(step, store) for step in chain.steps if step.picture)
        lines += [f"**{chain.model}**", "", images, ""]
    return "\n".join(lines)


def _image(step: StepView, store: ObjectStore) -> str:
    """A step's thumbnail, which was written with the page, inside the text."""
    data = store.get(keys.thumbnail_of(VERSION, step.picture.sha256)) if step.picture else None
    scores = " · ".join(f"{name} {value}" for name, value in step.scores)
    caption = " ".join(part for part in (step.label, scores, step.problem) if part)
    return f"![{caption}](data:image/webp;base64,{base64.b64encode(data or b'').decode()})"


MOST_CHAINS = 2
"""Comparisons in the artifact; the page has more."""
MOST_FIGURES = 8
"""In the artifact; the page links to all."""
