"""What `facedrift models`, `suites` and `doctor` show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from pydantic import JsonValue
from rich.markup import escape
from rich.table import Table

from domain.chains import ChainSet
from domain.errors import DefinitionError
from domain.judge_cards import JudgeCard, JudgeRole
from domain.model_cards import ModelCard
from domain.suites import Suite
from flows.consoles import out
from tasks.definitions import load, names


def models() -> None:
    """Print the model cards."""
    table = Table(
        "model", "name", "lab", "provider", "price", "seed", "released", "retired", box=None, pad_edge=False
    )
    for name in names(ModelCard):
        card = load(ModelCard, name)
        table.add_row(
            card.id,
            escape(card.name) + (" (control)" if card.is_control else ""),
            card.lab,
            card.provider,
            f"${card.price_usd:g}",
            "yes" if card.seed_support else "no",
            str(card.released),
            str(card.retired_on or ""),
        )
    out.print(table)


def judges() -> None:
    """Print the judge cards."""
    columns = ("judge", "name", "lab", "provider", "endpoint", "roles", "price", "retired")
    table = Table(*columns, box=None, pad_edge=False)
    for name in names(JudgeCard):
        card = load(JudgeCard, name)
        roles = ", ".join(card.prompts or get_args(JudgeRole))
        price, retired = f"${card.price_usd:g}", str(card.retired_on or "")
        table.add_row(
            card.id, escape(card.name), card.lab, card.provider, card.endpoint, roles, price, retired
        )
    out.print(table)


def suites() -> None:
    """Print the suites; one whose prompt chains are not written yet says so."""
    table = Table("suite", "title", "dataset", "sessions", "models", "face pack", box=None, pad_edge=False)
    written = names(ChainSet)
    for name in names(Suite):
        suite = load(Suite, name)
        table.add_row(
            suite.id,
            escape(suite.title),
            suite.dataset.id,
            _sessions(suite, written),
            ", ".join(suite.models),
            suite.embedder.pack,
        )
    out.print(table)


def _sessions(suite: Suite, written: Sequence[str]) -> str:
    if suite.chain_set is not None and suite.chain_set not in written:
        return "to be written"
    return str(len(suite.sessions) or "all")


def doctor(suite: str) -> bool:
    """Print every check with what to mend; True when nothing is wrong."""
    from tasks.preflight import checks, cost_line, notices

    healthy = True
    for name, problem in checks(suite):
        healthy &= problem is None
        out.print(
            f"[green]ok[/]      {name}" if problem is None else f"[red]problem[/] {name}: ",
            end="\n" if problem is None else "",
        )
        if problem:
            out.print(problem, markup=False, highlight=False, soft_wrap=True)
    for notice in notices(suite) if healthy else ():
        out.print(f"[yellow]notice[/]  {notice}", highlight=False, soft_wrap=True)
    if healthy and (cost := cost_line(suite)):
        out.print(f"        {cost}", highlight=False)
    return healthy


def standin(suite: str, port: int, state: Path, faults: str | None, only_key: str | None) -> None:
    """Serve the stand-in until it is interrupted; says where it answers."""
    try:
        drawn = None if faults is None else json.loads(faults)
    except ValueError as error:
        raise DefinitionError(f"not JSON: {error}", field="faults") from error
    try:
        _serve(suite, port, state, drawn, only_key)
    except OSError as error:
        raise DefinitionError(
            f"port {port} cannot be used ({error.strerror}); name another, or 0", field="port"
        ) from error


def _serve(
    suite: str, port: int, state: Path, drawn: dict[str, JsonValue] | None, only_key: str | None
) -> None:
    from tasks.rehearsing import serve_standin

    serve_standin(
        suite,
        port,
        state,
        lambda url: out.print(
            f"the stand-in answers at {url}; use it: FACEDRIFT_STANDIN_URL={url}", soft_wrap=True
        ),
        drawn,
        only_key,
    )
