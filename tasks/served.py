"""Which versions answered in a run, and whether they are the ones that were asked."""

from __future__ import annotations

from collections import Counter

import polars as pl

from domain.judge_cards import JudgeCard
from domain.model_cards import ModelCard
from domain.runs import RunPlan
from domain.served import is_the_model
from tasks import wiring
from tasks.collecting import Served

SCHEMA = pl.Schema(
    {
        "role": pl.String,
        "card": pl.String,
        "asked": pl.String,
        "served": pl.String,
        "n": pl.Int64,
        "is_the_model": pl.Boolean,
    }
)


def served_table(run: RunPlan, served: Counter[Served]) -> pl.DataFrame:
    """Who answered for whom and how often."""
    cards: dict[tuple[str, str], ModelCard | JudgeCard] = {("model", card.id): card for card in run.cards}
    judging = {"judge": run.judge_card, "tracker": run.tracker_card, "checker": run.checker_card}
    cards |= {(role, card.id): card for role, card in judging.items() if card}
    rows = [
        {
            "role": who.role,
            "card": who.card,
            "asked": card.endpoint,
            "served": who.version,
            "n": n,
            "is_the_model": wiring.is_in_process(card.provider)
            or is_the_model(who.version, card.endpoint, card.served_as),
        }
        for who, n in sorted(served.items())
        for card in (cards[who.role, who.card],)
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def unreadable(steps: pl.DataFrame) -> dict[str, tuple[int, int]]:
    """Of judge and tracker: answers that could not be read, and how many images were asked about."""
    asked = {"judge": ("judgement", "scored"), "tracker": ("tracked", "tracked")}
    found: dict[str, tuple[int, int]] = {}
    for role, (column, good) in asked.items():
        if column not in steps.columns:
            continue  # a suite of prompt chains, where neither is asked
        bad = steps.filter(pl.col(column) == "unparsable").height
        found[role] = (bad, bad + steps.filter(pl.col(column) == good).height)
    return found


def notices_of(served: pl.DataFrame, steps: pl.DataFrame) -> tuple[str, ...]:
    """What a reader must know: another model answered, or several versions did, or answers made no sense."""
    lost = [
        f"{role}: {bad} of {asked} answers could not be read, asked for again as often as allowed"
        for role, (bad, asked) in unreadable(steps).items()
        if bad
    ]
    other = [
        f"{row['role']} {row['card']}: {row['n']} answers came from {row['served']!r}, not from the "
        f"{row['asked']!r} that was asked"
        for row in served.filter(~pl.col("is_the_model")).iter_rows(named=True)
    ]
    several = [
        f"{role} {card}: more than one version answered: {', '.join(rows['served'])}"
        for (role, card), rows in served.group_by(["role", "card"], maintain_order=True)
        if rows.height > 1
    ]
    return (*other, *several, *lost)
