"""What `facedrift models`, `suites` and `doctor` show."""

from __future__ import annotations

from rich.table import Table

from domain.model_cards import ModelCard
from domain.suites import Suite
from flows.consoles import wide_console
from tasks.definitions import load, names

out = wide_console()


def models() -> None:
    """Print the model cards."""
    table = Table(
        "model", "name", "lab", "provider", "price", "seed", "released", "retired", box=None, pad_edge=False
    )
    for name in names(ModelCard):
        card = load(ModelCard, name)
        table.add_row(
            card.id,
            card.name + (" (control)" if card.is_control else ""),
            card.lab,
            card.provider,
            f"${card.price_usd:g}",
            "yes" if card.seed_support else "no",
            str(card.released),
            str(card.retired_on or ""),
        )
    out.print(table)


def suites() -> None:
    """Print the suites."""
    table = Table("suite", "title", "dataset", "sessions", "models", "face pack", box=None, pad_edge=False)
    for name in names(Suite):
        suite = load(Suite, name)
        table.add_row(
            suite.id,
            suite.title,
            suite.dataset.id,
            str(len(suite.sessions) or "all"),
            ", ".join(suite.models),
            suite.embedder.pack,
        )
    out.print(table)


def doctor(suite: str) -> bool:
    """Print every check with what to mend; True when nothing is wrong."""
    from tasks.preflight import checks

    healthy = True
    for name, problem in checks(suite):
        healthy &= problem is None
        out.print(
            f"[green]ok[/]      {name}" if problem is None else f"[red]problem[/] {name}: ",
            end="\n" if problem is None else "",
        )
        if problem:
            out.print(problem, markup=False, highlight=False, soft_wrap=True)
    return healthy
