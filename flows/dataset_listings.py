"""What `facedrift datasets` and `facedrift datasets look` show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from domain.findings import Findings
from domain.groups import shown
from flows.consoles import out
from tasks import looking


def adapters() -> None:
    """Print the dataset adapters."""
    table = Table("adapter", "reads", "layout", "options = default", "licence", box=None, pad_edge=False)
    for adapter in looking.adapters():
        options = "\n".join(adapter.options) or "–"
        texts = (adapter.reads, adapter.layout, options, adapter.licence)
        table.add_row(adapter.adapter, *map(escape, texts))
    out.print(table)


def look(
    suite: str | None, adapter: str | None, path: str | None, options: Sequence[str], rows: Path | None
) -> None:
    """Print what a dataset holds, what is left out, and why."""
    found = looking.look(looking.wanted(suite, adapter, path, options), rows)
    roles = ", ".join(f"{n} {role}" for role, n in found.roles.items())
    out.print(
        f"{found.dataset} ({found.adapter}): {found.n_photos} photos of {found.n_people} people"
        + (f"; {roles}" if roles else ""),
        markup=False,
        highlight=False,
    )
    for licence, n in found.licences.items():
        out.print(f"licence of {n}: {licence}", markup=False, highlight=False, soft_wrap=True)
    _print_tables(found)
    for note in found.notes:
        out.print(f"note: {note}", markup=False, highlight=False, soft_wrap=True)
    if rows:
        out.print(f"every row: {rows}", markup=False, highlight=False, soft_wrap=True)


def _print_tables(found: Findings) -> None:
    labels = [(item.name, str(item.n_photos), item.holds) for item in found.labels]
    groups = [
        (item.name, shown(item.group or "") or "unknown, or in none", str(item.n_photos), str(item.n_people))
        for item in found.groups
    ]
    left_out = [(item.reason, str(item.n), "\n".join(item.examples)) for item in found.left_out]
    _print_table(("label", "photos", "holds"), labels)
    _print_table(("axis", "group", "photos", "people"), groups)
    _print_table(("left out", "n", "such as"), left_out)


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    if not rows:
        return
    table = Table(*columns, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(escape, row))
    out.print()
    out.print(table, highlight=False)
